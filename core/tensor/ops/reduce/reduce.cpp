// Reductions over axes (none given: over all): sum, mean, amax, amin, var, prod; argmax and argmin; cumsum along one axis.
// Sums over everything and over trailing axes add in trees, other sums and all other reductions in index order.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/expression.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

namespace {
using A = Attributes;

uint32_t mask_of(const Shape& shape, const Shape& axes) {  // bit i: axis i is reduced
    if (axes.empty()) return (1u << shape.size()) - 1;
    uint32_t mask = 0;
    for (int64_t axis : axes) {
        const uint32_t bit = 1u << axis_of(axis, shape.size());
        if (mask & bit) throw Failure(fmt::format("axes {} name an axis twice", text_of(axes)));
        mask |= bit;
    }
    return mask;
}

Shape reduced(const Shape& shape, uint32_t mask, bool keepdim) {
    Shape result;
    for (size_t i = 0; i < shape.size(); ++i)
        if (!(mask & 1u << i))
            result.push_back(shape[i]);
        else if (keepdim)
            result.push_back(1);
    return result;
}

Shape shape(Types in, const A& a) {
    return reduced(in[0].shape, mask_of(in[0].shape, a.axes), a.keepdim);
}

int64_t count_reduced(const Shape& shape, uint32_t mask) {
    int64_t count = 1;
    for (size_t i = 0; i < shape.size(); ++i)
        if (mask & 1u << i) count *= shape[i];
    return count;
}

bool trailing(const Shape& shape, uint32_t mask) {  // the reduced axes are the last ones
    for (size_t i = 0; i + 1 < shape.size(); ++i)
        if ((mask & 1u << i) && !(mask & 1u << (i + 1))) return false;
    return true;
}

// The output (or its gradient) with the reduced axes back, each repeating.
Tensor spread(const Tensor& y, const Shape& shape, uint32_t mask) {
    return expanded(reshaped(y, reduced(shape, mask, true)), shape);
}

// A kernel of axes.cu: pointers, then outputs by kept axes of x, elements by reduced ones.
Launch over_axes(std::string_view kernel, std::initializer_list<const Tensor*> tensors, const Tensor& x, uint32_t mask) {
    Launch launch = sum_strided(x, *tensors.begin()[tensors.size() - 1], mask);
    Arguments arguments;
    for (const Tensor* tensor : tensors) arguments.push_back(tensor->pointer());
    for (const device::Argument* rest = launch.arguments.begin() + 2; rest != launch.arguments.end(); ++rest)
        arguments.push_back(*rest);
    launch.kernel = kernel;
    launch.arguments = arguments;
    return launch;
}

// ---- sum, mean
void total(ForwardCall& call, std::string_view all, std::string_view rows, bool divide) {
    const Tensor &x = call.inputs[0], &y = call.output;
    const uint32_t mask = mask_of(x.shape, call.attributes.axes);
    const int64_t count = count_reduced(x.shape, mask);
    if (count == x.count()) {
        call.launch({all, {1, 1, 1}, {256, 1, 1}, {x.pointer(), y.pointer(), size_argument(count)}});
    } else if (trailing(x.shape, mask)) {
        call.launch({rows,
                     {static_cast<uint32_t>(y.count()), 1, 1},
                     {256, 1, 1},
                     {x.pointer(), y.pointer(), size_argument(y.count()), size_argument(count)}});
    } else {
        call.launch(sum_strided(x, y, mask));
        if (divide)
            call.launch(elementwise("scale_add", y.count(),
                                    {y.pointer(), y.pointer(), size_argument(y.count()),
                                     scalar_argument(1.0 / double(count), y.dtype), scalar_argument(0, y.dtype)}),
                        "mean");
    }
}

// dx = dy times scale, repeated.
void total_backward(BackwardCall& call, bool divide) {
    if (!call.wants(0)) return;
    const Shape& shape = call.inputs[0].shape;
    const uint32_t mask = mask_of(shape, call.attributes.axes);
    const double scale = divide ? 1.0 / double(count_reduced(shape, mask)) : 1.0;
    const Tensor& dx = call.allocate(0);
    if (!call.upstream) {
        call.launch(
            0, elementwise("fill", dx.count(), {dx.pointer(), scalar_argument(scale, dx.dtype), size_argument(dx.count())}));
        return;
    }
    Tensor dy = call.upstream;
    if (divide) {
        dy = call.temporary(dy.shape, "scaled", dy.dtype);
        call.launch(0, elementwise("scale_add", dy.count(),
                                   {call.upstream.pointer(), dy.pointer(), size_argument(dy.count()),
                                    scalar_argument(scale, dy.dtype), scalar_argument(0, dy.dtype)}));
    }
    call.launch(0, copy_strided(spread(dy, shape, mask), dx));
}

void total_differentiate(DifferentiateCall& call, bool divide) {
    if (!call.wants(0)) return;
    const Shape& shape = call.inputs[0].shape;
    const uint32_t mask = mask_of(shape, call.attributes.axes);
    Variable d = reshape(call.tape, call.upstream, reduced(shape, mask, true), call.label(0));
    if (divide) d = affine(call.tape, d, 1.0 / double(count_reduced(shape, mask)), 0, call.label(0));
    call.gradients[0] = expand(call.tape, d, shape, call.label(0));
}

OpCost total_cost(Types in, const A& a, bool divide) {
    const Shape& x = in[0].shape;
    const uint32_t mask = mask_of(x, a.axes);
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype)), y = double(count_of(reduced(x, mask, false)));
    const bool two = divide && y != 1 && !trailing(x, mask);
    return {{n - y + (divide ? y : 0), e * (n + y + (two ? 2 * y : 0))},
            {divide ? y : 0, e * (n + y + (divide ? 2 * y : 0))}};
}

