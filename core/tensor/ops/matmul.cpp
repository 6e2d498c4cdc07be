// C[M,N] = A[M,K] B[K,N], or with B[N,K] transposed.
// dA = dC Bᵀ and dB = Aᵀ dC; for the transposed form dA = dC B and dB = dCᵀ A: all are the three kernels of matmul.cu.
#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

static Launch product(std::string_view kernel, const Tensor& a, const Tensor& b, const Tensor& c, int64_t k) {
    const int64_t m = c.shape[0], n = c.shape[1];
    return {kernel,
            {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16), 1},
            {16, 16, 1},
            {a.pointer(), b.pointer(), c.pointer(), size_argument(m), size_argument(n), size_argument(k)}};
}

static Shape shape(const std::vector<Shape>& in, const Attributes& attributes, const std::string& name) {
    const Shape &a = in[0], &b = in[1];
    const size_t inner = attributes.transpose_b ? 1 : 0;
    if (a.size() != 2 || b.size() != 2 || a[1] != b[inner])
        throw Failure(fmt::format("{}: {} times {}{} does not fit: the inner extents must be equal", name, text_of(a),
                                  text_of(b), attributes.transpose_b ? " transposed" : ""));
    return {a[0], b[1 - inner]};
}

static void forward(ForwardCall& call) {
    call.launch(product(call.attributes.transpose_b ? "matmul_nt_f32" : "matmul_nn_f32", call.inputs[0], call.inputs[1],
                        call.output, call.inputs[0].shape[1]));
    if (call.input_needs_grad[1]) call.save_input(0);
    if (call.input_needs_grad[0]) call.save_input(1);
}

static void backward(BackwardCall& call) {
    const bool transposed = call.attributes.transpose_b;
    const int64_t m = call.upstream.shape[0], n = call.upstream.shape[1];
    if (call.wanted[1]) {
        const Tensor& a = call.saved[0].tensor;
        const Tensor& db = call.allocate(1);
        if (transposed)
            call.launch(1, product("matmul_tn_f32", call.upstream, a, db, m));
        else
            call.launch(1, product("matmul_tn_f32", a, call.upstream, db, m));
    }
    if (call.wanted[0]) {
        const Tensor& b = call.saved.back().tensor;
        const Tensor& da = call.allocate(0);
        call.launch(0, product(transposed ? "matmul_nn_f32" : "matmul_nt_f32", call.upstream, b, da, n));
    }
}

static OpCost cost(const std::vector<Shape>& in, const Attributes& attributes) {
    const double m = double(in[0][0]), k = double(in[0][1]), n = double(in[1][attributes.transpose_b ? 0 : 1]);
    const Cost one = {2 * m * n * k, 4 * (m * k + k * n + m * n)};
    return {one, {2 * one.operations, 2 * one.bytes}};
}

static std::vector<Sample> samples(Rng& rng) {
    std::vector<Sample> all = {{{{1, 3}, {3, 4}}}, {{{1, 1}, {1, 1}}}, {{{2, 3}, {4, 3}}, {.transpose_b = true}}};
    for (int i = 0; i < 4; ++i) {
        const int64_t m = 1 + int64_t(rng.below(20)), k = 1 + int64_t(rng.below(20)), n = 1 + int64_t(rng.below(20));
        const bool transposed = i % 2 == 1;
        all.push_back({{{m, k}, transposed ? Shape{n, k} : Shape{k, n}}, {.transpose_b = transposed}});
    }
    return all;
}

const OpRow matmul_row = {
    .name = "matmul",
    .inputs = 2,
    .gradient_names = {"dx", "dW"},
    .kernels = {"matmul_nn_f32", "matmul_nt_f32", "matmul_tn_f32"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
