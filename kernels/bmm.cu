// Matrix products of a batch: C_i = A_i B_i for i = 0 .. batch - 1, with either operand transposed; any M, N, K.
// The idea is matmul.cu's: 16 x 16 threads make a tile of C and keep what they read in shared memory. The third dimension of
// the grid is the batch; matrix i begins i * stride elements into its buffer, so a stride of 0 gives every product the
// same matrix (broadcasting) without a copy.
// Launch: grid (ceil(N/16), ceil(M/16), batch), block (16, 16).
// Elements from device memory: batch (M N K (1/16 + 1/16) + M N).

#include "include/element.h"

#define TILE 16

template <class T, bool transpose_a, bool transpose_b>
__device__ void batched_product(const T* a, const T* b, T* c, int m, int n, int k, int stride_a, int stride_b, int stride_c) {
    __shared__ Acc<T> a_tile[TILE][TILE + 1];                                    // [row, k]; + 1: columns meet all banks
    __shared__ Acc<T> b_tile[TILE][TILE + 1];                                    // [k, column]
    a += (long long)blockIdx.z * stride_a;
    b += (long long)blockIdx.z * stride_b;
    c += (long long)blockIdx.z * stride_c;
    int tx = threadIdx.x, ty = threadIdx.y;
    int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
    Acc<T> sum = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        // neighbouring threads read neighbouring elements, whichever way the operand lies
        if (transpose_a)
            a_tile[tx][ty] = k0 + ty < k && row0 + tx < m ? Acc<T>(a[(k0 + ty) * m + row0 + tx]) : Acc<T>(0);     // A[K,M]
        else
            a_tile[ty][tx] = row0 + ty < m && k0 + tx < k ? Acc<T>(a[(row0 + ty) * k + k0 + tx]) : Acc<T>(0);     // A[M,K]
        if (transpose_b)
            b_tile[tx][ty] = column0 + ty < n && k0 + tx < k ? Acc<T>(b[(column0 + ty) * k + k0 + tx]) : Acc<T>(0);  // B[N,K]
        else
            b_tile[ty][tx] = k0 + ty < k && column0 + tx < n ? Acc<T>(b[(k0 + ty) * n + column0 + tx]) : Acc<T>(0);  // B[K,N]
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    int row = row0 + ty, column = column0 + tx;
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}

template <class T>
__device__ void bmm_nn(const T* a, const T* b, T* c, int m, int n, int k, int stride_a, int stride_b, int stride_c) {
    batched_product<T, false, false>(a, b, c, m, n, k, stride_a, stride_b, stride_c);
}
template <class T>
__device__ void bmm_nt(const T* a, const T* b, T* c, int m, int n, int k, int stride_a, int stride_b, int stride_c) {
    batched_product<T, false, true>(a, b, c, m, n, k, stride_a, stride_b, stride_c);
}
template <class T>
__device__ void bmm_tn(const T* a, const T* b, T* c, int m, int n, int k, int stride_a, int stride_b, int stride_c) {
    batched_product<T, true, false>(a, b, c, m, n, k, stride_a, stride_b, stride_c);
}
FLOATS(bmm_nn, (const T* a, const T* b, T* c, int batch, int m, int n, int k, int stride_a, int stride_b, int stride_c), a, b, c,
       m, n, k, stride_a, stride_b, stride_c)
FLOATS(bmm_nt, (const T* a, const T* b, T* c, int batch, int m, int n, int k, int stride_a, int stride_b, int stride_c), a, b, c,
       m, n, k, stride_a, stride_b, stride_c)
FLOATS(bmm_tn, (const T* a, const T* b, T* c, int batch, int m, int n, int k, int stride_a, int stride_b, int stride_c), a, b, c,
       m, n, k, stride_a, stride_b, stride_c)
