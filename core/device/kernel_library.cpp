// The table of bundled kernels: every row's truth in one place. The arguments are those of the CUDA source.
#include "core/device/kernel_library.h"

#include <fmt/format.h>

#include "core/base/nearest.h"
#include "core/device/arguments.h"
#include "core/device/host_twins.h"

namespace lockstep::device {

namespace {
// A row whose twin checks and unpacks its arguments by the native function's own types.
template <size_t n>
struct Name {
    char text[n];
    constexpr Name(const char (&name)[n]) { std::copy_n(name, n, text); }
};
template <Name name, auto function>
constexpr KernelRow row(std::string_view file, std::string_view summary) {
    return {name.text, file, summary,
            [](std::span<const Argument> arguments, ThreadPool& pool) { call(name.text, function, arguments, pool); }};
}

constexpr KernelRow rows[] = {
    row<"matmul_nn_f32", twins::matmul_nn>("matmul.cu", "C[M,N] = A[M,K] B[K,N]"),
    row<"matmul_nt_f32", twins::matmul_nt>("matmul.cu", "C[M,N] = A[M,K] B[N,K] transposed"),
    row<"matmul_tn_f32", twins::matmul_tn>("matmul.cu", "C[M,N] = A[K,M] transposed B[K,N]"),
    row<"matmul_naive_f32", twins::matmul_nn>("matmul.cu", "C[M,N] = A[M,K] B[K,N], one thread an element, no tiles"),
    row<"add_bias_f32", twins::add_bias>("bias.cu", "y[R,C] = x[R,C] + bias[C]"),
    row<"bias_grad_f32", twins::bias_grad>("bias.cu", "dbias[C] = sum over the rows of dy[R,C]"),
    row<"relu_f32", twins::relu>("relu.cu", "y = max(x, 0)"),
    row<"relu_backward_f32", twins::relu_backward>("relu.cu", "dx = dy where x > 0, else 0"),
    row<"softmax_cross_entropy_f32", twins::softmax_cross_entropy>("softmax_cross_entropy.cu",
                                                                   "p[R,C] = softmax(logits), loss[R] = -log p[label]"),
    row<"softmax_cross_entropy_backward_f32", twins::softmax_cross_entropy_backward>(
        "softmax_cross_entropy.cu", "dlogits[R,C] = (p - onehot(label)) scale"),
    row<"mse_f32", twins::mse>("mse.cu", "squared = (prediction - target)^2"),
    row<"mse_backward_f32", twins::mse_backward>("mse.cu", "dprediction = 2 (prediction - target) scale"),
    row<"reduce_sum_f32", twins::reduce_sum>("reduce.cu", "total[1] = sum of x[n]"),
    row<"reduce_mean_f32", twins::reduce_mean>("reduce.cu", "mean[1] = sum of x[n] / n"),
    row<"sgd_f32", twins::sgd>("sgd.cu", "w = w - lr gradient"),
    row<"fill_f32", twins::fill>("fill.cu", "y = value"),
    row<"accumulate_f32", twins::accumulate>("fill.cu", "y = y + x"),
    row<"vector_add_f32", twins::vector_add>("bench.cu", "c = a + b"),
    row<"strided_gather_f32", twins::strided_gather>("bench.cu", "y[i] = sum over r of x[(i stride + 7 r) mod n]"),
    row<"divergent_f32", twins::divergent>("bench.cu", "loops whose length differs from lane to lane"),
};
}  // namespace

std::span<const KernelRow> kernels() {
    return rows;
}

const KernelRow& kernel_named(std::string_view name) {
    std::vector<std::string> known;
    for (const KernelRow& kernel : rows) {
        if (kernel.name == name) return kernel;
        known.emplace_back(kernel.name);
    }
    const std::string nearest = nearest_name(name, known);
    throw Failure(nearest.empty() ? fmt::format("unknown kernel '{}'; known: {}", name, fmt::join(known, ", "))
                                  : fmt::format("unknown kernel '{}', did you mean '{}'?", name, nearest));
}

}  // namespace lockstep::device
