// Joining, choosing, comparing and changing types: cat, where, the six comparisons, cast, flip, tril, detach.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

namespace {
using A = Attributes;

// ---- cat
Shape cat_shape(Types in, const A& a) {
    Shape all = in[0].shape;
    const size_t axis = axis_of(a.axis, all.size());
    for (size_t i = 1; i < in.size(); ++i) {
        bool fits = in[i].shape.size() == all.size() && in[i].dtype == in[0].dtype;
        for (size_t j = 0; fits && j < all.size(); ++j) fits = j == axis || in[i].shape[j] == all[j];
        if (!fits)
            throw Failure(fmt::format("{} {} cannot be joined to {} {} along axis {}", text_of(in[i].shape),
                                      name_of(in[i].dtype), text_of(in[0].shape), name_of(in[0].dtype), axis));
        all[axis] += in[i].shape[axis];
    }
    return all;
}
DType first_type(Types in, const A&) {
    return in[0].dtype;
}
void cat_forward(ForwardCall& call) {
    const size_t axis = axis_of(call.attributes.axis, call.output.shape.size());
    int64_t at = 0;
    for (const Tensor& piece : call.inputs) {
        call.launch(put_strided(piece, sliced(call.output, static_cast<int64_t>(axis), at, at + piece.shape[axis])));
        at += piece.shape[axis];
    }
}
void cat_backward(BackwardCall& call) {
    const size_t axis = axis_of(call.attributes.axis, call.output.shape.size());
    int64_t at = 0;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const int64_t begin = at;
        at += call.inputs[i].shape[axis];
        if (!call.wants(i)) continue;
        const Tensor& dx = call.allocate(i);
        call.launch(i, copy_strided(sliced(call.upstream, static_cast<int64_t>(axis), begin, at), dx));
    }
}
void cat_differentiate(DifferentiateCall& call) {
    const auto axis = static_cast<int64_t>(axis_of(call.attributes.axis, call.inputs[0].shape.size()));
    int64_t at = 0;
    for (size_t i = 0; i < call.inputs.size(); ++i) {
        const int64_t begin = at;
        at += call.inputs[i].shape[static_cast<size_t>(axis)];
        if (call.wants(i)) call.gradients[i] = slice(call.tape, call.upstream, axis, begin, at, 1, call.label(i));
    }
}
OpCost cat_cost(Types in, const A& a) {
    const double all = double(count_of(cat_shape(in, a))) * double(size_of(in[0].dtype));
    OpCost cost;
    for (const TensorType& piece : in) cost.forward.bytes += piece.bytes() + all;
    cost.backward.bytes = cost.forward.bytes;
    return cost;
}

// ---- where, comparisons: shapes are equal here; the functions of ops.h broadcast by expand
Shape same_shape(Types in, size_t first) {
    for (size_t i = 0; i < in.size(); ++i)
        if (in[i].shape != in[first].shape || (i >= first && in[i].dtype != in[first].dtype))
            throw Failure(fmt::format("{} {} and {} {} differ", text_of(in[first].shape), name_of(in[first].dtype),
                                      text_of(in[i].shape), name_of(in[i].dtype)));
    return in[first].shape;
}
Shape where_shape(Types in, const A&) {
    if (in[0].dtype != DType::u8) throw Failure(fmt::format("a condition is u8, not {}", name_of(in[0].dtype)));
    return same_shape(in, 1);
}
DType second_type(Types in, const A&) {
    return in[1].dtype;
}
void where_forward(ForwardCall& call) {
    const Tensor &c = call.inputs[0], &a = call.inputs[1], &b = call.inputs[2], &y = call.output;
    Launch launch =
        elementwise("where", y.count(), {c.pointer(), a.pointer(), b.pointer(), y.pointer(), size_argument(y.count())});
    launch.type = y.dtype;
    call.launch(launch);
    call.save_input(0);
}
void where_backward(BackwardCall& call) {
    for (size_t i = 1; i < 3; ++i) {
        if (!call.wants(i)) continue;
        const Tensor& dx = call.allocate(i);
        call.launch(i, elementwise("where_backward", dx.count(),
                                   {call.kept(0).pointer(), call.upstream.pointer(), dx.pointer(), size_argument(dx.count()),
                                    static_cast<int32_t>(i == 1)}));
    }
}
void where_differentiate(DifferentiateCall& call) {
    for (size_t i = 1; i < 3; ++i) {
        if (!call.wants(i)) continue;
        const Variable none = affine(call.tape, call.upstream, 0, 0, call.label(i, "zeros"));
        call.gradients[i] = i == 1 ? call.tape.apply(where_row, {call.kept(0), call.upstream, none}, call.label(i))
                                   : call.tape.apply(where_row, {call.kept(0), none, call.upstream}, call.label(i));
    }
}
OpCost where_cost(Types in, const A&) {
    return {{double(in[1].count()), in[0].bytes() + 3 * in[1].bytes()},
            {2 * double(in[1].count()), 2 * in[0].bytes() + 4 * in[1].bytes()}};
}

