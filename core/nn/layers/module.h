// What layers and models are made of. A layer is a plain struct of Parameters, made by Build and called on a Pass; names and
// initial values are PyTorch's. Parameters live on the device from step to step, in the model's ParameterList.
//
//     struct Linear { Parameter *weight, *bias; Variable operator()(Pass&, const Variable& x); };
//     Build build{heap, rng, parameters};
//     Linear fc1(build, "fc1", 784, 128);
//     Pass pass{tape};
//     Variable y = fc1(pass, x);
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/rng.h"
#include "core/nn/layers/sharding.h"
#include "core/tensor/sequence_ops.h"
#include "core/tensor/tape.h"

namespace lockstep::nn {

struct Cache;
struct Conv2d;
struct Linear;

struct StandIn {  // what takes a layer's product over (a convolution's with its bias); shapes as the layer's own
    virtual ~StandIn() = default;
    virtual int64_t bytes() const = 0;  // of what stands for the weight
    virtual tensor::Variable linear(Pass& pass, const Linear& layer, const tensor::Variable& x) const = 0;
    virtual tensor::Variable conv2d(Pass& pass, const Conv2d& layer, const tensor::Variable& x) const = 0;
    // Product, bias and ReLU in one, in the form that `next`, the layer that alone reads them, takes; none: op by op.
    virtual std::optional<tensor::Variable> linear_into(Pass&, const Linear&, const Linear& /*next*/,
                                                        const tensor::Variable&) const {
        return {};
    }
};

struct Parameter {
    std::string name;  // "fc1.weight"
    tensor::Tensor value;
    bool trainable = true;
    int node = -1;      // on the tape of the pass under way
    uint64_t pass = 0;  // which one that is
    // Cheaper arithmetic (core/nn/cheaper): what stands between this parameter and the layer that uses it.
    DType compute = DType::f32;                   // the type that layers see; `value` keeps its own: a master copy
    tensor::Tensor mask = {};                     // of ones and zeros, in value's type: what is pruned stays zero
    std::shared_ptr<const StandIn> product = {};  // takes the product x Wᵀ or the convolution over: int8, LoRA
    int seen = -1;                                // its place in Pass::seen
};

struct Buffer {  // state that no gradient reaches: running statistics
    std::string name;
    tensor::Tensor value;
};

class ParameterList {  // addresses stay; the order is that of making
  public:
    ParameterList() = default;
    ParameterList(const ParameterList&) = delete;
    ParameterList& operator=(const ParameterList&) = delete;

    Parameter* add(Parameter parameter);  // throws Failure where the name is taken
    Buffer* add(Buffer buffer);
    std::deque<Parameter>& parameters() { return parameters_; }
    const std::deque<Parameter>& parameters() const { return parameters_; }
    std::deque<Buffer>& buffers() { return buffers_; }
    const std::deque<Buffer>& buffers() const { return buffers_; }
    std::vector<Parameter*> all();
    int64_t count() const;  // elements of all parameters
    Parameter* find(std::string_view name);

  private:
    std::deque<Parameter> parameters_;
    std::deque<Buffer> buffers_;
};

// How a parameter begins. Draws come from one generator in the order of making, so a seed gives the same bits everywhere.
struct Init {
    enum class Kind : uint8_t { constant, uniform, normal } kind = Kind::constant;
    double value = 0;  // the constant; the bound of U(-bound, bound); the standard deviation of N(0, sigma)

    static Init constant(double value) { return {Kind::constant, value}; }
    static Init uniform(double bound) { return {Kind::uniform, bound}; }
    static Init normal(double sigma) { return {Kind::normal, sigma}; }
    // U(-1/sqrt(fan_in), 1/sqrt(fan_in)): of PyTorch's Linear and convolutions, weights and biases.
    static Init fan_in(int64_t inputs);
};

struct Build {
    tensor::Heap& heap;
    Rng& rng;
    ParameterList& list;
    DType dtype = DType::f32;
    std::optional<DType> compute = {};  // of layers, where it is not dtype: f16 or bf16 beside f32
    const Sharding* sharding = &one_rank;
    bool held = true;  // by this rank: otherwise values are drawn and let go, and what is made is null
    // Hears of every parameter that is held, with its shape before cutting.
    std::function<void(Parameter* made, const tensor::Shape& full, Cut cut)> made = {};
    // Hears of every parameter, held or not, before there is a tensor for it.
    std::function<void(const std::string& name, const tensor::Shape& full)> asked = {};

    DType activations() const { return compute.value_or(dtype); }
    // All of it is drawn, so that a run on many ranks begins with the values of a run on one; this rank keeps its slice.
    // Throws Failure where the extent does not divide.
    Parameter* parameter(const std::string& name, const tensor::Shape& full, Init init, Cut cut = Cut::whole);
    Buffer* buffer(const std::string& name, const tensor::Shape& shape, double value);
};

struct Pass {  // one forward pass
    tensor::Tape& tape;
    bool training = true;               // parameters get gradients; dropout drops, batch norm takes the batch's statistics
    tensor::RandomCounter random = {};  // of dropout and noise; counts on
    int64_t step = 0;                   // of the training
    uint64_t number = next_number();    // tells passes apart, so that a parameter used twice is one leaf
    // Parameters as layers see them, where that is not as they are stored: clear() before another forward on this tape.
    std::vector<std::pair<const Parameter*, tensor::Variable>> seen = {};
    std::vector<Cache>* caches = nullptr;  // of a language model's layers, whose tokens follow what they hold

    void renumber() { number = next_number(); }         // parameters become leaves anew
    tensor::Variable operator()(Parameter* parameter);  // as layers see it: masked, rounded to its compute type
    tensor::Variable leaf(Parameter* parameter);        // as it is stored: a leaf of the tape
    tensor::Variable operator()(Buffer* buffer);

  private:
    static uint64_t next_number();
};

// Logits for a loss: losses are taken in the type of the parameters, whatever the layers compute in.
tensor::Variable in_full(Pass& pass, const tensor::Variable& logits, DType full);

// Stochastic gradient descent, w -= lr gradient, one launch a parameter; frees each gradient once it is used.
void sgd_step(tensor::Tape& tape, std::span<Parameter* const> parameters, double learning_rate);

}  // namespace lockstep::nn
