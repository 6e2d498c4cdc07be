// NovoGrad (Ginsburg et al. 2019), in place: the second moment is one number a layer.
//     v = |g|^2 in the first step, else beta2 v + (1 - beta2) |g|^2
//     m = beta1 m + (g / (sqrt(v) + epsilon) + weight_decay w);  w = w - lr m
// second[2]: v after this step and after the last, in turns, so that no block reads what another has written.
// |g|^2 comes in parts (clip.cu). One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 5 n elements.

#include "include/element.h"
#include "include/optimizer.h"
#include "include/rounded.h"

template <class T>
__device__ void novograd(T* w, const T* gradient, T* mean, double* second, const double* g_partial,
                         const OptimizerSettings* settings, int n) {
    __shared__ double scale;
    if (settings->skip != 0) return;
    if (threadIdx.x == 0) {
        double square = 0;
        for (int i = 0; i < SQUARE_PARTS(n); ++i) square += g_partial[i];
        square = times(square, times(settings->factor, settings->factor));
        int now = (long long)settings->step % 2;
        double v = settings->step == 1 ? square
                                       : times(settings->beta2, second[1 - now]) + times(1 - settings->beta2, square);
        scale = settings->factor / (sqrt(v) + settings->epsilon);
        if (blockIdx.x == 0) second[now] = v;
    }
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    T beta1 = settings->beta1, decay = settings->weight_decay, lr = settings->lr, s = scale;
    T m = times(beta1, mean[i]) + (times(gradient[i], s) + times(decay, w[i]));
    mean[i] = m;
    w[i] = w[i] - times(lr, m);
}
FLOAT_AND_DOUBLE(novograd, (T* w, const T* gradient, T* mean, double* second, const double* g_partial,
                            const OptimizerSettings* settings, int n), w, gradient, mean, second, g_partial, settings, n)
