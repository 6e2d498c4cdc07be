// Stochastic gradient descent, in place: w = w - lr * gradient.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 3 n elements.

#include "include/element.h"

template <class T>
__device__ void sgd(T* w, const T* gradient, Acc<T> lr, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] = Acc<T>(w[i]) - lr * Acc<T>(gradient[i]);
}
FLOATS(sgd, (T* w, const T* gradient, Acc<T> lr, int n), w, gradient, lr, n)
