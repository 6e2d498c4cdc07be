#include <mma.h>
using namespace nvcuda;

// The next fragments are on their way while the tensor cores multiply.
__global__ void matmul(const half *a, const half *b, float *c, int n) {
    const half *mine = a + blockIdx.y * 16 * n, *theirs = b + blockIdx.x * 16;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    wmma::load_matrix_sync(fa[0], mine, n);
    wmma::load_matrix_sync(fb[0], theirs, n);
#pragma unroll 1
    for (int k = 16; k <= n; k += 32) {
        if (k < n) {
            wmma::load_matrix_sync(fa[1], mine + k, n);
            wmma::load_matrix_sync(fb[1], theirs + k * n, n);
        }
        wmma::mma_sync(sum, fa[0], fb[0], sum);
        if (k >= n) break;
        if (k + 16 < n) {
            wmma::load_matrix_sync(fa[0], mine + k + 16, n);
            wmma::load_matrix_sync(fb[0], theirs + (k + 16) * n, n);
        }
        wmma::mma_sync(sum, fa[1], fb[1], sum);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, sum, n, wmma::mem_row_major);
}
