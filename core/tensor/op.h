// What an op is: one row of ops.cpp. The tape, the cost tables and tests/every_op_test.cpp read the same row.
// forward and backward are written once per op, in ops/<op>.cpp, against the two call structs below.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/tensor/tensor.h"

namespace lockstep::tensor {

struct Attributes {
    bool transpose_b = false;  // matmul: C[M,N] = A[M,K] B[N,K]ᵀ, a linear layer's form
};

struct Cost {  // floating-point operations; bytes when every buffer is moved once a kernel
    double operations = 0, bytes = 0;
};
struct OpCost {
    Cost forward, backward;  // backward: of all inputs that can have a gradient
};

struct Sample {  // one case for the tests: shapes and how their values are drawn
    std::vector<Shape> shapes;
    Attributes attributes = {};
    double gap = 0;  // no value closer to zero than this (a kink of relu)
};

class Tape;

struct Saved {  // a tensor that backward needs; freed as soon as it has run
    std::string name;
    Tensor tensor;
};

struct Launch {  // what an op asks the device to run
    std::string_view kernel;
    simt::Dim3 grid, block;
    std::vector<device::Argument> arguments;
};

struct ForwardCall {
    Tape& tape;
    const std::vector<Tensor>& inputs;
    const Attributes& attributes;
    std::span<const std::string> input_names;
    std::span<const bool> input_needs_grad;
    std::string name;           // of the node: "fc1 matmul"
    Tensor output;              // allocated
    std::vector<Saved> saved;   // filled by forward
    std::vector<int> launches;  // filled by launch()

    void launch(const Launch& launch, const std::string& label = {});  // label: the node's name unless said
    Tensor temporary(const Shape& shape, const std::string& what);
    void save(const std::string& what, const Tensor& tensor);
    void save_input(size_t index);  // under the name of the node it came from
};

struct BackwardCall {
    Tape& tape;
    const std::vector<Shape>& shapes;  // of the inputs
    const Attributes& attributes;
    std::span<const Saved> saved;
    std::span<const bool> wanted;  // which inputs need a gradient
    std::string name;
    std::span<const std::string_view> gradient_names;
    Tensor upstream;                // gradient of the output; null when that is the scalar 1
    std::vector<Tensor> gradients;  // filled by backward, one an input, null where none
    std::vector<int> launches;
    std::vector<int> ready = {};  // by input: the launch that wrote its gradient; -1 where that is the upstream's own

    Tensor& allocate(size_t input);  // a new tensor for the gradient of this input
    void launch(size_t input, const Launch& launch);
    const Tensor& saved_named(size_t index) const { return saved[index].tensor; }
    float upstream_scalar() const;  // of an op with one output element
};

struct OpRow {
    std::string_view name;
    size_t inputs = 1;
    int label_input = -1;                                 // the input that holds i32 labels
    std::array<std::string_view, 2> gradient_names = {};  // for labels: "fc1 dW"
    std::vector<std::string_view> kernels;                // every kernel that forward and backward launch
    // The output's shape; throws Failure that names the node and the shapes.
    Shape (*shape)(const std::vector<Shape>&, const Attributes&, const std::string& name) = nullptr;
    void (*forward)(ForwardCall&) = nullptr;
    void (*backward)(BackwardCall&) = nullptr;
    OpCost (*cost)(const std::vector<Shape>&, const Attributes&) = nullptr;
    std::vector<Sample> (*samples)(Rng&) = nullptr;
};

// Launch shapes that several ops share (kernels/README.md).
Launch elementwise(std::string_view kernel, int64_t count, std::vector<device::Argument> arguments);
device::Argument size_argument(int64_t size);  // as the kernels' int

}  // namespace lockstep::tensor
