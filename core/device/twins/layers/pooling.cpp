// Pooling (kernels/pool.cu), a plane at a time: along a row of the output, tap after tap of the window, so that the inner
// loops become vectors; every element still meets its window in the kernels' order. The steps 1 and 2 to the right have
// loops of their own.
#include <type_traits>

#include "core/device/twins/twins.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

#define POOLING                                                                                                             \
    int planes, int height, int width, int out_height, int out_width, int kernel_height, int kernel_width, int stride_down, \
        int stride_right, int padding_down, int padding_right
#define GEOMETRY                                                                                                            \
    Pooling {                                                                                                               \
        planes, height, width, out_height, out_width, kernel_height, kernel_width, stride_down, stride_right, padding_down, \
            padding_right                                                                                                   \
    }

namespace lockstep::device::twins::LOCKSTEP_ISA {

struct Pooling {
    int planes, height, width, out_height, out_width, kernel_height, kernel_width, stride_down, stride_right, padding_down,
        padding_right;
    int size() const { return height * width; }
    int out_size() const { return out_height * out_width; }
};

// body(row, out_row, column, begin, end) for every tap of the window and row of the output that it lies in: output columns
// begin .. end - 1 see the input columns column + stride_right begin, ...
template <class Body>
void taps_of(const Pooling& p, const Body& body) {
    for (int r = 0; r < p.kernel_height; ++r)
        for (int c = 0; c < p.kernel_width; ++c) {
            const int column = c - p.padding_right;
            const int begin = column >= 0 ? 0 : (-column + p.stride_right - 1) / p.stride_right;
            const int end = p.width - 1 < column ? 0 : std::min(p.out_width, (p.width - 1 - column) / p.stride_right + 1);
            for (int out_row = 0; out_row < p.out_height; ++out_row) {
                const int row = out_row * p.stride_down - p.padding_down + r;
                if (row >= 0 && row < p.height && begin < end) body(row, out_row, column, begin, end);
            }
        }
}

// loop(step) with the step to the right known to the compiler where it is a common one.
template <class Loop>
void with_step(int step, const Loop& loop) {
    if (step == 1)
        loop(std::integral_constant<int, 1>());
    else if (step == 2)
        loop(std::integral_constant<int, 2>());
    else
        loop(step);
}

static int inside(int begin, int size, int extent) {
    return std::min(begin + size, extent) - std::max(begin, 0);
}
static int count_of(const Pooling& p, int out_row, int out_column, int count_padding) {
    return count_padding ? p.kernel_height * p.kernel_width
                         : inside(out_row * p.stride_down - p.padding_down, p.kernel_height, p.height) *
                               inside(out_column * p.stride_right - p.padding_right, p.kernel_width, p.width);
}

// A plane to add in: the result itself where it has the type of sums.
template <class T>
Acc<T>* sums_of(T* y, int size) {
    Acc<T>* sums;
    if constexpr (std::is_same_v<T, Acc<T>>)
        sums = y;
    else
        sums = scratch<Acc<T>>(0, static_cast<size_t>(size));
    std::fill_n(sums, size, Acc<T>(0));
    return sums;
}
template <class T>
void store_sums(const Acc<T>* sums, T* y, int size) {
    if constexpr (!std::is_same_v<T, Acc<T>>) std::copy_n(sums, size, y);
}

static int window_begin(int i, int extent, int out_extent) {
    return i * extent / out_extent;
}
static int window_end(int i, int extent, int out_extent) {
    return ((i + 1) * extent + out_extent - 1) / out_extent;
}

template <class T>
void max_pool2d(ThreadPool& pool, const T* x, T* y, int* index, POOLING) {
    const Pooling p = GEOMETRY;
    each_row(pool, planes, p.size(), [&](int plane) {
        const T* from = x + int64_t{plane} * p.size();
        int* found = index + int64_t{plane} * p.out_size();
        Acc<T>* best = scratch<Acc<T>>(0, static_cast<size_t>(p.out_size()));
        std::fill_n(found, p.out_size(), -1);
        std::fill_n(best, p.out_size(), Acc<T>(0));
        taps_of(p, [&](int row, int out_row, int column, int begin, int end) {
            const T* values = from + int64_t{row} * p.width;
            int* at = found + int64_t{out_row} * p.out_width;
            Acc<T>* largest = best + int64_t{out_row} * p.out_width;
            with_step(p.stride_right, [&](auto step) {
                for (int i = begin; i < end; ++i) {
                    const int place = column + i * step;
                    const Acc<T> value = values[place], old = largest[i];
                    const bool wins = (at[i] < 0) | (value > old) | (value != value);
                    largest[i] = wins ? value : old;
                    at[i] = wins ? row * p.width + place : at[i];
                }
            });
        });
        std::copy_n(best, p.out_size(), y + int64_t{plane} * p.out_size());
    });
}

// The kernel adds by rows and columns of the window; so do the places of the window here.
template <class T>
void max_pool2d_backward(ThreadPool& pool, const T* dy, const int* index, T* dx, POOLING) {
    const Pooling p = GEOMETRY;
    each_row(pool, planes, p.size(), [&](int plane) {
        const T* from = dy + int64_t{plane} * p.out_size();
        const int* found = index + int64_t{plane} * p.out_size();
        T* to = dx + int64_t{plane} * p.size();
        Acc<T>* sums = sums_of(to, p.size());
        taps_of(p, [&](int row, int out_row, int column, int begin, int end) {
            for (int i = begin; i < end; ++i) {
                const int at = row * p.width + column + i * p.stride_right;
                if (found[out_row * p.out_width + i] == at) sums[at] += Acc<T>(from[out_row * p.out_width + i]);
            }
        });
        store_sums(sums, to, p.size());
    });
}

// Windows of 2 x 2 side by side, the commonest: the same sums and quotients without a pass for each place of the window.
static bool is_halving(const Pooling& p) {
    return p.kernel_height == 2 && p.kernel_width == 2 && p.stride_down == 2 && p.stride_right == 2 && p.padding_down == 0 &&
           p.padding_right == 0;
}
#ifdef __AVX2__
// Rows in vectors of 8 or 4 outputs, the last one moved back so that it ends with the row: to write a value twice costs less
// than the loop over what is left. A quarter is exact, so a product rounds as the quotient does.
static void halve_8(const float* a, const float* b, float* y) {
    const __m256 a0 = _mm256_loadu_ps(a), a1 = _mm256_loadu_ps(a + 8), b0 = _mm256_loadu_ps(b), b1 = _mm256_loadu_ps(b + 8);
    __m256 sum = _mm256_add_ps(_mm256_shuffle_ps(a0, a1, 0x88), _mm256_shuffle_ps(a0, a1, 0xdd));
    sum = _mm256_add_ps(_mm256_add_ps(sum, _mm256_shuffle_ps(b0, b1, 0x88)), _mm256_shuffle_ps(b0, b1, 0xdd));
    sum = _mm256_mul_ps(sum, _mm256_set1_ps(0.25f));
    _mm256_storeu_ps(y, _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(sum), 0xd8)));
}
static void halve_4(const float* a, const float* b, float* y) {
    const __m128 a0 = _mm_loadu_ps(a), a1 = _mm_loadu_ps(a + 4), b0 = _mm_loadu_ps(b), b1 = _mm_loadu_ps(b + 4);
    __m128 sum = _mm_add_ps(_mm_shuffle_ps(a0, a1, 0x88), _mm_shuffle_ps(a0, a1, 0xdd));
    sum = _mm_add_ps(_mm_add_ps(sum, _mm_shuffle_ps(b0, b1, 0x88)), _mm_shuffle_ps(b0, b1, 0xdd));
    _mm_storeu_ps(y, _mm_mul_ps(sum, _mm_set1_ps(0.25f)));
}
static void spread_8(const float* dy, float* a, float* b) {
    const __m256 part = _mm256_mul_ps(_mm256_loadu_ps(dy), _mm256_set1_ps(0.25f));
    const __m256 low = _mm256_unpacklo_ps(part, part), high = _mm256_unpackhi_ps(part, part);  // 0011 4455, 2233 6677
    const __m256 first = _mm256_permute2f128_ps(low, high, 0x20), second = _mm256_permute2f128_ps(low, high, 0x31);
    _mm256_storeu_ps(a, first), _mm256_storeu_ps(a + 8, second);
    _mm256_storeu_ps(b, first), _mm256_storeu_ps(b + 8, second);
}
static void spread_4(const float* dy, float* a, float* b) {
    const __m128 part = _mm_mul_ps(_mm_loadu_ps(dy), _mm_set1_ps(0.25f));
    const __m128 first = _mm_unpacklo_ps(part, part), second = _mm_unpackhi_ps(part, part);
    _mm_storeu_ps(a, first), _mm_storeu_ps(a + 4, second);
    _mm_storeu_ps(b, first), _mm_storeu_ps(b + 4, second);
}
// True where the row was done: eight(i) and four(i) do the outputs i, i + 1, ...
template <class Eight, class Four>
static bool row_in_vectors(int count, const Eight& eight, const Four& four) {
    if (count < 4) return false;
    if (count < 8) return four(0), four(count - 4), true;
    for (int i = 0; i + 8 <= count; i += 8) eight(i);
    if (count % 8 > 4)
        eight(count - 8);
    else if (count % 8 > 0)
        four(count - 4);
    return true;
}
#endif
template <class T>
static void halve_row(const T* a, const T* b, T* y, int count) {
#ifdef __AVX2__
    if constexpr (std::is_same_v<T, float>)
        if (row_in_vectors(
                count, [&](int i) { halve_8(a + 2 * i, b + 2 * i, y + i); },
                [&](int i) { halve_4(a + 2 * i, b + 2 * i, y + i); }))
            return;
#endif
    for (int i = 0; i < count; ++i)
        y[i] = (Acc<T>(a[2 * i]) + Acc<T>(a[2 * i + 1]) + Acc<T>(b[2 * i]) + Acc<T>(b[2 * i + 1])) / 4;
}
template <class T>
static void spread_row(const T* dy, T* a, T* b, int count) {
#ifdef __AVX2__
    if constexpr (std::is_same_v<T, float>)
        if (row_in_vectors(
                count, [&](int i) { spread_8(dy + i, a + 2 * i, b + 2 * i); },
                [&](int i) { spread_4(dy + i, a + 2 * i, b + 2 * i); }))
            return;
#endif
    for (int i = 0; i < count; ++i) {
        const T part = Acc<T>(dy[i]) / 4;
        a[2 * i] = part, a[2 * i + 1] = part;
        b[2 * i] = part, b[2 * i + 1] = part;
    }
}
template <class T>
static void halve(const T* x, T* y, const Pooling& p) {
    for (int row = 0; row < p.out_height; ++row)
        halve_row(x + int64_t{2 * row} * p.width, x + int64_t{2 * row + 1} * p.width, y + int64_t{row} * p.out_width,
                  p.out_width);
}
template <class T>
static void spread(const T* dy, T* dx, const Pooling& p) {
    for (int row = 0; row < p.out_height; ++row) {
        T *a = dx + int64_t{2 * row} * p.width, *b = a + p.width;
        spread_row(dy + int64_t{row} * p.out_width, a, b, p.out_width);
        for (int i = 2 * p.out_width; i < p.width; ++i) a[i] = b[i] = Acc<T>(0);
    }
    for (int64_t i = int64_t{2 * p.out_height} * p.width; i < p.size(); ++i) dx[i] = Acc<T>(0);
}

