// Matrix products without oneDNN. B is copied 8 columns at a time into a strip [K,8] that stays in cache; then 4 rows of A
// meet the strip, and 4 x 8 sums stay in vector registers along all of K. A transposed A is turned first. Edges: a strip is
// padded with zeros, and the last rows run alone.
#include <algorithm>
#include <vector>

#include "core/device/matmul.h"

namespace lockstep::device {

namespace {
constexpr size_t width = 8;
constexpr size_t products_of_part = 1 << 19;  // at least: some 50 us

std::vector<float> transposed(const float* x, size_t rows, size_t columns) {  // [rows,columns] -> [columns,rows]
    std::vector<float> y(rows * columns);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
    return y;
}

// C[rows, j .. j + 8) = A[rows, K] strip[K, 8]; the first `columns` of the 8 are stored.
template <size_t rows>
void tile(const float* a, const float* strip, float* c, size_t n, size_t k, size_t columns) {
    float sum[rows][width] = {};
    for (size_t l = 0; l < k; ++l)
        for (size_t i = 0; i < rows; ++i)
            for (size_t j = 0; j < width; ++j) sum[i][j] += a[i * k + l] * strip[l * width + j];
    for (size_t i = 0; i < rows; ++i) std::copy_n(sum[i], columns, c + i * n);
}

// Columns [begin, end) of C, in strips of 8.
void columns_of_product(size_t begin, size_t end, bool transpose_b, size_t m, size_t n, size_t k, const float* a,
                        const float* b, float* c) {
    std::vector<float> strip(k * width);
    for (size_t j0 = begin; j0 < end; j0 += width) {
        const size_t columns = std::min(width, end - j0);
        for (size_t l = 0; l < k; ++l)
            for (size_t j = 0; j < width; ++j)
                strip[l * width + j] = j >= columns ? 0.0f : transpose_b ? b[(j0 + j) * k + l] : b[l * n + j0 + j];
        size_t i = 0;
        for (; i + 4 <= m; i += 4) tile<4>(a + i * k, strip.data(), c + i * n + j0, n, k, columns);
        for (; i < m; ++i) tile<1>(a + i * k, strip.data(), c + i * n + j0, n, k, columns);
    }
}
}  // namespace

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
            ThreadPool& pool) {
    if (m <= 0 || n <= 0) return;
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    std::vector<float> straight;
    if (transpose_a) a = (straight = transposed(a, depth, rows)).data();

    const size_t strips = (columns + width - 1) / width;
    const size_t parts = std::min(strips, std::max<size_t>(rows * columns * depth / products_of_part, 1));
    const auto border = [&](size_t part) { return std::min(strips * part / parts * width, columns); };
    pool.run(static_cast<int>(parts), [&](int part) {
        const auto p = static_cast<size_t>(part);
        columns_of_product(border(p), border(p + 1), transpose_b, rows, columns, depth, a, b, c);
    });
}

const char* matmul_library() {
    return "plain loops";
}

}  // namespace lockstep::device
