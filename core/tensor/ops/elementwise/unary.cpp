// Elementwise functions of one tensor: a table. A row says whether backward needs the input or the output, which numbers it
// takes, and its gradient as ops, for derivatives of derivatives. The values and slopes stand in kernels/unary.cu; a kernel
// has the row's name where it says no other, and the kernel of its gradient has "_backward" behind it.
#include <cmath>

#include "core/tensor/ops/expression.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

namespace {
enum class Keep : uint8_t { nothing, input, output };  // nothing: a linear function, whose gradient is the function itself

struct Unary {
    std::string_view name, kernel = name;
    Keep keep = Keep::nothing;
    std::string_view numbers = {};                   // that both kernels take: "alpha beta"
    double operations = 1, operations_backward = 2;  // an element
    double low = -2, high = 2, gap = 0;              // samples
    double alpha = 0, beta = 0;
    Expression (*derivative)(Expression kept, Expression upstream,
                             const Attributes& a) = nullptr;  // null: no gradient passes
};

bool has_gradient(const Unary& row) {
    return row.derivative != nullptr;
}
template <const Unary& row>
std::string_view backward_kernel() {
    static const std::string name = std::string(row.kernel) + (row.keep == Keep::nothing ? "" : "_backward");
    return name;
}

Arguments with_numbers(const Unary& row, Arguments arguments, double alpha, double beta, DType type) {
    if (row.numbers.starts_with("alpha")) arguments.push_back(scalar_argument(alpha, type));
    if (row.numbers.starts_with("alpha beta")) arguments.push_back(scalar_argument(beta, type));
    return arguments;
}

Shape shape(Types in, const Attributes&) {
    return in[0].shape;
}

template <const Unary& row>
void forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    const Arguments tensors = {x.pointer(), call.output.pointer(), size_argument(x.count())};
    const Attributes& a = call.attributes;
    call.launch(elementwise(row.kernel, x.count(), with_numbers(row, tensors, a.alpha, a.beta, call.dtype)));
    if (row.keep == Keep::input) call.save_input(0);
    if (row.keep == Keep::output) call.save_output();
}

template <const Unary& row>
void backward(BackwardCall& call) {
    if (!call.wants(0)) return;
    const Tensor &dy = call.upstream, &dx = call.allocate(0);
    const bool linear = row.keep == Keep::nothing;  // d(a x + b) = a dx + 0
    Arguments tensors;
    if (!linear) tensors.push_back(call.kept(0).pointer());
    for (const device::Argument& argument :
         {device::Argument(dy.pointer()), device::Argument(dx.pointer()), size_argument(dx.count())})
        tensors.push_back(argument);
    const Attributes& a = call.attributes;
    call.launch(0, elementwise(backward_kernel<row>(), dx.count(),
                               with_numbers(row, tensors, a.alpha, linear ? 0 : a.beta, call.dtype)));
}

template <const Unary& row>
void differentiate(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    const Expression upstream(call.tape, call.upstream, call.label(0));
    const Variable kept = row.keep == Keep::nothing ? call.upstream : call.kept(0);
    call.gradients[0] = row.derivative({call.tape, kept, call.label(0)}, upstream, call.attributes).variable();
}

template <const Unary& row>
OpCost cost(Types in, const Attributes&) {
    const double n = double(in[0].count()), bytes = in[0].bytes();
    if (!has_gradient(row)) return {{row.operations * n, 2 * bytes}, {}};
    return {{row.operations * n, 2 * bytes}, {row.operations_backward * n, (row.keep == Keep::nothing ? 2 : 3) * bytes}};
}

template <const Unary& row>
std::vector<Sample> samples(Rng& rng) {
    const Attributes attributes{.alpha = row.alpha, .beta = row.beta};
    std::vector<Sample> all;
    for (const Shape& extents : {Shape{}, Shape{3, 1, 7}, Shape{1 + int64_t(rng.below(20)), 37}})
        all.push_back({.shapes = {extents}, .attributes = attributes, .gap = row.gap, .low = row.low, .high = row.high});
    return all;
}

