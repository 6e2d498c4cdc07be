// Softmax of R rows of C columns, y = exp(x) / sum exp(x), its logarithm, and their backward passes.
// One warp a row: its lanes take every 32nd column and join what they found by shuffles (butterfly: after 5 exchanges every
// lane has the result). The row's maximum is taken off first, so that no exponential overflows.
// softmax_causal: row r is position r mod Q of a sequence and sees the columns 0 .. r mod Q + C - Q; the others become 0, as
// if a mask had added -infinity. Its backward is softmax_backward: dx = y (dy - sum y dy).
// log_softmax_backward: dx = dy - exp(y) sum dy.
// Launch: ceil(R / 4) blocks of 128 (4 warps).  Bytes: 2 R C elements forward, 3 R C backward.

#include "include/element.h"

template <class A>
__device__ A warp_sum(A value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}
template <class A>
__device__ A warp_largest(A value) {
    for (int step = 16; step > 0; step /= 2) value = largest_of(value, __shfl_xor_sync(0xffffffff, value, step));
    return value;
}

// The first `seen` of `columns`.
template <class T>
__device__ void softmax_row(const T* x, T* y, int seen, int columns, int lane) {
    Acc<T> largest = x[0];
    for (int i = lane; i < seen; i += 32) largest = largest_of(largest, Acc<T>(x[i]));
    largest = warp_largest(largest);
    Acc<T> sum = 0;
    for (int i = lane; i < seen; i += 32) sum += exp_of(Acc<T>(x[i]) - largest);
    sum = warp_sum(sum);
    for (int i = lane; i < columns; i += 32) y[i] = i < seen ? exp_of(Acc<T>(x[i]) - largest) / sum : Acc<T>(0);
}

template <class T>
__device__ void softmax(const T* x, T* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;                                                    // a whole warp leaves, or none
    softmax_row(x + row * columns, y + row * columns, columns, columns, threadIdx.x % 32);
}
FLOATS_WITH_MATH(softmax, (const T* x, T* y, int rows, int columns), x, y, rows, columns)

template <class T>
__device__ void softmax_causal(const T* x, T* y, int rows, int columns, int queries) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= rows) return;
    int seen = row % queries + columns - queries + 1;
    softmax_row(x + row * columns, y + row * columns, seen, columns, threadIdx.x % 32);
}
FLOATS_WITH_MATH(softmax_causal, (const T* x, T* y, int rows, int columns, int queries), x, y, rows, columns, queries)

template <class T>
__device__ void softmax_backward(const T* y, const T* dy, T* dx, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    Acc<T> sum = 0;
    for (int i = lane; i < columns; i += 32) sum += Acc<T>(y[row * columns + i]) * Acc<T>(dy[row * columns + i]);
    sum = warp_sum(sum);
    for (int i = lane; i < columns; i += 32)
        dx[row * columns + i] = Acc<T>(y[row * columns + i]) * (Acc<T>(dy[row * columns + i]) - sum);   // [R,C]
}
FLOATS(softmax_backward, (const T* y, const T* dy, T* dx, int rows, int columns), y, dy, dx, rows, columns)

template <class T>
__device__ void log_softmax(const T* x, T* y, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const T* values = x + row * columns;
    Acc<T> largest = values[0];
    for (int i = lane; i < columns; i += 32) largest = largest_of(largest, Acc<T>(values[i]));
    largest = warp_largest(largest);
    Acc<T> sum = 0;
    for (int i = lane; i < columns; i += 32) sum += exp_of(Acc<T>(values[i]) - largest);
    Acc<T> logarithm = log_of(warp_sum(sum));
    for (int i = lane; i < columns; i += 32) y[row * columns + i] = (Acc<T>(values[i]) - largest) - logarithm;
}
FLOATS_WITH_MATH(log_softmax, (const T* x, T* y, int rows, int columns), x, y, rows, columns)

template <class T>
__device__ void log_softmax_backward(const T* y, const T* dy, T* dx, int rows, int columns) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    Acc<T> sum = 0;
    for (int i = lane; i < columns; i += 32) sum += Acc<T>(dy[row * columns + i]);
    sum = warp_sum(sum);
    for (int i = lane; i < columns; i += 32)
        dx[row * columns + i] = Acc<T>(dy[row * columns + i]) - exp_of(Acc<T>(y[row * columns + i])) * sum;
}
FLOATS_WITH_MATH(log_softmax_backward, (const T* y, const T* dy, T* dx, int rows, int columns), y, dy, dx, rows, columns)
