// Views: reshape, unsqueeze, squeeze, permute, slice, select, expand. Forward shares the storage and launches nothing.
// Backward shows the upstream gradient in the input's shape, puts it into zeros (slice) or sums it (expand).
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

namespace {
using A = Attributes;

Shape shape_of_view(Tensor (*view)(const Tensor&, const A&), Types in, const A& attributes) {
    Tensor input;
    input.shape = in[0].shape;
    input.strides = strides_of(in[0].shape);
    return view(input, attributes).shape;
}

OpCost free_cost(Types, const A&) {
    return {};
}

// ---- reshape, unsqueeze, squeeze
Tensor reshape(const Tensor& x, const A& a) {
    return reshaped(x, a.sizes);
}
Tensor unsqueeze(const Tensor& x, const A& a) {
    const size_t at = axis_of(a.axis, x.shape.size() + 1);
    Tensor view = x;
    view.shape.insert(view.shape.begin() + at, 1);
    view.strides.insert(view.strides.begin() + at, 1);
    return view;
}
Tensor squeeze(const Tensor& x, const A& a) {
    const size_t at = axis_of(a.axis, x.shape.size());
    if (x.shape[at] != 1)
        throw Failure(fmt::format("axis {} of {} is not 1: it cannot be squeezed out", at, text_of(x.shape)));
    Tensor view = x;
    view.shape.erase(view.shape.begin() + at);
    view.strides.erase(view.strides.begin() + at);
    return view;
}
void reshape_backward(BackwardCall& call) {
    if (call.wants(0)) call.gradients[0] = reshaped(call.upstream, call.inputs[0].shape);
}
void reshape_differentiate(DifferentiateCall& call) {
    if (call.wants(0)) call.gradients[0] = reshape(call.tape, call.upstream, call.inputs[0].shape, call.label(0));
}

// ---- permute
Tensor permute(const Tensor& x, const A& a) {
    return permuted(x, a.axes);
}
Shape inverse(const Shape& axes) {
    Shape back = axes;
    for (size_t i = 0; i < axes.size(); ++i) back[axis_of(axes[i], axes.size())] = static_cast<int64_t>(i);
    return back;
}
void permute_backward(BackwardCall& call) {
    if (!call.wants(0)) return;
    const Tensor turned = permuted(call.upstream, inverse(call.attributes.axes));
    if (turned.contiguous()) {
        call.gradients[0] = turned;
        return;
    }
    const Tensor& dx = call.allocate(0);
    call.launch(0, copy_strided(turned, dx));
}
void permute_differentiate(DifferentiateCall& call) {
    if (call.wants(0)) call.gradients[0] = permute(call.tape, call.upstream, inverse(call.attributes.axes), call.label(0));
}
OpCost permute_cost(Types in, const A& a) {
    Tensor output;
    output.shape = in[0].shape;
    output.strides = strides_of(in[0].shape);
    output = permuted(output, a.axes);
    output.strides = strides_of(output.shape);
    return {{}, {0, permuted(output, inverse(a.axes)).contiguous() ? 0 : 2 * in[0].bytes()}};
}

// ---- slice, select
Tensor slice(const Tensor& x, const A& a) {
    return sliced(x, a.axis, a.start, a.stop, a.step);
}
Tensor select(const Tensor& x, const A& a) {
    const size_t axis = axis_of(a.axis, x.shape.size());
    const int64_t index = a.start < 0 ? a.start + x.shape[axis] : a.start;
    if (index < 0 || index >= x.shape[axis])
        throw Failure(fmt::format("there is no index {} along axis {} of {}", a.start, axis, text_of(x.shape)));
    return squeeze(sliced(x, a.axis, index, index + 1, 1), a);
}
void put_back(BackwardCall& call, Tensor (*view)(const Tensor&, const A&)) {
    if (!call.wants(0)) return;
    const Tensor& dx = call.allocate(0);
    call.launch(0, elementwise("fill", dx.count(), {dx.pointer(), scalar_argument(0, dx.dtype), size_argument(dx.count())}));
    call.launch(0, put_strided(call.upstream, view(dx, call.attributes)));
}
void slice_differentiate(DifferentiateCall& call) {
    if (!call.wants(0)) return;
    Attributes attributes = call.attributes;
    attributes.sizes = call.inputs[0].shape;
    Variable upstream = call.upstream;
    if (call.op.name == "select") {
        const size_t axis = axis_of(attributes.axis, attributes.sizes.size());
        if (attributes.start < 0) attributes.start += attributes.sizes[axis];
        attributes.axis = static_cast<int64_t>(axis);
        attributes.stop = attributes.start + 1;
        attributes.step = 1;
        upstream = unsqueeze(call.tape, upstream, attributes.axis, call.label(0));
    }
    call.gradients[0] = call.tape.apply(put_slice_row, {upstream}, call.label(0), attributes);
}
OpCost slice_cost(Types in, const A& a) {
    const double out = double(count_of(shape_of_view(slice, in, a))) * double(size_of(in[0].dtype));
    return {{}, {0, 2 * in[0].bytes() + out}};
}
OpCost select_cost(Types in, const A& a) {
    const double out = double(count_of(shape_of_view(select, in, a))) * double(size_of(in[0].dtype));
    return {{}, {0, 2 * in[0].bytes() + out}};
}

// ---- expand
Tensor expand(const Tensor& x, const A& a) {
    return expanded(x, a.sizes);
}
void expand_backward(BackwardCall& call) {
    if (call.wants(0)) reduce_into(call, 0, call.upstream);
}
void expand_differentiate(DifferentiateCall& call) {
    if (call.wants(0)) call.gradients[0] = sum_to(call.tape, call.upstream, call.inputs[0].shape, call.label(0));
}
OpCost expand_cost(Types in, const A& a) {
    const double n = double(count_of(a.sizes)), e = double(size_of(in[0].dtype));
    if (a.sizes == in[0].shape) return {};
    return {{}, {n - double(in[0].count()), e * n + in[0].bytes()}};
}

// ---- put_slice: a tensor of zeros of shape `sizes` with the input where slice would take it; the gradient of slice
Shape put_slice_shape(Types in, const A& a) {
    const TensorType whole{a.sizes, in[0].dtype};
    const Shape piece = shape_of_view(slice, std::span(&whole, 1), a);
    if (piece != in[0].shape)
        throw Failure(fmt::format("{} does not fit the slice of shape {} of {}", text_of(in[0].shape), text_of(piece),
                                  text_of(a.sizes)));
    return a.sizes;
}
void put_slice_forward(ForwardCall& call) {
    const Tensor& y = call.output;
    call.launch(elementwise("fill", y.count(), {y.pointer(), scalar_argument(0, y.dtype), size_argument(y.count())}));
    call.launch(put_strided(call.inputs[0], slice(y, call.attributes)));
}
void put_slice_backward(BackwardCall& call) {
    if (!call.wants(0)) return;
    const Tensor& dx = call.allocate(0);
    call.launch(0, copy_strided(slice(call.upstream, call.attributes), dx));
}
void put_slice_differentiate(DifferentiateCall& call) {
    if (call.wants(0)) call.gradients[0] = call.tape.apply(slice_row, {call.upstream}, call.label(0), call.attributes);
}
OpCost put_slice_cost(Types in, const A& a) {
    const double out = double(count_of(a.sizes)) * double(size_of(in[0].dtype));
    return {{0, 2 * out + in[0].bytes()}, {0, out + in[0].bytes()}};
}

OpRow view_row(std::string_view name, std::string_view numbers, Tensor (*view)(const Tensor&, const A&),
               void (*backward)(BackwardCall&), void (*differentiate)(DifferentiateCall&), OpCost (*cost)(Types, const A&),
               std::vector<std::string_view> kernels, std::vector<Sample> (*samples)(Rng&)) {
    OpRow row;
    row.name = name;
    row.numbers = numbers;
    row.inputs = 1;
    row.any_inputs = 1;
    row.takes_strides = name != "reshape";
    row.gradient_names = {"dx"};
    row.kernels = std::move(kernels);
    row.view = view;
    row.backward = backward;
    row.differentiate = differentiate;
    row.cost = cost;
    row.samples = samples;
    return row;
}
}  // namespace