void compare_forward(ForwardCall& call) {
    const Tensor &a = call.inputs[0], &b = call.inputs[1], &y = call.output;
    Launch launch = elementwise(call.op.name, y.count(), {a.pointer(), b.pointer(), y.pointer(), size_argument(y.count())});
    launch.type = a.dtype;
    call.launch(launch);
}
OpRow comparison(std::string_view name) {
    return {.name = name,
            .inputs = 2,
            .any_inputs = 3,
            .kernels = {name},
            .shape = [](Types in, const A&) { return same_shape(in, 0); },
            .result = [](Types, const A&) { return DType::u8; },
            .forward = compare_forward,
            .cost =
                [](Types in, const A&) {
                    return OpCost{{double(in[0].count()), 2 * in[0].bytes() + double(in[0].count())}, {}};
                },
            .samples =
                [](Rng&) {
                    return std::vector<Sample>{{{{1}, {1}}}, {{{7, 9}, {7, 9}}}};
                }};
}

// ---- cast
std::string_view cast_from(DType type) {
    for (std::string_view name : {"cast_f32", "cast_f64", "cast_f16", "cast_bf16", "cast_i64", "cast_i32", "cast_u8"})
        if (name.substr(5) == name_of(type)) return name;
    throw Failure(fmt::format("there is no cast from {}", name_of(type)));
}
Launch cast_launch(const Tensor& x, const Tensor& y) {
    Launch launch = elementwise(cast_from(x.dtype), x.count(), {x.pointer(), y.pointer(), size_argument(x.count())});
    launch.type = y.dtype;
    return launch;
}
OpCost cast_cost(Types in, const A& a) {
    const double n = double(in[0].count()), to = n * double(size_of(a.dtype));
    const bool back = floating(a.dtype);
    return {{n, in[0].bytes() + to}, {back ? n : 0, back ? in[0].bytes() + to : 0}};
}

// ---- flip: the axis walked backwards. Only for a launch: a tensor that is kept has no negative strides.
Tensor flipped(const Tensor& x, const A& a) {
    const size_t axis = axis_of(a.axis, x.shape.size());
    Tensor view = x;
    view.offset += (x.shape[axis] - 1) * x.strides[axis];
    view.strides[axis] = -x.strides[axis];
    return view;
}

// ---- tril
Launch tril_launch(const Tensor& x, const Tensor& y, const A& a) {
    const size_t rank = x.shape.size();
    return elementwise("tril", x.count(),
                       {x.pointer(), y.pointer(), size_argument(x.count()), size_argument(x.shape[rank - 2]),
                        size_argument(x.shape[rank - 1]), size_argument(a.start)});
}
}  // namespace

const OpRow cat_row = {
    .name = "cat",
    .numbers = "axis",
    .inputs = 1,
    .variadic = true,
    .any_inputs = ~0u,
    .gradient_names = {"dx"},
    .kernels = {"put_strided", "copy_strided"},
    .shape = cat_shape,
    .result = first_type,
    .forward = cat_forward,
    .backward = cat_backward,
    .differentiate = cat_differentiate,
    .cost = cat_cost,
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{{{2, 5}, {3, 5}, {1, 5}}, {.axis = 0}}, {{{3, 2}, {3, 4}}, {.axis = -1}}};
        },
};
const OpRow where_row = {
    .name = "where",
    .inputs = 3,
    .integer_inputs = 1,
    .any_inputs = 6,
    .gradient_names = {"", "da", "db"},
    .kernels = {"where", "where_backward"},
    .shape = where_shape,
    .result = second_type,
    .forward = where_forward,
    .backward = where_backward,
    .differentiate = where_differentiate,
    .cost = where_cost,
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{.shapes = {{1}, {1}, {1}}, .integers = DType::u8, .classes = 2},
                                       {.shapes = {{3, 5}, {3, 5}, {3, 5}}, .integers = DType::u8, .classes = 2}};
        },
};
const OpRow equal_row = comparison("equal"), not_equal_row = comparison("not_equal"), less_row = comparison("less"),
            less_equal_row = comparison("less_equal"), greater_row = comparison("greater"),
            greater_equal_row = comparison("greater_equal");
