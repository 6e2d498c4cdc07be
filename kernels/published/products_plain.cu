// Matrix products without checks of the edges: tiles of 16 and of 32, and squares of 4 x 4 and of 8 x 8 a thread. Grid (N / columns, M / rows) where nothing else is said
#include "products.h"

// One element a thread. Block (size, size).
template <int size> __device__ void tiled(int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
    __shared__ float tile_a[size][size], tile_b[size][size];
    const int row = blockIdx.y * size + threadIdx.y, column = blockIdx.x * size + threadIdx.x;
    float sum = 0;
    for (int step = 0; step < (k + size - 1) / size; ++step) {
        tile_a[threadIdx.y][threadIdx.x] = row < m && step * size + threadIdx.x < k ? a[row * lda + step * size + threadIdx.x] : 0;
        tile_b[threadIdx.y][threadIdx.x] = column < n && step * size + threadIdx.y < k ? b[(step * size + threadIdx.y) * ldb + column] : 0;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < size; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * ldc + column] = sum;
}
PRODUCT(float, tiled_16) { tiled<16>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
PRODUCT(float, tiled_32) { tiled<32>(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }

// Tiles 64 x 64 x 16, a square of 4 x 4 a thread. Block (16, 16).
PRODUCT(float, squares_4) {
    __shared__ float tile_a[64][16], tile_b[16][64];
    const int x = threadIdx.x, y = threadIdx.y, t = y * 16 + x;
    float sum[4][4] = {};
    for (int step = 0; step < k; step += 16) {
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const int at = t + i * 256;
            tile_a[at / 16][at % 16] = a[(blockIdx.y * 64 + at / 16) * lda + step + at % 16];
            tile_b[at / 64][at % 64] = b[(step + at / 64) * ldb + blockIdx.x * 64 + at % 64];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            float of_a[4], of_b[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) of_a[j] = tile_a[y * 4 + j][i], of_b[j] = tile_b[i][x * 4 + j];
#pragma unroll
            for (int j = 0; j < 4; ++j)
#pragma unroll
                for (int l = 0; l < 4; ++l) sum[j][l] += of_a[j] * of_b[l];
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
        for (int l = 0; l < 4; ++l) c[(blockIdx.y * 64 + y * 4 + j) * ldc + blockIdx.x * 64 + x * 4 + l] = sum[j][l];
}

// Rows by blockIdx.x. One element a thread, rows apart and rows together, block (32, 32).
__device__ void one(int row, int column, int m, int n, int k, float alpha, const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc) {
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int i = 0; i < k; ++i) sum += a[row * lda + i] * b[i * ldb + column];
    c[row * ldc + column] = alpha * sum + beta * c[row * ldc + column];
}
PRODUCT(float, rows_apart) { one(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }
PRODUCT(float, rows_together) { one(blockIdx.x * blockDim.x + threadIdx.y, blockIdx.y * blockDim.y + threadIdx.x, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc); }

// One dimension of threads. Tiles of 32, block 1024; tiles 64 x 64 x 8 with squares of 8 x 8, block 64.
PRODUCT(float, tile_rows_first) {
    __shared__ float tile_a[32 * 32], tile_b[32 * 32];
    const unsigned top = blockIdx.x * 32, left = blockIdx.y * 32, y = threadIdx.x / 32, x = threadIdx.x % 32;
    float sum = 0;
    for (int step = 0; step < k; step += 32) {
        tile_a[y * 32 + x] = a[(top + y) * lda + step + x];
        tile_b[y * 32 + x] = b[(step + y) * ldb + left + x];
        __syncthreads();
        for (int i = 0; i < 32; ++i) sum += tile_a[y * 32 + i] * tile_b[i * 32 + x];
        __syncthreads();
    }
    c[(top + y) * ldc + left + x] = alpha * sum + beta * c[(top + y) * ldc + left + x];
}
PRODUCT(float, squares_8_rows_first) {
    __shared__ float tile_a[64 * 8], tile_b[8 * 64];
    const int t = threadIdx.x, down = t / 8 * 8, right = t % 8 * 8;
    float sum[64] = {}, of_a[8], of_b[8];
    a += blockIdx.x * 64 * lda, b += blockIdx.y * 64, c += blockIdx.x * 64 * ldc + blockIdx.y * 64;
    for (int step = 0; step < k; step += 8) {
#pragma unroll
        for (int i = 0; i < 64; i += 8) tile_a[(t / 8 + i) * 8 + t % 8] = a[(t / 8 + i) * lda + t % 8];
#pragma unroll
        for (int i = 0; i < 8; ++i) tile_b[i * 64 + t] = b[i * ldb + t];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 8; ++i) {
#pragma unroll
            for (int j = 0; j < 8; ++j) of_a[j] = tile_a[(down + j) * 8 + i];
#pragma unroll
            for (int j = 0; j < 8; ++j) of_b[j] = tile_b[i * 64 + right + j];
#pragma unroll
            for (int j = 0; j < 8; ++j)
#pragma unroll
                for (int l = 0; l < 8; ++l) sum[j * 8 + l] += of_a[j] * of_b[l];
        }
        __syncthreads();
        a += 8, b += 8 * ldb;
    }
#pragma unroll
    for (int j = 0; j < 8; ++j)
#pragma unroll
        for (int l = 0; l < 8; ++l) c[(down + j) * ldc + right + l] = alpha * sum[j * 8 + l] + beta * c[(down + j) * ldc + right + l];
}
