// Halves by wmma, guarded as the ladder: tiles 128 x 128 x 16, a warp 64 x 32, A turned, rows of shared memory 16 halves longer; loads by words, then by vectors. Grid (N / 128, M / 128), block 256
#include <mma.h>

#include "products.h"

using namespace nvcuda;

template <bool vectors> __device__ void by_warps(size_t m, size_t n, size_t k, half alpha, const half* a, size_t lda, const half* b, size_t ldb, half beta, half* c, size_t ldc) {
    constexpr int width = 128 + 16;
    __shared__ __align__(32) half tile_a[16 * width];
    __shared__ __align__(32) half tile_b[16 * width];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::col_major> of_a[4];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> of_b[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, half> sum[4][2], was;
    const int warp = threadIdx.x / 32, down = warp / 4 * 64, right = warp % 4 * 32;
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], half(0.f));
    for (size_t step = 0; step < (k + 15) / 16; ++step) {
        if (vectors) load_tiles_by_vectors<half, 128, 128, 16, 256, 16, 16>(a, lda, b, ldb, tile_a, tile_b, step, threadIdx.x, m, n, k);
        else load_tiles<half, 128, 128, 16, 256, true, 16, 16>(a, lda, b, ldb, tile_a, tile_b, step, threadIdx.x, m, n, k);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 4; ++i) wmma::load_matrix_sync(of_a[i], tile_a + down + i * 16, width);
#pragma unroll
        for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(of_b[j], tile_b + right + j * 16, width);
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], of_a[i], of_b[j], sum[i][j]);
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            half* const to = c + (blockIdx.y * 128 + down + i * 16) * n + blockIdx.x * 128 + right + j * 16;
            wmma::load_matrix_sync(was, to, n, wmma::mem_row_major);
            for (int e = 0; e < was.num_elements; ++e) was.x[e] = alpha * sum[i][j].x[e] + beta * was.x[e];
            wmma::store_matrix_sync(to, was, n, wmma::mem_row_major);
        }
}
PRODUCT(half, guarded_wmma) { by_warps<false>(m, n, k, __float2half(alpha), a, lda, b, ldb, __float2half(beta), c, ldc); }
PRODUCT(half, guarded_wmma_vectors) { by_warps<true>(m, n, k, __float2half(alpha), a, lda, b, ldb, __float2half(beta), c, ldc); }
