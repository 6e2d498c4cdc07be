// A small training step for the graph tests.
#pragma once
#include <functional>

#include "core/base/diagnostic.h"
#include "core/device/devices.h"
#include "core/graph/recorder.h"
#include "core/tensor/ops.h"
#include "core/tensor/sequence_ops.h"

namespace {
namespace graph = lockstep::graph;
namespace tensor = lockstep::tensor;
namespace device = lockstep::device;
using graph::Graph;
using lockstep::DType;
using lockstep::Failure;
using tensor::Purpose;
using tensor::Variable;

// relu(x wᵀ), dropout, cross entropy, backward, w -= lr dw: as a model's step has it.
struct SmallStep {
    std::unique_ptr<device::Device> device;
    tensor::Heap heap{*device};
    graph::Recorder recorder{heap};
    tensor::Tape tape{heap};
    std::vector<float> x = std::vector<float>(12, 0.5f);  // [rows, 3]
    std::vector<int32_t> labels = {0, 1, 1, 0};
    tensor::Tensor w = tensor::tensor_from(heap, {2, 3}, std::span<const float>(std::vector<float>(6, 0.25f)), "fc.weight",
                                           Purpose::parameter);
    int64_t step = 0;

    explicit SmallStep(std::unique_ptr<device::Device> on = device::make_host({})) : device(std::move(on)) {}

    graph::StepInputs inputs() const {
        return {.sources = {{x.data(), x.size(), DType::f32}, {labels.data(), labels.size(), DType::i32}},
                .random_base = static_cast<uint64_t>(step) << 32,
                .learning_rate = 0.1 * double(step + 1)};
    }
    // Runs the step eagerly and records it; `between` is called in its middle.
    template <class Between>
    Graph run(Between between) {
        tape.clear();
        heap.recycle();
        const graph::StepInputs with = inputs();
        recorder.begin(tape, with);
        ++step;
        tensor::RandomCounter counter{7, with.random_base};
        const Variable in = tape.input(
            tensor::tensor_from(heap, {static_cast<int64_t>(x.size()) / 3, 3}, std::span<const float>(x), "x"), "x");
        const Variable want = tape.label(tensor::labels_from(heap, labels, "labels"), "labels");
        const Variable weight = tape.parameter(w, "fc.weight");
        Variable h = tensor::relu(tape, tensor::matmul(tape, in, weight, "fc matmul", true), "relu");
        between(h);
        h = tensor::dropout(tape, h, 0.5, counter, "dropout");
        const Variable loss = tensor::softmax_cross_entropy(tape, h, want, "loss");
        tape.backward(loss);
        const tensor::Tensor dw = tape.take_gradient(weight.node);
        tensor::Launch sgd = tensor::elementwise(
            "sgd", dw.count(),
            {w.pointer(), dw.pointer(), static_cast<float>(with.learning_rate), tensor::size_argument(dw.count())});
        sgd.learning_rate = 2;
        tape.note_update(weight.node, tape.launch(sgd, {"fc.weight", "sgd"}, "update"));
        last_loss = tape.values(loss.node)[0];
        const graph::Recorder::Result results[] = {{"loss", loss.node}};
        return recorder.finish(results);
    }
    double last_loss = 0;
    Graph run() {
        return run([](const Variable&) {});
    }
};

[[maybe_unused]] const graph::Buffer& buffer_named(const Graph& graph, const std::string& name) {
    for (const graph::Buffer& buffer : graph.buffers)
        if (buffer.name == name) return buffer;
    throw Failure("no buffer " + name);
}
}  // namespace