template <const Unary& row>
OpRow row_of() {
    OpRow made;
    made.name = row.name;
    made.numbers = row.numbers;
    made.elementwise = true;
    made.inputs = 1;
    made.gradient_names = {"dx"};
    made.kernels = {row.kernel};
    if (has_gradient(row) && row.keep != Keep::nothing) made.kernels.push_back(backward_kernel<row>());
    made.shape = shape;
    made.forward = forward<row>;
    made.backward = has_gradient(row) ? backward<row> : nullptr;
    made.differentiate = has_gradient(row) ? differentiate<row> : nullptr;
    made.cost = cost<row>;
    made.samples = samples<row>;
    return made;
}

using E = Expression;
using A = Attributes;
constexpr double root_half = 0.70710678118654752, density = 0.39894228040143268;  // 1/sqrt(2), 1/sqrt(2 pi)
constexpr double gelu_scale = 0.79788456080286536, gelu_cube = 0.044715;          // sqrt(2/pi); Hendrycks and Gimpel

constexpr Unary neg{.name = "neg", .operations_backward = 1, .derivative = [](E, E d, const A&) { return -d; }};
constexpr Unary exp{.name = "exp",
                    .kernel = "exp_value",
                    .keep = Keep::output,
                    .operations_backward = 1,
                    .derivative = [](E y, E d, const A&) { return y * d; }};
constexpr Unary log{.name = "log",
                    .kernel = "log_value",
                    .keep = Keep::input,
                    .operations_backward = 1,
                    .low = 0.1,
                    .high = 3,
                    .derivative = [](E x, E d, const A&) { return d / x; }};
constexpr Unary sqrt{.name = "sqrt",
                     .kernel = "sqrt_value",
                     .keep = Keep::output,
                     .low = 0.1,
                     .high = 3,
                     .derivative = [](E y, E d, const A&) { return d / (2 * y); }};
constexpr Unary rsqrt{.name = "rsqrt",
                      .kernel = "rsqrt_value",
                      .keep = Keep::output,
                      .operations = 2,
                      .operations_backward = 4,
                      .low = 0.2,
                      .high = 3,
                      .derivative = [](E y, E d, const A&) { return -0.5 * (d * y * y * y); }};
constexpr Unary abs{
    .name = "abs", .kernel = "abs_value", .keep = Keep::input, .gap = 0.1, .derivative = [](E x, E d, const A&) {
        return d * (2 * inside(x, 0, INFINITY) - 1);
    }};
constexpr Unary square{.name = "square", .keep = Keep::input, .derivative = [](E x, E d, const A&) { return 2 * (x * d); }};
constexpr Unary reciprocal{.name = "reciprocal",
                           .keep = Keep::output,
                           .operations_backward = 3,
                           .low = 0.2,
                           .high = 3,
                           .derivative = [](E y, E d, const A&) { return -(d * y * y); }};
constexpr Unary sin{.name = "sin", .kernel = "sin_value", .keep = Keep::input, .derivative = [](E x, E d, const A&) {
                        return d * x.through("cos");
                    }};
constexpr Unary cos{.name = "cos", .kernel = "cos_value", .keep = Keep::input, .derivative = [](E x, E d, const A&) {
                        return -(d * x.through("sin"));
                    }};
constexpr Unary tanh{.name = "tanh",
                     .kernel = "tanh_value",
                     .keep = Keep::output,
                     .operations_backward = 3,
                     .derivative = [](E y, E d, const A&) { return d * (1 - y * y); }};
constexpr Unary erf{.name = "erf",
                    .kernel = "erf_value",
                    .keep = Keep::input,
                    .operations_backward = 5,
                    .derivative = [](E x, E d, const A&) { return 1.1283791670955126 * (d * (-(x * x)).through("exp")); }};
constexpr Unary sigmoid{.name = "sigmoid",
                        .keep = Keep::output,
                        .operations = 4,
                        .operations_backward = 3,
                        .derivative = [](E y, E d, const A&) { return d * (1 - y) * y; }};
constexpr Unary silu{
    .name = "silu", .keep = Keep::input, .operations = 4, .operations_backward = 12, .derivative = [](E x, E d, const A&) {
        const E s = x.through("sigmoid");
        return d * s * (1 + x * (1 - s));
    }};
