// Elementwise ops of two inputs, with NumPy's broadcasting: a table. Two kernels each, one for equal shapes without gaps and
// one that walks strides. The gradient of an input that was broadcast is summed back to its shape.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/tensor/ops.h"
#include "core/tensor/ops/expression.h"
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
constexpr Kernel mul_kernel{"mul", "mul_broadcast"}, div_kernel{"div", "div_broadcast"};

Launch combine(Kernel kernel, const Tensor& a, const Tensor& b, const Tensor& y) {
    if (a.shape == y.shape && b.shape == y.shape && a.contiguous() && b.contiguous())
        return elementwise(kernel.plain, y.count(), {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count())});
    Arguments arguments = {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count()),
                           static_cast<int32_t>(y.shape.size())};
    append_walk(arguments, y.shape, expanded(a, y.shape).strides);
    append_strides(arguments, expanded(b, y.shape).strides);
    return elementwise(kernel.strided, y.count(), arguments);
}

// The gradient before it is summed: the input's own gradient where it was not broadcast.
Tensor full_gradient(BackwardCall& call, size_t input) {
    if (call.inputs[input].shape == call.output.shape) return call.allocate(input);
    return call.temporary(call.output.shape, "full", call.dtype);
}

// The input as large as the output, without gaps.
Tensor whole(BackwardCall& call, size_t input, const Tensor& tensor) {
    if (tensor.shape == call.output.shape && tensor.contiguous()) return tensor;
    const Tensor copy = call.temporary(call.output.shape, "whole", call.dtype);
    call.launch(input, copy_strided(expanded(tensor, call.output.shape), copy));
    return copy;
}

// How an input's gradient comes about, before it is summed: a kernel each, but for `passes`.
enum class Way : uint8_t {
    passes,     // it is dy
    negates,    // -dy
    combines,   // dy with the other input: dy b
    by_slope,   // from a, b and dy, all as large as the output
    exchanged,  // the same with a and b exchanged
};
struct Gradient {
    Way way = Way::passes;
    Kernel kernel = {};
};

struct Binary {
    std::string_view name;
    Kernel kernel;
    std::array<Gradient, 2> gradients;
    double low = -2, high = 2, low_b = -2, high_b = 2;  // samples of a and b
    Expression (*derivative)(size_t input, Expression a, Expression b, Expression upstream) = nullptr;

    constexpr bool keeps(size_t input) const {  // whether backward needs this input
        for (size_t i = 0; i < 2; ++i) {
            if (gradients[i].way == Way::by_slope || gradients[i].way == Way::exchanged) return true;
            if (gradients[i].way == Way::combines && input != i) return true;
        }
        return false;
    }
};

template <const Binary& row>
void forward(ForwardCall& call) {
    call.launch(combine(row.kernel, call.inputs[0], call.inputs[1], call.output));
    if (row.keeps(0)) call.save_input(0);
    if (row.keeps(1)) call.save_input(1);
}

template <const Binary& row>
void backward(BackwardCall& call) {
    for (size_t i = 0; i < 2; ++i) {
        if (!call.wants(i)) continue;
        const Gradient& gradient = row.gradients[i];
        const Tensor& dy = call.upstream;
        Tensor full = dy;
        if (gradient.way == Way::negates) {
            full = full_gradient(call, i);
            call.launch(i, elementwise("neg", dy.count(), {dy.pointer(), full.pointer(), size_argument(dy.count())}));
        } else if (gradient.way == Way::combines) {
            full = full_gradient(call, i);
            call.launch(i, combine(gradient.kernel, dy, call.kept(1 - i), full));
        } else if (gradient.way != Way::passes) {
            Tensor a = whole(call, i, call.kept(0)), b = whole(call, i, call.kept(1));
            if (gradient.way == Way::exchanged) std::swap(a, b);
            full = full_gradient(call, i);
            call.launch(i, elementwise(gradient.kernel.plain, dy.count(),
                                       {a.pointer(), b.pointer(), dy.pointer(), full.pointer(), size_argument(dy.count())}));
        }
        reduce_into(call, i, full);
    }
}

template <const Binary& row>
void differentiate(DifferentiateCall& call) {
    for (size_t i = 0; i < 2; ++i) {
        if (!call.wants(i)) continue;
        const bool both = row.keeps(0) && row.keeps(1);  // all rows keep both or neither
        const Variable a = both ? call.kept(0) : call.upstream, b = both ? call.kept(1) : call.upstream;
        const NodeName name = call.label(i);
        const Expression full =
            row.derivative(i, {call.tape, a, name}, {call.tape, b, name}, {call.tape, call.upstream, name});
        call.gradients[i] = sum_to(call.tape, full.variable(), call.inputs[i].shape, name);
    }
}

