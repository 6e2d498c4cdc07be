// Plans: how long ops take on a GPU row, what a step moves and keeps, and what refuses a plan. Expected values are
// arithmetic on the rows, or published figures.
#include <cmath>

#include "core/base/diagnostic.h"
#include "core/parallel/op_time.h"
#include "core/tensor/ops.h"
#include "tests/catch.h"

using namespace lockstep;
using namespace lockstep::parallel;

namespace {
OpTimes op_times_of(const char* gpu) {
    return OpTimes(model::gpu_named(gpu).value());
}
}  // namespace

TEST_CASE("A large product runs at the sustained share of the peak, and never above it") {
    for (const char* gpu : {"v100", "a100", "a100-80", "h100", "h200"}) {
        const OpTimes times = op_times_of(gpu);
        const double n = 8192, us = times.product_us({n, n, n}, DType::bf16);
        const double share = 2 * n * n * n / us * 1e-6 / times.peak_tflops(DType::bf16);
        CAPTURE(gpu, share);
        CHECK(share <= Efficiencies{}.arithmetic);
        CHECK(share > 0.8 * Efficiencies{}.arithmetic);
    }
}

TEST_CASE("One tile more than there are SMs takes another wave") {
    const OpTimes times = op_times_of("a100");
    const double k = 65536;  // long: start and end of a tile do not count
    const double full = times.product_us({1024, 27 * 128, k}, DType::f16);
    const double over = times.product_us({1024, 28 * 128, k}, DType::f16);
    CHECK(over > 1.1 * full);  // a smaller tile may fill the SMs better than twice the largest
    CHECK(over < 2.1 * full);
}

TEST_CASE("A product of few rows takes as long as its matrix takes to arrive") {
    const OpTimes times = op_times_of("a100");
    const double n = 16384, bytes = 2 * n * n;
    const double least = bytes / (1555e3 * Efficiencies{}.memory);
    CHECK(times.product_us({1, n, n}, DType::f16) >= least);
    CHECK(times.product_us({1, n, n}, DType::f16) < 1.5 * least);
}

TEST_CASE("Ops without products take their bytes over the bandwidth, and views nothing") {
    const OpTimes times = op_times_of("a100");
    const tensor::TensorType x{{1024, 1024}, DType::f32};
    const OpTime relu = times.of(tensor::op_named("relu"), std::span(&x, 1), {});
    CHECK(relu.forward_us == Approx(8.0 * 1024 * 1024 / (1555e3 * Efficiencies{}.memory) + Efficiencies{}.launch_us));
    CHECK(relu.backward_input_us == relu.backward_us);
    const OpTime view = times.of(tensor::op_named("reshape"), std::span(&x, 1), {.sizes = {1024 * 1024}});
    CHECK(view.forward_us == 0);
}

TEST_CASE("A linear layer's backward is two products, half of it the input's") {
    const OpTimes times = op_times_of("a100");
    const tensor::TensorType types[] = {{{4096, 4096}, DType::f16}, {{4096, 4096}, DType::f16}};
    const OpTime t = times.of(tensor::op_named("matmul"), types, {.transpose_b = true});
    CHECK(t.backward_us == Approx(2 * t.forward_us));
    CHECK(t.backward_input_us == Approx(t.forward_us));
}

TEST_CASE("Attention in tiles skips what causality hides") {
    const tensor::TensorType q{{1, 4096, 32, 128}, DType::f16};
    const tensor::TensorType types[] = {q, q, q};
    const tensor::OpRow& row = tensor::op_named("attention");
    const OpTimes times = op_times_of("a100");
    const OpTime half = times.of(row, types, {.causal = true, .mode = 1}), all = times.of(row, types, {.mode = 1});
    CHECK(half.forward_us < 0.6 * all.forward_us);
    CHECK(half.forward_us > 0.5 * all.forward_us);
    CHECK(all.backward_us > 2 * all.forward_us);  // five products against two
    const double peak_us = 4.0 * 4096 * 4096 * 4096 / (times.peak_tflops(DType::f16) * 1e6);
    CHECK(all.forward_us > peak_us / Efficiencies{}.arithmetic);
}
