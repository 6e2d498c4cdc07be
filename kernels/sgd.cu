// Stochastic gradient descent, in place.
// sgd: w = w - lr * gradient.  One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 3 n elements.
// sgd_momentum: PyTorch's SGD with all it has, in one pass:
//     d = factor g + weight_decay w;  v = momentum v + (1 - dampening) d, in the first step v = d;
//     w = w - lr (d + momentum v) with Nesterov, w - lr v without.        Bytes: 5 n elements; without momentum 3 n.

#include "include/element.h"
#include "include/optimizer.h"
#include "include/rounded.h"

template <class T>
__device__ void sgd(T* w, const T* gradient, Acc<T> lr, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) w[i] = Acc<T>(w[i]) - lr * Acc<T>(gradient[i]);
}
FLOATS(sgd, (T* w, const T* gradient, Acc<T> lr, int n), w, gradient, lr, n)

template <class T>
__device__ void sgd_momentum(T* w, const T* gradient, T* velocity, const OptimizerSettings* settings, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || settings->skip != 0) return;
    T momentum = settings->momentum, rest = 1 - settings->dampening, decay = settings->weight_decay, lr = settings->lr;
    T d = times(gradient[i], T(settings->factor)) + times(decay, w[i]);
    if (momentum != 0) {
        T v = settings->step == 1 ? d : times(momentum, velocity[i]) + times(rest, d);
        velocity[i] = v;
        d = settings->nesterov != 0 ? d + times(momentum, v) : v;
    }
    w[i] = w[i] - times(lr, d);
}
FLOAT_AND_DOUBLE(sgd_momentum, (T* w, const T* gradient, T* velocity, const OptimizerSettings* settings, int n), w, gradient,
                 velocity, settings, n)
