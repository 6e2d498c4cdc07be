// Elementwise functions of one tensor, and their backward passes: dx = dy f'(x), from x or, where that is cheaper, from y
// ("kept" below). One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 2 n elements forward, 3 n backward.
// leaky_relu(alpha: slope below 0), elu(alpha), clamp(alpha, beta: its bounds), softplus: log(1 + e^x); gelu: x Phi(x) by erf,
// gelu_tanh: its approximation by tanh. abs has slope 0 at 0; clamp passes the gradient at its bounds, as in PyTorch.
// A line below is a function's one definition: the host's twins (core/device/twins/elementwise) come from the same lines.

#ifndef UNARY  // the twins bring their own
#include "include/element.h"

template <class A> __device__ A normal_of(A x) { return A(0.5) * (1 + erf_of(x * A(0.70710678118654752))); }  // Phi
template <class A> __device__ A bend_of(A x) { return A(0.79788456080286536) * (x + A(0.044715) * x * x * x); }

// y = value(x), dx = dy slope(kept); v is the element as Acc<T>, A its type. LINEAR: dx is the same function of dy.
#define LINEAR(name, TYPES, where, what, value)                                                                \
    template <class T> __device__ void name(const T* x, T* y, int n) {                                         \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = x[i];                                                                                            \
        y[i] = value;                                                                                          \
    }                                                                                                          \
    TYPES(name, (const T* x, T* y, int n), x, y, n)
#define UNARY(name, TYPES, where, what, value, kept_is, slope)                                                 \
    LINEAR(name, TYPES, where, what, value)                                                                    \
    template <class T> __device__ void name##_backward(const T* kept, const T* dy, T* dx, int n) {             \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = kept[i];                                                                                         \
        dx[i] = A(dy[i]) * (slope);                                                                            \
    }                                                                                                          \
    TYPES(name##_backward, (const T* kept, const T* dy, T* dx, int n), kept, dy, dx, n)
#define UNARY_WITH_OWN_TWIN UNARY
// The same with one or two numbers.
#define LINEAR_WITH(name, TYPES, what, value)                                                                  \
    template <class T> __device__ void name(const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta) {              \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = x[i];                                                                                            \
        y[i] = value;                                                                                          \
    }                                                                                                          \
    TYPES(name, (const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta), x, y, n, alpha, beta)
#define UNARY_WITH(name, TYPES, what, value, slope)                                                            \
    LINEAR_WITH(name, TYPES, what, value)                                                                      \
    template <class T>                                                                                         \
    __device__ void name##_backward(const T* kept, const T* dy, T* dx, int n, Acc<T> alpha, Acc<T> beta) {     \
        typedef Acc<T> A;                                                                                      \
        int i = blockIdx.x * blockDim.x + threadIdx.x;                                                         \
        if (i >= n) return;                                                                                    \
        A v = kept[i];                                                                                         \
        dx[i] = A(dy[i]) * (slope);                                                                            \
    }                                                                                                          \
    TYPES(name##_backward, (const T* kept, const T* dy, T* dx, int n, Acc<T> alpha, Acc<T> beta), kept, dy, dx, n, alpha, beta)
#endif

//    name        types             defined   in words              y                                  kept  dy/dx
LINEAR(neg,       FLOATS,           anywhere, "y = -x",             -v)
UNARY(square,     FLOATS,           anywhere, "y = x^2",            v * v,                              x,    2 * v)
UNARY(abs_value,  FLOATS,           anywhere, "y = |x|",            v < 0 ? -v : v,                     x,    v > 0 ? A(1) : v < 0 ? A(-1) : v)
UNARY(reciprocal, FLOATS,           above_0,  "y = 1 / x",          1 / v,                              y,    -v * v)
UNARY(sqrt_value, FLOATS,           above_0,  "y = sqrt(x)",        sqrt_of(v),                         y,    A(0.5) / v)
UNARY(rsqrt_value, FLOATS,          above_0,  "y = 1 / sqrt(x)",    1 / sqrt_of(v),                     y,    A(-0.5) * v * v * v)
UNARY(exp_value,  FLOATS_WITH_MATH, anywhere, "y = e^x",            exp_of(v),                          y,    v)
UNARY(log_value,  FLOATS_WITH_MATH, above_0,  "y = log(x)",         log_of(v),                          x,    1 / v)
UNARY(sin_value,  FLOATS_WITH_MATH, anywhere, "y = sin(x)",         sin_of(v),                          x,    cos_of(v))
UNARY(cos_value,  FLOATS_WITH_MATH, anywhere, "y = cos(x)",         cos_of(v),                          x,    -sin_of(v))
UNARY(tanh_value, FLOATS_WITH_MATH, anywhere, "y = tanh(x)",        tanh_of(v),                         y,    1 - v * v)
UNARY(sigmoid,    FLOATS_WITH_MATH, anywhere, "y = 1 / (1 + e^-x)", sigmoid_of(v),                      y,    v * (1 - v))
UNARY(silu,       FLOATS_WITH_MATH, anywhere, "y = x sigmoid(x)",   v * sigmoid_of(v),                  x,    sigmoid_of(v) * (1 + v * (1 - sigmoid_of(v))))
UNARY(softplus,   FLOATS_WITH_MATH, anywhere, "y = log(1 + e^x)",   v > 20 ? v : log_of(1 + exp_of(v)), x,    sigmoid_of(v))
UNARY(gelu,       FLOATS_WITH_MATH, anywhere, "y = x Phi(x)",       v * normal_of(v),                   x,
      normal_of(v) + v * A(0.39894228040143268) * exp_of(A(-0.5) * v * v))
UNARY_WITH_OWN_TWIN(gelu_tanh, FLOATS_WITH_MATH, anywhere, "y = x Phi(x), Phi by tanh", A(0.5) * v * (1 + tanh_of(bend_of(v))), x,
      A(0.5) * (1 + tanh_of(bend_of(v))) + A(0.5) * v * (1 - tanh_of(bend_of(v)) * tanh_of(bend_of(v))) *
          A(0.79788456080286536) * (1 + 3 * A(0.044715) * v * v))
UNARY_WITH(leaky_relu, FLOATS,           "y = x, or alpha x below 0",         v > 0 ? v : alpha * v,  v > 0 ? A(1) : alpha)
UNARY_WITH(elu,        FLOATS_WITH_MATH, "y = x, or alpha (e^x - 1) below 0", v > 0 ? v : alpha * (exp_of(v) - 1),
           v > 0 ? A(1) : alpha * exp_of(v))
UNARY_WITH(clamp,      FLOATS,           "y = x within alpha and beta",       v < alpha ? alpha : v > beta ? beta : v,
           v >= alpha && v <= beta ? A(1) : A(0))
LINEAR_WITH(scale_add, FLOATS,           "y = alpha x + beta",                v * alpha + beta)
