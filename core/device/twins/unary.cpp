// Elementwise functions of one tensor and their backward passes (kernels/unary.cu); gelu_tanh is in activation.cpp.
#include <cmath>

#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

namespace {
template <class A>
A normal_of(A x) {
    return A(0.5) * (1 + erf_of(x * A(0.70710678118654752)));
}
inline float sqrt_of(float x) {
    return std::sqrt(x);
}
inline double sqrt_of(double x) {
    return std::sqrt(x);
}
}  // namespace

#define UNARY(name, value, slope)                                                      \
    template <class T>                                                                 \
    void name(ThreadPool& pool, const T* x, T* y, int n) {                             \
        using A = Acc<T>;                                                              \
        elements(pool, n, [=](int begin, int end) {                                    \
            for (int i = begin; i < end; ++i) {                                        \
                const A v = x[i];                                                      \
                y[i] = value;                                                          \
            }                                                                          \
        });                                                                            \
    }                                                                                  \
    template <class T>                                                                 \
    void name##_backward(ThreadPool& pool, const T* kept, const T* dy, T* dx, int n) { \
        using A = Acc<T>;                                                              \
        elements(pool, n, [=](int begin, int end) {                                    \
            for (int i = begin; i < end; ++i) {                                        \
                [[maybe_unused]] const A v = kept[i];                                  \
                dx[i] = A(dy[i]) * (slope);                                            \
            }                                                                          \
        });                                                                            \
    }
#define UNARY_WITH(name, value, slope)                                                                 \
    template <class T>                                                                                 \
    void name(ThreadPool& pool, const T* x, T* y, int n, Acc<T> alpha, [[maybe_unused]] Acc<T> beta) { \
        using A = Acc<T>;                                                                              \
        elements(pool, n, [=](int begin, int end) {                                                    \
            for (int i = begin; i < end; ++i) {                                                        \
                const A v = x[i];                                                                      \
                y[i] = value;                                                                          \
            }                                                                                          \
        });                                                                                            \
    }                                                                                                  \
    template <class T>                                                                                 \
    void name##_backward(ThreadPool& pool, const T* kept, const T* dy, T* dx, int n, Acc<T> alpha,     \
                         [[maybe_unused]] Acc<T> beta) {                                               \
        using A = Acc<T>;                                                                              \
        elements(pool, n, [=](int begin, int end) {                                                    \
            for (int i = begin; i < end; ++i) {                                                        \
                [[maybe_unused]] const A v = kept[i];                                                  \
                dx[i] = A(dy[i]) * (slope);                                                            \
            }                                                                                          \
        });                                                                                            \
    }

UNARY(neg, -v, A(-1))
UNARY(square, v* v, 2 * v)
UNARY(abs_value, v<0 ? -v : v, v> 0 ? A(1) : v < 0 ? A(-1) : v)
UNARY(reciprocal, 1 / v, -v* v)
UNARY(sqrt_value, sqrt_of(v), A(0.5) / v)
UNARY(rsqrt_value, 1 / sqrt_of(v), A(-0.5) * v * v * v)
UNARY(exp_value, exp_of(v), v)
UNARY(log_value, log_of(v), 1 / v)
UNARY(sin_value, std::sin(v), std::cos(v))
UNARY(cos_value, std::cos(v), -std::sin(v))
UNARY(tanh_value, tanh_of(v), 1 - v * v)
UNARY(sigmoid, sigmoid_of(v), v*(1 - v))
UNARY(silu, v* sigmoid_of(v), sigmoid_of(v) * (1 + v * (1 - sigmoid_of(v))))
UNARY(softplus, v > 20 ? v : log_of(1 + exp_of(v)), sigmoid_of(v))
UNARY(gelu, v* normal_of(v), normal_of(v) + v * A(0.39894228040143268) * exp_of(A(-0.5) * v * v))
UNARY_WITH(leaky_relu, v > 0 ? v : alpha * v, v > 0 ? A(1) : alpha)
UNARY_WITH(elu, v > 0 ? v : alpha * (exp_of(v) - 1), v > 0 ? A(1) : alpha * exp_of(v))
UNARY_WITH(clamp, v<alpha ? alpha : v> beta ? beta : v, v >= alpha && v <= beta ? A(1) : A(0))
UNARY_WITH(scale_add, v* alpha + beta, alpha)

#define BOTH(name) TWIN_FLOATS(name), TWIN_FLOATS(name##_backward)
static const Twin table[] = {BOTH(neg),         BOTH(square),    BOTH(abs_value), BOTH(reciprocal), BOTH(sqrt_value),
                             BOTH(rsqrt_value), BOTH(exp_value), BOTH(log_value), BOTH(sin_value),  BOTH(cos_value),
                             BOTH(tanh_value),  BOTH(sigmoid),   BOTH(silu),      BOTH(softplus),   BOTH(gelu),
                             BOTH(leaky_relu),  BOTH(elu),       BOTH(clamp),     BOTH(scale_add)};
std::span<const Twin> unary() {
    return table;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
