// Adam (Kingma and Ba 2015) and AdamW (Loshchilov and Hutter 2019), in place, one pass; as PyTorch computes them.
//     adam:   g = factor gradient + weight_decay w          adamw:  g = factor gradient, w = w - lr weight_decay w
//     m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
//     w = w - lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
// One thread an element; launch ceil(n / 256) blocks of 256, after optimizer_begin.  Bytes: 7 n elements.

#include "include/element.h"
#include "include/optimizer.h"
#include "include/rounded.h"

template <class T>
__device__ void update(T* w, T g, T* mean, T* square, const OptimizerSettings* settings, int i, T weight) {
    T beta1 = settings->beta1, beta2 = settings->beta2, rest1 = 1 - settings->beta1, rest2 = 1 - settings->beta2;
    T m = times(beta1, mean[i]) + times(rest1, g);
    T v = times(beta2, square[i]) + times(rest2, times(g, g));
    mean[i] = m;
    square[i] = v;
    T rate = settings->lr / settings->correction1, correction = settings->correction2, epsilon = settings->epsilon;
    w[i] = weight - times(rate, m / (sqrt_of(v) / correction + epsilon));
}

template <class T>
__device__ void adam(T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || settings->skip != 0) return;
    T decay = settings->weight_decay, factor = settings->factor;
    update(w, times(gradient[i], factor) + times(decay, w[i]), mean, square, settings, i, w[i]);
}
FLOAT_AND_DOUBLE(adam, (T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n), w, gradient, mean,
                 square, settings, n)

template <class T>
__device__ void adamw(T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || settings->skip != 0) return;
    T keep = 1 - settings->lr * settings->weight_decay, factor = settings->factor;
    update(w, times(gradient[i], factor), mean, square, settings, i, times(w[i], keep));
}
FLOAT_AND_DOUBLE(adamw, (T* w, const T* gradient, T* mean, T* square, const OptimizerSettings* settings, int n), w, gradient, mean,
                 square, settings, n)
