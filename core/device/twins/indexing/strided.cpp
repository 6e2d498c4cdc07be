// Copies, additions and sums of strided views (kernels/strided.cu).
#include "core/device/twins/walk.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void copy_strided(ThreadPool& pool, const T* x, T* y, int n, int, int e0, int e1, int e2, int e3, int e4, int e5, int s0,
                  int s1, int s2, int s3, int s4, int s5) {
    if (n <= 0) return;
    const int64_t extents[] = {e0, e1, e2, e3, e4, e5}, strides[] = {s0, s1, s2, s3, s4, s5};
    int64_t dense[6] = {0, 0, 0, 0, 0, 1};
    for (size_t i = 5; i > 0; --i) dense[i - 1] = dense[i] * extents[i];
    Walk<2> walk;
    for (size_t i = 0; i < 6; ++i) walk.add(extents[i], {strides[i], dense[i]});
    const int64_t step = walk.inner().strides[0];
    walk.each(pool, [=](std::array<int64_t, 2> at, int64_t count) {
        const T* from = x + at[0];
        T* to = y + at[1];
        if (step == 1)
            std::copy_n(from, count, to);
        else
            for (int64_t i = 0; i < count; ++i) to[i] = from[i * step];
    });
}

template <class T>
void add_strided(ThreadPool& pool, const T* x, T* y, int n, int, int e0, int e1, int e2, int e3, int e4, int e5, int s0,
                 int s1, int s2, int s3, int s4, int s5) {
    if (n <= 0) return;
    const int64_t extents[] = {e0, e1, e2, e3, e4, e5}, strides[] = {s0, s1, s2, s3, s4, s5};
    int64_t dense[6] = {0, 0, 0, 0, 0, 1};
    for (size_t i = 5; i > 0; --i) dense[i - 1] = dense[i] * extents[i];
    Walk<2> walk;
    for (size_t i = 0; i < 6; ++i) walk.add(extents[i], {strides[i], dense[i]});
    const int64_t step = walk.inner().strides[0];
    walk.each(pool, [=](std::array<int64_t, 2> at, int64_t count) {
        T* to = y + at[0];
        const T* from = x + at[1];
        for (int64_t i = 0; i < count; ++i) to[i * step] = Acc<T>(to[i * step]) + Acc<T>(from[i]);
    });
}

template <class T>
void sum_strided(ThreadPool& pool, const T* x, T* y, int n, int count, int e0, int e1, int e2, int e3, int e4, int e5,
                 int s0, int s1, int s2, int s3, int s4, int s5, int f0, int f1, int f2, int f3, int f4, int f5, int g0,
                 int g1, int g2, int g3, int g4, int g5) {
    if (n <= 0) return;
    const int64_t extents[] = {e0, e1, e2, e3, e4, e5}, strides[] = {s0, s1, s2, s3, s4, s5};
    const int64_t over[] = {f0, f1, f2, f3, f4, f5}, steps[] = {g0, g1, g2, g3, g4, g5};
    int64_t dense[6] = {0, 0, 0, 0, 0, 1};
    for (size_t i = 5; i > 0; --i) dense[i - 1] = dense[i] * extents[i];
    Walk<2> kept;
    for (size_t i = 0; i < 6; ++i) kept.add(extents[i], {strides[i], dense[i]});
    Walk<1> summed;
    for (size_t i = 0; i < 6; ++i) summed.add(over[i], {steps[i]});
    const int64_t step = kept.inner().strides[0], along = summed.inner().strides[0];
    const int64_t rows = count > 0 ? summed.outer() : 0, inner = summed.inner().extent;
    kept.each(pool, [=](std::array<int64_t, 2> at, int64_t width) {
        const T* from = x + at[0];
        T* to = y + at[1];
        // A block of sums at a time: each is added in index order, neighbours side by side.
        constexpr int64_t block = 64;
        for (int64_t first = 0; first < width; first += block) {
            const int64_t size = std::min(block, width - first);
            Acc<T> sums[block] = {};
            for (int64_t row = 0; row < rows; ++row) {
                const T* start = from + summed.offsets(row)[0] + first * step;
                if (step == 1)
                    for (int64_t j = 0; j < inner; ++j)
                        for (int64_t i = 0; i < size; ++i) sums[i] += Acc<T>(start[j * along + i]);
                else
                    for (int64_t i = 0; i < size; ++i)
                        for (int64_t j = 0; j < inner; ++j) sums[i] += Acc<T>(start[j * along + i * step]);
            }
            for (int64_t i = 0; i < size; ++i) to[first + i] = sums[i];
        }
    });
}

std::span<const Kernel> strided() {
    static constexpr Kernel rows[] = {
        {"copy_strided",
         "strided.cu",
         "y[n] = x at its strides",
         "x[" REACH(e, s) "] >y[n] " STRIDED,
         FLOATS_AND_INTEGERS(copy_strided),
         "threads(n)",
         Agreement::to_the_bit,
         {.walk = 4, .strides = {{{0, 10}, {-1}}}}},
        {"add_strided", "strided.cu", "y at its strides = y + x[n]", "x[n] &y[" REACH(e, s) "] " STRIDED,
         FLOATS(add_strided)},
        {"sum_strided",
         "strided.cu",
         "y[n] = sums of x over other axes",
         "x[" REACH_OF_AXES "] >y[n] " AXES_OF_CASE("@k"),
         FLOATS(sum_strided),
         "threads(n)",
         Agreement::to_the_bit,
         {.stored_once = {1, {2}}}},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
