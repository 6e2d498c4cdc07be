// What comes before an optimiser's step: norms, clipping, the loss scale, the count of steps. Nothing goes to the host.
// square_sum: partial[p] = sum of squares of part p, in double. Launch: SQUARE_PARTS(n) blocks of 256.  Bytes: n elements.
// optimizer_clip: from the parts of all gradients (p_1, then p_2, ...) their common norm, and the factor that scales gradients
//     down to max_norm and by the loss scale; an Inf or NaN leaves the step out (`check`). Launch: 1 block of 256.
// optimizer_begin: counts a step and its bias corrections. loss_scale_seed: the gradient that backward starts from.
// loss_scale_update: a step left out halves the scale, growth_interval good ones double it. Launch each: 1 thread.
// clip_value: g = g within -limit .. limit; in place. Launch: ceil(n / 256) blocks of 256.

#include "include/element.h"
#include "include/optimizer.h"
#include "include/rounded.h"

__device__ inline double block_total(double sum) {                              // of 256 threads, in a fixed order
    __shared__ double partial[256];
    int t = threadIdx.x;
    partial[t] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (t < half) partial[t] += partial[t + half];
    }
    return partial[0];                                                          // of thread 0 alone
}

template <class T>
__device__ void square_sum(const T* x, double* partial, int n) {
    int parts = SQUARE_PARTS(n), length = (n + parts - 1) / parts;
    int begin = blockIdx.x * length, end = begin + length < n ? begin + length : n;
    double sum = 0;
    for (int i = begin + threadIdx.x; i < end; i += 256) {
        double value = Acc<T>(x[i]);
        sum += times(value, value);
    }
    sum = block_total(sum);
    if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
FLOATS(square_sum, (const T* x, double* partial, int n), x, partial, n)

extern "C" __global__ void optimizer_clip_f64(const double* partial, OptimizerSettings* settings, int parts) {
    double sum = 0;
    for (int i = threadIdx.x; i < parts; i += 256) sum += partial[i];
    sum = block_total(sum);
    if (threadIdx.x > 0) return;
    double unscale = 1 / settings->loss_scale, norm = times(sqrt(sum), unscale), clip = settings->max_norm / (norm + 1e-6);
    bool finite = sum - sum == 0;
    settings->norm = norm;
    settings->factor = settings->max_norm > 0 && !(clip > 1) ? times(unscale, clip) : unscale;
    settings->skip = settings->check != 0 && !finite ? 1 : 0;
}

extern "C" __global__ void optimizer_begin_f64(OptimizerSettings* settings) {
    if (settings->skip != 0) return;
    settings->step += 1;
    settings->power1 = times(settings->power1, settings->beta1);
    settings->power2 = times(settings->power2, settings->beta2);
    settings->correction1 = 1 - settings->power1;
    settings->correction2 = sqrt(1 - settings->power2);
}

extern "C" __global__ void loss_scale_update_f64(OptimizerSettings* settings) {
    if (settings->skip != 0) {
        settings->loss_scale = times(settings->loss_scale, settings->backoff);
        settings->good_steps = 0;
        settings->skipped += 1;
    } else if (settings->good_steps + 1 >= settings->growth_interval) {
        settings->loss_scale = times(settings->loss_scale, settings->growth);
        settings->good_steps = 0;
        settings->grown += 1;
    } else {
        settings->good_steps += 1;
    }
}

template <class T>
__device__ void loss_scale_seed(const OptimizerSettings* settings, T* seed) {
    seed[0] = Acc<T>(settings->loss_scale);
}
FLOATS(loss_scale_seed, (const OptimizerSettings* settings, T* seed), settings, seed)

template <class T>
__device__ void clip_value(T* gradient, Acc<T> limit, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> g = gradient[i];
    gradient[i] = g > limit ? limit : g < -limit ? -limit : g;                  // a NaN stays one
}
FLOATS(clip_value, (T* gradient, Acc<T> limit, int n), gradient, limit, n)
