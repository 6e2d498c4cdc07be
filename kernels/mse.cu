// Squared error of n elements, (prediction - target)^2, and its gradient 2 (prediction - target) scale.
// The mean is taken by reduce_mean; its gradient is scale = 1 / n.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 3 n elements each.

#include "include/element.h"

template <class T>
__device__ void mse(const T* prediction, const T* target, T* squared, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> error = Acc<T>(prediction[i]) - Acc<T>(target[i]);
    squared[i] = error * error;
}
FLOATS(mse, (const T* prediction, const T* target, T* squared, int n), prediction, target, squared, n)

template <class T>
__device__ void mse_backward(const T* prediction, const T* target, T* dprediction, int n, Acc<T> scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) dprediction[i] = 2 * (Acc<T>(prediction[i]) - Acc<T>(target[i])) * scale;
}
FLOATS(mse_backward, (const T* prediction, const T* target, T* dprediction, int n, Acc<T> scale), prediction, target,
       dprediction, n, scale)
