// Softmax and cross-entropy in one pass: p = softmax(logits), loss = -log p[label], for R rows of C classes.
// One warp a row: its lanes take every 32nd class and join what they found by shuffles (butterfly: after 5 exchanges
// every lane has the result). The row's maximum is taken off first, so that no exponential overflows.
// Launch: ceil(R / 4) blocks of 128 (4 warps).  Bytes: 2 R C + R elements and R labels forward, 2 R C and R labels backward.
// Backward is p - onehot(label), times `scale`: 1 / R for the mean over the rows.

#include "include/element.h"

template <class T>
__device__ void softmax_cross_entropy(const T* logits, const int* labels, T* loss, T* probabilities, int rows, int classes) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;                                                    // a whole warp leaves, or none
    const T* x = logits + row * classes;                                        // [R,C]
    T* p = probabilities + row * classes;                                       // [R,C]

    Acc<T> largest = x[0];
    for (int i = lane; i < classes; i += 32) largest = largest_of(largest, Acc<T>(x[i]));
    for (int step = 16; step > 0; step /= 2) largest = largest_of(largest, __shfl_xor_sync(0xffffffff, largest, step));

    Acc<T> sum = 0;
    for (int i = lane; i < classes; i += 32) sum += exp_of(Acc<T>(x[i]) - largest);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffff, sum, step);

    for (int i = lane; i < classes; i += 32) p[i] = exp_of(Acc<T>(x[i]) - largest) / sum;
    if (lane == 0) loss[row] = log_of(sum) - (Acc<T>(x[labels[row]]) - largest);  // [R]
}
FLOATS_WITH_MATH(softmax_cross_entropy, (const T* logits, const int* labels, T* loss, T* probabilities, int rows, int classes),
                 logits, labels, loss, probabilities, rows, classes)

template <class T>
__device__ void softmax_cross_entropy_backward(const T* probabilities, const int* labels, T* dlogits, int rows, int classes,
                                               Acc<T> scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                     // launch: ceil(R C / 256) blocks of 256
    if (i >= rows * classes) return;
    Acc<T> target = i % classes == labels[i / classes] ? 1 : 0;
    dlogits[i] = (Acc<T>(probabilities[i]) - target) * scale;                   // [R,C]
}
FLOATS(softmax_cross_entropy_backward, (const T* probabilities, const int* labels, T* dlogits, int rows, int classes, Acc<T> scale),
       probabilities, labels, dlogits, rows, classes, scale)