template <class T>
void avg_pool2d(ThreadPool& pool, const T* x, T* y, int count_padding, POOLING) {
    const Pooling p = GEOMETRY;
    each_row(pool, planes, p.size(), [&](int plane) {
        const T* from = x + int64_t{plane} * p.size();
        T* to = y + int64_t{plane} * p.out_size();
        if (is_halving(p)) return halve(from, to, p);
        Acc<T>* sums = sums_of(to, p.out_size());
        taps_of(p, [&](int row, int out_row, int column, int begin, int end) {
            const T* values = from + int64_t{row} * p.width + column;
            Acc<T>* sum = sums + int64_t{out_row} * p.out_width;
            with_step(p.stride_right, [&](auto step) {
                for (int i = begin; i < end; ++i) sum[i] += Acc<T>(values[i * step]);
            });
        });
        if (count_padding || (p.padding_down == 0 && p.padding_right == 0)) {
            const auto count = static_cast<Acc<T>>(p.kernel_height * p.kernel_width);
            for (int i = 0; i < p.out_size(); ++i) to[i] = sums[i] / count;
        } else {
            for (int i = 0; i < p.out_size(); ++i)
                to[i] = sums[i] / static_cast<Acc<T>>(count_of(p, i / p.out_width, i % p.out_width, count_padding));
        }
    });
}
template <class T>
void avg_pool2d_backward(ThreadPool& pool, const T* dy, T* dx, int count_padding, POOLING) {
    const Pooling p = GEOMETRY;
    each_row(pool, planes, p.size(), [&](int plane) {
        const T* from = dy + int64_t{plane} * p.out_size();
        T* to = dx + int64_t{plane} * p.size();
        if (is_halving(p)) return spread(from, to, p);
        Acc<T>* part = scratch<Acc<T>>(1, static_cast<size_t>(p.out_size()));  // what each place of a window gets
        if (count_padding || (p.padding_down == 0 && p.padding_right == 0)) {
            const auto count = static_cast<Acc<T>>(p.kernel_height * p.kernel_width);
            for (int i = 0; i < p.out_size(); ++i) part[i] = Acc<T>(from[i]) / count;
        } else {
            for (int i = 0; i < p.out_size(); ++i)
                part[i] =
                    Acc<T>(from[i]) / static_cast<Acc<T>>(count_of(p, i / p.out_width, i % p.out_width, count_padding));
        }
        Acc<T>* sums = sums_of(to, p.size());
        taps_of(p, [&](int row, int out_row, int column, int begin, int end) {
            const Acc<T>* values = part + int64_t{out_row} * p.out_width;
            Acc<T>* sum = sums + int64_t{row} * p.width + column;
            with_step(p.stride_right, [&](auto step) {
                for (int i = begin; i < end; ++i) sum[i * step] += values[i];
            });
        });
        store_sums(sums, to, p.size());
    });
}

