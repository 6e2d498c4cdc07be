// The kernel of rungs 6 and 7: tiles of 128 x DEPTH and DEPTH x 128, copied 16 bytes a lane, 8 x 8 elements a thread.
#pragma once
#include "sgemm.h"

SGEMM(SGEMM_NAME) {
    constexpr int tile = 128, depth = DEPTH, each = 8, threads = 256;
    __shared__ __align__(16) float a[depth][tile];
    __shared__ __align__(16) float b[depth][tile];
    const int x = threadIdx.x % (tile / each), y = threadIdx.x / (tile / each);
    const int row_a = threadIdx.x / (depth / 4), column_a = threadIdx.x % (depth / 4) * 4;
    const int row_b = threadIdx.x / (tile / 4), column_b = threadIdx.x % (tile / 4) * 4;
    const float* from_a = A + blockIdx.y * tile * lda;
    const float* from_b = B + blockIdx.x * tile;
    float sum[each][each] = {};
    for (int k = 0; k < K; k += depth) {
#pragma unroll
        for (int i = 0; i < tile; i += threads / (depth / 4)) {
            const float4 four = *reinterpret_cast<const float4*>(&from_a[(row_a + i) * lda + column_a]);
            a[column_a + 0][row_a + i] = four.x;
            a[column_a + 1][row_a + i] = four.y;
            a[column_a + 2][row_a + i] = four.z;
            a[column_a + 3][row_a + i] = four.w;
        }
#pragma unroll
        for (int i = 0; i < depth; i += threads / (tile / 4))
            *reinterpret_cast<float4*>(&b[row_b + i][column_b]) =
                *reinterpret_cast<const float4*>(&from_b[(row_b + i) * ldb + column_b]);
        __syncthreads();
        from_a += depth;
        from_b += depth * ldb;
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            float of_a[each], of_b[each];
#pragma unroll
            for (int r = 0; r < each; r += 4) {
                const float4 four = *reinterpret_cast<const float4*>(&a[i][y * each + r]);
                of_a[r] = four.x, of_a[r + 1] = four.y, of_a[r + 2] = four.z, of_a[r + 3] = four.w;
            }
#pragma unroll
            for (int c = 0; c < each; c += 4) {
                const float4 four = *reinterpret_cast<const float4*>(&b[i][x * each + c]);
                of_b[c] = four.x, of_b[c + 1] = four.y, of_b[c + 2] = four.z, of_b[c + 3] = four.w;
            }
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
        for (int c = 0; c < each; c += 4) {
            float4* const to = reinterpret_cast<float4*>(
                &C[(blockIdx.y * tile + y * each + r) * ldc + blockIdx.x * tile + x * each + c]);
            float4 four = *to;
            four.x = alpha * sum[r][c] + beta * four.x;
            four.y = alpha * sum[r][c + 1] + beta * four.y;
            four.z = alpha * sum[r][c + 2] + beta * four.z;
            four.w = alpha * sum[r][c + 3] + beta * four.w;
            *to = four;
        }
}
