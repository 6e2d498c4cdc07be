// Elementwise ops of two inputs, with NumPy's broadcasting: two launches' worth of kernels each, one for equal shapes
// without gaps and one that walks strides. The gradient of an input that was broadcast is summed back to its shape.
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

namespace {
Shape shape(Types in, const Attributes&) {
    return broadcast(in[0].shape, in[1].shape);
}

struct Kernel {
    std::string_view plain, strided;
};

Launch combine(Kernel kernel, const Tensor& a, const Tensor& b, const Tensor& y) {
    if (a.shape == y.shape && b.shape == y.shape && a.contiguous() && b.contiguous())
        return elementwise(kernel.plain, y.count(), {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count())});
    Arguments arguments = {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count()),
                           static_cast<int32_t>(y.shape.size())};
    append_walk(arguments, y.shape, expanded(a, y.shape).strides);
    append_strides(arguments, expanded(b, y.shape).strides);
    return elementwise(kernel.strided, y.count(), arguments);
}

void add_forward(ForwardCall& call) {
    call.launch(combine({"add", "add_broadcast"}, call.inputs[0], call.inputs[1], call.output));
}
void add_backward(BackwardCall& call) {
    for (size_t i = 0; i < 2; ++i)
        if (call.wants(i)) reduce_into(call, i, call.upstream);
}

// Forward: the output and both inputs, each as large as it is. Backward: an input that was broadcast is summed.
OpCost add_cost(Types in, const Attributes&) {
    const Shape out = broadcast(in[0].shape, in[1].shape);
    const double n = double(count_of(out)), e = double(size_of(in[0].dtype));
    OpCost cost{{n, e * n + in[0].bytes() + in[1].bytes()}, {}};
    for (const TensorType& input : in)
        if (input.shape != out) cost.backward += {n - double(input.count()), e * n + input.bytes()};
    return cost;
}

std::vector<Sample> samples(Rng& rng) {
    const int64_t n = 1 + int64_t(rng.below(40));
    return {{{{1}, {1}}}, {{{3, n}, {3, n}}}, {{{4, 1, n}, {3, 1}}}, {{{}, {2, n}}}};
}
}  // namespace

const OpRow add_row = {
    .name = "add",
    .inputs = 2,
    .takes_strides = true,
    .gradient_names = {"da", "db"},
    .kernels = {"add", "add_broadcast", "sum_strided"},
    .shape = shape,
    .forward = add_forward,
    .backward = add_backward,
    .cost = add_cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
