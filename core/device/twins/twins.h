// The native twins: for every kernel the same work as a plain loop on the host's processor, with the kernel's own argument
// list after the pool of threads. Sums are added in the kernels' order, so they agree to the last bit but for products of
// matrices and elementary functions.
//
// A family's file is compiled twice, portable and for AVX2 (twins.cmake), each time in a namespace of its own
// (LOCKSTEP_ISA); which one runs is decided when the program starts. Families whose time goes into arithmetic have a third
// copy, f32 alone, for AVX-512, with the same bits as AVX2's. The file ends with the rows of its kernels (kernels/kernel.h),
// in a function that has the file's name:
//     std::span<const Kernel> activation() {
//         static constexpr Kernel rows[] = {{"relu", "relu.cu", "y = max(x, 0)", "x[n] >y[n] n", FLOATS(relu)}};
//         return rows;
//     }
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "core/device/arguments.h"
#include "core/device/kernels/kernel.h"
#include "core/device/kernels/thread_pool.h"
#include "core/device/twins/element.h"
#include "core/device/twins/isa.h"

namespace lockstep::device::twins {

// Memory of the calling thread's own, kept between calls: at least `bytes`, undefined contents, until the next call with
// this slot (0 to 3).
void* scratch_bytes(int slot, size_t bytes);

// The twins of a function template, by the element types that it is made for.
#if defined(LOCKSTEP_TWINS_OF_F32_ALONE)
#define FLOATS(name) \
    { run<name<float>> }
#else
#define FLOATS(name) \
    { run<name<float>>, run<name<double>>, run<name<f16>>, run<name<bf16>> }
#endif
#define FLOATS_AND_INTEGERS(name)                                                                                 \
    {                                                                                                             \
        run<name<float>>, run<name<double>>, run<name<f16>>, run<name<bf16>>, run<name<int64_t>>, run<name<int>>, \
            run<name<uint8_t>>                                                                                    \
    }
#define F32_AND_F64(name) \
    { run<name<float>>, run<name<double>> }

namespace LOCKSTEP_ISA {
template <auto function>
void run(std::string_view kernel, std::span<const Argument> arguments, ThreadPool& pool) {
    call(kernel, function, arguments, pool);
}

template <class T>
T* scratch(int slot, size_t count) {
    return static_cast<T*>(scratch_bytes(slot, count * sizeof(T)));
}

// loop(begin, end) over the elements, in ranges that stay in a core's cache.
template <class Loop>
void elements(ThreadPool& pool, int n, const Loop& loop) {
    constexpr int range = 1 << 15;
    if (n < 2 * range) return loop(0, n);
    pool.run((n - 1) / range + 1, [&](int part) {
        const int begin = part * range;
        loop(begin, begin + std::min(range, n - begin));
    });
}

// loop(row) over rows of `width` elements each, several at a time.
template <class Loop>
void each_row(ThreadPool& pool, int rows, int width, const Loop& loop) {
    const int together = std::max(1, (1 << 14) / std::max(width, 1));
    const int parts = rows <= 0 ? 0 : (rows - 1) / together + 1;
    const auto part_of = [&](int part) {
        const int end = std::min(rows, (part + 1) * together);
        for (int row = part * together; row < end; ++row) loop(row);
    };
    if (parts <= 1) {
        if (parts == 1) part_of(0);
        return;
    }
    pool.run(parts, part_of);
}

// A tree over 2^n partial sums, as shared memory and shuffles do it: halves are added until one is left.
template <class T>
T tree_sum(T* partial, int count) {
    for (int half = count / 2; half > 0; half /= 2)
        for (int i = 0; i < half; ++i) partial[i] += partial[i + half];
    return partial[0];
}

}  // namespace LOCKSTEP_ISA

// The rows of all families, each with the twins that this machine runs best.
std::vector<Kernel> all_kernels();
const char* instructions();  // "AVX-512", "AVX2", "portable"

// f32 matrix products by plain loops (kernels/plain_product.h), for where there is no library: cut over a pool, or here.
struct PlainProducts {
    void (*whole)(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
                  ThreadPool&);
    void (*here)(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c);
};
const PlainProducts& plain_products();

// AVX2's and AVX-512's twins of the same f32 kernels, for a test that holds them against each other; empty where this
// machine or build has not both.
struct TwinPair {
    std::string_view base;  // "relu"
    Run avx2, avx512;
};
std::vector<TwinPair> twins_of_both_widths();

}  // namespace lockstep::device::twins
