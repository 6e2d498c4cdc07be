// Matrix products without oneDNN. Operands that lie the wrong way are transposed first; then C is made 4 rows at a time,
// each element of A times a run of a row of B, which the compiler vectorises; 256 of K at a time keeps that part of B in
// cache. Bytes from memory: about 4 (M K + N K M / 4 + 2 M N).
#include <algorithm>
#include <thread>
#include <vector>

#include "core/device/matmul.h"

namespace lockstep::device {

namespace {
std::vector<float> transposed(const float* x, size_t rows, size_t columns) {  // [rows,columns] -> [columns,rows]
    std::vector<float> y(rows * columns);
    for (size_t i = 0; i < rows; ++i)
        for (size_t j = 0; j < columns; ++j) y[j * rows + i] = x[i * columns + j];
    return y;
}

// Rows [begin, end) of C, A and B lying straight.
void rows_of_product(size_t begin, size_t end, size_t n, size_t k, const float* a, const float* b, float* c) {
    std::fill(c + begin * n, c + end * n, 0.0f);
    for (size_t k0 = 0; k0 < k; k0 += 256) {
        const size_t k1 = std::min(k, k0 + 256);
        for (size_t i = begin; i < end; i += 4)
            for (size_t l = k0; l < k1; ++l)
                for (size_t row = i; row < std::min(end, i + 4); ++row) {
                    const float factor = a[row * k + l];
                    const float* source = b + l * n;
                    float* target = c + row * n;
                    for (size_t j = 0; j < n; ++j) target[j] += factor * source[j];
                }
    }
}
}  // namespace

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c, int threads) {
    if (m <= 0 || n <= 0) return;
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    std::vector<float> straight_a, straight_b;
    if (transpose_a) a = (straight_a = transposed(a, depth, rows)).data();
    if (transpose_b) b = (straight_b = transposed(b, columns, depth)).data();

    const size_t workers = std::clamp<size_t>(static_cast<size_t>(std::max(threads, 1)), 1, rows);
    std::vector<std::jthread> others;
    for (size_t w = 1; w < workers; ++w)
        others.emplace_back(rows_of_product, rows * w / workers, rows * (w + 1) / workers, columns, depth, a, b, c);
    rows_of_product(0, rows / workers, columns, depth, a, b, c);
}

const char* matmul_library() {
    return "plain loops";
}

}  // namespace lockstep::device
