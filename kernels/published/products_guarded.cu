// A ladder whose loads are all checked against the edges: rows apart, rows together, tiles, columns a thread, squares a thread, and those with A turned and vectors. Grid (N / columns, M / rows), the first rung (M / 32, N / 32)
#include "products.h"

template <class T> __device__ void plain(size_t row, size_t column, size_t m, size_t n, size_t k, T alpha, const T* a, size_t lda, const T* b, size_t ldb, T beta, T* c, size_t ldc) {
    if (row >= m || column >= n) return;
    T sum = T(0);
    for (size_t i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + column];
    c[row * ldc + column] = alpha * sum + beta * c[row * ldc + column];
}
PRODUCT(float, guarded_rows_apart) { plain<float>(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
PRODUCT(float, guarded_rows_together) { plain<float>(blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
PRODUCT(half, guarded_rows_together_f16) { plain<half>(blockIdx.y * blockDim.y + threadIdx.y, blockIdx.x * blockDim.x + threadIdx.x, m, n, k, __float2half(alpha), a, lda, b, ldb, __float2half(beta), c, ldc); }

PRODUCT(float, guarded_tile) {  // block (32, 32)
    __shared__ float tile_a[32 * 32], tile_b[32 * 32];
    const size_t row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    float sum = 0;
    for (size_t step = 0; step < (size_t(k) + 31) / 32; ++step) {
        load_tiles<float, 32, 32, 32, 1024, false, 0, 0>(a, lda, b, ldb, tile_a, tile_b, step, threadIdx.y * 32 + threadIdx.x, m, n, k);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 32; ++i) sum += tile_a[threadIdx.y * 32 + i] * tile_b[i * 32 + threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * ldc + column] = alpha * sum + beta * c[row * ldc + column];
}

PRODUCT(float, guarded_columns) {  // tiles 64 x 64 x 8, eight of a column a thread; block 512
    __shared__ float tile_a[64 * 8], tile_b[8 * 64];
    const int t = threadIdx.x;
    float sum[8] = {};
    for (size_t step = 0; step < (size_t(k) + 7) / 8; ++step) {
        load_tiles<float, 64, 64, 8, 512, false, 0, 0>(a, lda, b, ldb, tile_a, tile_b, step, t, m, n, k);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            const float of_b = tile_b[i * 64 + t % 64];
#pragma unroll
            for (int j = 0; j < 8; ++j) sum[j] += tile_a[(t / 64 * 8 + j) * 8 + i] * of_b;
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 8; ++j) {
        const size_t row = blockIdx.y * 64 + t / 64 * 8 + j, column = blockIdx.x * 64 + t % 64;
        if (row < m && column < n) c[row * ldc + column] = alpha * sum[j] + beta * c[row * ldc + column];
    }
}

// Tiles 128 x 128 x 16, a square of 8 x 8 a thread; block 256.
template <bool turned> __device__ void outer(const float* tile_a, const float* tile_b, int i, int t, float (&sum)[8][8]) {
    float of_a[8], of_b[8];
#pragma unroll
    for (int j = 0; j < 8; ++j) of_a[j] = turned ? tile_a[i * 128 + t / 16 * 8 + j] : tile_a[(t / 16 * 8 + j) * 16 + i];
    if (turned) {
#pragma unroll
        for (int j = 0; j < 2; ++j) *reinterpret_cast<int4*>(&of_b[j * 4]) = *reinterpret_cast<const int4*>(&tile_b[i * 128 + t % 16 * 8 + j * 4]);
    } else {
#pragma unroll
        for (int j = 0; j < 8; ++j) of_b[j] = tile_b[i * 128 + t % 16 * 8 + j];
    }
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int l = 0; l < 8; ++l) sum[j][l] += of_a[j] * of_b[l];
}
PRODUCT(float, guarded_squares) {
    __shared__ float tile_a[128 * 16], tile_b[16 * 128];
    const int t = threadIdx.x;
    float sum[8][8] = {};
    for (size_t step = 0; step < (size_t(k) + 15) / 16; ++step) {
        load_tiles<float, 128, 128, 16, 256, false, 0, 0>(a, lda, b, ldb, tile_a, tile_b, step, t, m, n, k);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) outer<false>(tile_a, tile_b, i, t, sum);
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int l = 0; l < 8; ++l) {
            const size_t row = blockIdx.y * 128 + t / 16 * 8 + j, column = blockIdx.x * 128 + t % 16 * 8 + l;
            if (row < m && column < n) c[row * ldc + column] = alpha * sum[j][l] + beta * c[row * ldc + column];
        }
}
PRODUCT(float, guarded_squares_vectors) {
    __shared__ __align__(16) float tile_a[16 * 128];
    __shared__ __align__(16) float tile_b[16 * 128];
    const int t = threadIdx.x;
    float sum[8][8] = {};
    for (size_t step = 0; step < (size_t(k) + 15) / 16; ++step) {
        load_tiles_by_vectors<float, 128, 128, 16, 256, 0, 0>(a, lda, b, ldb, tile_a, tile_b, step, t, m, n, k);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) outer<true>(tile_a, tile_b, i, t, sum);
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int l = 0; l < 2; ++l) {
            const size_t row = blockIdx.y * 128 + t / 16 * 8 + j, column = blockIdx.x * 128 + t % 16 * 8 + l * 4;
            if (row >= m || column >= n) continue;
            float4 was = *reinterpret_cast<const float4*>(&c[row * ldc + column]);
            was.x = alpha * sum[j][l * 4] + beta * was.x, was.y = alpha * sum[j][l * 4 + 1] + beta * was.y;
            was.z = alpha * sum[j][l * 4 + 2] + beta * was.z, was.w = alpha * sum[j][l * 4 + 3] + beta * was.w;
            *reinterpret_cast<float4*>(&c[row * ldc + column]) = was;
        }
}
