// The layers, with PyTorch's names, arguments and initial values. Shapes: B batch, C channels, H height, W width.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/nn/module.h"

namespace lockstep::nn {

// y = x Wᵀ + b with W[outputs, inputs]; both drawn from U(-1/sqrt(inputs), 1/sqrt(inputs)), weight first, then bias.
struct Linear {
    std::string name;                              // "fc1"
    Parameter *weight = nullptr, *bias = nullptr;  // bias null: none

    Linear() = default;
    Linear(Build& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias = true);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;  // [..., inputs] -> [..., outputs]
};

struct Perceptron {  // linear layers fc1, fc2, ... with a ReLU between them, none after the last
    std::vector<Linear> layers;

    Perceptron() = default;
    Perceptron(Build& build, std::span<const int64_t> widths);  // input first
    tensor::Variable operator()(Pass& pass, tensor::Variable x) const;
};

}  // namespace lockstep::nn
