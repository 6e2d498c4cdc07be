// Each op is run once more, alone: forward, then backward from a single 1 in the followed output element (its row of the
// Jacobian), then backward from the recorded gradient (all that it passes on). One forward with the input element moved a
// little tells which output elements it reaches.
#include "core/nn/train/follow.h"

#include <algorithm>
#include <cmath>

#include "core/base/cores.h"
#include "core/base/diagnostic.h"
#include "core/tensor/tape.h"

namespace lockstep::nn {

using tensor::Tensor;
using tensor::Variable;

namespace {

struct Alone {  // one op on a tape of its own
    tensor::Heap& heap;
    const StepRecord& record;
    const GraphNode& node;
    std::vector<std::vector<double>> values;  // of the inputs
    DType type = DType::f64;

    Alone(tensor::Heap& on, const StepRecord& from, const GraphNode& of) : heap(on), record(from), node(of) {
        const auto& types = node.row->types;
        if (std::find(types.begin(), types.end(), DType::f64) == types.end()) type = DType::f32;
        for (const int input : node.inputs) {
            const GraphNode& one = record.nodes[static_cast<size_t>(input)];
            values.emplace_back(one.value->begin(), one.value->end());
        }
    }
    bool floating(size_t input) const {
        return tensor::floating(record.nodes[static_cast<size_t>(node.inputs[input])].dtype);
    }
    // Runs the op; `leaves` are its inputs as nodes of `tape`.
    Variable run(tensor::Tape& tape, std::vector<Variable>& leaves, bool differentiable) const {
        for (size_t i = 0; i < values.size(); ++i) {
            const GraphNode& one = record.nodes[static_cast<size_t>(node.inputs[i])];
            const DType stored = floating(i) ? type : one.dtype;
            const Tensor tensor = tensor::make_tensor(heap, one.shape, one.name, tensor::Purpose::data, stored);
            tensor::write_values(heap, tensor, values[i], one.name);
            Tensor labelled = tensor;
            if (!floating(i) && !values[i].empty())
                labelled.largest = static_cast<int32_t>(*std::max_element(values[i].begin(), values[i].end()));
            leaves.push_back(floating(i) ? tape.input(labelled, one.name, differentiable) : tape.label(labelled, one.name));
        }
        return tape.apply(*node.row, leaves, node.name, *node.attributes);
    }
    Tensor seed(const Variable& output, const std::vector<double>& gradient) const {
        const Tensor tensor =
            tensor::make_tensor(heap, output.shape(), "upstream", tensor::Purpose::gradient, output.dtype());
        tensor::write_values(heap, tensor, gradient, "upstream");
        return tensor;
    }
};

// The input element that output element `o` owes most to: its share local x value; where all are nothing, its local.
int64_t element_that_counts(const std::vector<double>& local, const std::vector<double>& value) {
    int64_t best = 0;
    double most = -1, most_local = -1;
    for (size_t i = 0; i < local.size(); ++i) {
        const double share = std::abs(local[i] * (i < value.size() ? value[i] : 0.0)), alone = std::abs(local[i]);
        if (share > most || (share == most && alone > most_local)) {
            most = share;
            most_local = alone;
            best = static_cast<int64_t>(i);
        }
    }
    return best;
}

// Where no gradient leads: of integers the one in the same row, of anything else the same or the first element.
int64_t beside(const GraphNode& output, const GraphNode& input, int64_t element) {
    const auto size = [](const GraphNode& node) { return static_cast<int64_t>(node.value ? node.value->size() : 0); };
    const int64_t of_input = size(input), of_output = size(output);
    if (of_input == 0) return -1;
    if (of_input == of_output) return element;
    if (of_output > 0 && of_output % of_input == 0) return element / (of_output / of_input);
    return 0;
}

struct Follower {
    const StepRecord& record;
    tensor::Heap& heap;
    Followed found;

    void start_from_misread() {
        const size_t count = std::min<size_t>({record.labels.size(), record.predictions.size(), 16});
        for (size_t i = 0; i < count && !found.misread; ++i)
            if (record.labels[i] != record.predictions[i]) found.example = static_cast<int>(i), found.misread = true;
    }

