// Neighbouring threads take neighbouring columns: a warp reads one word of A and 128 bytes of B in a row. Grid (N/32, M/32), block (32, 32). arch: sm_80
#include "sgemm.h"

SGEMM(sgemm_coalesced) {
    const int row = blockIdx.y * 32 + threadIdx.y, column = blockIdx.x * 32 + threadIdx.x;
    if (row >= M || column >= N) return;
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += A[row * lda + k] * B[k * ldb + column];
    C[row * ldc + column] = alpha * sum + beta * C[row * ldc + column];
}
