// A sparse matrix times a dense one: values[E], row_start[R+1], columns[E] (compressed rows), dense[K,C] -> [R,C].
// A graph convolution is this with the graph's weights as values. Both gradients are exact and of the same bits every time.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/sequence_ops.h"

namespace lockstep::tensor {

namespace {
uint32_t blocks(int64_t count) {
    return static_cast<uint32_t>((count + 255) / 256);
}

Shape shape(Types in, const Attributes&) {
    if (in[0].shape.size() != 1 || in[0].shape != in[2].shape || in[1].shape.size() != 1 || in[1].shape[0] < 2)
        throw Failure(fmt::format("{} values, {} row starts and {} columns are no sparse matrix", text_of(in[0].shape),
                                  text_of(in[1].shape), text_of(in[2].shape)));
    if (in[1].dtype != DType::i32 || in[2].dtype != DType::i32) throw Failure("row starts and columns are i32");
    if (in[3].shape.size() != 2) throw Failure(fmt::format("the dense matrix has two axes, not {}", text_of(in[3].shape)));
    return {in[1].shape[0] - 1, in[3].shape[1]};
}

void forward(ForwardCall& call) {
    const Tensor &values = call.inputs[0], &rows = call.inputs[1], &columns = call.inputs[2], &dense = call.inputs[3];
    call.launch({"sparse_matmul",
                 {blocks(call.output.count()), 1, 1},
                 {256, 1, 1},
                 {rows.pointer(), columns.pointer(), values.pointer(), dense.pointer(), call.output.pointer(),
                  size_argument(rows.count() - 1), size_argument(dense.shape[0]), size_argument(dense.shape[1]),
                  size_argument(values.count())}});
    for (size_t input = 0; input < 4; ++input) call.save_input(input);
}

void backward(BackwardCall& call) {
    const Tensor &values = call.kept(0), &rows = call.kept(1), &columns = call.kept(2), &dense = call.kept(3);
    const int64_t entries = values.count(), width = dense.shape[1];
    const auto row_count = size_argument(rows.count() - 1);
    if (call.wants(0)) {
        const Tensor& dvalues = call.allocate(0);
        call.launch(0, {"sparse_matmul_values",
                        {blocks(entries), 1, 1},
                        {256, 1, 1},
                        {rows.pointer(), columns.pointer(), dense.pointer(), call.upstream.pointer(), dvalues.pointer(),
                         row_count, size_argument(width), size_argument(entries)}});
    }
    if (!call.wants(3)) return;
    const Tensor& ddense = call.allocate(3);
    const Tensor next = call.temporary({entries}, "next", DType::i32),
                 first = call.temporary({entries}, "first", DType::i32);
    call.launch(3, elementwise("fill", ddense.count(),
                               {ddense.pointer(), scalar_argument(0, call.dtype), size_argument(ddense.count())}));
    Launch order = elementwise("index_order_i32", entries,
                               {columns.pointer(), next.pointer(), first.pointer(), size_argument(entries)});
    order.named_whole = true;
    call.launch(3, order);
    call.launch(3, {"sparse_matmul_backward",
                    {static_cast<uint32_t>(entries), 1, 1},
                    {128, 1, 1},
                    {rows.pointer(), columns.pointer(), next.pointer(), first.pointer(), values.pointer(),
                     call.upstream.pointer(), ddense.pointer(), row_count, size_argument(width), size_argument(entries)}});
}

OpCost cost(Types in, const Attributes&) {
    const double e = double(size_of(in[0].dtype)), entries = double(in[0].count()), width = double(in[3].shape[1]);
    const double rows = double(in[1].count()), dense = in[3].bytes(), y = e * (rows - 1) * width,
                 structure = 4 * (rows + entries);
    const double values = e * entries, products = 2 * entries * width;
    return {{products, structure + values + dense + y},
            {2 * products, (structure + dense + y + values) + dense + 3 * 4 * entries +
                               (structure + 2 * 4 * entries + values + y + dense)}};
}

std::vector<Sample> samples(Rng&) {
    return {{.shapes = {{7}, {5}, {7}, {5, 3}}, .given = {{}, {0, 2, 2, 5, 7}, {1, 4, 0, 1, 3, 2, 4}}},
            {.shapes = {{1}, {2}, {1}, {1, 1}}, .given = {{}, {0, 1}, {0}}},
            {.shapes = {{6}, {4}, {6}, {2, 17}}, .given = {{}, {0, 3, 3, 6}, {0, 0, 1, 1, 0, 1}}}};
}
}  // namespace

const OpRow sparse_dense_row = {
    .name = "sparse_dense",
    .numbers = not_from_text,
    .inputs = 4,
    .integer_inputs = 1u << 1 | 1u << 2,
    .gradient_names = {"dvalues", "", "", "dx"},
    .kernels = {"sparse_matmul", "sparse_matmul_values", "sparse_matmul_backward", "fill", "index_order_i32"},
    .types = {DType::f32, DType::f64, DType::f16, DType::bf16},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

Variable sparse_dense(Tape& tape, const Variable& values, const Variable& row_start, const Variable& columns,
                      const Variable& dense, NodeName name) {
    return tape.apply(sparse_dense_row, {values, row_start, columns, dense}, std::move(name));
}

}  // namespace lockstep::tensor