const OpRow reshape_row =
    view_row("reshape", "sizes", reshape, reshape_backward, reshape_differentiate, free_cost, {}, [](Rng&) {
        return std::vector<Sample>{{{{2, 3, 4}}, {.sizes = {6, 4}}}, {{{6}}, {.sizes = {1, 2, -1}}}, {{{1}}, {.sizes = {}}}};
    });
const OpRow unsqueeze_row =
    view_row("unsqueeze", "axis", unsqueeze, reshape_backward, reshape_differentiate, free_cost, {}, [](Rng&) {
        return std::vector<Sample>{{{{3, 5}}, {.axis = 0}}, {{{3, 5}}, {.axis = 1}}, {{{3, 5}}, {.axis = -1}}};
    });
const OpRow squeeze_row =
    view_row("squeeze", "axis", squeeze, reshape_backward, reshape_differentiate, free_cost, {}, [](Rng&) {
        return std::vector<Sample>{{{{1, 5}}, {.axis = 0}}, {{{3, 1, 5}}, {.axis = 1}}, {{{3, 5, 1}}, {.axis = -1}}};
    });
const OpRow permute_row =
    view_row("permute", "axes", permute, permute_backward, permute_differentiate, permute_cost, {"copy_strided"}, [](Rng&) {
        return std::vector<Sample>{
            {{{3, 5}}, {.axes = {1, 0}}}, {{{2, 3, 4, 5}}, {.axes = {3, 1, 0, 2}}}, {{{2, 1, 3}}, {.axes = {0, 2, 1}}}};
    });
