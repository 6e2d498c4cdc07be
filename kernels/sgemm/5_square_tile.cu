// A thread computes 8 x 8 elements: 16 words from shared memory serve 64 products. Grid (N/128, M/128), block 256. arch: sm_80
#include "sgemm.h"

SGEMM(sgemm_square_tile) {
    constexpr int tile = 128, depth = 8, each = 8;
    __shared__ float a[tile][depth], b[depth][tile];
    const int x = threadIdx.x % (tile / each), y = threadIdx.x / (tile / each);
    const int row_a = threadIdx.x / depth, column_a = threadIdx.x % depth;
    const int row_b = threadIdx.x / tile, column_b = threadIdx.x % tile;
    const float* from_a = A + blockIdx.y * tile * lda;
    const float* from_b = B + blockIdx.x * tile;
    float sum[each][each] = {};
    for (int k = 0; k < K; k += depth) {
#pragma unroll
        for (int i = 0; i < tile; i += 256 / depth) a[row_a + i][column_a] = from_a[(row_a + i) * lda + column_a];
#pragma unroll
        for (int i = 0; i < depth; i += 256 / tile) b[row_b + i][column_b] = from_b[(row_b + i) * ldb + column_b];
        __syncthreads();
        from_a += depth;
        from_b += depth * ldb;
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            float of_a[each], of_b[each];
#pragma unroll
            for (int r = 0; r < each; ++r) of_a[r] = a[y * each + r][i];
#pragma unroll
            for (int c = 0; c < each; ++c) of_b[c] = b[i][x * each + c];
#pragma unroll
            for (int r = 0; r < each; ++r)
#pragma unroll
                for (int c = 0; c < each; ++c) sum[r][c] += of_a[r] * of_b[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < each; ++r)
#pragma unroll
        for (int c = 0; c < each; ++c) {
            float& to = C[(blockIdx.y * tile + y * each + r) * ldc + blockIdx.x * tile + x * each + c];
            to = alpha * sum[r][c] + beta * to;
        }
}
