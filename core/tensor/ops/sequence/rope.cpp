// Rotary positions. x[..., D], and a table [P,D] of cosines and sines (rope_table), which gets no gradient.
// axis: which axis of x counts positions; start: the position of its first element (a cache's length); mode: the layout, 0
// interleaved (x[2i], x[2i+1]), 1 half-split (x[i], x[i+D/2]).
#include <fmt/format.h>

#include <cmath>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
size_t axis_of(const Shape& x, const Attributes& attributes) {
    return size_t(attributes.axis < 0 ? attributes.axis + int64_t(x.size()) : attributes.axis);
}
Shape shape(Types in, const Attributes& attributes) {
    const Shape &x = in[0].shape, &table = in[1].shape;
    const size_t axis = axis_of(x, attributes);
    if (x.size() < 2 || axis + 1 >= x.size())
        throw Failure(fmt::format("{} has no axis {} of positions before its last one", text_of(x), attributes.axis));
    if (x.back() % 2) throw Failure(fmt::format("rotary positions turn pairs, but {} ends in an odd extent", text_of(x)));
    if (table.size() != 2 || table[1] != x.back() || in[1].dtype != in[0].dtype)
        throw Failure(fmt::format("a table of shape {} {} does not fit {} {}", text_of(table), name_of(in[1].dtype),
                                  text_of(x), name_of(in[0].dtype)));
    if (attributes.start < 0 || attributes.start + x[axis] > table[0])
        throw Failure(fmt::format("positions {} to {} are outside of a table for {}", attributes.start,
                                  attributes.start + x[axis] - 1, table[0]));
    return x;
}
Launch turn(const Tensor& x, const Tensor& table, const Tensor& y, const Attributes& attributes, int32_t way) {
    const size_t axis = axis_of(x.shape, attributes);
    const int64_t columns = x.shape.back(), rows = x.count() / columns;
    int64_t inner = 1;
    for (size_t i = axis + 1; i + 1 < x.shape.size(); ++i) inner *= x.shape[i];
    return elementwise(
        "rope", x.count() / 2,
        {x.pointer(), table.pointer(), y.pointer(), size_argument(rows), size_argument(columns), size_argument(inner),
         size_argument(x.shape[axis]), size_argument(attributes.start), int32_t{attributes.mode}, way});
}
}  // namespace

const OpRow rope_row = {
    .name = "rope",
    .numbers = not_from_text,
    .inputs = 2,
    .constant_inputs = 1u << 1,
    .kernels = {"rope"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = shape,
    .forward =
        [](ForwardCall& call) {
            call.launch(turn(call.inputs[0], call.inputs[1], call.output, call.attributes, 1));
            call.save_input(1);
        },
    .backward =
        [](BackwardCall& call) {
            const Tensor& dx = call.allocate(0);
            call.launch(0, turn(call.upstream, call.kept(0), dx, call.attributes, -1));
        },
    .cost = [](Types in, const Attributes&) -> OpCost {
        const Cost one = {3 * double(in[0].count()), 2 * in[0].bytes() + in[1].bytes()};
        return {one, one};
    },
    .samples = [](Rng&) -> std::vector<Sample> {
        return {{.shapes = {{1, 2}, {1, 2}}},
                {.shapes = {{2, 3, 5, 8}, {9, 8}}, .attributes = {.axis = -2, .start = 4}},
                {.shapes = {{2, 5, 3, 6}, {5, 6}}, .attributes = {.axis = 1, .mode = 1}}};
    },
};

Tensor rope_table(Heap& heap, int64_t positions, int64_t head_size, double theta, DType dtype, const std::string& name) {
    std::vector<double> values;
    values.reserve(size_t(positions * head_size));
    for (int64_t p = 0; p < positions; ++p)
        for (int64_t i = 0; i < head_size / 2; ++i) {
            const double angle = double(p) * std::pow(theta, -2.0 * double(i) / double(head_size));
            values.push_back(std::cos(angle));
            values.push_back(std::sin(angle));
        }
    return tensor_from(heap, {positions, head_size}, values, name, Purpose::parameter, dtype);
}
Variable rope(Tape& tape, const Variable& x, const Variable& table, RopeLayout layout, int64_t axis, int64_t start,
              NodeName name) {
    return tape.apply(rope_row, {x, table}, std::move(name), {.axis = axis, .start = start, .mode = int(layout)});
}

}  // namespace lockstep::tensor
