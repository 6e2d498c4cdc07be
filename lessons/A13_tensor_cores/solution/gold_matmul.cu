#include <mma.h>
using namespace nvcuda;

// The next fragments are on their way while these are multiplied: two of each, in turn.
__global__ void matmul(const half *a, const half *b, float *c, int n) {
    int row = blockIdx.y * 16, left = blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa, na;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb, nb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(fa, a + row * n, n);
    wmma::load_matrix_sync(fb, b + left, n);
    int k = 16;
    for (; k + 16 < n; k += 32) {
        wmma::load_matrix_sync(na, a + row * n + k, n);
        wmma::load_matrix_sync(nb, b + k * n + left, n);
        wmma::mma_sync(sum, fa, fb, sum);
        wmma::load_matrix_sync(fa, a + row * n + k + 16, n);
        wmma::load_matrix_sync(fb, b + (k + 16) * n + left, n);
        wmma::mma_sync(sum, na, nb, sum);
    }
    wmma::mma_sync(sum, fa, fb, sum);
    if (k < n) {
        wmma::load_matrix_sync(fa, a + row * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + left, n);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + left, sum, n, wmma::mem_row_major);
}