    // A classifier's loss: the logit of the wanted class of the followed example.
    bool by_label(const GraphNode& node) {
        if (node.op != "softmax_cross_entropy" || node.inputs.size() < 2 || record.predictions.empty()) return false;
        const auto logits = static_cast<size_t>(node.inputs[0]), labels = static_cast<size_t>(node.inputs[1]);
        const GraphNode& at = record.nodes[logits];
        const auto row = static_cast<size_t>(found.example);
        if (at.shape.size() != 2 || row >= record.labels.size() || found.element[logits] >= 0) return false;
        found.element[logits] = static_cast<int64_t>(row) * at.shape[1] + record.labels[row];
        found.element[labels] = static_cast<int64_t>(row);
        return true;
    }

    void through(const GraphNode& node) {
        int64_t& element = found.element[static_cast<size_t>(node.id)];
        if (element < 0 && node.value && !node.value->empty()) element = 0;
        bool known = node.value && node.row && node.attributes;
        for (const int input : node.inputs) known = known && record.nodes[static_cast<size_t>(input)].value;
        if (element < 0) return;
        by_label(node);
        if (known && node.row->backward && tensor::floating(node.dtype)) differentiate(node, element);
        for (const int input : node.inputs)
            if (int64_t& other = found.element[static_cast<size_t>(input)]; other < 0)
                other = beside(node, record.nodes[static_cast<size_t>(input)], element);
    }

    void differentiate(const GraphNode& node, int64_t element) {
        const Alone alone(heap, record, node);
        heap.recycle();
        tensor::Tape tape(heap);
        std::vector<Variable> leaves;
        const Variable output = alone.run(tape, leaves, true);
        if (!tape.nodes().back().requires_grad) return;
        std::vector<double> one(static_cast<size_t>(output.value.count()), 0.0);
        one[static_cast<size_t>(element)] = 1;
        const std::vector<double> result = tensor::values_of(heap, output.value);
        const bool passes = node.went_back && node.gradient && node.gradient->size() == one.size();
        tape.backward(output, alone.seed(output, one), {.retain_graph = passes});
        std::vector<std::vector<double>> local;
        for (const Variable& leaf : leaves) local.push_back(tape.gradient_values(leaf.node));
        if (passes) tape.backward(output, alone.seed(output, {node.gradient->begin(), node.gradient->end()}));
        for (size_t i = 0; i < leaves.size(); ++i) {
            if (local[i].empty()) continue;
            int64_t& at = found.element[static_cast<size_t>(node.inputs[i])];
            if (at < 0) at = element_that_counts(local[i], alone.values[i]);
            const auto where = static_cast<size_t>(at);
            if (!passes || !record.nodes[static_cast<size_t>(node.inputs[i])].requires_grad) continue;
            Passing edge{.node = node.id, .input = static_cast<int>(i), .from = node.inputs[i]};
            edge.local = local[i][where];
            edge.upstream = static_cast<double>((*node.gradient)[static_cast<size_t>(element)]);
            edge.product = edge.local * edge.upstream;
            edge.total = tape.gradient_values(leaves[i].node)[where] - edge.local;  // a leaf adds to what it had
            count_terms(alone, i, where, static_cast<size_t>(element), result, edge);
            found.edges.push_back(edge);
        }
    }

    void count_terms(const Alone& alone, size_t input, size_t where, size_t element, const std::vector<double>& before,
                     Passing& edge) const {
        if (before.size() == 1) return;
        Alone moved = alone;
        double& value = moved.values[input][where];
        value += 1e-3 * std::max(1.0, std::abs(value));
        tensor::Tape tape(heap);
        const tensor::NoGrad no_gradients(tape);
        std::vector<Variable> leaves;
        const std::vector<double> after = tensor::values_of(heap, moved.run(tape, leaves, false).value);
        edge.terms = 0;
        for (size_t i = 0; i < before.size(); ++i) {
            if (before[i] == after[i] && i != element) continue;
            if (i == element) edge.term = edge.terms;
            ++edge.terms;
        }
    }
};

}  // namespace

Followed follow(const StepRecord& record, const std::stop_token& stop) {
    const auto device = device::open_device("host", {.threads = static_cast<int>(cores())}).value();
    tensor::Heap heap(*device);
    Follower follower{record, heap, {}};
    follower.found.element.assign(record.nodes.size(), -1);
    follower.start_from_misread();
    for (size_t id = record.nodes.size(); id-- > 0;) {
        throw_if_stopped(stop);
        const GraphNode& node = record.nodes[id];
        if (node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss) follower.through(node);
    }
    return std::move(follower.found);
}

}  // namespace lockstep::nn
