#include "core/nn/model.h"

#include <fmt/format.h>

#include <cmath>

#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Tensor;
using tensor::Variable;

static Parameter draw(tensor::Heap& heap, const std::string& name, const tensor::Shape& shape, double bound, Rng& rng) {
    std::vector<float> values(static_cast<size_t>(tensor::count_of(shape)));
    for (float& value : values) value = static_cast<float>(rng.uniform(-bound, bound));
    return {name, tensor::tensor_from(heap, shape, values, name, tensor::Purpose::parameter), -1};
}

Linear::Linear(tensor::Heap& heap, const std::string& layer, int64_t inputs, int64_t outputs, Rng& rng) : name(layer) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(inputs));
    weight = draw(heap, layer + ".weight", {outputs, inputs}, bound, rng);
    bias = draw(heap, layer + ".bias", {outputs}, bound, rng);
}

Variable Linear::operator()(tensor::Tape& tape, Variable x, bool training) {
    const auto leaf = [&](Parameter& parameter) {
        Variable variable =
            training ? tape.parameter(parameter.value, parameter.name) : tape.input(parameter.value, parameter.name);
        parameter.node = variable.node;
        return variable;
    };
    x = tensor::matmul(tape, x, leaf(weight), name + " matmul", true);  // [B,in] [out,in]ᵀ
    return tensor::add_bias(tape, x, leaf(bias), name + " add");        // [B,out]
}

Model::Model(tensor::Heap& heap, const ModelRow& row, uint64_t seed) : name(row.name) {
    Rng rng(seed);
    for (size_t i = 0; i + 1 < row.widths.size(); ++i)
        layers.emplace_back(heap, fmt::format("fc{}", i + 1), row.widths[i], row.widths[i + 1], rng);
}

Variable Model::operator()(tensor::Tape& tape, Variable x, bool training) {
    for (size_t i = 0; i < layers.size(); ++i) {
        x = layers[i](tape, std::move(x), training);
        if (i + 1 < layers.size()) x = tensor::relu(tape, x, fmt::format("relu{}", i + 1));
    }
    return x;
}

std::vector<Parameter*> Model::parameters() {
    std::vector<Parameter*> all;
    for (Linear& layer : layers) {
        all.push_back(&layer.weight);
        all.push_back(&layer.bias);
    }
    return all;
}

void sgd_step(tensor::Tape& tape, std::span<Parameter* const> parameters, double learning_rate) {
    for (Parameter* parameter : parameters) {
        const Tensor gradient = tape.take_gradient(parameter->node);
        if (!gradient) continue;
        const int64_t count = gradient.count();
        const int launch = tape.launch(
            tensor::elementwise("sgd", count,
                                {parameter->value.pointer(), gradient.pointer(),
                                 tensor::scalar_argument(learning_rate, gradient.dtype), tensor::size_argument(count)}),
            {parameter->name, "sgd"}, "update", gradient.dtype);
        tape.note_update(parameter->node, launch);
    }
}

}  // namespace lockstep::nn