template <class T>
void adaptive_avg_pool2d(ThreadPool& pool, const T* x, T* y, int planes, int height, int width, int out_height,
                         int out_width) {
    each_row(pool, planes, height * width, [=](int plane) {
        const T* from = x + int64_t{plane} * height * width;
        T* to = y + int64_t{plane} * out_height * out_width;
        for (int i = 0; i < out_height; ++i)
            for (int j = 0; j < out_width; ++j) {
                const int top = window_begin(i, height, out_height), bottom = window_end(i, height, out_height);
                const int left = window_begin(j, width, out_width), right = window_end(j, width, out_width);
                Acc<T> sum = 0;
                for (int row = top; row < bottom; ++row)
                    for (int column = left; column < right; ++column) sum += Acc<T>(from[row * width + column]);
                to[i * out_width + j] = sum / static_cast<Acc<T>>((bottom - top) * (right - left));
            }
    });
}
template <class T>
void adaptive_avg_pool2d_backward(ThreadPool& pool, const T* dy, T* dx, int planes, int height, int width, int out_height,
                                  int out_width) {
    each_row(pool, planes, height * width, [=](int plane) {
        const T* from = dy + int64_t{plane} * out_height * out_width;
        T* to = dx + int64_t{plane} * height * width;
        Acc<T>* sums = sums_of(to, height * width);
        for (int i = 0; i < out_height; ++i)
            for (int j = 0; j < out_width; ++j) {
                const int top = window_begin(i, height, out_height), bottom = window_end(i, height, out_height);
                const int left = window_begin(j, width, out_width), right = window_end(j, width, out_width);
                const Acc<T> part = Acc<T>(from[i * out_width + j]) / static_cast<Acc<T>>((bottom - top) * (right - left));
                for (int row = top; row < bottom; ++row)
                    for (int column = left; column < right; ++column) sums[row * width + column] += part;
            }
        store_sums(sums, to, height * width);
    });
}

