// Elementwise functions of one tensor, and their backward passes: dx = dy f'(x), from x or, where that is cheaper, from y
// ("kept" below). One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 2 n elements forward, 3 n backward.
// leaky_relu(alpha: slope below 0), elu(alpha), clamp(alpha, beta: its bounds), softplus: log(1 + e^x); gelu: x Phi(x) by erf,
// gelu_tanh: its approximation by tanh. abs has slope 0 at 0; clamp passes the gradient at its bounds, as in PyTorch.

#include "include/element.h"

template <class A> __device__ A normal_of(A x) { return A(0.5) * (1 + erf_of(x * A(0.70710678118654752))); }  // Phi
template <class A> __device__ A bend_of(A x) { return A(0.79788456080286536) * (x + A(0.044715) * x * x * x); }

// y = value(x), dx = dy slope(kept); v is the element as Acc<T>, A its type.
#define UNARY(name, TYPES, value, slope)                                                                       \
    template <class T> __device__ void name(const T* x, T* y, int n) {                                         \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = x[i];                                                                                            \
        y[i] = value;                                                                                          \
    }                                                                                                          \
    TYPES(name, (const T* x, T* y, int n), x, y, n)                                                            \
    template <class T> __device__ void name##_backward(const T* kept, const T* dy, T* dx, int n) {             \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = kept[i];                                                                                         \
        dx[i] = A(dy[i]) * (slope);                                                                            \
    }                                                                                                          \
    TYPES(name##_backward, (const T* kept, const T* dy, T* dx, int n), kept, dy, dx, n)
// The same with one or two numbers.
#define UNARY_WITH(name, TYPES, value, slope)                                                                  \
    template <class T> __device__ void name(const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta) {              \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = x[i];                                                                                            \
        y[i] = value;                                                                                          \
    }                                                                                                          \
    TYPES(name, (const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta), x, y, n, alpha, beta)                    \
    template <class T>                                                                                         \
    __device__ void name##_backward(const T* kept, const T* dy, T* dx, int n, Acc<T> alpha, Acc<T> beta) {     \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = kept[i];                                                                                         \
        dx[i] = A(dy[i]) * (slope);                                                                            \
    }                                                                                                          \
    TYPES(name##_backward, (const T* kept, const T* dy, T* dx, int n, Acc<T> alpha, Acc<T> beta), kept, dy, dx, n, alpha, beta)

//    name        types             y                                   dy/dx                                      kept
UNARY(neg,        FLOATS,           -v,                                 A(-1))                                  // x
UNARY(square,     FLOATS,           v * v,                              2 * v)                                  // x
UNARY(abs_value,  FLOATS,           v < 0 ? -v : v,                     v > 0 ? A(1) : v < 0 ? A(-1) : v)       // x
UNARY(reciprocal, FLOATS,           1 / v,                              -v * v)                                 // y
UNARY(sqrt_value, FLOATS,           sqrt_of(v),                         A(0.5) / v)                             // y
UNARY(rsqrt_value, FLOATS,          1 / sqrt_of(v),                     A(-0.5) * v * v * v)                    // y
UNARY(exp_value,  FLOATS_WITH_MATH, exp_of(v),                          v)                                      // y
UNARY(log_value,  FLOATS_WITH_MATH, log_of(v),                          1 / v)                                  // x
UNARY(sin_value,  FLOATS_WITH_MATH, sin_of(v),                          cos_of(v))                              // x
UNARY(cos_value,  FLOATS_WITH_MATH, cos_of(v),                          -sin_of(v))                             // x
UNARY(tanh_value, FLOATS_WITH_MATH, tanh_of(v),                         1 - v * v)                              // y
UNARY(sigmoid,    FLOATS_WITH_MATH, sigmoid_of(v),                      v * (1 - v))                            // y
UNARY(silu,       FLOATS_WITH_MATH, v * sigmoid_of(v),                  sigmoid_of(v) * (1 + v * (1 - sigmoid_of(v))))  // x
UNARY(softplus,   FLOATS_WITH_MATH, v > 20 ? v : log_of(1 + exp_of(v)), sigmoid_of(v))                          // x
UNARY(gelu,       FLOATS_WITH_MATH, v * normal_of(v),
      normal_of(v) + v * A(0.39894228040143268) * exp_of(A(-0.5) * v * v))                                      // x
UNARY(gelu_tanh,  FLOATS_WITH_MATH, A(0.5) * v * (1 + tanh_of(bend_of(v))),
      A(0.5) * (1 + tanh_of(bend_of(v))) + A(0.5) * v * (1 - tanh_of(bend_of(v)) * tanh_of(bend_of(v))) *
          A(0.79788456080286536) * (1 + 3 * A(0.044715) * v * v))                                               // x
UNARY_WITH(leaky_relu, FLOATS,           v > 0 ? v : alpha * v,              v > 0 ? A(1) : alpha)              // x
UNARY_WITH(elu,        FLOATS_WITH_MATH, v > 0 ? v : alpha * (exp_of(v) - 1), v > 0 ? A(1) : alpha * exp_of(v))  // x
UNARY_WITH(clamp,      FLOATS,           v < alpha ? alpha : v > beta ? beta : v, v >= alpha && v <= beta ? A(1) : A(0))
UNARY_WITH(scale_add,  FLOATS,           v * alpha + beta,                   alpha)                             // any
