// Matrix products without oneDNN: plain loops.
#include "core/device/matmul.h"
#include "core/device/plain_product.h"

namespace lockstep::device {

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
            ThreadPool& pool) {
    twins::portable::plain_product(transpose_a, transpose_b, m, n, k, a, b, c, pool);
}

const char* matmul_library() {
    return "plain loops";
}

}  // namespace lockstep::device