// ---- amax, amin, var, prod

struct Reduction {
    std::string_view name, backward;
    bool keeps_output = false;
    bool correction = false;  // alpha: 1 for the unbiased variance
    double operations = 1, operations_backward = 2;
};

template <const Reduction& row>
void reduce_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &y = call.output;
    Launch launch = over_axes(row.name, {&x, &y}, x, mask_of(x.shape, call.attributes.axes));
    if (row.correction) launch.arguments.push_back(static_cast<int32_t>(call.attributes.alpha));
    call.launch(launch);
    call.save_input(0);
    if (row.keeps_output) call.save_output();
}

template <const Reduction& row>
void reduce_backward(BackwardCall& call) {
    if (!call.wants(0)) return;
    const Tensor& x = call.kept(0);
    const Tensor& dx = call.allocate(0);
    const uint32_t mask = mask_of(x.shape, call.attributes.axes);
    Launch launch = row.keeps_output ? over_axes(row.backward, {&x, &call.kept(1), &call.upstream, &dx}, x, mask)
                                     : over_axes(row.backward, {&x, &call.upstream, &dx}, x, mask);
    if (row.correction) launch.arguments.push_back(static_cast<int32_t>(call.attributes.alpha));
    call.launch(0, launch);
}

template <const Reduction& row>
Shape reduce_shape(Types in, const A& a) {
    const Shape& x = in[0].shape;
    const int64_t count = count_reduced(x, mask_of(x, a.axes));
    if (row.correction && (a.alpha < 0 || a.alpha >= double(count)))
        throw Failure(fmt::format("a variance over {} elements cannot be corrected by {}", count, a.alpha));
    return shape(in, a);
}

template <const Reduction& row>
OpCost reduce_cost(Types in, const A& a) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype)), y = double(count_of(shape(in, a)));
    return {{row.operations * n, e * (n + y)}, {row.operations_backward * n, e * (2 * n + (row.keeps_output ? 2 : 1) * y)}};
}

std::vector<Sample> axes_samples(double low, double high, double alpha) {
    std::vector<Sample> all;
    for (const auto& [extents, axes, keepdim] : std::vector<std::tuple<Shape, Shape, bool>>{{{3, 5}, {}, false},
                                                                                            {{3, 5}, {0}, true},
                                                                                            {{3, 5}, {-1}, false},
                                                                                            {{2, 3, 4, 5}, {1, 3}, false},
                                                                                            {{2, 3, 9}, {0, 1}, true}})
        all.push_back({.shapes = {extents},
                       .attributes = {.keepdim = keepdim, .axes = axes, .alpha = alpha},
                       .low = low,
                       .high = high});
    return all;
}

void var_differentiate(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    const Variable x = call.kept(0);
    const uint32_t mask = mask_of(x.shape(), call.attributes.axes);
    const double count = double(count_reduced(x.shape(), mask));
    const Variable d = expand(call.tape, reshape(call.tape, call.upstream, reduced(x.shape(), mask, true), call.label(0)),
                              x.shape(), call.label(0));
    const Variable average = call.tape.apply(mean_row, {x}, call.label(0), {.keepdim = true, .axes = call.attributes.axes});
    const Expression centred = Expression(call.tape, x, call.label(0)) - Expression(call.tape, average, call.label(0));
    call.gradients[0] =
        (2.0 / (count - call.attributes.alpha) * (Expression(call.tape, d, call.label(0)) * centred)).variable();
}

constexpr Reduction amax_table{.name = "amax", .backward = "extreme_backward", .keeps_output = true};
constexpr Reduction amin_table{.name = "amin", .backward = "extreme_backward", .keeps_output = true};
constexpr Reduction var_table{
    .name = "var", .backward = "var_backward", .correction = true, .operations = 4, .operations_backward = 4};
constexpr Reduction prod_table{.name = "prod", .backward = "prod_backward"};

