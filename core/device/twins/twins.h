// The native twins: for every kernel the same work as a plain loop on the host's processor, with the kernel's own argument
// list after the pool of threads. Sums are added in the kernels' order, so they agree to the last bit but for products of
// matrices and elementary functions.
//
// A family's file is compiled twice, portable and for AVX2 (twins.cmake), each time in a namespace of its own
// (LOCKSTEP_ISA); which one runs is decided when the program starts. Families whose time goes into arithmetic have a third
// copy, f32 alone, for AVX-512, with the same bits as AVX2's. The file ends with its table:
//     const Twin table[] = {TWIN_FLOATS(relu), TWIN_FLOATS(relu_backward)};
//     std::span<const Twin> activation() { return table; }
#pragma once
#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

#include "core/device/arguments.h"
#include "core/device/kernels/thread_pool.h"
#include "core/device/twins/element.h"
#include "core/device/twins/isa.h"

namespace lockstep::device::twins {

using Run = void (*)(std::string_view kernel, std::span<const Argument> arguments, ThreadPool& pool);
struct Twin {
    std::string_view kernel;  // "relu_f32"
    Run run;
};

// Memory of the calling thread's own, kept between calls: at least `bytes`, undefined contents, until the next call with
// this slot (0 to 3).
void* scratch_bytes(int slot, size_t bytes);

#define TWIN(name, suffix, ...)                       \
    Twin {                                            \
#name "_" #suffix, run < name < __VA_ARGS__>> \
    }
#if defined(LOCKSTEP_TWINS_OF_F32_ALONE)
#define TWIN_FLOATS(name) TWIN(name, f32, float)
#else
#define TWIN_FLOATS(name) TWIN(name, f32, float), TWIN(name, f64, double), TWIN(name, f16, f16), TWIN(name, bf16, bf16)
#endif
#define TWIN_INTEGERS(name) TWIN(name, i64, int64_t), TWIN(name, i32, int), TWIN(name, u8, uint8_t)

// One line a family.
// clang-format off
#define LOCKSTEP_TWIN_FAMILIES(family) \
    family(activation) \
    family(attention) \
    family(axes) \
    family(batched) \
    family(bench) \
    family(bias) \
    family(binary) \
    family(convolution) \
    family(fill) \
    family(glu) \
    family(index) \
    family(loss) \
    family(matmul) \
    family(normalisation) \
    family(optimizer) \
    family(pieces) \
    family(pooling) \
    family(random) \
    family(reduce) \
    family(rnn) \
    family(rope) \
    family(softmax) \
    family(sparse) \
    family(strided) \
    family(unary)
// clang-format on

#define LOCKSTEP_WIDE_TWIN_FAMILIES(family) family(activation) family(attention) family(glu)

#define LOCKSTEP_FAMILY(name) std::span<const Twin> name();
namespace portable {
LOCKSTEP_TWIN_FAMILIES(LOCKSTEP_FAMILY)
}
namespace avx2 {
LOCKSTEP_TWIN_FAMILIES(LOCKSTEP_FAMILY)
}
namespace avx512 {
LOCKSTEP_WIDE_TWIN_FAMILIES(LOCKSTEP_FAMILY)
}
#undef LOCKSTEP_FAMILY

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

// The twin of a kernel, as this machine runs it best; null where there is none.
Run twin_of(std::string_view kernel);
const char* instructions();  // "AVX-512", "AVX2", "portable"

// AVX2's and AVX-512's twins of the same kernels, in the same order, for a test that holds them against each other; empty
// where this machine or build has not both.
struct TwinPair {
    std::string_view kernel;
    Run avx2, avx512;
};
std::vector<TwinPair> twins_of_both_widths();

}  // namespace lockstep::device::twins
