// Layers and models over the tape: a Parameter lives on the device from step to step; a layer's call records its ops.
// Linear is PyTorch's: y = x Wᵀ + b with W[out, in], both drawn from U(-1/sqrt(in), 1/sqrt(in)), weight first, then bias.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/models.h"
#include "core/tensor/tape.h"

namespace lockstep::nn {

struct Parameter {
    std::string name;  // "fc1.weight"
    tensor::Tensor value;
    int node = -1;  // on the tape of the step under way
};

struct Linear {
    std::string name;  // "fc1"
    Parameter weight, bias;

    Linear(tensor::Heap& heap, const std::string& name, int64_t inputs, int64_t outputs, Rng& rng);
    tensor::Variable operator()(tensor::Tape& tape, tensor::Variable x, bool training);
};

struct Model {  // linear layers with a ReLU between them
    std::string name;
    std::vector<Linear> layers;

    Model(tensor::Heap& heap, const ModelRow& row, uint64_t seed);
    // The logits. training: the parameters get gradients.
    tensor::Variable operator()(tensor::Tape& tape, tensor::Variable x, bool training = true);
    std::vector<Parameter*> parameters();
};

// Stochastic gradient descent, w -= lr gradient, one launch a parameter; frees each gradient once it is used.
void sgd_step(tensor::Tape& tape, std::span<Parameter* const> parameters, double learning_rate);

}  // namespace lockstep::nn
