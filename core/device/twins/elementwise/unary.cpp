// Elementwise functions of one tensor and their backward passes, from the lines of kernels/unary.cu: read first as
// functions, then as rows. gelu_tanh has its own twin in activation.cpp.
#include <cmath>

#include "core/device/twins/twins.h"
#include "core/device/twins/vector_math.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

namespace {
template <class A>
A normal_of(A x) {
    return A(0.5) * (1 + erf_of(x * A(0.70710678118654752)));
}
template <class A>
A sqrt_of(A x) {
    return std::sqrt(x);
}
template <class A>
A sin_of(A x) {
    return std::sin(x);
}
template <class A>
A cos_of(A x) {
    return std::cos(x);
}
}  // namespace

#define EACH(from, to, formula)                   \
    using A = Acc<T>;                             \
    elements(pool, n, [=](int begin, int end) {   \
        for (int i = begin; i < end; ++i) {       \
            [[maybe_unused]] const A v = from[i]; \
            to[i] = formula;                      \
        }                                         \
    });
#define LINEAR(name, types, where, what, value)            \
    template <class T>                                     \
    void name(ThreadPool& pool, const T* x, T* y, int n) { \
        EACH(x, y, value)                                  \
    }
#define UNARY(name, types, where, what, value, kept_is, slope)                         \
    LINEAR(name, types, where, what, value)                                            \
    template <class T>                                                                 \
    void name##_backward(ThreadPool& pool, const T* kept, const T* dy, T* dx, int n) { \
        EACH(kept, dx, A(dy[i]) * (slope))                                             \
    }
#define LINEAR_WITH(name, types, what, value)                                                          \
    template <class T>                                                                                 \
    void name(ThreadPool& pool, const T* x, T* y, int n, Acc<T> alpha, [[maybe_unused]] Acc<T> beta) { \
        EACH(x, y, value)                                                                              \
    }
#define UNARY_WITH(name, types, what, value, slope)                                                \
    LINEAR_WITH(name, types, what, value)                                                          \
    template <class T>                                                                             \
    void name##_backward(ThreadPool& pool, const T* kept, const T* dy, T* dx, int n, Acc<T> alpha, \
                         [[maybe_unused]] Acc<T> beta) {                                           \
        EACH(kept, dx, A(dy[i]) * (slope))                                                         \
    }
#define UNARY_WITH_OWN_TWIN(...)
#include "kernels/unary.cu"

#undef LINEAR
#undef UNARY
#undef LINEAR_WITH
#undef UNARY_WITH
#define DRAWN_anywhere ""
#define DRAWN_above_0 "{0.1..2.1}"
#define SLOPE_FROM(kept_is) "dx = dy times its slope, from " #kept_is
#define ROW(name, what, parameters) {#name, "unary.cu", what, parameters, FLOATS(name), "threads(n)", Agreement::nearly},
#define LINEAR(name, types, where, what, value) ROW(name, what, "x[n]" DRAWN_##where " >y[n] n")
#define UNARY(name, types, where, what, value, kept_is, slope) \
    LINEAR(name, types, where, what, value)                    \
    ROW(name##_backward, SLOPE_FROM(kept_is), #kept_is "[n]" DRAWN_##where " dy[n] >dx[n] n")
#define LINEAR_WITH(name, types, what, value) ROW(name, what, "x[n] >y[n] n alpha:sum=-0.5 beta:sum=0.7")
#define UNARY_WITH(name, types, what, value, slope) \
    LINEAR_WITH(name, types, what, value)           \
    ROW(name##_backward, SLOPE_FROM(x), "x[n] dy[n] >dx[n] n alpha:sum=-0.5 beta:sum=0.7")
std::span<const Kernel> unary() {
    static constexpr Kernel rows[] = {
#include "kernels/unary.cu"
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
