#include "core/nn/layers.h"

#include <fmt/format.h>

#include "core/tensor/ops.h"

namespace lockstep::nn {

using tensor::Variable;

Linear::Linear(Build& build, const std::string& layer, int64_t inputs, int64_t outputs, bool with_bias) : name(layer) {
    weight = build.parameter(layer + ".weight", {outputs, inputs}, Init::fan_in(inputs));
    if (with_bias) bias = build.parameter(layer + ".bias", {outputs}, Init::fan_in(inputs));
}

Variable Linear::operator()(Pass& pass, const Variable& x) const {
    Variable y = tensor::matmul(pass.tape, x, pass(weight), name + " matmul", true);  // [..., inputs] [outputs, inputs]ᵀ
    if (bias) y = tensor::add_bias(pass.tape, y, pass(bias), name + " add");
    return y;
}

Perceptron::Perceptron(Build& build, std::span<const int64_t> widths) {
    for (size_t i = 0; i + 1 < widths.size(); ++i)
        layers.emplace_back(build, fmt::format("fc{}", i + 1), widths[i], widths[i + 1]);
}

Variable Perceptron::operator()(Pass& pass, Variable x) const {
    for (size_t i = 0; i < layers.size(); ++i) {
        x = layers[i](pass, x);
        if (i + 1 < layers.size()) x = tensor::relu(pass.tape, x, fmt::format("relu{}", i + 1));
    }
    return x;
}

}  // namespace lockstep::nn