template <class T>
void plane_mean(ThreadPool& pool, const T* x, T* y, int planes, int size) {
    each_row(pool, planes, size, [=](int plane) {
        const T* from = x + int64_t{plane} * size;
        Acc<T> lanes[32] = {};
        int i = 0;
        for (; i + 32 <= size; i += 32)
            for (int j = 0; j < 32; ++j) lanes[j] += Acc<T>(from[i + j]);
        for (int j = 0; i + j < size; ++j) lanes[j] += Acc<T>(from[i + j]);
        y[plane] = tree_sum(lanes, 32) / static_cast<Acc<T>>(size);
    });
}
template <class T>
void plane_mean_backward(ThreadPool& pool, const T* dy, T* dx, int planes, int size) {
    each_row(pool, planes, size, [=](int plane) {
        std::fill_n(dx + int64_t{plane} * size, size, static_cast<T>(Acc<T>(dy[plane]) / static_cast<Acc<T>>(size)));
    });
}

// In a case of four, 2 x 2 side by side, which the native twin does in vectors.
#define CASE "side=1-cover(@k%4,4) | "
#define NUMBERS                                                                                                  \
    "planes=1+@m%11 height=4+@n%9 width=4+@k%17 out_height=(height+2*padding_down-kernel_height)/stride_down+1 " \
    "out_width=(width+2*padding_right-kernel_width)/stride_right+1 kernel_height=side*2+(1-side)*(1+@k%3) "      \
    "kernel_width=side*2+(1-side)*(2+@m%2) stride_down=side*2+(1-side)*(1+@n%3) stride_right=stride_down "       \
    "padding_down=(1-side)*(kernel_height/2) padding_right=(1-side)*(@m%2)"