// Every buffer once a kernel: what was broadcast is copied where a slope needs it whole, and the gradient is summed.
template <const Binary& row>
OpCost cost(Types in, const Attributes&) {
    const Shape out = broadcast(in[0].shape, in[1].shape);
    const double n = double(count_of(out)), e = double(size_of(in[0].dtype));
    OpCost cost{{n, e * n + in[0].bytes() + in[1].bytes()}, {}};
    for (size_t i = 0; i < 2; ++i) {
        switch (row.gradients[i].way) {
            case Way::passes:
                break;
            case Way::negates:
                cost.backward += {n, 2 * e * n};
                break;
            case Way::combines:
                cost.backward += {n, 2 * e * n + in[1 - i].bytes()};
                break;
            case Way::by_slope:
            case Way::exchanged:
                cost.backward += {4 * n, 4 * e * n};
                for (const TensorType& input : in)
                    if (input.shape != out) cost.backward += {0, input.bytes() + e * n};
        }
        if (in[i].shape != out) cost.backward += {n - double(in[i].count()), e * n + in[i].bytes()};
    }
    return cost;
}

template <const Binary& row>
std::vector<Sample> samples(Rng& rng) {
    const int64_t n = 1 + int64_t(rng.below(40));
    std::vector<Sample> all;
    for (const auto& shapes :
         std::vector<std::vector<Shape>>{{{1}, {1}}, {{3, n}, {3, n}}, {{4, 1, n}, {3, 1}}, {{}, {2, n}}, {{2, n}, {n}}})
        all.push_back({.shapes = shapes, .ranges = {{row.low, row.high}, {row.low_b, row.high_b}}});
    return all;
}

template <const Binary& row>
OpRow row_of() {
    OpRow made;
    made.name = row.name;
    made.inputs = 2;
    made.takes_strides = true;
    made.gradient_names = {"da", "db"};
    made.kernels = {row.kernel.plain, row.kernel.strided, "sum_strided"};
    const auto also = [&](std::string_view kernel) {
        if (!kernel.empty() && std::find(made.kernels.begin(), made.kernels.end(), kernel) == made.kernels.end())
            made.kernels.push_back(kernel);
    };
    for (const Gradient& gradient : row.gradients) {
        if (gradient.way == Way::negates) also("neg");
        if (gradient.way == Way::by_slope || gradient.way == Way::exchanged) also("copy_strided");
        also(gradient.kernel.plain);
        also(gradient.kernel.strided);
    }
    made.shape = shape;
    made.forward = forward<row>;
    made.backward = backward<row>;
    made.differentiate = differentiate<row>;
    made.cost = cost<row>;
    made.samples = samples<row>;
    return made;
}

using E = Expression;
constexpr Binary add_table{
    .name = "add", .kernel = {"add", "add_broadcast"}, .gradients = {}, .derivative = [](size_t, E, E, E d) { return d; }};
constexpr Binary sub_table{.name = "sub",
                           .kernel = {"sub", "sub_broadcast"},
                           .gradients = {{{Way::passes}, {Way::negates}}},
                           .derivative = [](size_t i, E, E, E d) { return i == 0 ? d : -d; }};
constexpr Binary mul_table{.name = "mul",
                           .kernel = mul_kernel,
                           .gradients = {{{Way::combines, mul_kernel}, {Way::combines, mul_kernel}}},
                           .derivative = [](size_t i, E a, E b, E d) { return d * (i == 0 ? b : a); }};
constexpr Binary div_table{.name = "div",
                           .kernel = div_kernel,
                           .gradients = {{{Way::combines, div_kernel}, {Way::by_slope, {"div_backward", ""}}}},
                           .low_b = 0.2,
                           .high_b = 3,
                           .derivative = [](size_t i, E a, E b, E d) { return i == 0 ? d / b : -(d * a / (b * b)); }};
constexpr Binary pow_table{
    .name = "pow",
    .kernel = {"pow", "pow_broadcast"},
    .gradients = {{{Way::by_slope, {"pow_backward_base", ""}}, {Way::by_slope, {"pow_backward_exponent", ""}}}},
    .low = 0.2,
    .high = 3,
    .derivative = [](size_t i, E a, E b, E d) {
        if (i == 0) return d * b * a.with("pow", b - 1.0);
        return d * a.with("pow", b) * a.through("log");
    }};
// 1 where `ahead` is above 0, half where it is 0: where both are equal each gets half.
E shared(E ahead, E d) {
    return 0.5 * (d * (inside(ahead, 0, INFINITY) + (1 - inside(ahead, -INFINITY, 0))));
}
constexpr Binary maximum_table{
    .name = "maximum",
    .kernel = {"maximum", "maximum_broadcast"},
    .gradients = {{{Way::by_slope, {"maximum_backward", ""}}, {Way::exchanged, {"maximum_backward", ""}}}},
    .derivative = [](size_t i, E a, E b, E d) { return shared(i == 0 ? a - b : b - a, d); }};
constexpr Binary minimum_table{
    .name = "minimum",
    .kernel = {"minimum", "minimum_broadcast"},
    .gradients = {{{Way::by_slope, {"minimum_backward", ""}}, {Way::exchanged, {"minimum_backward", ""}}}},
    .derivative = [](size_t i, E a, E b, E d) { return shared(i == 0 ? b - a : a - b, d); }};
}  // namespace

const OpRow add_row = row_of<add_table>(), sub_row = row_of<sub_table>(), mul_row = row_of<mul_table>(),
            div_row = row_of<div_table>(), pow_row = row_of<pow_table>(), maximum_row = row_of<maximum_table>(),
            minimum_row = row_of<minimum_table>();

}  // namespace lockstep::tensor
