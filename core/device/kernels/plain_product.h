// Matrix products by plain loops. B is copied 8 columns at a time into a strip [K,8] that stays in cache; then 4 rows of A
// meet the strip, and 4 x 8 sums stay in vector registers along all of K. A transposed A is turned first. Edges: a strip is
// padded with zeros, and the last rows run alone. Every file that includes this has its own copy (twins/isa.h says why).
#pragma once
#include <algorithm>
#include <vector>

#include "core/device/kernels/thread_pool.h"
#include "core/device/twins/isa.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

constexpr size_t strip_width = 8;
constexpr size_t products_of_part = 1 << 19;  // at least: some 50 us

template <class T>
std::vector<T> transposed(const T* x, size_t rows, size_t columns) {  // [rows,columns] -> [columns,rows]
    std::vector<T> y(rows * columns);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
    return y;
}

// C[rows, j .. j + 8) = A[rows, K] strip[K, 8]; the first `columns` of the 8 are stored.
template <size_t rows, class T>
void tile(const T* a, const T* strip, T* c, size_t n, size_t k, size_t columns) {
    T sum[rows][strip_width] = {};
    for (size_t l = 0; l < k; ++l)
        for (size_t i = 0; i < rows; ++i)
            for (size_t j = 0; j < strip_width; ++j) sum[i][j] += a[i * k + l] * strip[l * strip_width + j];
    for (size_t i = 0; i < rows; ++i) std::copy_n(sum[i], columns, c + i * n);
}

// Columns [begin, end) of C, in strips of 8.
template <class T>
void columns_of_product(size_t begin, size_t end, bool transpose_b, size_t m, size_t n, size_t k, const T* a, const T* b,
                        T* c) {
    std::vector<T> strip(k * strip_width);
    for (size_t j0 = begin; j0 < end; j0 += strip_width) {
        const size_t columns = std::min(strip_width, end - j0);
        for (size_t l = 0; l < k; ++l)
            for (size_t j = 0; j < strip_width; ++j)
                strip[l * strip_width + j] = j >= columns ? T(0) : transpose_b ? b[(j0 + j) * k + l] : b[l * n + j0 + j];
        size_t i = 0;
        for (; i + 4 <= m; i += 4) tile<4>(a + i * k, strip.data(), c + i * n + j0, n, k, columns);
        for (; i < m; ++i) tile<1>(a + i * k, strip.data(), c + i * n + j0, n, k, columns);
    }
}
template <class T>
void plain_product(bool transpose_a, bool transpose_b, int m, int n, int k, const T* a, const T* b, T* c, ThreadPool& pool) {
    if (m <= 0 || n <= 0) return;
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    std::vector<T> straight;
    if (transpose_a) a = (straight = transposed(a, depth, rows)).data();

    const size_t strips = (columns + strip_width - 1) / strip_width;
    const size_t parts = std::min(strips, std::max<size_t>(rows * columns * depth / products_of_part, 1));
    const auto border = [&](size_t part) { return std::min(strips * part / parts * strip_width, columns); };
    pool.run(static_cast<int>(parts), [&](int part) {
        const auto p = static_cast<size_t>(part);
        columns_of_product(border(p), border(p + 1), transpose_b, rows, columns, depth, a, b, c);
    });
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
