#include <mma.h>
using namespace nvcuda;

// The warp's tile is one fragment; each round of the loop multiplies 16 columns of A by 16 rows of B.
__global__ void matmul(const half *a, const half *b, float *c, int n) {
    int row = blockIdx.y * 16, left = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + left, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + left, sum, n, wmma::mem_row_major);
}
