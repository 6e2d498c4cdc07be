// What an op is: one row of ops.cpp. The tape, the cost tables and tests/every/op_test.cpp read the same row.
// forward and backward are written once per op, in ops/<op>.cpp, against the call structs below; they launch kernels by
// their base name ("relu"), and the call adds the element type ("relu_f64"). Inputs arrive contiguous unless the row takes
// strides. An op has one output: a cell with two (an LSTM's h and c) stacks them, and views take them apart.
#pragma once
#include <array>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/tensor/tensor.h"

namespace lockstep::tensor {

struct Attributes {                         // what an op is told besides its inputs; each row reads the few that it knows
    bool transpose_b = false;               // matmul: C[M,N] = A[M,K] B[N,K]ᵀ is a linear layer's form
    bool keepdim = false;                   // reductions: a reduced axis stays, with extent 1
    bool causal = false;                    // attention: position i sees 0..i
    bool training = true;                   // dropout, batch norm
    int64_t axis = 0;                       // from the end where negative
    Shape axes = {};                        // of a reduction (none: all), of a permutation
    Shape sizes = {};                       // of reshape and expand
    int64_t start = 0, stop = 0, step = 1;  // of a slice
    std::array<int64_t, 2> kernel = {1, 1}, stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};  // height, width
    int64_t groups = 1, heads = 1;
    double alpha = 0, beta = 0;     // scale, slope, bounds, epsilon, momentum, probability: the row says which
    uint64_t seed = 0, offset = 0;  // of the counter-based generator
    int mode = 0;                   // where an op has variants: the row says which
    int64_t ignored = -100;         // losses: rows with this label take no part
    DType dtype = DType::f32;       // of a cast
    const void* context = nullptr;  // of a row made at run time: what it works with; outlives the tape
};

struct TensorType {  // what is known of a tensor before it has values
    Shape shape;
    DType dtype = DType::f32;

    int64_t count() const { return count_of(shape); }
    double bytes() const { return double(count_of(shape)) * double(size_of(dtype)); }
};
using Types = std::span<const TensorType>;

struct Cost {  // arithmetic operations; bytes when every buffer is moved once a kernel
    double operations = 0, bytes = 0;
    Cost& operator+=(const Cost& other) {
        operations += other.operations;
        bytes += other.bytes;
        return *this;
    }
};
struct OpCost {
    Cost forward, backward;  // backward: of all inputs that can have a gradient, with an upstream gradient in memory
};

struct Sample {  // one case for the tests: shapes, and how their values are drawn
    std::vector<Shape> shapes;
    Attributes attributes = {};
    double gap = 0;                                  // no value closer to zero than this (a kink of relu)
    double low = -1, high = 1;                       // of floating inputs
    std::vector<std::array<double, 2>> ranges = {};  // of each input, where they differ; [low, high)
    DType integers = DType::i32;                     // type of integer inputs
    bool smooth = true;                              // finite differences make sense (not where values are rounded)
    std::vector<std::vector<double>> given = {};     // of each input: its values, where they are not drawn
    int64_t classes = 0;                             // integer inputs are below this; 0: the first input's last extent
};

class Tape;
struct OpRow;

struct Variable {  // a handle: a node of a tape, and its value
    int node = -1;
    Tensor value;

    const Shape& shape() const { return value.shape; }
    DType dtype() const { return value.dtype; }
};

// A node's name and the line of the model code that named it: any string turns into one.
struct NodeName {
    std::string text;
    std::source_location where;

    NodeName(std::string t, std::source_location w = std::source_location::current()) : text(std::move(t)), where(w) {}
    NodeName(std::string_view t, std::source_location w = std::source_location::current()) : text(t), where(w) {}
    NodeName(const char* t, std::source_location w = std::source_location::current()) : text(t), where(w) {}
};

struct Saved {  // a tensor that backward needs; freed as soon as it has run
    Tensor tensor;
    int node = -1;               // whose value it is; -1: of no node
    std::string_view what = {};  // otherwise: a literal, "probabilities"
};

class Arguments {  // of a launch: at most 40, in place
  public:
    Arguments() = default;
    Arguments(std::initializer_list<device::Argument> list) {
        for (const device::Argument& argument : list) push_back(argument);
    }
    void push_back(const device::Argument& argument) { values_.at(size_++) = argument; }
    const device::Argument* begin() const { return values_.data(); }
    const device::Argument* end() const { return values_.data() + size_; }
    size_t size() const { return size_; }

  private:
    std::array<device::Argument, 40> values_;
    size_t size_ = 0;
};

struct Launch {               // what an op asks the device to run
    std::string_view kernel;  // base name: the type comes from the call, or from `type`
    simt::Dim3 grid, block;
    Arguments arguments;
    std::optional<DType> type = {};
    bool named_whole = false;  // `kernel` is the whole name: "cast_f32_f16"
    uint32_t dynamic_shared = 0;
    // Arguments that change from step to step, for a recorded step to set anew: the index of the generator's offset, of the
    // learning rate. -1: there is none.
    int random_offset = -1, learning_rate = -1;
};

struct ForwardCall {
    Tape& tape;
    const OpRow& op;
    std::span<const Tensor> inputs;
    std::span<const int> nodes;  // of the inputs
    const Attributes& attributes;
    std::string_view name;  // of the node: "fc1 matmul"
    int node;               // its number
    DType dtype;            // of the first floating input
    Tensor output;          // allocated, but for a view
    std::vector<Saved>& saved;
    std::vector<int>& launches;  // filled by launch()

