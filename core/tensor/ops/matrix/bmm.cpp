// Batched matrix products: C[..., M, N] = A[..., M, K] B[..., K, N], or with B[..., N, K] transposed; the leading extents
// broadcast. A side with one matrix for all is read with stride 0; a side that repeats along some axes only is copied first.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"
#include "core/tensor/ops/walk.h"

namespace lockstep::tensor {

namespace {
Shape batch_of(const Shape& shape) {
    return Shape(shape.begin(), shape.end() - 2);
}
Shape with_matrix(Shape batch, int64_t rows, int64_t columns) {
    batch.push_back(rows);
    batch.push_back(columns);
    return batch;
}

Shape shape(Types in, const Attributes& attributes) {
    const Shape &a = in[0].shape, &b = in[1].shape;
    const bool matrices = a.size() >= 2 && b.size() >= 2;
    if (!matrices || a.back() != b[b.size() - (attributes.transpose_b ? 1 : 2)])
        throw Failure(fmt::format("{} times {}{} does not fit: the inner extents must be equal", text_of(a), text_of(b),
                                  attributes.transpose_b ? " transposed" : ""));
    return with_matrix(broadcast(batch_of(a), batch_of(b)), a[a.size() - 2], b[b.size() - (attributes.transpose_b ? 2 : 1)]);
}

struct Extents {
    int64_t batch, m, n, k;
};
Extents extents_of(const Shape& a, const Shape& c) {
    const int64_t m = c[c.size() - 2], n = c.back();
    return {count_of(c) / (m * n), m, n, a.back()};
}

// How a side takes part: as it is, once for all, or copied.
bool repeats_partly(const Shape& side, const Shape& c) {
    const Shape batch = batch_of(side);
    return count_of(batch) != 1 && count_of(batch) != count_of(batch_of(c));
}
int64_t stride_of(const Tensor& side) {
    return count_of(batch_of(side.shape)) == 1 ? 0 : side.shape.back() * side.shape[side.shape.size() - 2];
}

Launch product(std::string_view kernel, const Tensor& a, const Tensor& b, const Tensor& c, int64_t batch, int64_t m,
               int64_t n, int64_t k) {
    return {kernel,
            {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16), static_cast<uint32_t>(batch)},
            {16, 16, 1},
            {a.pointer(), b.pointer(), c.pointer(), size_argument(batch), size_argument(m), size_argument(n),
             size_argument(k), size_argument(stride_of(a)), size_argument(stride_of(b)), size_argument(m * n)}};
}

Shape whole_shape(const Shape& side, const Shape& c) {
    return with_matrix(batch_of(c), side[side.size() - 2], side.back());
}

void forward(ForwardCall& call) {
    const Extents x = extents_of(call.inputs[0].shape, call.output.shape);
    const auto whole = [&](const Tensor& side) {
        if (!repeats_partly(side.shape, call.output.shape)) return side;
        const Tensor copy = call.temporary(whole_shape(side.shape, call.output.shape), "whole");
        call.launch(copy_strided(expanded(side, copy.shape), copy), "copy");
        return copy;
    };
    const Tensor a = whole(call.inputs[0]), b = whole(call.inputs[1]);
    call.launch(product(call.attributes.transpose_b ? "bmm_nt" : "bmm_nn", a, b, call.output, x.batch, x.m, x.n, x.k));
    if (call.needs_grad(1)) call.save_input(0);
    if (call.needs_grad(0)) call.save_input(1);
}

void backward(BackwardCall& call) {
    const Extents x = extents_of(call.inputs[0].shape, call.output.shape);
    const bool transposed = call.attributes.transpose_b;
    const Tensor& dc = call.upstream;
    for (size_t i = 0; i < 2; ++i) {
        if (!call.wants(i)) continue;
        Tensor other = i == 0 ? call.saved.back().tensor : call.kept(0);
        if (repeats_partly(other.shape, call.output.shape)) {
            const Tensor copy = call.temporary(whole_shape(other.shape, call.output.shape), "whole", call.dtype);
            call.launch(i, copy_strided(expanded(other, copy.shape), copy));
            other = copy;
        }
        const Shape full_shape = whole_shape(call.inputs[i].shape, call.output.shape);
        const Tensor full =
            full_shape == call.inputs[i].shape ? call.allocate(i) : call.temporary(full_shape, "full", call.dtype);
        if (i == 0)
            call.launch(0, product(transposed ? "bmm_nn" : "bmm_nt", dc, other, full, x.batch, x.m, x.k, x.n));
        else if (transposed)
            call.launch(1, product("bmm_tn", dc, other, full, x.batch, x.n, x.k, x.m));
        else
            call.launch(1, product("bmm_tn", other, dc, full, x.batch, x.k, x.n, x.m));
        reduce_into(call, i, full);
    }
}

Variable swapped(Tape& tape, const Variable& x, const NodeName& name) {  // the last two axes
    return transpose(tape, x, -2, -1, name);
}

void differentiate(DifferentiateCall& call) {
    const bool transposed = call.attributes.transpose_b;
    for (size_t i = 0; i < 2; ++i) {
        if (!call.wants(i)) continue;
        const NodeName name = call.label(i);
        const auto times = [&](const Variable& a, const Variable& b, bool turn) {
            return call.tape.apply(bmm_row, {a, b}, name, {.transpose_b = turn});
        };
        const Variable other = i == 0 ? call.kept(call.saved.size() - 1) : call.kept(0);
        Variable full;
        if (i == 0)
            full = times(call.upstream, other, !transposed);
        else if (transposed)
            full = times(swapped(call.tape, call.upstream, name), other, false);
        else
            full = times(swapped(call.tape, other, name), call.upstream, false);
        call.gradients[i] = sum_to(call.tape, full, call.inputs[i].shape, name);
    }
}

OpCost cost(Types in, const Attributes& attributes) {
    const Shape c = shape(in, attributes);
    const Extents x = extents_of(in[0].shape, c);
    const double e = double(size_of(in[0].dtype)), product = 2.0 * double(x.batch) * double(x.m) * double(x.n) * double(x.k);
    const auto whole = [&](size_t i) { return e * double(count_of(whole_shape(in[i].shape, c))); };
    const auto read = [&](size_t i) {  // by the product
        return repeats_partly(in[i].shape, c) ? whole(i) : in[i].bytes();
    };
    const auto copied = [&](size_t i) { return repeats_partly(in[i].shape, c) ? in[i].bytes() + whole(i) : 0.0; };
    OpCost cost{{product, copied(0) + copied(1) + read(0) + read(1) + e * double(count_of(c))}, {}};
    for (size_t i = 0; i < 2; ++i) {
        cost.backward += {product, copied(1 - i) + read(1 - i) + e * double(count_of(c)) + whole(i)};
        if (whole(i) != in[i].bytes()) cost.backward += {(whole(i) - in[i].bytes()) / e, whole(i) + in[i].bytes()};
    }
    return cost;
}

std::vector<Sample> samples(Rng& rng) {
    const int64_t m = 1 + int64_t(rng.below(20)), k = 1 + int64_t(rng.below(20)), n = 1 + int64_t(rng.below(20));
    return {{{{3, 5, 7}, {3, 7, 2}}},
            {{{2, 3, m, k}, {2, 3, n, k}}, {.transpose_b = true}},
            {{{m, k}, {4, k, n}}},
            {{{2, 1, 3, 4}, {3, 5, 4}}, {.transpose_b = true}},
            {{{2, 1, 3, 4}, {3, 4, 5}}}};
}
}  // namespace

const OpRow bmm_row = {
    .name = "bmm",
    .numbers = not_from_text,
    .inputs = 2,
    .gradient_names = {"da", "db"},
    .kernels = {"bmm_nn", "bmm_nt", "bmm_tn", "copy_strided", "sum_strided"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
