// Matrix products without oneDNN: plain loops.
#include "core/device/kernels/matmul.h"
#include "core/device/kernels/plain_product.h"

namespace lockstep::device {

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
            ThreadPool& pool, bool) {
    twins::portable::plain_product(transpose_a, transpose_b, m, n, k, a, b, c, pool);
}

void matmul_here(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c) {
    if (m <= 0 || n <= 0) return;
    const auto rows = static_cast<size_t>(m), columns = static_cast<size_t>(n), depth = static_cast<size_t>(std::max(k, 0));
    std::vector<float> straight;
    if (transpose_a) a = (straight = twins::portable::transposed(a, depth, rows)).data();
    twins::portable::columns_of_product(0, columns, transpose_b, rows, columns, depth, a, b, c);
}

const char* matmul_library() {
    return "plain loops";
}

}  // namespace lockstep::device
