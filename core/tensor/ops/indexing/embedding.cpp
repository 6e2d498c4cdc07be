// Rows by number. embedding: weight[V,C], indices [...] -> [..., C]; index_select: x, index[n] along an axis.
// The gradient adds rows back in the order of their places, so it has the same bits every time (kernels/index.cu).
// embedding's mode is 1 + the padding index, whose row gets no gradient; 0: none.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/second.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
struct Extents {  // x as [outer, extent, inner], and how many rows are taken
    int64_t outer = 1, extent = 1, count = 1, inner = 1;
};

Extents extents_of(const Shape& x, int64_t axis, int64_t count) {
    Extents e{.count = count};
    const auto a = size_t(axis < 0 ? axis + int64_t(x.size()) : axis);
    for (size_t i = 0; i < x.size(); ++i) (i < a ? e.outer : i > a ? e.inner : e.extent) *= x[i];
    return e;
}

void check_index(const TensorType& index) {
    if (index.dtype != DType::i32) throw Failure(fmt::format("indices are i32, not {}", name_of(index.dtype)));
}

void select(ForwardCall& call, const Tensor& x, const Tensor& index, const Extents& e) {
    if (index.largest >= e.extent)
        throw Failure(fmt::format("{}: the index {} is outside of the {} rows of {}", call.name, index.largest, e.extent,
                                  text_of(x.shape)));
    call.launch(elementwise("index_select", call.output.count(),
                            {x.pointer(), index.pointer(), call.output.pointer(), size_argument(e.outer),
                             size_argument(e.extent), size_argument(e.count), size_argument(e.inner)}));
    call.save_input(1);
}

void add_back(BackwardCall& call, const Extents& e, int64_t skip) {
    const Tensor& index = call.kept(0);
    const Tensor& dx = call.allocate(0);
    const Tensor next = call.temporary({e.count}, "next", DType::i32),
                 first = call.temporary({e.count}, "first", DType::i32);
    call.launch(0,
                elementwise("fill", dx.count(), {dx.pointer(), scalar_argument(0, call.dtype), size_argument(dx.count())}));
    Launch order =
        elementwise("index_order_i32", e.count, {index.pointer(), next.pointer(), first.pointer(), size_argument(e.count)});
    order.named_whole = true;
    call.launch(0, order);
    call.launch(
        0, {"index_add",
            {static_cast<uint32_t>(e.count), static_cast<uint32_t>(e.outer), 1},
            {128, 1, 1},
            {call.upstream.pointer(), index.pointer(), next.pointer(), first.pointer(), dx.pointer(), size_argument(e.outer),
             size_argument(e.extent), size_argument(e.count), size_argument(e.inner), size_argument(skip)}});
}

OpCost cost_of(const Extents& e, double size) {
    const double x = double(e.outer * e.extent * e.inner), y = double(e.outer * e.count * e.inner), n = 4 * double(e.count);
    return {{0, size * (x + y) + n}, {y, size * (2 * x + y) + 6 * n}};
}

Extents embedding_extents(Types in) {
    return {1, in[0].shape[0], in[1].count(), in[0].shape[1]};
}
Shape embedding_shape(Types in, const Attributes&) {
    check_index(in[1]);
    if (in[0].shape.size() != 2)
        throw Failure(fmt::format("an embedding's weight has the shape [rows, columns], not {}", text_of(in[0].shape)));
    Shape shape = in[1].shape;
    shape.push_back(in[0].shape[1]);
    return shape;
}

Extents select_extents(Types in, const Attributes& attributes) {
    return extents_of(in[0].shape, attributes.axis, in[1].count());
}
Shape select_shape(Types in, const Attributes& attributes) {
    check_index(in[1]);
    const auto axes = int64_t(in[0].shape.size()), axis = attributes.axis < 0 ? attributes.axis + axes : attributes.axis;
    if (axis < 0 || axis >= axes) throw Failure(fmt::format("{} has no axis {}", text_of(in[0].shape), attributes.axis));
    if (in[1].shape.size() != 1)
        throw Failure(fmt::format("index_select takes a list of rows, not {}", text_of(in[1].shape)));
    Shape shape = in[0].shape;
    shape[size_t(axis)] = in[1].shape[0];
    return shape;
}

std::vector<TensorType> types_of(const ForwardCall& call) {
    std::vector<TensorType> types;
    for (const Tensor& input : call.inputs) types.push_back({input.shape, input.dtype});
    return types;
}
}  // namespace

const OpRow embedding_row = {
    .name = "embedding",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .gradient_names = {"dW"},
    .kernels = {"index_select", "fill", "index_order_i32", "index_add"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = embedding_shape,
    .forward = [](ForwardCall& call) { select(call, call.inputs[0], call.inputs[1], embedding_extents(types_of(call))); },
    .backward = [](BackwardCall& call) { add_back(call, embedding_extents(call.inputs), call.attributes.mode - 1); },
    .differentiate = differentiate_embedding,
    .cost = [](Types in, const Attributes&) { return cost_of(embedding_extents(in), double(size_of(in[0].dtype))); },
    .samples = [](Rng& rng) -> std::vector<Sample> {
        return {
            {.shapes = {{1, 1}, {1}}, .classes = 1},
            {.shapes = {{7, 5}, {2, 9}}, .classes = 7},
            {.shapes = {{3, 1 + int64_t(rng.below(40))}, {17}}, .attributes = {.mode = 2}, .smooth = false, .classes = 3}};
    },
};

const OpRow index_select_row = {
    .name = "index_select",
    .numbers = "axis",
    .inputs = 2,
    .integer_inputs = 1u << 1,
    .kernels = {"index_select", "fill", "index_order_i32", "index_add"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = select_shape,
    .forward =
        [](ForwardCall& call) {
            select(call, call.inputs[0], call.inputs[1], select_extents(types_of(call), call.attributes));
        },
    .backward = [](BackwardCall& call) { add_back(call, select_extents(call.inputs, call.attributes), -1); },
    .cost = [](Types in, const Attributes& a) { return cost_of(select_extents(in, a), double(size_of(in[0].dtype))); },
    .samples = [](Rng&) -> std::vector<Sample> {
        return {{.shapes = {{5, 7}, {9}}, .classes = 5},
                {.shapes = {{5, 7}, {3}}, .attributes = {.axis = 1}, .classes = 7},
                {.shapes = {{2, 5, 3}, {4}}, .attributes = {.axis = -2}, .classes = 5}};
    },
};

Variable embedding(Tape& tape, const Variable& weight, const Variable& indices, NodeName name, int padding_index) {
    return tape.apply(embedding_row, {weight, indices}, std::move(name), {.mode = padding_index + 1});
}
Variable index_select(Tape& tape, const Variable& x, const Variable& index, int64_t axis, NodeName name) {
    return tape.apply(index_select_row, {x, index}, std::move(name), {.axis = axis});
}

}  // namespace lockstep::tensor
