// Gated linear units, fused: y = a(gate) up, with their gradients for both in one pass.
//     swiglu: a = silu, x sigmoid(x) (Shazeer 2020, Llama's feed-forward layer);   glu: a = sigmoid (Dauphin et al. 2017)
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 3 n elements forward, 5 n backward.

#include "include/element.h"

template <class T>
__device__ void swiglu(const T* gate, const T* up, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> g = gate[i];
    y[i] = g * sigmoid_of(g) * Acc<T>(up[i]);
}
FLOATS_WITH_MATH(swiglu, (const T* gate, const T* up, T* y, int n), gate, up, y, n)

template <class T>
__device__ void swiglu_backward(const T* gate, const T* up, const T* dy, T* dgate, T* dup, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> g = gate[i], s = sigmoid_of(g), d = dy[i];
    dup[i] = d * (g * s);
    dgate[i] = d * Acc<T>(up[i]) * (s * (1 + g * (1 - s)));
}
FLOATS_WITH_MATH(swiglu_backward, (const T* gate, const T* up, const T* dy, T* dgate, T* dup, int n), gate, up, dy, dgate, dup, n)

template <class T>
__device__ void glu(const T* gate, const T* up, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = sigmoid_of(Acc<T>(gate[i])) * Acc<T>(up[i]);
}
FLOATS_WITH_MATH(glu, (const T* gate, const T* up, T* y, int n), gate, up, y, n)

template <class T>
__device__ void glu_backward(const T* gate, const T* up, const T* dy, T* dgate, T* dup, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Acc<T> s = sigmoid_of(Acc<T>(gate[i])), d = dy[i];
    dup[i] = d * s;
    dgate[i] = d * Acc<T>(up[i]) * (s * (1 - s));
}
FLOATS_WITH_MATH(glu_backward, (const T* gate, const T* up, const T* dy, T* dgate, T* dup, int n), gate, up, dy, dgate, dup, n)
