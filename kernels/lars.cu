// Layer-wise rates, in place: LARS (You, Gitman, Ginsburg 2017) and LARC, its form that only ever slows a layer down.
//     rate = trust |w| / (|g| + weight_decay |w|), 1 where a norm is zero; d = g + weight_decay w
//     lars:  v = momentum v + lr rate d;               w = w - v
//     larc:  v = momentum v + min(rate / lr, 1) d;     w = w - lr v
// The norms come as square sums in parts (clip.cu); every block adds the parts up again, which is cheaper than a launch.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 5 n elements.

#include "include/element.h"
#include "include/optimizer.h"
#include "include/rounded.h"

__device__ inline double norm_of(const double* partial, int n) {
    double sum = 0;
    for (int i = 0; i < SQUARE_PARTS(n); ++i) sum += partial[i];
    return sqrt(sum);
}

__device__ inline double layer_rate(const double* w_partial, const double* g_partial, const OptimizerSettings* settings, int n) {
    __shared__ double rate;
    if (threadIdx.x == 0) {
        double w_norm = norm_of(w_partial, n), g_norm = times(norm_of(g_partial, n), settings->factor);
        rate = w_norm == 0 || g_norm == 0 ? 1
                                          : times(settings->trust, w_norm) / (g_norm + times(settings->weight_decay, w_norm));
    }
    __syncthreads();
    return rate;
}

template <class T>
__device__ void lars(T* w, const T* gradient, T* velocity, const double* w_partial, const double* g_partial,
                     const OptimizerSettings* settings, int n) {
    T rate = settings->lr * layer_rate(w_partial, g_partial, settings, n);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || settings->skip != 0) return;
    T momentum = settings->momentum, decay = settings->weight_decay, factor = settings->factor;
    T d = times(gradient[i], factor) + times(decay, w[i]);
    T v = times(momentum, velocity[i]) + times(rate, d);
    velocity[i] = v;
    w[i] = w[i] - v;
}
FLOAT_AND_DOUBLE(lars, (T* w, const T* gradient, T* velocity, const double* w_partial, const double* g_partial,
                        const OptimizerSettings* settings, int n), w, gradient, velocity, w_partial, g_partial, settings, n)

template <class T>
__device__ void larc(T* w, const T* gradient, T* velocity, const double* w_partial, const double* g_partial,
                     const OptimizerSettings* settings, int n) {
    double slowed = layer_rate(w_partial, g_partial, settings, n) / settings->lr;
    T scale = slowed < 1 ? slowed : 1;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || settings->skip != 0) return;
    T momentum = settings->momentum, decay = settings->weight_decay, factor = settings->factor, lr = settings->lr;
    T d = times(gradient[i], factor) + times(decay, w[i]);
    T v = times(momentum, velocity[i]) + times(scale, d);
    velocity[i] = v;
    w[i] = w[i] - times(lr, v);
}
FLOAT_AND_DOUBLE(larc, (T* w, const T* gradient, T* velocity, const double* w_partial, const double* g_partial,
                        const OptimizerSettings* settings, int n), w, gradient, velocity, w_partial, g_partial, settings, n)