    bool needs_grad(size_t input) const;
    void launch(const Launch& launch, std::string_view what = {});  // labelled with the node's name and `what`
    Tensor temporary(const Shape& shape, std::string_view what);    // of the call's type
    Tensor temporary(const Shape& shape, std::string_view what, DType type);
    void save(std::string_view what, const Tensor& tensor);  // `what` is a literal
    void save_input(size_t index);
    void save_output();
};

struct BackwardCall {
    Tape& tape;
    const OpRow& op;
    Types inputs;
    const TensorType& output;
    std::span<const int> nodes;  // of the inputs
    const Attributes& attributes;
    std::span<const Saved> saved;
    std::string_view name;
    DType dtype;
    Tensor upstream;  // gradient of the output, contiguous; null when that is the scalar 1 and the row takes that
    std::vector<Tensor> gradients;  // filled by backward, one an input, null where none
    std::vector<int> launches = {};
    std::vector<int> ready = {};  // by input: the launch that wrote its gradient; -1 where that is the upstream's own
    const std::vector<bool>* only = nullptr;  // nodes that gradients are asked for; null: all

    bool wants(size_t input) const;  // whether this input needs a gradient
    const Tensor& kept(size_t index) const { return saved[index].tensor; }
    Tensor& allocate(size_t input);  // a new tensor for the gradient of this input
    void launch(size_t input, const Launch& launch);
    Tensor temporary(const Shape& shape, std::string_view what, DType type);
    double upstream_scalar() const;  // of an op with one output element; reads it from the device
};

// The gradient as ops on Variables, for derivatives of derivatives. What backward kept arrives as Variables.
struct DifferentiateCall {
    Tape& tape;
    const OpRow& op;
    Types inputs;
    std::span<const int> nodes;
    const Attributes& attributes;
    std::span<const Saved> saved;
    std::string name;
    Variable upstream;
    std::vector<Variable> gradients;  // filled, one an input; node -1 where none
    const std::vector<bool>* only = nullptr;

    bool wants(size_t input) const;
    Variable kept(size_t index) const;                               // throws Failure for a tensor that is no node's value
    NodeName label(size_t input, std::string_view step = {}) const;  // "fc1 dW"
};

struct OpRow {
    std::string_view name;
    // What a text gives a call besides tensors, in this order: names of attributes (op.cpp); one with "=" may be left out
    // and has then that value: "axis start stop step=1".
    std::string_view numbers = {};
    bool elementwise = false;  // y[i] = f(x[i]), by the first kernel, which takes x, y, how many, and the numbers
    size_t inputs = 1;
    bool variadic = false;                                // `inputs` or more
    uint32_t integer_inputs = 0;                          // bit i: input i holds integers (i32, i64, u8)
    uint32_t constant_inputs = 0;                         // bit i: input i gets no gradient (a table of constants)
    uint32_t any_inputs = 0;                              // bit i: input i is of any type
    size_t written_inputs = 0;                            // so many, the last ones, are written in place while it trains
    bool takes_strides = false;                           // forward reads its inputs by their strides
    bool takes_unit_upstream = false;                     // backward understands a null upstream as the scalar 1
    std::array<std::string_view, 4> gradient_names = {};  // for labels: "fc1 dW"; the last one stands for all further inputs
    std::vector<std::string_view> kernels;                // base names of all that forward and backward launch
    std::vector<DType> types = {DType::f32, DType::f64, DType::f16, DType::bf16};  // that the kernels exist for
    // The output's shape. Throws Failure with the shapes; the tape puts the node's name and the op in front.
    Shape (*shape)(Types inputs, const Attributes&) = nullptr;
    DType (*result)(Types inputs,
                    const Attributes&) = nullptr;  // element type of the output; null: of the first floating input
    void (*forward)(ForwardCall&) = nullptr;       // null for a view
    Tensor (*view)(const Tensor& input, const Attributes&) = nullptr;  // for a view: shares the storage, launches nothing
    void (*backward)(BackwardCall&) = nullptr;                         // null: no gradient passes (argmax, detach)
    void (*differentiate)(DifferentiateCall&) = nullptr;               // null: no second derivative
    OpCost (*cost)(Types inputs, const Attributes&) = nullptr;
    std::vector<Sample> (*samples)(Rng&) = nullptr;
};

// Of an op that a text cannot call: it needs a seed, a type, a state or words of integers.
inline constexpr std::string_view not_from_text = "-";
int64_t whole(double number);  // throws Failure where it is none
// The attributes of a call with these numbers. Throws Failure, which says how many the op takes.
Attributes attributes_of(const OpRow& op, std::span<const double> numbers);

// Launch shapes that several ops share; a row says which one its kernel has (core/device/kernels/kernel.h).
Launch elementwise(std::string_view kernel, int64_t count, Arguments arguments);
device::Argument size_argument(int64_t size);  // as the kernels' int
device::Argument scalar_argument(double value,
                                 DType type);  // as the kernels' Acc<T>: double for f64, float, int for i32, ...
std::string gradient_label(std::string_view name, std::string_view gradient);  // "fc1 matmul", "dW": "fc1 dW"
std::string_view without_last_word(std::string_view name);                     // "fc1" for "fc1 matmul"

}  // namespace lockstep::tensor
