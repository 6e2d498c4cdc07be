// Losses by element or row, and their gradients. A mean over them is a kernel of its own (reduce_mean, or mean_of_labelled
// where rows can be left out). A gradient is `scale` (1 / n for a mean; by_count: 1 / counted[0]) times the upstream
// gradient: `reach` 0 means that it is 1 and not read, 1 that it is one number, 2 that each loss has its own.
//   cross_entropy    of logits, with rows of label `ignored` left out and labels smoothed: (1 - s) onehot + s / C
//   nll              -x[label] of log probabilities
//   bce_with_logits  max(x, 0) - x t + log(1 + exp(-|x|)): sigmoid and binary cross-entropy in one, for any x
//   l1, smooth_l1    |p - t|;  (p - t)^2 / (2 beta) below beta, |p - t| - beta / 2 above
//   kl_div           t (log t - x) for log probabilities x; 0 where t is 0
// Rows: one warp each, ceil(R / 4) blocks of 128. Elements: ceil(n / 256) blocks of 256. mean_of_labelled: 1 block of 256.
// of_target 1 asks for the gradient of the target instead of the prediction's.

#include "include/element.h"

template <class A>
__device__ A warp_sum(A value) {
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffff, value, step);
    return value;
}
template <class T>
__device__ Acc<T> upstream_of(const T* upstream, int reach, int i) {
    return reach == 0 ? Acc<T>(1) : Acc<T>(upstream[reach == 2 ? i : 0]);
}
__device__ inline float magnitude(float x) { return fabsf(x); }
__device__ inline double magnitude(double x) { return fabs(x); }

template <class T>
__device__ void cross_entropy(const T* logits, const int* labels, T* loss, T* probabilities, int rows, int classes, int ignored,
                              Acc<T> smoothing) {
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;                                                    // a whole warp leaves, or none
    const T* x = logits + row * classes;                                        // [R,C]
    Acc<T> largest = x[0], sum = 0, total = 0;
    for (int i = lane; i < classes; i += 32) largest = largest_of(largest, Acc<T>(x[i]));
    for (int step = 16; step > 0; step /= 2) largest = largest_of(largest, __shfl_xor_sync(0xffffffff, largest, step));
    for (int i = lane; i < classes; i += 32) {
        sum += exp_of(Acc<T>(x[i]) - largest);
        total += Acc<T>(x[i]) - largest;
    }
    sum = warp_sum(sum);
    total = warp_sum(total);
    for (int i = lane; i < classes; i += 32) probabilities[row * classes + i] = exp_of(Acc<T>(x[i]) - largest) / sum;
    if (lane > 0) return;
    Acc<T> logarithm = log_of(sum), value = 0;
    if (labels[row] != ignored)
        value = (1 - smoothing) * (logarithm - (Acc<T>(x[labels[row]]) - largest)) +
                smoothing * (logarithm - total / Acc<T>(classes));
    loss[row] = value;                                                          // [R]
}
FLOATS_WITH_MATH(cross_entropy, (const T* logits, const int* labels, T* loss, T* probabilities, int rows, int classes,
                                 int ignored, Acc<T> smoothing), logits, labels, loss, probabilities, rows, classes, ignored,
                 smoothing)

// counted[1]: the rows whose label is not `ignored`.
template <class T>
__device__ void mean_of_labelled(const T* loss, const int* labels, T* mean, Acc<T>* counted, int rows, int ignored) {
    __shared__ Acc<T> partial[2][256];
    int t = threadIdx.x;
    Acc<T> sum = 0, count = 0;
    for (int i = t; i < rows; i += 256)
        if (labels[i] != ignored) sum += Acc<T>(loss[i]), count += 1;
    partial[0][t] = sum;
    partial[1][t] = count;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[0][t] += partial[0][t + half], partial[1][t] += partial[1][t + half];
    }
    if (t == 0) mean[0] = partial[0][0] / partial[1][0], counted[0] = partial[1][0];
}
FLOATS(mean_of_labelled, (const T* loss, const int* labels, T* mean, Acc<T>* counted, int rows, int ignored), loss, labels,
       mean, counted, rows, ignored)

template <class T>
__device__ void cross_entropy_backward(const T* probabilities, const int* labels, const Acc<T>* counted, const T* upstream,
                                       T* dlogits, int reach, int by_count, int rows, int classes, int ignored, Acc<T> smoothing) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * classes) return;
    int label = labels[i / classes];
    Acc<T> wanted = (i % classes == label ? 1 - smoothing : Acc<T>(0)) + smoothing / Acc<T>(classes);
    Acc<T> scale = upstream_of(upstream, reach, i / classes);
    if (by_count) scale = scale / counted[0];
    dlogits[i] = label == ignored ? Acc<T>(0) : (Acc<T>(probabilities[i]) - wanted) * scale;   // [R,C]
}
FLOATS(cross_entropy_backward, (const T* probabilities, const int* labels, const Acc<T>* counted, const T* upstream, T* dlogits,
                                int reach, int by_count, int rows, int classes, int ignored, Acc<T> smoothing), probabilities, labels,
       counted, upstream, dlogits, reach, by_count, rows, classes, ignored, smoothing)

