// The kernels that the benchmarks run (kernels/bench.cu).
#include <cmath>

#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

void vector_add(ThreadPool& pool, const float* a, const float* b, float* c, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) c[i] = a[i] + b[i];
    });
}

void strided_gather(ThreadPool&, const float* x, float* y, int n, int stride, int repeats) {
    for (int i = 0; i < n; ++i) {
        float sum = 0.0f;
        for (int r = 0; r < repeats; ++r)
            sum += x[(static_cast<unsigned>(i) * static_cast<unsigned>(stride) + static_cast<unsigned>(r) * 7u) %
                     static_cast<unsigned>(n)];
        y[i] = sum;
    }
}

// The trip count depends on the thread's place in its block: as launched with blocks of 256.
void divergent(ThreadPool&, const float* x, float* y, int n) {
    for (int i = 0; i < n; ++i) {
        const int thread = i % 256, trips = (thread * 37) & 63;
        float value = x[i];
        for (int t = 0; t < trips; ++t) value = (thread + t) & 1 ? std::fma(value, 0.5f, 1.0f) : value - 0.25f;
        y[i] = value;
    }
}

std::span<const Kernel> bench() {
    static constexpr Kernel rows[] = {
        {"vector_add", "bench.cu", "c = a + b", "a[n] b[n] >c[n] n", {.f32 = run<vector_add>}},
        {"strided_gather",
         "bench.cu",
         "y[i] = sum over r of x[(i stride + 7 r) mod n]",
         "x[n] >y[n] n stride=32 repeats=5",
         {.f32 = run<strided_gather>}},
        {"divergent", "bench.cu", "loops whose length differs from lane to lane", "x[n] >y[n] n", {.f32 = run<divergent>}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
