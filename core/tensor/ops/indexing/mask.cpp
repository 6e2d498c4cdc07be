// one_hot: indices [...] -> [..., classes] (sizes: {classes}; of type `dtype`). masked_fill: `alpha` where the mask is not
// 0; the mask's shape is the last extents of x, and it repeats over the others.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
Shape one_hot_shape(Types in, const Attributes& attributes) {
    if (in[0].dtype != DType::i32) throw Failure(fmt::format("indices are i32, not {}", name_of(in[0].dtype)));
    if (attributes.sizes.size() != 1 || attributes.sizes[0] < 1) throw Failure("one_hot takes a number of classes");
    Shape shape = in[0].shape;
    shape.push_back(attributes.sizes[0]);
    return shape;
}
void one_hot_forward(ForwardCall& call) {
    const Tensor& index = call.inputs[0];
    const int64_t classes = call.attributes.sizes[0];
    if (index.largest >= classes)
        throw Failure(fmt::format("{}: the index {} is outside of the {} classes", call.name, index.largest, classes));
    Launch launch =
        elementwise("one_hot", call.output.count(),
                    {index.pointer(), call.output.pointer(), size_argument(index.count()), size_argument(classes)});
    launch.type = call.output.dtype;
    call.launch(launch);
}

Shape masked_shape(Types in, const Attributes&) {
    const Shape &x = in[0].shape, &mask = in[1].shape;
    if (in[1].dtype != DType::i32) throw Failure(fmt::format("a mask is i32, not {}", name_of(in[1].dtype)));
    if (mask.size() > x.size() || !std::equal(mask.begin(), mask.end(), x.end() - mask.size()))
        throw Failure(fmt::format("a mask of shape {} is not the last extents of {}", text_of(mask), text_of(x)));
    return x;
}
Launch fill_where(const Tensor& x, const Tensor& mask, const Tensor& y, const device::Argument& value) {
    return elementwise(
        "masked_fill", y.count(),
        {x.pointer(), mask.pointer(), y.pointer(), value, size_argument(y.count()), size_argument(mask.count())});
}
}  // namespace

const OpRow one_hot_row = {
    .name = "one_hot",
    .numbers = not_from_text,
    .inputs = 1,
    .integer_inputs = 1u,
    .kernels = {"one_hot"},
    .types = {DType::f32},
    .shape = one_hot_shape,
    .result = [](Types, const Attributes& attributes) { return attributes.dtype; },
    .forward = one_hot_forward,
    .cost = [](Types in, const Attributes& attributes) -> OpCost {
        const double n = double(in[0].count());
        return {{0, 4 * n + n * double(attributes.sizes[0]) * double(size_of(attributes.dtype))}, {}};
    },
    .samples = [](Rng&) -> std::vector<Sample> {
        return {{.shapes = {{4}}, .attributes = {.sizes = {3}}, .classes = 3},
                {.shapes = {{2, 30}}, .attributes = {.sizes = {7}}, .classes = 7}};
    },
};

const OpRow masked_fill_row = {
    .name = "masked_fill",
    .numbers = "alpha",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .kernels = {"masked_fill"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = masked_shape,
    .forward =
        [](ForwardCall& call) {
            call.launch(
                fill_where(call.inputs[0], call.inputs[1], call.output, scalar_argument(call.attributes.alpha, call.dtype)));
            call.save_input(1);
        },
    .backward =
        [](BackwardCall& call) {
            const Tensor& dx = call.allocate(0);
            call.launch(0, fill_where(call.upstream, call.kept(0), dx, scalar_argument(0, call.dtype)));
        },
    .cost = [](Types in, const Attributes&) -> OpCost {
        const Cost one = {0, 2 * in[0].bytes() + in[1].bytes()};
        return {one, one};
    },
    .samples = [](Rng&) -> std::vector<Sample> {
        return {{.shapes = {{3, 5}, {3, 5}}, .attributes = {.alpha = -9}, .classes = 2},
                {.shapes = {{2, 3, 4, 4}, {4, 4}}, .attributes = {.alpha = 0.5}, .classes = 2}};
    },
};

Variable one_hot(Tape& tape, const Variable& indices, int64_t classes, NodeName name, DType dtype) {
    return tape.apply(one_hot_row, {indices}, std::move(name), {.sizes = {classes}, .dtype = dtype});
}
Variable masked_fill(Tape& tape, const Variable& x, const Variable& mask, double value, NodeName name) {
    return tape.apply(masked_fill_row, {x, mask}, std::move(name), {.alpha = value});
}

}  // namespace lockstep::tensor
