// The layers, with PyTorch's names, arguments and initial values. Shapes: B batch, C channels, H height, W width, T places
// of a sequence, D width of a token.
#pragma once
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/nn/layers/module.h"

namespace lockstep::nn {

// y = x Wᵀ + b with W[outputs, inputs]; both drawn from U(-1/sqrt(inputs), 1/sqrt(inputs)), weight first, then bias.
struct Linear {
    std::string name;                              // "fc1"
    Parameter *weight = nullptr, *bias = nullptr;  // bias null: none
    const Sharding* sharding = nullptr;            // of one that is cut by rows: adds the ranks' products up

    Linear() = default;
    Linear(Build& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias = true,
           Cut cut = Cut::whole);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;  // [..., inputs] -> [..., outputs]
};

// Linear layers fc1, fc2, ... with a ReLU between them, none after the last. Over several ranks they alternate between
// columns and rows; an odd last layer takes its part of an input that all have alike.
struct Perceptron {
    std::vector<Linear> layers;
    const Sharding* sharding = nullptr;

    Perceptron() = default;
    Perceptron(Build& build, std::span<const int64_t> widths);  // input first
    tensor::Variable operator()(Pass& pass, tensor::Variable x) const;
    tensor::Variable layer(Pass& pass, size_t index, const tensor::Variable& x) const;  // with its ReLU
    static bool by_columns(size_t index, size_t layers) { return index % 2 == 0 && index + 1 < layers; }
};

struct Conv2d {  // [B, inputs, H, W] -> [B, outputs, H', W']; drawn like Linear, fan-in inputs * kernel^2
    std::string name;
    Parameter *weight = nullptr, *bias = nullptr;
    int64_t stride = 1, padding = 0;

    Conv2d() = default;
    Conv2d(Build& build, const std::string& name, int64_t inputs, int64_t outputs, int64_t kernel, int64_t stride = 1,
           int64_t padding = 0, bool with_bias = true);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;
};

struct ConvTranspose2d {  // [B, inputs, H, W] -> [B, outputs, H', W'], weight[inputs, outputs, kernel, kernel]
    std::string name;
    Parameter *weight = nullptr, *bias = nullptr;
    int64_t stride = 1, padding = 0;

    ConvTranspose2d() = default;
    ConvTranspose2d(Build& build, const std::string& name, int64_t inputs, int64_t outputs, int64_t kernel,
                    int64_t stride = 1, int64_t padding = 0);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;
};

struct BatchNorm2d {  // over B, H, W of each channel; running statistics with momentum 0.1
    std::string name;
    Parameter *weight = nullptr, *bias = nullptr;
    Buffer *running_mean = nullptr, *running_variance = nullptr;
    int64_t ghosts = 1;
    const Sharding* sharding = nullptr;

    BatchNorm2d() = default;
    BatchNorm2d(Build& build, const std::string& name, int64_t channels, int64_t ghosts = 1);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;
};

struct LayerNorm {  // over the last axis
    std::string name;
    Parameter *weight = nullptr, *bias = nullptr;

    LayerNorm() = default;
    LayerNorm(Build& build, const std::string& name, int64_t width);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;
};

struct GroupNorm {  // over the channels of a group and all places, [B, C, ...]
    std::string name;
    Parameter *weight = nullptr, *bias = nullptr;
    int64_t groups = 1;

    GroupNorm() = default;
    GroupNorm(Build& build, const std::string& name, int64_t groups, int64_t channels);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;
};

struct RMSNorm {  // over the last axis
    std::string name;
    Parameter* weight = nullptr;

    RMSNorm() = default;
    RMSNorm(Build& build, const std::string& name, int64_t width);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x) const;
};

struct Embedding {  // rows of weight[vocabulary, width] ~ N(0, deviation)
    std::string name;
    Parameter* weight = nullptr;
    int64_t vocabulary = 0;
    const Sharding* sharding = nullptr;  // of one whose vocabulary is cut

    Embedding() = default;
    Embedding(Build& build, const std::string& name, int64_t vocabulary, int64_t width, double deviation = 1,
              Cut cut = Cut::whole);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& indices) const;  // i32 [...] -> [..., width]
};

struct Cache {  // keys and values of the places seen so far, of one attention: [B, T, heads, D / heads] each
    tensor::Tensor keys, values;
};

struct LSTMCell {  // gates i f g o; weights and biases from U(-1/sqrt(hidden), 1/sqrt(hidden))
    std::string name;
    Parameter *weight_ih = nullptr, *weight_hh = nullptr, *bias_ih = nullptr, *bias_hh = nullptr;
    int64_t hidden = 0;

    LSTMCell() = default;
    LSTMCell(Build& build, const std::string& name, int64_t inputs, int64_t hidden);
    // x[B,inputs], h and c [B,hidden] -> h', c'. `place`: for the names in the graph.
    std::pair<tensor::Variable, tensor::Variable> operator()(Pass& pass, const tensor::Variable& x,
                                                             const tensor::Variable& h, const tensor::Variable& c,
                                                             int64_t place) const;
};

struct GRUCell {  // gates r z n
    std::string name;
    Parameter *weight_ih = nullptr, *weight_hh = nullptr, *bias_ih = nullptr, *bias_hh = nullptr;
    int64_t hidden = 0;

    GRUCell() = default;
    GRUCell(Build& build, const std::string& name, int64_t inputs, int64_t hidden);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x, const tensor::Variable& h, int64_t place) const;
};

struct RNNCell {  // h' = tanh(x Wiᵀ + bi + h Whᵀ + bh)
    std::string name;
    Parameter *weight_ih = nullptr, *weight_hh = nullptr, *bias_ih = nullptr, *bias_hh = nullptr;
    int64_t hidden = 0;

    RNNCell() = default;
    RNNCell(Build& build, const std::string& name, int64_t inputs, int64_t hidden);
    tensor::Variable operator()(Pass& pass, const tensor::Variable& x, const tensor::Variable& h, int64_t place) const;
};

}  // namespace lockstep::nn
