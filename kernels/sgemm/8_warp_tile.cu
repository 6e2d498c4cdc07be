// A warp owns a 64 x 64 part of the block's tile and goes over it in four strips of 64 x 16: lanes of a warp share what they read. Grid (N/128, M/128), block 128, three on an SM. arch: sm_80
#include "sgemm.h"

namespace {
constexpr int threads = 128;
}

// At most 168 registers, so that three blocks' warps hide the way to global memory: hence one address each, not one a load.
SGEMM(__launch_bounds__(threads, 3) sgemm_warp_tile) {
    constexpr int tile = 128, depth = 16, part = 64;  // part: of a warp
    constexpr int rows = 8, columns = 4, strips = 4, strip = part / strips;  // of a thread in each strip: 8 x 4
    __shared__ __align__(16) float a[depth][tile];
    __shared__ __align__(16) float b[depth][tile];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int warp_x = warp % (tile / part) * part, warp_y = warp / (tile / part) * part;
    const int x = lane % (strip / columns) * columns, y = lane / (strip / columns) * rows;
    const int row_a = threadIdx.x / (depth / 4), column_a = threadIdx.x % (depth / 4) * 4;
    const int row_b = threadIdx.x / (tile / 4), column_b = threadIdx.x % (tile / 4) * 4;
    unsigned at_a = (blockIdx.y * tile + row_a) * lda + column_a;
    unsigned at_b = row_b * ldb + blockIdx.x * tile + column_b;
    float sum[rows][strips * columns] = {};
    for (int k = 0; k < K; k += depth) {
#pragma unroll
        for (int i = 0; i < tile; i += threads / (depth / 4)) {
            const float4 four = *reinterpret_cast<const float4*>(&A[at_a + i * lda]);
            a[column_a + 0][row_a + i] = four.x;
            a[column_a + 1][row_a + i] = four.y;
            a[column_a + 2][row_a + i] = four.z;
            a[column_a + 3][row_a + i] = four.w;
        }
#pragma unroll
        for (int i = 0; i < depth; i += threads / (tile / 4))
            *reinterpret_cast<float4*>(&b[row_b + i][column_b]) =
                *reinterpret_cast<const float4*>(&B[at_b + i * ldb]);
        __syncthreads();
        at_a += depth;
        at_b += depth * ldb;
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            float of_a[rows], of_b[strips * columns];
#pragma unroll
            for (int r = 0; r < rows; r += 4) {
                const float4 four = *reinterpret_cast<const float4*>(&a[i][warp_y + y + r]);
                of_a[r] = four.x, of_a[r + 1] = four.y, of_a[r + 2] = four.z, of_a[r + 3] = four.w;
            }
#pragma unroll
            for (int s = 0; s < strips; ++s) {
                const float4 four = *reinterpret_cast<const float4*>(&b[i][warp_x + s * strip + x]);
                of_b[4 * s] = four.x, of_b[4 * s + 1] = four.y, of_b[4 * s + 2] = four.z, of_b[4 * s + 3] = four.w;
            }
#pragma unroll
            for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int c = 0; c < strips * columns; ++c) sum[r][c] += of_a[r] * of_b[c];
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int s = 0; s < strips; ++s) {
            float4* const to = reinterpret_cast<float4*>(
                &C[(blockIdx.y * tile + warp_y + y + r) * ldc + blockIdx.x * tile + warp_x + s * strip + x]);
            float4 four = *to;
            four.x = alpha * sum[r][4 * s] + beta * four.x;
            four.y = alpha * sum[r][4 * s + 1] + beta * four.y;
            four.z = alpha * sum[r][4 * s + 2] + beta * four.z;
            four.w = alpha * sum[r][4 * s + 3] + beta * four.w;
            *to = four;
        }
}