#define ADAPTIVE "planes=1+@m%11 height=4+@n%9 width=4+@k%17 out_height=1+@k%5 out_width=1+@m%6"
std::span<const Kernel> pooling() {
    static constexpr Kernel rows[] = {
        {"max_pool2d", "pool.cu", "y = the largest of each window, index = where",
         CASE "x[planes,height,width]{-2..2,nan} >y[planes,out_height,out_width] "
              ">index[planes,out_height,out_width]:i32 " NUMBERS,
         FLOATS(max_pool2d), "threads(planes*out_height*out_width)"},
        {"max_pool2d_backward", "pool.cu", "dx = dy where index points",
         CASE "dy[planes,out_height,out_width] index[planes,out_height,out_width]:i32{0..height*width} "
              ">dx[planes,height,width] " NUMBERS,
         FLOATS(max_pool2d_backward), "threads(planes*height*width)"},
        {"avg_pool2d", "pool.cu", "y = the mean of each window",
         CASE "x[planes,height,width] >y[planes,out_height,out_width] count_padding=@n%2 " NUMBERS, FLOATS(avg_pool2d),
         "threads(planes*out_height*out_width)"},
        {"avg_pool2d_backward", "pool.cu", "dx = dy shared out over each window",
         CASE "dy[planes,out_height,out_width] >dx[planes,height,width] count_padding=@n%2 " NUMBERS,
         FLOATS(avg_pool2d_backward), "threads(planes*height*width)"},
        {"adaptive_avg_pool2d", "pool.cu", "y[OH,OW] = means of windows that cover x[H,W]",
         "x[planes,height,width] >y[planes,out_height,out_width] " ADAPTIVE, FLOATS(adaptive_avg_pool2d),
         "threads(planes*out_height*out_width)"},
        {"adaptive_avg_pool2d_backward", "pool.cu", "dx = dy shared out over each window",
         "dy[planes,out_height,out_width] >dx[planes,height,width] " ADAPTIVE, FLOATS(adaptive_avg_pool2d_backward),
         "threads(planes*height*width)"},
        {"plane_mean", "pool.cu", "y[P] = the mean of x[P,S]",
         "x[planes,size] >y[planes] planes=1+@m%11 size=(4+@n%9)*(4+@k%17)", FLOATS(plane_mean), "warps(planes)"},
        {"plane_mean_backward", "pool.cu", "dx[P,S] = dy[P] / S",
         "dy[planes] >dx[planes,size] planes=1+@m%11 size=(4+@n%9)*(4+@k%17)", FLOATS(plane_mean_backward),
         "threads(planes*size)"},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
