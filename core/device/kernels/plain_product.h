// Matrix products by plain loops. B is copied a strip of columns at a time, [K, one cache line], that stays in cache; then
// some rows of A meet the strip, and their sums stay in vector registers along all of K: an element's terms are added in the
// order of K, whatever the shape. A transposed A is turned first. Edges: a strip is padded with zeros, and the last rows run
// alone. Every file that includes this has its own copy (twins/isa.h says why).
#pragma once
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/device/kernels/thread_pool.h"
#include "core/device/twins/isa.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
constexpr size_t strip_width = 64 / sizeof(T);
#if defined(__x86_64__) && !defined(__AVX2__)
constexpr size_t rows_at_once = 2;  // sums of more would not fit its registers
#else
constexpr size_t rows_at_once = 6;
#endif
constexpr size_t products_of_part = 1 << 19;  // at least: some 20 us

template <class T>
static std::vector<T> transposed(const T* x, size_t rows, size_t columns) {  // [rows,columns] -> [columns,rows]
    std::vector<T> y(rows * columns);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
    return y;
}

// C[rows, j .. j + width) += A[rows, depth] strip[depth, width], of C its first `columns`; A has rows of k. By vector types:
// of plain loops GCC 12 makes vectors along K and shuffles them, at a tenth of the speed.
template <size_t rows, class T>
static void tile(const T* a, size_t k, const T* strip, size_t depth, T* c, size_t n, size_t columns) {
#if defined(__AVX2__)
    constexpr size_t vector_bytes = 32;
#else
    constexpr size_t vector_bytes = 16;
#endif
    typedef T Vector __attribute__((vector_size(vector_bytes)));
    typedef T InMemory __attribute__((vector_size(vector_bytes), aligned(sizeof(T)), may_alias));
    constexpr size_t vectors = 64 / vector_bytes, lanes = vector_bytes / sizeof(T);
    T edge[rows * strip_width<T>] = {};  // a strip that C's end cuts
    T* const at = columns == strip_width<T> ? c : edge;
    const size_t step = columns == strip_width<T> ? n : strip_width<T>;
    if (at == edge)
        for (size_t i = 0; i < rows; ++i) std::copy_n(c + i * n, columns, edge + i * step);
    Vector sum[rows][vectors];
    for (size_t i = 0; i < rows; ++i)
        for (size_t v = 0; v < vectors; ++v) sum[i][v] = *reinterpret_cast<const InMemory*>(at + i * step + v * lanes);
    for (size_t l = 0; l < depth; ++l) {
        Vector b[vectors];
        for (size_t v = 0; v < vectors; ++v)
            b[v] = *reinterpret_cast<const InMemory*>(strip + l * strip_width<T> + v * lanes);
        for (size_t i = 0; i < rows; ++i)
            for (size_t v = 0; v < vectors; ++v) sum[i][v] += a[i * k + l] * b[v];
    }
    for (size_t i = 0; i < rows; ++i)
        for (size_t v = 0; v < vectors; ++v) *reinterpret_cast<InMemory*>(at + i * step + v * lanes) = sum[i][v];
    if (at == edge)
        for (size_t i = 0; i < rows; ++i) std::copy_n(edge + i * step, columns, c + i * n);
}

// Columns [begin, end) of C, strip by strip; a strip is as deep as half of a processor's first cache holds.
template <class T>
static void columns_of_product(size_t begin, size_t end, bool transpose_b, size_t m, size_t n, size_t k, const T* a,
                               const T* b, T* c) {
    constexpr size_t width = strip_width<T>, deepest = 256;
    std::vector<T> strip(std::min(k, deepest) * width);
    for (size_t j0 = begin; j0 < end; j0 += width) {
        const size_t columns = std::min(width, end - j0);
        for (size_t i = 0; i < m; ++i) std::fill_n(c + i * n + j0, columns, T(0));
        for (size_t l0 = 0; l0 < k; l0 += deepest) {
            const size_t depth = std::min(deepest, k - l0);
            if (transpose_b)
                for (size_t j = 0; j < columns; ++j)
                    for (size_t l = 0; l < depth; ++l) strip[l * width + j] = b[(j0 + j) * k + l0 + l];
            else
                for (size_t l = 0; l < depth; ++l)
                    std::memcpy(strip.data() + l * width, b + (l0 + l) * n + j0, columns * sizeof(T));
            size_t i = 0;
            for (; i + rows_at_once <= m; i += rows_at_once)
                tile<rows_at_once>(a + i * k + l0, k, strip.data(), depth, c + i * n + j0, n, columns);
            for (; i < m; ++i) tile<1>(a + i * k + l0, k, strip.data(), depth, c + i * n + j0, n, columns);
        }
    }
}

template <class T>
static void plain_product(bool transpose_a, bool transpose_b, int m, int n, int k, const T* a, const T* b, T* c,
                          ThreadPool& pool) {
    if (m <= 0 || n <= 0) return;
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    std::vector<T> straight;
    if (transpose_a) a = (straight = transposed(a, depth, rows)).data();

    const size_t strips = (columns + strip_width<T> - 1) / strip_width<T>;
    const size_t parts = std::min(strips, std::max<size_t>(rows * columns * depth / products_of_part, 1));
    const auto border = [&](size_t part) { return std::min(strips * part / parts * strip_width<T>, columns); };
    pool.run(static_cast<int>(parts), [&](int part) {
        const auto p = static_cast<size_t>(part);
        columns_of_product(border(p), border(p + 1), transpose_b, rows, columns, depth, a, b, c);
    });
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
