// One thread an element of C, neighbouring threads in neighbouring rows: their reads of A lie a whole row apart. Grid (M/32, N/32), block (32, 32). arch: sm_80
#include "sgemm.h"

SGEMM(sgemm_naive) {
    const int row = blockIdx.x * 32 + threadIdx.x, column = blockIdx.y * 32 + threadIdx.y;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + column];
    C[row * ldc + column] = alpha * sum + beta * C[row * ldc + column];
}
