// fill: y = value.  accumulate: y = y + x, what a tape does with the second gradient that reaches a tensor.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: n and 3 n elements.

#include "include/element.h"

template <class T>
__device__ void fill(T* y, Acc<T> value, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = value;
}
FLOATS_AND_INTEGERS(fill, (T* y, Acc<T> value, int n), y, value, n)

template <class T>
__device__ void accumulate(T* y, const T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = Acc<T>(y[i]) + Acc<T>(x[i]);
}
FLOATS(accumulate, (T* y, const T* x, int n), y, x, n)
