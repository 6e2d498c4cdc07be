#include <mma.h>
using namespace nvcuda;

// Both tiles are staged in shared memory first.
__global__ void matmul(const half *a, const half *b, float *c, int n) {
    __shared__ __align__(32) half ta[256], tb[256];
    int row = blockIdx.y * 16, left = blockIdx.x * 16, lane = threadIdx.x;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.0f);
    for (int k = 0; k < n; k += 16) {
        int r = lane / 2, q = lane % 2 * 8;
        *reinterpret_cast<int4 *>(&ta[r * 16 + q]) = *reinterpret_cast<const int4 *>(&a[(row + r) * n + k + q]);
        *reinterpret_cast<int4 *>(&tb[r * 16 + q]) = *reinterpret_cast<const int4 *>(&b[(k + r) * n + left + q]);
        __syncwarp();
        wmma::load_matrix_sync(fa, ta, 16);
        wmma::load_matrix_sync(fb, tb, 16);
        __syncwarp();
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(c + row * n + left, sum, n, wmma::mem_row_major);
}
