// n values to one: their sum or their mean. One block, so that the order of the additions, and with it the last bit, is
// the same every time: thread t adds x[t], x[t + 256], ...; then a tree in shared memory halves 256 sums eight times.
// Launch: 1 block of 256.  Bytes: n + 1 elements.

#include "include/element.h"

template <class T>
__device__ Acc<T> block_sum(const T* x, int n) {
    __shared__ Acc<T> partial[256];
    int t = threadIdx.x;
    Acc<T> sum = 0;
    for (int i = t; i < n; i += 256) sum += Acc<T>(x[i]);
    partial[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    __syncthreads();
    return partial[0];
}

template <class T>
__device__ void reduce_sum(const T* x, T* total, int n) {
    Acc<T> sum = block_sum(x, n);
    if (threadIdx.x == 0) total[0] = sum;
}
FLOATS(reduce_sum, (const T* x, T* total, int n), x, total, n)

template <class T>
__device__ void reduce_mean(const T* x, T* mean, int n) {
    Acc<T> sum = block_sum(x, n);
    if (threadIdx.x == 0) mean[0] = sum / n;
}
FLOATS(reduce_mean, (const T* x, T* mean, int n), x, mean, n)
