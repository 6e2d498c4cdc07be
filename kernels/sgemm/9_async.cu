// Copies run ahead of the products: three tiles in flight by cp.async, fragments read one step early, 8 x 16 elements a thread. Grid (N/256, M/128), block 256. arch: sm_80
#include "sgemm.h"

namespace {

constexpr int tile_m = 128, tile_n = 256, depth = 8, stages = 3, threads = 256, part = 64;  // part: a warp's, 64 x 64
constexpr int rows = 8, columns = 16;                                                       // of a thread
constexpr int pitch = tile_m + 4;  // a warp stores 8 steps of k by 4 rows of A: all in different banks
constexpr int group = 8;           // blocks of 8 tile rows follow each other, so that they find each other's tiles in L2

struct Stage {
    float a[depth][pitch];  // A lies transposed: rows of a step are neighbours
    float b[depth][tile_n];
};

__device__ void copy_4(float* to, const float* from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
__device__ void copy_16(float* to, const float* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}
__device__ void take(float* to, const float* from) {
    const float4 four = *reinterpret_cast<const float4*>(from);
    to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

}  // namespace

SGEMM(__launch_bounds__(threads, 1) sgemm_async) {
    __shared__ __align__(16) Stage ring[stages];
    const int number = blockIdx.y * gridDim.x + blockIdx.x, band = number / (group * gridDim.x);
    const int height = min(gridDim.y - band * group, group), within = number % (group * gridDim.x);
    const int top = (band * group + within % height) * tile_m, left = within / height * tile_n;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    // Lanes n and n ^ 1 read the same words of B, n and n ^ 2 the same of A: 16-byte reads of such pairs take half the cycles.
    const int x = warp % 4 * part + (lane >> 1 & 3) * 4, y = warp / 4 * part + (lane & 1 | lane >> 3 << 1) * 4;

    const int a_k = threadIdx.x % 8, a_row = threadIdx.x / 8, b_k = threadIdx.x / 64, b_column = threadIdx.x % 64 * 4;
    const float* from_a = A + (long long)(top + a_row) * lda + a_k;
    const float* from_b = B + (long long)b_k * ldb + left + b_column;
    int copied = 0;
    const auto copy_next = [&](int s) {
        if (copied < K) {
#pragma unroll
            for (int i = 0; i < tile_m; i += 32) copy_4(&ring[s].a[a_k][a_row + i], from_a + (long long)i * lda);
#pragma unroll
            for (int i = 0; i < depth; i += 4) copy_16(&ring[s].b[b_k + i][b_column], from_b + (long long)i * ldb);
            from_a += depth;
            from_b += (long long)depth * ldb;
            copied += depth;
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
    };

    float of_a[2][rows], of_b[2][columns], sum[rows][columns] = {};
    const auto read = [&](int into, int s, int k) {
        take(&of_a[into][0], &ring[s].a[k][y]);
        take(&of_a[into][4], &ring[s].a[k][y + 32]);
#pragma unroll
        for (int c = 0; c < 4; ++c) take(&of_b[into][4 * c], &ring[s].b[k][x + 16 * c]);
    };
    copy_next(0);
    copy_next(1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    read(0, 0, 0);
    int here = 0, free = 2;  // of the ring: the tile that is multiplied, and the one that all have left
    for (int k = 0; k < K; k += depth) {
#pragma unroll
        for (int i = 0; i < depth; ++i) {
            if (i == depth - 1) {  // the next tile is there, and nobody reads this one any more
                asm volatile("cp.async.wait_group 1;" ::: "memory");
                __syncthreads();
                free = here;
                here = here + 1 == stages ? 0 : here + 1;
            }
            if (i < depth - 1 || k + depth < K) read((i + 1) % 2, here, (i + 1) % depth);
            if (i == 0) copy_next(free);
#pragma unroll
            for (int r = 0; r < rows; ++r)
#pragma unroll
                for (int c = 0; c < columns; ++c) sum[r][c] += of_a[i % 2][r] * of_b[i % 2][c];
        }
    }
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int c = 0; c < columns; c += 4) {
            float4* const to = reinterpret_cast<float4*>(
                &C[(long long)(top + y + r / 4 * 32 + r % 4) * ldc + left + x + 4 * c]);
            const float4 old = beta != 0 ? *to : make_float4(0, 0, 0, 0);
            *to = make_float4(alpha * sum[r][c] + beta * old.x, alpha * sum[r][c + 1] + beta * old.y,
                              alpha * sum[r][c + 2] + beta * old.z, alpha * sum[r][c + 3] + beta * old.w);
        }
}
