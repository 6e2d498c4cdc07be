// A block keeps a 32 x 32 tile of A and one of B in shared memory: each word is read from global memory once a block. Grid (N/32, M/32), block (32, 32). arch: sm_80
#include "sgemm.h"

SGEMM(sgemm_shared_tile) {
    __shared__ float a[32][32], b[32][32];
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float sum = 0;
    for (int k = 0; k < K; k += 32) {
        a[y][x] = A[row * lda + k + x];
        b[y][x] = B[(k + y) * ldb + column];
        __syncthreads();
        for (int i = 0; i < 32; ++i) sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    C[row * ldc + column] = alpha * sum + beta * C[row * ldc + column];
}
