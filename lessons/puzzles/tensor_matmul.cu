// C = A B on tensor cores, n x n, FP16 in and FP32 out. Each warp makes a tile of 32 x 32, its operands straight from memory.
// Grid (n/64, n/64), block (32, 4).
#include <mma.h>
using namespace nvcuda;

__global__ void tensor_matmul(const half* a, const half* b, float* c, int n) {
    int row = blockIdx.y * 64 + threadIdx.y / 2 * 32, column = blockIdx.x * 64 + threadIdx.y % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(left[i], a + (row + 16 * i) * n + k, n);
            wmma::load_matrix_sync(right[i], b + k * n + column + 16 * i, n);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) wmma::mma_sync(sum[i / 2][i % 2], left[i / 2], right[i % 2], sum[i / 2][i % 2]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
        wmma::store_matrix_sync(c + (row + i / 2 * 16) * n + column + i % 2 * 16, sum[i / 2][i % 2], n, wmma::mem_row_major);
}
