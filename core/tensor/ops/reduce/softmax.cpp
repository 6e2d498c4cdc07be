// softmax and log_softmax over attributes.axis, of any shape (kernels/softmax.cu). The kernels take rows: another axis than
// the last is brought to the end by a copy, and the result taken back by another. Backward needs the result alone.
// softmax with attributes.causal, over the last axis: of [..., Q, C], row q sees the columns 0 .. q + C - Q.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/expression.h"
#include "core/tensor/ops/layer.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

namespace {
int64_t axis_of(const Shape& x, const Attributes& a) {
    return a.axis < 0 ? a.axis + int64_t(x.size()) : a.axis;
}

Shape shape(Types in, const Attributes& a) {
    const Shape& x = in[0].shape;
    const int64_t axis = axis_of(x, a);
    if (axis < 0 || axis >= int64_t(x.size()) || count_of(x) == 0)
        throw Failure(fmt::format("axis {} of shape {} has no softmax", a.axis, text_of(x)));
    if (a.causal && (axis + 1 != int64_t(x.size()) || x.size() < 2 || x[x.size() - 2] > x.back()))
        throw Failure(
            fmt::format("a causal softmax takes [..., queries, keys] with at least as many keys over the last axis, "
                        "not shape {} over axis {}",
                        text_of(x), a.axis));
    return x;
}

bool is_last(const Shape& x, const Attributes& a) {
    return axis_of(x, a) + 1 == int64_t(x.size());
}
// The view with the axis at the end; doing it twice gives the tensor back.
Tensor at_end(const Tensor& x, const Attributes& a) {
    Shape order;
    for (size_t i = 0; i < x.shape.size(); ++i) order.push_back(int64_t(i));
    std::swap(order[size_t(axis_of(x.shape, a))], order[x.shape.size() - 1]);
    return permuted(x, order);
}

Launch rows(std::string_view kernel, const Shape& x, Arguments arguments) {
    const int64_t columns = x.back(), count = count_of(x) / columns;
    arguments.push_back(size_argument(count));
    arguments.push_back(size_argument(columns));
    return warp_a_row(kernel, count, arguments);
}

void forward(ForwardCall& call, std::string_view kernel) {
    const Tensor& x = call.inputs[0];
    if (call.attributes.causal) {
        Launch launch = rows("softmax_causal", x.shape, {x.pointer(), call.output.pointer()});
        launch.arguments.push_back(size_argument(x.shape[x.shape.size() - 2]));
        call.launch(launch);
        call.save_output();
    } else if (is_last(x.shape, call.attributes)) {
        call.launch(rows(kernel, x.shape, {x.pointer(), call.output.pointer()}));
        call.save_output();
    } else {
        const Tensor turned = at_end(x, call.attributes);
        const Tensor from = call.temporary(turned.shape, "turned"), to = call.temporary(turned.shape, "result");
        call.launch(copy_strided(turned, from), "turn");
        call.launch(rows(kernel, from.shape, {from.pointer(), to.pointer()}));
        call.launch(copy_strided(at_end(to, call.attributes), call.output), "turn back");
        call.save("result", to);
        call.save_output();
    }
}

void backward(BackwardCall& call, std::string_view kernel) {
    const Tensor &y = call.kept(0), &dx = call.allocate(0);
    if (is_last(dx.shape, call.attributes)) {
        call.launch(0, rows(kernel, y.shape, {y.pointer(), call.upstream.pointer(), dx.pointer()}));
        return;
    }
    const Tensor dy = call.temporary(y.shape, "dy", call.dtype), turned = call.temporary(y.shape, "dx", call.dtype);
    call.launch(0, copy_strided(at_end(call.upstream, call.attributes), dy));
    call.launch(0, rows(kernel, y.shape, {y.pointer(), dy.pointer(), turned.pointer()}));
    call.launch(0, copy_strided(at_end(turned, call.attributes), dx));
}

// The result as a node's value: the last tensor kept. Sums along the axis stay as extents of 1.
Expression result(DifferentiateCall& call) {
    return {call.tape, call.kept(call.saved.size() - 1), call.label(0)};
}
Expression along_axis(DifferentiateCall& call, const Expression& x) {
    return x.through("sum", {.keepdim = true, .axes = {axis_of(call.inputs[0].shape, call.attributes)}});
}
void softmax_differentiate(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    const Expression y = result(call), d(call.tape, call.upstream, call.label(0));
    call.gradients[0] = (y * (d - along_axis(call, y * d))).variable();
}
void log_softmax_differentiate(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    const Expression y = result(call), d(call.tape, call.upstream, call.label(0));
    call.gradients[0] = (d - y.through("exp") * along_axis(call, d)).variable();
}

// Maximum, subtract, exponential, add, divide; backward: a product and a sum, a difference and a product.
OpCost cost(Types in, const Attributes& a) {
    const double n = double(in[0].count()), e = double(size_of(in[0].dtype));
    const double copies = is_last(in[0].shape, a) ? 0 : 4 * n * e;
    return {{5 * n, 2 * n * e + copies}, {4 * n, 3 * n * e + copies}};
}

std::vector<Sample> samples(Rng& rng) {
    return {{{{1, 1}}, {.axis = 1}},
            {{{3, 7}}, {.axis = -1}},
            {{{4, 3}}, {.axis = 0}},
            {{{2, 3, 5}}, {.axis = 1}},
            {{{2, 40 + int64_t(rng.below(40))}}, {.axis = 1}, 0, -4, 4}};
}
std::vector<Sample> softmax_samples(Rng& rng) {
    std::vector<Sample> all = samples(rng);
    all.push_back({{{2, 3, 3}}, {.causal = true, .axis = -1}});
    all.push_back({{{2, 2, 5}}, {.causal = true, .axis = -1}});
    return all;
}
}  // namespace

const OpRow softmax_row = {
    .name = "softmax",
    .numbers = "axis=-1",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"softmax", "softmax_causal", "softmax_backward", "copy_strided"},
    .shape = shape,
    .forward = [](ForwardCall& call) { forward(call, "softmax"); },
    .backward = [](BackwardCall& call) { backward(call, "softmax_backward"); },
    .differentiate = softmax_differentiate,
    .cost = cost,
    .samples = softmax_samples,
};
const OpRow log_softmax_row = {
    .name = "log_softmax",
    .numbers = "axis=-1",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"log_softmax", "log_softmax_backward", "copy_strided"},
    .shape =
        [](Types in, const Attributes& a) {
            if (a.causal) throw Failure("log_softmax has no causal form");
            return shape(in, a);
        },
    .forward = [](ForwardCall& call) { forward(call, "log_softmax"); },
    .backward = [](BackwardCall& call) { backward(call, "log_softmax_backward"); },
    .differentiate = log_softmax_differentiate,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
