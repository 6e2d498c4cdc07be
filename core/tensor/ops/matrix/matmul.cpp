// C[..., N] = A[..., K] B[K,N], or with B[N,K] transposed: the leading extents of A are its M rows.
// dA = dC Bᵀ and dB = Aᵀ dC; for the transposed form dA = dC B and dB = dCᵀ A: all are the three kernels of matmul.cu, or of
// matmul_tc.cu where halves are multiplied on a GPU with tensor cores (sums in f32 either way).
#include <fmt/format.h>

#include <cstdlib>

#include "core/base/diagnostic.h"
#include "core/model/gpus/gpu_spec.h"
#include "core/tensor/ops.h"
#include "core/tensor/ops/rows.h"

namespace lockstep::tensor {

enum class Product : uint8_t { nn, nt, tn };

// f16 since Volta, bf16 since Ampere: a modelled GPU that has them, or a real one.
static bool has_tensor_cores_for(DType type, const Heap& heap) {
    if (type == DType::f16) return heap.multiplies_halves();
    if (type != DType::bf16 || !heap.multiplies_halves()) return false;
    const std::string name = heap.device().name();
    if (name.starts_with("sim:")) {
        const auto gpu = model::gpu_named(name.substr(4));
        return gpu.ok() && gpu.value().tf32_tensor_tflops.value > 0;  // came with it
    }
    constexpr std::string_view before = "compute capability ";
    const std::string about = heap.device().description();
    const size_t at = about.find(before);
    return at != std::string::npos && std::atoi(about.c_str() + at + before.size()) >= 8;
}

static Launch product(Tape& tape, Product which, const Tensor& a, const Tensor& b, const Tensor& c, int64_t m, int64_t n,
                      int64_t k) {
    constexpr std::string_view kernels[] = {"matmul_nn", "matmul_nt", "matmul_tn"};
    constexpr std::string_view on_tensor_cores[] = {"matmul_tc_nn", "matmul_tc_nt", "matmul_tc_tn"};
    const auto index = static_cast<size_t>(which);
    if (has_tensor_cores_for(c.dtype, tape.heap()))
        return {on_tensor_cores[index],
                {static_cast<uint32_t>((n + 31) / 32), static_cast<uint32_t>((m + 31) / 32), 1},
                {128, 1, 1},
                {a.pointer(), b.pointer(), c.pointer(), size_argument(m), size_argument(n), size_argument(k)}};
    return {kernels[index],
            {static_cast<uint32_t>((n + 15) / 16), static_cast<uint32_t>((m + 15) / 16), 1},
            {16, 16, 1},
            {a.pointer(), b.pointer(), c.pointer(), size_argument(m), size_argument(n), size_argument(k)}};
}

static Shape shape(Types in, const Attributes& attributes) {
    const Shape &a = in[0].shape, &b = in[1].shape;
    const size_t inner = attributes.transpose_b ? 1 : 0;
    if (a.size() < 2 || b.size() != 2 || a.back() != b[inner])
        throw Failure(fmt::format("{} times {}{} does not fit: the inner extents must be equal", text_of(a), text_of(b),
                                  attributes.transpose_b ? " transposed" : ""));
    Shape c = a;
    c.back() = b[1 - inner];
    return c;
}

static void forward(ForwardCall& call) {
    const int64_t k = call.inputs[0].shape.back(), n = call.output.shape.back();
    call.launch(product(call.tape, call.attributes.transpose_b ? Product::nt : Product::nn, call.inputs[0], call.inputs[1],
                        call.output, call.output.count() / n, n, k));
    if (call.needs_grad(1)) call.save_input(0);
    if (call.needs_grad(0)) call.save_input(1);
}

static void backward(BackwardCall& call) {
    const bool transposed = call.attributes.transpose_b;
    const int64_t n = call.output.shape.back(), k = call.inputs[0].shape.back(), m = call.output.count() / n;
    if (call.wants(1)) {
        const Tensor& a = call.kept(0);
        const Tensor& db = call.allocate(1);
        if (transposed)
            call.launch(1, product(call.tape, Product::tn, call.upstream, a, db, n, k, m));
        else
            call.launch(1, product(call.tape, Product::tn, a, call.upstream, db, k, n, m));
    }
    if (call.wants(0)) {
        const Tensor& b = call.saved.back().tensor;
        const Tensor& da = call.allocate(0);
        call.launch(0, product(call.tape, transposed ? Product::nn : Product::nt, call.upstream, b, da, m, k, n));
    }
}

static void differentiate(DifferentiateCall& call) {
    const bool transposed = call.attributes.transpose_b;
    const auto rows = [&](const Variable& x, const NodeName& name) {  // [..., C] as [R,C]
        return x.shape().size() == 2 ? x : reshape(call.tape, x, {-1, x.shape().back()}, name);
    };
    if (call.wants(0))
        call.gradients[0] = matmul(call.tape, call.upstream, call.kept(call.saved.size() - 1), call.label(0), !transposed);
    if (call.wants(1)) {
        const NodeName name = call.label(1);
        const Variable a = rows(call.kept(0), name), d = rows(call.upstream, name);
        call.gradients[1] = transposed ? matmul(call.tape, transpose(call.tape, d, 0, 1, name), a, name)
                                       : matmul(call.tape, transpose(call.tape, a, 0, 1, name), d, name);
    }
}

static OpCost cost(Types in, const Attributes& attributes) {
    const double k = double(in[0].shape.back()), m = double(in[0].count()) / k;
    const double n = double(in[1].shape[attributes.transpose_b ? 0 : 1]);
    const Cost one = {2 * m * n * k, double(size_of(in[0].dtype)) * (m * k + k * n + m * n)};
    return {one, {2 * one.operations, 2 * one.bytes}};
}

static std::vector<Sample> samples(Rng& rng) {
    std::vector<Sample> all = {{{{1, 3}, {3, 4}}},
                               {{{1, 1}, {1, 1}}},
                               {{{2, 3}, {4, 3}}, {.transpose_b = true}},
                               {{{2, 5, 3}, {4, 3}}, {.transpose_b = true}}};
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
    .kernels = {"matmul_nn", "matmul_nt", "matmul_tn"},
    .shape = shape,
    .forward = forward,
    .backward = backward,
    .differentiate = differentiate,
    .cost = cost,
    .samples = samples,
};

}  // namespace lockstep::tensor
