#include <mma.h>
using namespace nvcuda;

// A warp makes 64 x 64 elements as 4 x 4 fragments.
__global__ void tensor_tile(const half *a, const half *b, float *c, int n, int depth) {
    __shared__ __align__(32) half ta[128][16 + 8], tb[16][128 + 8];
    int t = threadIdx.x, warp = t / 32;
    int x = warp % 2 * 64, y = warp / 2 * 64;
    int top = blockIdx.y * 128, left = blockIdx.x * 128;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[4][4];
    for (int r = 0; r < 4; ++r)
        for (int q = 0; q < 4; ++q) wmma::fill_fragment(sum[r][q], 0.0f);
    for (int k = 0; k < depth; k += 16) {
#pragma unroll
        for (int i = 0; i < 128; i += 64) *(float4 *)&ta[t / 2 + i][t % 2 * 8] = *(const float4 *)&a[(top + t / 2 + i) * depth + k + t % 2 * 8];
#pragma unroll
        for (int i = 0; i < 16; i += 8) *(float4 *)&tb[t / 16 + i][t % 16 * 8] = *(const float4 *)&b[(k + t / 16 + i) * n + left + t % 16 * 8];
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> of_a[4];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[4];
        for (int r = 0; r < 4; ++r) wmma::load_matrix_sync(of_a[r], &ta[y + r * 16][0], 24);
        for (int q = 0; q < 4; ++q) wmma::load_matrix_sync(of_b[q], &tb[0][x + q * 16], 136);
        for (int r = 0; r < 4; ++r)
            for (int q = 0; q < 4; ++q) wmma::mma_sync(sum[r][q], of_a[r], of_b[q], sum[r][q]);
        __syncthreads();
    }
    for (int r = 0; r < 4; ++r)
        for (int q = 0; q < 4; ++q)
            wmma::store_matrix_sync(&c[(top + y + r * 16) * n + left + x + q * 16], sum[r][q], n, wmma::mem_row_major);
}
