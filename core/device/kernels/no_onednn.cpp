// Matrix products without oneDNN: plain loops, by what this processor has.
#include "core/device/kernels/matmul.h"
#include "core/device/twins/twins.h"

namespace lockstep::device {

void matmul(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c,
            ThreadPool& pool, bool) {
    twins::plain_products().whole(transpose_a, transpose_b, m, n, k, a, b, c, pool);
}

void matmul_here(bool transpose_a, bool transpose_b, int m, int n, int k, const float* a, const float* b, float* c) {
    twins::plain_products().here(transpose_a, transpose_b, m, n, k, a, b, c);
}

const char* matmul_library() {
    return "plain loops";
}

}  // namespace lockstep::device
