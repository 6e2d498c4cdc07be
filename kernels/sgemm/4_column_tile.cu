// A thread computes 8 elements of a column: a word of B's tile, once in a register, serves 8 products. Grid (N/64, M/64), block 512. arch: sm_80
#include "sgemm.h"

SGEMM(sgemm_column_tile) {
    constexpr int tile = 64, depth = 8, each = 8;
    __shared__ float a[tile][depth], b[depth][tile];
    const int x = threadIdx.x % tile, y = threadIdx.x / tile;
    const float* from_a = A + (blockIdx.y * tile + threadIdx.x / depth) * lda + threadIdx.x % depth;
    const float* from_b = B + y * ldb + blockIdx.x * tile + x;
    float sum[each] = {};
    for (int k = 0; k < K; k += depth) {
        a[threadIdx.x / depth][threadIdx.x % depth] = *from_a;
        b[y][x] = *from_b;
        __syncthreads();
        from_a += depth;
        from_b += depth * ldb;
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            const float word = b[i][x];
#pragma unroll
            for (int r = 0; r < each; ++r) sum[r] += a[y * each + r][i] * word;
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < each; ++r) {
        float& c = C[(blockIdx.y * tile + y * each + r) * ldc + blockIdx.x * tile + x];
        c = alpha * sum[r] + beta * c;
    }
}