template <class T>
__device__ void nll(const T* x, const int* labels, T* loss, int rows, int classes, int ignored) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    loss[row] = labels[row] == ignored ? Acc<T>(0) : -Acc<T>(x[row * classes + labels[row]]);  // [R]
}
FLOATS(nll, (const T* x, const int* labels, T* loss, int rows, int classes, int ignored), x, labels, loss, rows, classes, ignored)

template <class T>
__device__ void nll_backward(const int* labels, const Acc<T>* counted, const T* upstream, T* dx, int reach, int by_count, int rows,
                             int classes, int ignored) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * classes) return;
    int label = labels[i / classes];
    Acc<T> scale = upstream_of(upstream, reach, i / classes);
    if (by_count) scale = scale / counted[0];
    dx[i] = label != ignored && i % classes == label ? -scale : Acc<T>(0);                     // [R,C]
}
FLOATS(nll_backward, (const int* labels, const Acc<T>* counted, const T* upstream, T* dx, int reach, int by_count, int rows,
                      int classes, int ignored), labels, counted, upstream, dx, reach, by_count, rows, classes, ignored)

template <class T>
__device__ void bce_with_logits(const T* x, const T* target, T* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> value = x[i], t = target[i];
    loss[i] = largest_of(value, Acc<T>(0)) - value * t + log_of(1 + exp_of(-magnitude(value)));
}
FLOATS_WITH_MATH(bce_with_logits, (const T* x, const T* target, T* loss, int n), x, target, loss, n)

template <class T>
__device__ void bce_with_logits_backward(const T* x, const T* target, const T* upstream, T* gradient, int reach,
                                         int of_target, int n, Acc<T> scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> value = x[i], factor = scale * upstream_of(upstream, reach, i);
    gradient[i] = (of_target ? -value : 1 / (1 + exp_of(-value)) - Acc<T>(target[i])) * factor;
}
FLOATS_WITH_MATH(bce_with_logits_backward, (const T* x, const T* target, const T* upstream, T* gradient, int reach,
                                            int of_target, int n, Acc<T> scale), x, target, upstream, gradient, reach,
                 of_target, n, scale)

template <class T>
__device__ void smooth_l1(const T* prediction, const T* target, T* loss, int n, Acc<T> beta) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> apart = magnitude(Acc<T>(prediction[i]) - Acc<T>(target[i]));
    loss[i] = apart < beta ? apart * apart / (2 * beta) : apart - beta / 2;     // beta 0: l1
}
FLOATS(smooth_l1, (const T* prediction, const T* target, T* loss, int n, Acc<T> beta), prediction, target, loss, n, beta)

// The target's gradient is the prediction's with both exchanged.
template <class T>
__device__ void smooth_l1_backward(const T* prediction, const T* target, const T* upstream, T* dprediction, int reach,
                                   int n, Acc<T> beta, Acc<T> scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> error = Acc<T>(prediction[i]) - Acc<T>(target[i]), factor = scale * upstream_of(upstream, reach, i);
    Acc<T> sign = error > 0 ? Acc<T>(1) : error < 0 ? Acc<T>(-1) : error;       // 0 of 0, NaN of NaN
    dprediction[i] = (magnitude(error) < beta ? error / beta : sign) * factor;
}
FLOATS(smooth_l1_backward, (const T* prediction, const T* target, const T* upstream, T* dprediction, int reach, int n,
                            Acc<T> beta, Acc<T> scale), prediction, target, upstream, dprediction, reach, n, beta, scale)

template <class T>
__device__ void kl_div(const T* x, const T* target, T* loss, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> t = target[i];
    loss[i] = t == 0 ? Acc<T>(0) : t * (log_of(t) - Acc<T>(x[i]));
}
FLOATS_WITH_MATH(kl_div, (const T* x, const T* target, T* loss, int n), x, target, loss, n)

template <class T>
__device__ void kl_div_backward(const T* x, const T* target, const T* upstream, T* gradient, int reach, int of_target,
                                int n, Acc<T> scale) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> t = target[i], factor = scale * upstream_of(upstream, reach, i);
    Acc<T> value = -t;
    if (of_target) value = t == 0 ? Acc<T>(0) : log_of(t) + 1 - Acc<T>(x[i]);
    gradient[i] = value * factor;
}
FLOATS_WITH_MATH(kl_div_backward, (const T* x, const T* target, const T* upstream, T* gradient, int reach, int of_target,
                                   int n, Acc<T> scale), x, target, upstream, gradient, reach, of_target, n, scale)