const OpRow slice_row = view_row(
    "slice", "axis start stop step=1", slice, [](BackwardCall& call) { put_back(call, slice); }, slice_differentiate,
    slice_cost, {"fill", "put_strided"},
    [](Rng&) {
        return std::vector<Sample>{{{{7, 5}}, {.axis = 0, .start = 2, .stop = 6}},
                                   {{{2, 9, 3}}, {.axis = 1, .start = 1, .stop = 9, .step = 3}},
                                   {{{7, 5}}, {.axis = -1, .start = -2, .stop = 5}}};
    });
const OpRow select_row = view_row(
    "select", "axis start", select, [](BackwardCall& call) { put_back(call, select); }, slice_differentiate, select_cost,
    {"fill", "put_strided"},
    [](Rng&) {
        return std::vector<Sample>{{{{7, 5}}, {.axis = 0, .start = 3}}, {{{2, 3, 4}}, {.axis = -1, .start = -1}}};
    });
const OpRow expand_row =
    view_row("expand", "sizes", expand, expand_backward, expand_differentiate, expand_cost, {"sum_strided"}, [](Rng&) {
        return std::vector<Sample>{{{{3, 1}}, {.sizes = {3, 5}}},
                                   {{{2, 1, 3, 1}}, {.sizes = {2, 4, 3, 5}}},
                                   {{{}}, {.sizes = {3, 2}}},
                                   {{{2, 3}}, {.sizes = {2, 3}}}};
    });
const OpRow put_slice_row = {
    .name = "put_slice",
    .numbers = not_from_text,
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"fill", "put_strided", "copy_strided"},
    .shape = put_slice_shape,
    .forward = put_slice_forward,
    .backward = put_slice_backward,
    .differentiate = put_slice_differentiate,
    .cost = put_slice_cost,
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{{{4, 5}}, {.axis = 0, .sizes = {7, 5}, .start = 2, .stop = 6}},
                                       {{{2, 3, 3}}, {.axis = 1, .sizes = {2, 9, 3}, .start = 1, .stop = 9, .step = 3}}};
        },
};

}  // namespace lockstep::tensor