constexpr Unary gelu{
    .name = "gelu", .keep = Keep::input, .operations = 5, .operations_backward = 10, .derivative = [](E x, E d, const A&) {
        const E below = 0.5 * (1 + (root_half * x).through("erf"));
        return d * (below + density * (x * (-0.5 * (x * x)).through("exp")));
    }};
constexpr Unary gelu_tanh{.name = "gelu_tanh",
                          .keep = Keep::input,
                          .operations = 9,
                          .operations_backward = 20,
                          .derivative = [](E x, E d, const A&) {
                              const E t = (gelu_scale * (x + gelu_cube * (x * x * x))).through("tanh");
                              const E inner = gelu_scale * (1 + 3 * gelu_cube * (x * x));
                              return d * (0.5 * (1 + t) + 0.5 * (x * (1 - t * t) * inner));
                          }};
constexpr Unary softplus{.name = "softplus",
                         .keep = Keep::input,
                         .operations = 6,
                         .operations_backward = 6,
                         .derivative = [](E x, E d, const A&) { return d * x.through("sigmoid"); }};
constexpr Unary leaky_relu{
    .name = "leaky_relu",
    .keep = Keep::input,
    .numbers = "alpha beta=0",
    .gap = 0.1,
    .alpha = 0.1,
    .derivative = [](E x, E d, const A& a) { return d * (1 - (1 - a.alpha) * inside(x, -INFINITY, 0)); }};
constexpr Unary elu{.name = "elu",
                    .keep = Keep::input,
                    .numbers = "alpha beta=0",
                    .operations = 3,
                    .operations_backward = 3,
                    .gap = 0.1,
                    .alpha = 0.75,
                    .derivative = [](E x, E d, const A& a) {
                        const E below = inside(x, -INFINITY, 0);
                        return d * (1 - below + a.alpha * (below * (x * below).through("exp")));
                    }};
constexpr Unary clamp{.name = "clamp",
                      .keep = Keep::input,
                      .numbers = "alpha beta",
                      .operations_backward = 1,
                      .alpha = -0.5,
                      .beta = 1.25,
                      .derivative = [](E x, E d, const A& a) { return d * inside(x, a.alpha, a.beta); }};
constexpr Unary inside_row_table{.name = "inside", .numbers = "alpha beta", .alpha = -0.5, .beta = 1.25};
constexpr Unary affine{.name = "affine",
                       .kernel = "scale_add",
                       .numbers = "alpha beta",
                       .operations = 2,
                       .alpha = 1.75,
                       .beta = -0.5,
                       .derivative = [](E, E d, const A& a) { return a.alpha * d; }};
constexpr Unary pow_scalar{.name = "pow_scalar",
                           .keep = Keep::input,
                           .numbers = "alpha",
                           .operations_backward = 3,
                           .low = 0.2,
                           .high = 3,
                           .alpha = 2.5,
                           .derivative = [](E x, E d, const A& a) { return a.alpha * (d * power(x, a.alpha - 1)); }};
}  // namespace

const OpRow neg_row = row_of<neg>(), exp_row = row_of<exp>(), log_row = row_of<log>(), sqrt_row = row_of<sqrt>(),
            rsqrt_row = row_of<rsqrt>(), abs_row = row_of<abs>(), square_row = row_of<square>(),
            reciprocal_row = row_of<reciprocal>(), sin_row = row_of<sin>(), cos_row = row_of<cos>(),
            tanh_row = row_of<tanh>(), erf_row = row_of<erf>(), sigmoid_row = row_of<sigmoid>(), silu_row = row_of<silu>(),
            gelu_row = row_of<gelu>(), gelu_tanh_row = row_of<gelu_tanh>(), softplus_row = row_of<softplus>(),
            leaky_relu_row = row_of<leaky_relu>(), elu_row = row_of<elu>(), clamp_row = row_of<clamp>(),
            inside_row = row_of<inside_row_table>(), affine_row = row_of<affine>(), pow_scalar_row = row_of<pow_scalar>();

}  // namespace lockstep::tensor