const OpRow cast_row = {
    .name = "cast",
    .numbers = not_from_text,
    .inputs = 1,
    .any_inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"cast_*"},
    .shape = [](Types in, const A&) { return in[0].shape; },
    .result = [](Types, const A& a) { return a.dtype; },
    .forward = [](ForwardCall& call) { call.launch(cast_launch(call.inputs[0], call.output)); },
    .backward =
        [](BackwardCall& call) {
            if (!call.wants(0) || !floating(call.output.dtype)) return;
            const Tensor& dx = call.allocate(0);
            call.launch(0, cast_launch(call.upstream, dx));
        },
    .differentiate =
        [](DifferentiateCall& call) {
            if (call.wants(0) && floating(call.upstream.dtype()))
                call.gradients[0] = cast(call.tape, call.upstream, call.inputs[0].dtype, call.label(0));
        },
    .cost = cast_cost,
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{.shapes = {{3, 17}}, .attributes = {.dtype = DType::f64}},
                                       {.shapes = {{3, 17}}, .attributes = {.dtype = DType::bf16}, .smooth = false},
                                       {.shapes = {{3, 17}}, .attributes = {.dtype = DType::f32}, .smooth = false},
                                       {.shapes = {{3, 17}}, .attributes = {.dtype = DType::i32}, .smooth = false}};
        },
};
const OpRow flip_row = {
    .name = "flip",
    .numbers = "axis",
    .inputs = 1,
    .any_inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"copy_strided"},
    .shape =
        [](Types in, const A& a) {
            axis_of(a.axis, in[0].shape.size());
            return in[0].shape;
        },
    .forward = [](ForwardCall& call) { call.launch(copy_strided(flipped(call.inputs[0], call.attributes), call.output)); },
    .backward =
        [](BackwardCall& call) {
            if (!call.wants(0)) return;
            const Tensor& dx = call.allocate(0);
            call.launch(0, copy_strided(flipped(call.upstream, call.attributes), dx));
        },
    .differentiate =
        [](DifferentiateCall& call) {
            if (call.wants(0))
                call.gradients[0] = call.tape.apply(flip_row, {call.upstream}, call.label(0), call.attributes);
        },
    .cost =
        [](Types in, const A&) {
            return OpCost{{0, 2 * in[0].bytes()}, {0, 2 * in[0].bytes()}};
        },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{{{3, 5}}, {.axis = 1}}, {{{4, 3, 2}}, {.axis = 0}}};
        },
};
// Zero above the diagonal number `start` (0: the main one, 1: one above) of the last two axes.
const OpRow tril_row = {
    .name = "tril",
    .numbers = "start=0",
    .inputs = 1,
    .gradient_names = {"dx"},
    .kernels = {"tril"},
    .shape =
        [](Types in, const A&) {
            if (in[0].shape.size() < 2) throw Failure(fmt::format("tril takes matrices, not {}", text_of(in[0].shape)));
            return in[0].shape;
        },
    .forward = [](ForwardCall& call) { call.launch(tril_launch(call.inputs[0], call.output, call.attributes)); },
    .backward =
        [](BackwardCall& call) {
            if (!call.wants(0)) return;
            const Tensor& dx = call.allocate(0);
            call.launch(0, tril_launch(call.upstream, dx, call.attributes));
        },
    .differentiate =
        [](DifferentiateCall& call) {
            if (call.wants(0))
                call.gradients[0] = call.tape.apply(tril_row, {call.upstream}, call.label(0), call.attributes);
        },
    .cost =
        [](Types in, const A&) {
            return OpCost{{0, 2 * in[0].bytes()}, {0, 2 * in[0].bytes()}};
        },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{{{5, 7}}}, {{{2, 5, 7}}, {.start = 1}}, {{{5, 7}}, {.start = -1}}};
        },
};
const OpRow detach_row = {
    .name = "detach",
    .inputs = 1,
    .any_inputs = 1,
    .takes_strides = true,
    .view = [](const Tensor& x, const A&) { return x; },
    .cost = [](Types, const A&) { return OpCost{}; },
    .samples =
        [](Rng&) {
            return std::vector<Sample>{{{{3, 5}}}};
        },
};

}  // namespace lockstep::tensor
