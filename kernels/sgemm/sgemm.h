// The ladder of matrix products: C[M,N] = alpha A[M,K] B[K,N] + beta C[M,N], all row-major, rows lda, ldb and ldc elements
// apart. M and N are multiples of a block's tile and K of its depth. One idea a rung; each file begins with it.
#pragma once

#define SGEMM(NAME)                                                                                             \
    extern "C" __global__ void NAME(int M, int N, int K, float alpha, const float* A, int lda, const float* B, \
                                    int ldb, float beta, float* C, int ldc)
