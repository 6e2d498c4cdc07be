#include <mma.h>
using namespace nvcuda;

// One warp: D = A B + C, 16 x 16. A, B are FP16; C, D FP32.
__global__ void product(const half *a, const half *b, const float *c, float *d) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::load_matrix_sync(sum, c, 16, wmma::mem_row_major);
    wmma::mma_sync(sum, fa, fb, sum);
    wmma::store_matrix_sync(d, sum, 16, wmma::mem_row_major);
}
