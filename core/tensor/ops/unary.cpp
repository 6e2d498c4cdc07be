// Elementwise functions of one tensor: a table. A row says its kernels, whether backward needs the input or the output, how
// many numbers of its own it takes (alpha, beta), and its gradient as ops, for derivatives of derivatives.
#include <cmath>

#include "core/tensor/ops/expression.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

namespace {
enum class Keep : uint8_t { nothing, input, output };

struct Unary {
    std::string_view name, kernel, backward;  // kernels; backward "" is none
    Keep keep = Keep::nothing;
    int numbers = 0;                                 // of its own that both kernels take: alpha, beta
    double operations = 1, operations_backward = 2;  // an element
    double low = -2, high = 2, gap = 0;              // samples
    double alpha = 0, beta = 0;
    Expression (*derivative)(Expression kept, Expression upstream, const Attributes& a) = nullptr;
};

Shape shape(Types in, const Attributes&) {
    return in[0].shape;
}

template <const Unary& row>
void forward(ForwardCall& call) {
    const Tensor& x = call.inputs[0];
    Arguments arguments = {x.pointer(), call.output.pointer(), size_argument(x.count())};
    if (row.numbers > 0) arguments.push_back(scalar_argument(call.attributes.alpha, call.dtype));
    if (row.numbers > 1) arguments.push_back(scalar_argument(call.attributes.beta, call.dtype));
    call.launch(elementwise(row.kernel, x.count(), arguments));
    if (row.keep == Keep::input) call.save_input(0);
    if (row.keep == Keep::output) call.save_output();
}

template <const Unary& row>
void backward(BackwardCall& call) {
    if (!call.wants(0)) return;
    const Tensor& dy = call.upstream;
    const Tensor& dx = call.allocate(0);
    Arguments arguments;
    if (row.keep != Keep::nothing)
        arguments = {call.kept(0).pointer(), dy.pointer(), dx.pointer(), size_argument(dx.count())};
    else
        arguments = {dy.pointer(), dx.pointer(), size_argument(dx.count())};
    const bool linear = row.keep == Keep::nothing;  // d(a x + b) = a dx + 0
    if (row.numbers > 0) arguments.push_back(scalar_argument(call.attributes.alpha, call.dtype));
    if (row.numbers > 1) arguments.push_back(scalar_argument(linear ? 0 : call.attributes.beta, call.dtype));
    call.launch(0, elementwise(row.backward, dx.count(), arguments));
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
    if (row.backward.empty()) return {{row.operations * n, 2 * bytes}, {}};
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
    made.inputs = 1;
    made.gradient_names = {"dx"};
    made.kernels = {row.kernel};
    if (!row.backward.empty() && row.backward != row.kernel) made.kernels.push_back(row.backward);
    made.shape = shape;
    made.forward = forward<row>;
    made.backward = row.backward.empty() ? nullptr : backward<row>;
    made.differentiate = row.backward.empty() ? nullptr : differentiate<row>;
    made.cost = cost<row>;
    made.samples = samples<row>;
    return made;
}

using E = Expression;
using A = Attributes;
constexpr double root_half = 0.70710678118654752, density = 0.39894228040143268;  // 1/sqrt(2), 1/sqrt(2 pi)
constexpr double gelu_scale = 0.79788456080286536, gelu_cube = 0.044715;          // sqrt(2/pi); Hendrycks and Gimpel

constexpr Unary neg{
    .name = "neg", .kernel = "neg", .backward = "neg", .operations_backward = 1, .derivative = [](E, E d, const A&) {
        return -d;
    }};
constexpr Unary exp{.name = "exp",
                    .kernel = "exp_value",
                    .backward = "exp_value_backward",
                    .keep = Keep::output,
                    .operations_backward = 1,
                    .derivative = [](E y, E d, const A&) { return y * d; }};
constexpr Unary log{.name = "log",
                    .kernel = "log_value",
                    .backward = "log_value_backward",
                    .keep = Keep::input,
                    .operations_backward = 1,
                    .low = 0.1,
                    .high = 3,
                    .derivative = [](E x, E d, const A&) { return d / x; }};
constexpr Unary sqrt{.name = "sqrt",
                     .kernel = "sqrt_value",
                     .backward = "sqrt_value_backward",
                     .keep = Keep::output,
                     .low = 0.1,
                     .high = 3,
                     .derivative = [](E y, E d, const A&) { return d / (2 * y); }};
constexpr Unary rsqrt{.name = "rsqrt",
                      .kernel = "rsqrt_value",
                      .backward = "rsqrt_value_backward",
                      .keep = Keep::output,
                      .operations = 2,
                      .operations_backward = 4,
                      .low = 0.2,
                      .high = 3,
                      .derivative = [](E y, E d, const A&) { return -0.5 * (d * y * y * y); }};
constexpr Unary abs{.name = "abs",
                    .kernel = "abs_value",
                    .backward = "abs_value_backward",
                    .keep = Keep::input,
                    .gap = 0.1,
                    .derivative = [](E x, E d, const A&) { return d * (2 * inside(x, 0, INFINITY) - 1); }};
constexpr Unary square{.name = "square",
                       .kernel = "square",
                       .backward = "square_backward",
                       .keep = Keep::input,
                       .derivative = [](E x, E d, const A&) { return 2 * (x * d); }};
constexpr Unary reciprocal{.name = "reciprocal",
                           .kernel = "reciprocal",
                           .backward = "reciprocal_backward",
                           .keep = Keep::output,
                           .operations_backward = 3,
                           .low = 0.2,
                           .high = 3,
                           .derivative = [](E y, E d, const A&) { return -(d * y * y); }};
constexpr Unary sin{.name = "sin",
                    .kernel = "sin_value",
                    .backward = "sin_value_backward",
                    .keep = Keep::input,
                    .derivative = [](E x, E d, const A&) { return d * x.through("cos"); }};
constexpr Unary cos{.name = "cos",
                    .kernel = "cos_value",
                    .backward = "cos_value_backward",
                    .keep = Keep::input,
                    .derivative = [](E x, E d, const A&) { return -(d * x.through("sin")); }};
constexpr Unary tanh{.name = "tanh",
                     .kernel = "tanh_value",
                     .backward = "tanh_value_backward",
                     .keep = Keep::output,
                     .operations_backward = 3,
                     .derivative = [](E y, E d, const A&) { return d * (1 - y * y); }};
constexpr Unary erf{.name = "erf",
                    .kernel = "erf_value",
                    .backward = "erf_value_backward",
                    .keep = Keep::input,
                    .operations_backward = 5,
                    .derivative = [](E x, E d, const A&) { return 1.1283791670955126 * (d * (-(x * x)).through("exp")); }};
constexpr Unary sigmoid{.name = "sigmoid",
                        .kernel = "sigmoid",
                        .backward = "sigmoid_backward",
                        .keep = Keep::output,
                        .operations = 4,
                        .operations_backward = 3,
                        .derivative = [](E y, E d, const A&) { return d * (1 - y) * y; }};
constexpr Unary silu{.name = "silu",
                     .kernel = "silu",
                     .backward = "silu_backward",
                     .keep = Keep::input,
                     .operations = 4,
                     .operations_backward = 12,
                     .derivative = [](E x, E d, const A&) {
                         const E s = x.through("sigmoid");
                         return d * s * (1 + x * (1 - s));
                     }};
constexpr Unary gelu{.name = "gelu",
                     .kernel = "gelu",
                     .backward = "gelu_backward",
                     .keep = Keep::input,
                     .operations = 5,
                     .operations_backward = 10,
                     .derivative = [](E x, E d, const A&) {
                         const E below = 0.5 * (1 + (root_half * x).through("erf"));
                         return d * (below + density * (x * (-0.5 * (x * x)).through("exp")));
                     }};
constexpr Unary gelu_tanh{.name = "gelu_tanh",
                          .kernel = "gelu_tanh",
                          .backward = "gelu_tanh_backward",
                          .keep = Keep::input,
                          .operations = 9,
                          .operations_backward = 20,
                          .derivative = [](E x, E d, const A&) {
                              const E t = (gelu_scale * (x + gelu_cube * (x * x * x))).through("tanh");
                              const E inner = gelu_scale * (1 + 3 * gelu_cube * (x * x));
                              return d * (0.5 * (1 + t) + 0.5 * (x * (1 - t * t) * inner));
                          }};
constexpr Unary softplus{.name = "softplus",
                         .kernel = "softplus",
                         .backward = "softplus_backward",
                         .keep = Keep::input,
                         .operations = 6,
                         .operations_backward = 6,
                         .derivative = [](E x, E d, const A&) { return d * x.through("sigmoid"); }};
constexpr Unary leaky_relu{
    .name = "leaky_relu",
    .kernel = "leaky_relu",
    .backward = "leaky_relu_backward",
    .keep = Keep::input,
    .numbers = 2,
    .gap = 0.1,
    .alpha = 0.1,
    .derivative = [](E x, E d, const A& a) { return d * (1 - (1 - a.alpha) * inside(x, -INFINITY, 0)); }};
constexpr Unary elu{.name = "elu",
                    .kernel = "elu",
                    .backward = "elu_backward",
                    .keep = Keep::input,
                    .numbers = 2,
                    .operations = 3,
                    .operations_backward = 3,
                    .gap = 0.1,
                    .alpha = 0.75,
                    .derivative = [](E x, E d, const A& a) {
                        const E below = inside(x, -INFINITY, 0);
                        return d * (1 - below + a.alpha * (below * (x * below).through("exp")));
                    }};
constexpr Unary clamp{.name = "clamp",
                      .kernel = "clamp",
                      .backward = "clamp_backward",
                      .keep = Keep::input,
                      .numbers = 2,
                      .operations_backward = 1,
                      .alpha = -0.5,
                      .beta = 1.25,
                      .derivative = [](E x, E d, const A& a) { return d * inside(x, a.alpha, a.beta); }};
constexpr Unary inside_row_table{
    .name = "inside", .kernel = "inside", .backward = "", .numbers = 2, .alpha = -0.5, .beta = 1.25};
constexpr Unary affine{.name = "affine",
                       .kernel = "scale_add",
                       .backward = "scale_add",
                       .numbers = 2,
                       .operations = 2,
                       .alpha = 1.75,
                       .beta = -0.5,
                       .derivative = [](E, E d, const A& a) { return a.alpha * d; }};
constexpr Unary pow_scalar{.name = "pow_scalar",
                           .kernel = "pow_scalar",
                           .backward = "pow_scalar_backward",
                           .keep = Keep::input,
                           .numbers = 1,
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
