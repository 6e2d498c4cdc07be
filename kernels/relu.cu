// ReLU, y = max(x, 0), and its backward: the gradient passes where x was positive.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 2 n elements forward, 3 n backward.
// A NaN stays a NaN: x < 0 is false for it.

#include "include/element.h"

template <class T>
__device__ void relu(const T* x, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> value = x[i];
    y[i] = value < 0 ? Acc<T>(0) : value;
}
FLOATS(relu, (const T* x, T* y, int n), x, y, n)

template <class T>
__device__ void relu_backward(const T* x, const T* dy, T* dx, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dx[i] = Acc<T>(x[i]) > 0 ? Acc<T>(dy[i]) : Acc<T>(0);
}
FLOATS(relu_backward, (const T* x, const T* dy, T* dx, int n), x, dy, dx, n)