template <const Reduction& row>
OpRow row_of() {
    OpRow made;
    made.name = row.name;
    made.numbers = row.correction ? "alpha=1 axes=" : "axes=";
    made.inputs = 1;
    made.gradient_names = {"dx"};
    made.kernels = {row.name, row.backward};
    made.shape = reduce_shape<row>;
    made.forward = reduce_forward<row>;
    made.backward = reduce_backward<row>;
    made.differentiate = row.correction ? var_differentiate : nullptr;
    made.cost = reduce_cost<row>;
    made.samples = [](Rng&) { return axes_samples(row.name == "prod" ? 0.5 : -2, row.name == "prod" ? 1.5 : 2, 1); };
    return made;
}

// ---- argmax, argmin
DType index_type(Types, const A&) {
    return DType::i64;
}
void index_forward(ForwardCall& call) {
    const Tensor &x = call.inputs[0], &y = call.output;
    call.launch([&] {
        Launch launch = over_axes(call.op.name, {&x, &y}, x, mask_of(x.shape, call.attributes.axes));
        launch.type = x.dtype;
        return launch;
    }());
}
OpCost index_cost(Types in, const A& a) {
    return {{double(in[0].count()), in[0].bytes() + 8 * double(count_of(shape(in, a)))}, {}};
}

// ---- cumsum: mode 1 adds from the end
Launch running(const Tensor& x, const Tensor& y, const A& a, bool reverse) {
    const size_t axis = axis_of(a.axis, x.shape.size());
    int64_t inner = 1;
    for (size_t i = axis + 1; i < x.shape.size(); ++i) inner *= x.shape[i];
    const int64_t extent = x.shape[axis], outer = x.count() / extent / inner;
    Launch launch = elementwise("cumsum", outer * inner,
                                {x.pointer(), y.pointer(), size_argument(outer), size_argument(extent), size_argument(inner),
                                 static_cast<int32_t>(reverse)});
    return launch;
}
}  // namespace

const OpRow sum_row = {
    .name = "sum",
    .numbers = "axes=",
    .inputs = 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dx"},
    .kernels = {"reduce_sum", "sum_rows", "sum_strided", "copy_strided"},
    .shape = shape,
    .forward = [](ForwardCall& call) { total(call, "reduce_sum", "sum_rows", false); },
    .backward = [](BackwardCall& call) { total_backward(call, false); },
    .differentiate = [](DifferentiateCall& call) { total_differentiate(call, false); },
    .cost = [](Types in, const A& a) { return total_cost(in, a, false); },
    .samples = [](Rng&) { return axes_samples(-2, 2, 0); },
};
const OpRow mean_row = {
    .name = "mean",
    .numbers = "axes=",
    .inputs = 1,
    .takes_unit_upstream = true,
    .gradient_names = {"dx"},
    .kernels = {"reduce_mean", "mean_rows", "sum_strided", "scale_add", "copy_strided"},
    .shape = shape,
    .forward = [](ForwardCall& call) { total(call, "reduce_mean", "mean_rows", true); },
    .backward = [](BackwardCall& call) { total_backward(call, true); },
    .differentiate = [](DifferentiateCall& call) { total_differentiate(call, true); },
    .cost = [](Types in, const A& a) { return total_cost(in, a, true); },
    .samples = [](Rng&) { return axes_samples(-2, 2, 0); },
};
const OpRow amax_row = row_of<amax_table>(), amin_row = row_of<amin_table>(), var_row = row_of<var_table>(),
            prod_row = row_of<prod_table>();

static OpRow index_row(std::string_view name) {
    return {.name = name,
            .numbers = "axes=",
            .inputs = 1,
            .kernels = {name},
            .shape = shape,
            .result = index_type,
            .forward = index_forward,
            .cost = index_cost,
            .samples = [](Rng&) { return axes_samples(-2, 2, 0); }};
}
const OpRow argmax_row = index_row("argmax"), argmin_row = index_row("argmin");

const OpRow cumsum_row = {
    .name = "cumsum",
    .numbers = "axis",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"cumsum"},
    .shape =
        [](Types in, const A& a) {
            axis_of(a.axis, in[0].shape.size());
            return in[0].shape;
        },
    .forward =
        [](ForwardCall& call) {
            call.launch(running(call.inputs[0], call.output, call.attributes, call.attributes.mode == 1));
        },
    .backward =
        [](BackwardCall& call) {
            if (!call.wants(0)) return;
            const Tensor& dx = call.allocate(0);
            call.launch(0, running(call.upstream, dx, call.attributes, call.attributes.mode != 1));
        },
    .differentiate =
        [](DifferentiateCall& call) {
            Attributes attributes = call.attributes;
            attributes.mode = 1 - attributes.mode;
            if (call.wants(0)) call.gradients[0] = call.tape.apply(cumsum_row, {call.upstream}, call.label(0), attributes);
        },
    .cost =
        [](Types in, const A&) {
            const Cost one{double(in[0].count()), 2 * in[0].bytes()};
            return OpCost{one, one};
        },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{
                {{{5}}, {.axis = 0}}, {{{3, 5}}, {.axis = 0}}, {{{2, 4, 3}}, {.axis = -2, .mode = 1}}};
        },
};

}  // namespace lockstep::tensor
