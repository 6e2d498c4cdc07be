#include "core/scene/tape/tape_derivatives.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/base/rng.h"

namespace lockstep::scene {

namespace {
constexpr size_t most_hessian_elements = 32;

std::vector<double> leaf_values(const TapeLeaf& leaf, uint64_t seed) {
    size_t count = 1;
    for (const int64_t extent : leaf.shape) count *= static_cast<size_t>(extent);
    if (leaf.fill == TapeLeaf::Fill::values) return leaf.values;
    std::vector<double> values(count, leaf.number);
    Rng rng(seed);
    for (size_t i = 0; i < count; ++i) switch (leaf.fill) {
            case TapeLeaf::Fill::ramp:
                values[i] = static_cast<double>(i);
                break;
            case TapeLeaf::Fill::random:
                values[i] = rng.uniform(-1, 1);
                break;
            case TapeLeaf::Fill::normal:
                values[i] = leaf.number * rng.normal();
                break;
            default:
                break;
        }
    return values;
}

tensor::Purpose purpose_of(const TapeLeaf& leaf, nn::Mode mode) {  // what a graph reads in every replay stays
    return leaf.kind == TapeLeaf::Kind::parameter || mode != nn::Mode::direct ? tensor::Purpose::parameter
                                                                              : tensor::Purpose::data;
}

// The assignments down to `past`, as a function of the parameters.
tensor::Variable assignments(const TapeStart& start, tensor::Tape& tape, Names names, size_t past,
                             const std::string& wanted) {
    for (size_t s = 0; s < past; ++s) {
        const TapeStatement& one = start.text.statements[s];
        if (one.kind == TapeStatement::Kind::assign)
            names[one.name] = record(tape, one.term, names, start.own, one.name, one.place);
    }
    return names.at(wanted);
}

// All leaves by name, the parameters given, the others made anew in double.
Names leaves_with(const TapeStart& start, tensor::Tape& tape, tensor::Heap& heap,
                  std::span<const tensor::Variable> parameters) {
    Names names;
    size_t next = 0;
    for (size_t i = 0; i < start.text.leaves.size(); ++i) {
        const TapeLeaf& leaf = start.text.leaves[i];
        if (leaf.kind == TapeLeaf::Kind::parameter)
            names[leaf.name] = parameters[next++];
        else if (leaf.kind == TapeLeaf::Kind::label)
            names[leaf.name] = tape.label(start.on(heap, i, DType::f64), leaf.name);
        else
            names[leaf.name] = tape.input(start.on(heap, i, DType::f64), leaf.name);
    }
    return names;
}
}  // namespace

TapeStart::TapeStart(const TapeText& of, uint64_t seed) : text(of) {
    for (const TapeOp& op : text.ops) own.emplace_back(op);
    for (size_t i = 0; i < text.leaves.size(); ++i) values.push_back(leaf_values(text.leaves[i], seed * 7919 + i));
}

tensor::Tensor TapeStart::on(tensor::Heap& heap, size_t i, DType dtype) const {
    const TapeLeaf& leaf = text.leaves[i];
    if (leaf.kind == TapeLeaf::Kind::label) {
        const std::vector<int32_t> labels(values[i].begin(), values[i].end());
        if (text.mode == nn::Mode::direct) return tensor::reshaped(tensor::labels_from(heap, labels, leaf.name), leaf.shape);
        tensor::Tensor stays = tensor::make_tensor(heap, leaf.shape, leaf.name, tensor::Purpose::parameter, DType::i32);
        for (const int32_t label : labels) stays.largest = std::max(stays.largest, label);
        heap.device().copy_in(stays.pointer(), labels.data(), labels.size() * sizeof(int32_t));
        return stays;
    }
    return tensor::tensor_from(heap, leaf.shape, values[i], leaf.name, purpose_of(leaf, text.mode), dtype);
}

tensor::GradcheckResult gradcheck_at(const TapeStart& start, size_t at, tensor::Heap& heap) {
    std::vector<tensor::GradcheckInput> inputs;
    for (size_t i = 0; i < start.text.leaves.size(); ++i)
        if (start.text.leaves[i].kind == TapeLeaf::Kind::parameter)
            inputs.push_back({start.text.leaves[i].name, start.text.leaves[i].shape, start.values[i]});
    return tensor::gradcheck(
        heap,
        [&](tensor::Tape& tape, std::span<const tensor::Variable> x) {
            return assignments(start, tape, leaves_with(start, tape, heap, x), at, start.text.statements[at].name);
        },
        inputs);
}

// The gradients' own gradients, one element after the other.
TapeHessian hessian_at(const TapeStart& start, size_t at, tensor::Heap& heap) {
    tensor::Tape tape(heap);
    std::vector<tensor::Variable> x;
    TapeHessian made{start.text.statements[at].name, {}, {}};
    for (size_t i = 0; i < start.text.leaves.size(); ++i) {
        const TapeLeaf& leaf = start.text.leaves[i];
        if (leaf.kind != TapeLeaf::Kind::parameter) continue;
        x.push_back(tape.input(start.on(heap, i, DType::f64), leaf.name, true));
        for (size_t k = 0; k < start.values[i].size(); ++k)
            made.in.push_back(leaf.shape.empty() ? leaf.name : fmt::format("{}[{}]", leaf.name, k));
    }
    if (made.in.empty()) throw Failure("a Hessian is one of params: the program has none");
    if (made.in.size() > most_hessian_elements)
        throw Failure(
            fmt::format("a Hessian of {} elements is too large here: {} at most", made.in.size(), most_hessian_elements));
    const tensor::Variable z = assignments(start, tape, leaves_with(start, tape, heap, x), at, made.of);
    if (z.value.count() != 1)
        throw Failure(fmt::format("a Hessian is that of one number; {} has {}", made.of, z.value.count()));
    const auto first = tape.gradients(z, x, {.create_graph = true});
    for (size_t i = 0; i < x.size(); ++i)
        for (int64_t k = 0; k < x[i].value.count(); ++k) {
            std::vector<double> one(static_cast<size_t>(x[i].value.count()), 0.0);
            one[static_cast<size_t>(k)] = 1;
            std::vector<tensor::Variable> row(x.size());
            if (first[i].node >= 0 && tape.nodes()[static_cast<size_t>(first[i].node)].requires_grad) {
                const tensor::Variable seed = tape.input(
                    tensor::tensor_from(heap, x[i].shape(), one, "row", tensor::Purpose::data, DType::f64), "row");
                row = tape.gradients(first[i], x, {.create_graph = true}, &seed);
            }
            for (size_t j = 0; j < x.size(); ++j) {
                std::vector<double> values(static_cast<size_t>(x[j].value.count()), 0.0);
                if (row[j].node >= 0) values = tensor::values_of(heap, row[j].value);
                made.values.insert(made.values.end(), values.begin(), values.end());
            }
        }
    return made;
}

}  // namespace lockstep::scene
