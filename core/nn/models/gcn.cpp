// A graph convolutional network (Kipf and Welling 2017) on a planted graph: softmax(Â relu(Â X W1 + b1) W2 + b2), the loss
// on the few labelled nodes, judged on all others. Every step sees the whole graph.
#include "core/base/diagnostic.h"
#include "core/nn/data/made/planted_graph.h"
#include "core/nn/layers/layers.h"
#include "core/nn/models/list.h"
#include "core/nn/models/pictures.h"
#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

namespace {
struct Convolution {
    Graph graph;
    Csr adjacency;
    Linear first, second;
    DType dtype = DType::f32;
    double dropout = 0.5;

    Variable operator()(Pass& pass) const {
        tensor::Tape& tape = pass.tape;
        tensor::Heap& heap = tape.heap();
        const auto floats = [&](const std::vector<float>& values, const tensor::Shape& shape, const char* name) {
            const std::vector<double> wide(values.begin(), values.end());
            return tape.input(tensor::tensor_from(heap, shape, wide, name, tensor::Purpose::data, dtype), name);
        };
        const auto integers = [&](const std::vector<int32_t>& values, const char* name) {
            return tape.label(tensor::labels_from(heap, values, name), name);
        };
        const Variable values = floats(adjacency.value, {int64_t(adjacency.value.size())}, "adjacency values");
        const Variable rows = integers(adjacency.row_start, "adjacency rows");
        const Variable columns = integers(adjacency.column, "adjacency columns");
        Variable h = floats(graph.x, {graph.nodes, graph.features}, "x");
        h = tensor::sparse_dense(tape, values, rows, columns, first(pass, h), "convolution 1");
        h = tensor::relu(tape, h, "relu");
        if (pass.training) h = tensor::dropout(tape, h, dropout, pass.random, "dropout");
        return tensor::sparse_dense(tape, values, rows, columns, second(pass, h), "convolution 2");  // [nodes, classes]
    }
};

Forward judged(Pass& pass, const Convolution& net, const std::vector<int32_t>& nodes) {
    tensor::Tape& tape = pass.tape;
    std::vector<int32_t> labels;
    for (const int32_t node : nodes) labels.push_back(net.graph.label[static_cast<size_t>(node)]);
    const Variable which = tape.label(tensor::labels_from(tape.heap(), nodes, "nodes"), "nodes");
    const Variable wanted = tape.label(tensor::labels_from(tape.heap(), labels, "labels"), "labels");
    Forward result;
    result.output = tensor::index_select(tape, net(pass), which, 0, "labelled");
    result.loss = tensor::softmax_cross_entropy(tape, result.output, wanted, "loss");
    return result;
}
}  // namespace

std::unique_ptr<Task> make_gcn(const TaskOptions& options, tensor::Heap& heap) {
    auto task = std::make_unique<Task>();
    auto it = std::make_shared<Convolution>();
    it->graph = planted_graph(options.seed);
    it->adjacency = normalised_adjacency(it->graph);
    it->dtype = options.dtype;
    it->dropout = options.dropout.value_or(0.5);
    Rng rng(options.seed);
    Build build{heap, rng, task->list, options.dtype};
    it->first = Linear(build, "gc1", it->graph.features, 32);
    it->second = Linear(build, "gc2", 32, it->graph.classes);
    task->model = "gcn";
    task->data = "planted graph";
    task->forward = [it](Pass& pass, const Batch&, size_t) { return judged(pass, *it, it->graph.train); };
    task->evaluate = [it](tensor::Heap& on, int64_t, const std::stop_token&) {
        on.recycle();
        tensor::Tape tape(on);
        const tensor::NoGrad no_gradients(tape);
        Pass pass{tape, false};
        const Forward made = judged(pass, *it, it->graph.test);
        std::vector<int32_t> labels;
        for (const int32_t node : it->graph.test) labels.push_back(it->graph.label[static_cast<size_t>(node)]);
        Evaluation result;
        result.loss = tensor::values_of(on, made.loss.value)[0];
        result.accuracy =
            double(predictions_of(tensor::values_of(on, made.output.value), labels).right) / double(labels.size());
        return result;
    };
    return task;
}

}  // namespace lockstep::nn
