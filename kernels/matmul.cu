// Matrix products C = A B, row-major, with either operand transposed. Any M, N, K.
// The idea: a block of 16 x 16 threads makes a 16 x 16 tile of C; it walks along K 16 at a time, and what it reads from
// device memory it keeps in shared memory, so that each element is read once a tile and not once a thread.
// Launch: grid (ceil(N/16), ceil(M/16)), block (16, 16).  Elements from device memory: M N K (1/16 + 1/16) + M N,
// where matmul_naive reads 2 M N K. Threads beyond the edge load zeros, so that the sums need no test.
// The transposed products are the backward pass of a linear layer: dX = dY W^T and dW = X^T dY.

#include "include/element.h"

#define TILE 16

template <class T>
__device__ void matmul_nn(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ Acc<T> a_tile[TILE][TILE];                                        // [row, k]
    __shared__ Acc<T> b_tile[TILE][TILE];                                        // [k, column]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;                                           // of C
    int column = blockIdx.x * TILE + tx;
    Acc<T> sum = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        Acc<T> a_value = row < m && k0 + tx < k ? Acc<T>(a[row * k + k0 + tx]) : Acc<T>(0);       // A[M,K]
        Acc<T> b_value = k0 + ty < k && column < n ? Acc<T>(b[(k0 + ty) * n + column]) : Acc<T>(0);  // B[K,N]
        a_tile[ty][tx] = a_value;
        b_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}
FLOATS(matmul_nn, (const T* a, const T* b, T* c, int m, int n, int k), a, b, c, m, n, k)

// B is stored transposed. Rows of b_tile are 17 floats apart, so that 16 threads reading down a column meet 16 banks.
template <class T>
__device__ void matmul_nt(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ Acc<T> a_tile[TILE][TILE];                                        // [row, k]
    __shared__ Acc<T> b_tile[TILE][TILE + 1];                                    // [column, k]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    int b_row = blockIdx.x * TILE + ty;                                         // the column that this thread loads
    Acc<T> sum = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        Acc<T> a_value = row < m && k0 + tx < k ? Acc<T>(a[row * k + k0 + tx]) : Acc<T>(0);       // A[M,K]
        Acc<T> b_value = b_row < n && k0 + tx < k ? Acc<T>(b[b_row * k + k0 + tx]) : Acc<T>(0);   // B[N,K]
        a_tile[ty][tx] = a_value;
        b_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[ty][i] * b_tile[tx][i];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}
FLOATS(matmul_nt, (const T* a, const T* b, T* c, int m, int n, int k), a, b, c, m, n, k)

// A is stored transposed.
template <class T>
__device__ void matmul_tn(const T* a, const T* b, T* c, int m, int n, int k) {
    __shared__ Acc<T> a_tile[TILE][TILE];                                        // [k, row]
    __shared__ Acc<T> b_tile[TILE][TILE];                                        // [k, column]
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int column = blockIdx.x * TILE + tx;
    int a_column = blockIdx.y * TILE + tx;                                      // the row of C that this thread loads
    Acc<T> sum = 0;
    for (int k0 = 0; k0 < k; k0 += TILE) {
        Acc<T> a_value = k0 + ty < k && a_column < m ? Acc<T>(a[(k0 + ty) * m + a_column]) : Acc<T>(0);  // A[K,M]
        Acc<T> b_value = k0 + ty < k && column < n ? Acc<T>(b[(k0 + ty) * n + column]) : Acc<T>(0);  // B[K,N]
        a_tile[ty][tx] = a_value;
        b_tile[ty][tx] = b_value;
        __syncthreads();
        for (int i = 0; i < TILE; ++i) sum += a_tile[i][ty] * b_tile[i][tx];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;                       // C[M,N]
}
FLOATS(matmul_tn, (const T* a, const T* b, T* c, int m, int n, int k), a, b, c, m, n, k)

// The plain version, for comparison: one thread an element of C, everything from device memory. Any block shape.
template <class T>
__device__ void matmul_naive(const T* a, const T* b, T* c, int m, int n, int k) {
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    Acc<T> sum = 0;
    for (int i = 0; i < k; ++i) sum += Acc<T>(a[row * k + i]) * Acc<T>(b[i * n + column]);     // A[M,K] B[K,N]
    c[row * n + column] = sum;                                                  // C[M,N]
}
FLOATS(matmul_naive, (const T* a, const T* b, T* c, int m, int n, int k), a, b, c, m, n, k)
