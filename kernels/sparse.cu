// A sparse matrix times a dense one, y[R,C] = A x[K,C], and its gradients. A is in compressed rows (CSR): row i has the entries
// e = row_start[i] .. row_start[i+1] - 1, in column column[e] with value value[e]. A graph layer's sum over neighbours is this.
// sparse_matmul:          a thread an element of y adds along its row.            Launch: ceil(R C / 256) blocks of 256.
// sparse_matmul_values:   dvalue[e] = dy[row of e] . x[column[e]].               Launch: ceil(entries / 256) blocks of 256.
// sparse_matmul_backward: dx = A' dy without a transposed copy and without atomics: the block of the first entry of a column
//     walks that column's entries in order (index_order of index.cu made the chain) and is the only writer of its row of dx.
//     The row of an entry is found by halving. dx must be zeros where a column is empty.      Launch: entries blocks of 128.

#include "include/element.h"

__device__ inline int row_of(const int* row_start, int rows, int entry) {
    int low = 0, high = rows;                                                   // row_start[low] <= entry < row_start[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (row_start[middle] <= entry) low = middle; else high = middle;
    }
    return low;
}

template <class T>
__device__ void sparse_matmul(const int* row_start, const int* column, const T* value, const T* x, T* y, int rows, int columns) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= rows * columns) return;
    int row = at / columns, c = at % columns;
    Acc<T> sum = 0;
    for (int e = row_start[row]; e < row_start[row + 1]; ++e) sum += Acc<T>(value[e]) * Acc<T>(x[column[e] * columns + c]);
    y[at] = sum;
}
FLOATS(sparse_matmul, (const int* row_start, const int* column, const T* value, const T* x, T* y, int rows, int inner, int columns,
       int entries), row_start, column, value, x, y, rows, columns)

template <class T>
__device__ void sparse_matmul_values(const int* row_start, const int* column, const T* x, const T* dy, T* dvalue, int rows, int columns,
                                     int entries) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= entries) return;
    int row = row_of(row_start, rows, e);
    Acc<T> sum = 0;
    for (int c = 0; c < columns; ++c) sum += Acc<T>(dy[row * columns + c]) * Acc<T>(x[column[e] * columns + c]);
    dvalue[e] = sum;
}
FLOATS(sparse_matmul_values, (const int* row_start, const int* column, const T* x, const T* dy, T* dvalue, int rows, int columns,
       int entries), row_start, column, x, dy, dvalue, rows, columns, entries)

template <class T>
__device__ void sparse_matmul_backward(const int* row_start, const int* column, const int* next, const int* first, const T* value,
                                       const T* dy, T* dx, int rows, int columns) {
    int start = blockIdx.x;
    if (!first[start]) return;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) {
        Acc<T> sum = 0;
        for (int e = start; e >= 0; e = next[e]) sum += Acc<T>(value[e]) * Acc<T>(dy[row_of(row_start, rows, e) * columns + c]);
        dx[column[start] * columns + c] = sum;
    }
}
FLOATS(sparse_matmul_backward, (const int* row_start, const int* column, const int* next, const int* first, const T* value, const T* dy,
       T* dx, int rows, int columns, int entries), row_start, column, next, first, value, dy, dx, rows, columns)
