// Putting pieces into a tensor, choosing between two, comparing, changing types, and gradients of binary.cu's ops.
//   put_strided  y at its strides = x[n], x contiguous (concatenation, padding).    Launch ceil(n / 256) blocks of 256.
//   where        y = a where c (u8) is not 0, else b
//   equal ... greater_equal   y (u8) = 1 where it holds; of two tensors of one shape
//   cast_A_B     y = x, rounded to nearest even (floats) or towards zero (to integers)
//   tril         y = x[..., rows, columns] where column <= row + diagonal, else 0
//   inside       y = 1 where alpha <= x <= beta, else 0;   pow_scalar: y = x^alpha;   erf_value: y = erf x
//   div_backward, pow_backward_base, pow_backward_exponent, maximum_backward, minimum_backward: of equal shapes;
//                a and b as in forward. maximum: where both are equal each gets half.
// Bytes: every operand once.

#include "include/element.h"
#include "include/walk.h"

#define INDEX                                          \
    int i = blockIdx.x * blockDim.x + threadIdx.x;     \
    if (i >= n) return;

template <class T>
__device__ void put_strided(const T* x, T* y, int n, int rank, SIX(e), SIX(s)) {
    INDEX
    y[place(i, rank, THE_SIX(e), THE_SIX(s))] = x[i];
}
FLOATS_AND_INTEGERS(put_strided, (const T* x, T* y, int n, int rank, SIX(e), SIX(s)), x, y, n, rank, THE_SIX(e), THE_SIX(s))

template <class T>
__device__ void where(const unsigned char* c, const T* a, const T* b, T* y, int n) {
    INDEX
    y[i] = c[i] ? a[i] : b[i];
}
FLOATS_AND_INTEGERS(where, (const unsigned char* c, const T* a, const T* b, T* y, int n), c, a, b, y, n)

template <class T>
__device__ void where_backward(const unsigned char* c, const T* dy, T* dx, int n, int chosen) {
    INDEX
    dx[i] = (c[i] != 0) == (chosen != 0) ? Acc<T>(dy[i]) : Acc<T>(0);
}
FLOATS(where_backward, (const unsigned char* c, const T* dy, T* dx, int n, int chosen), c, dy, dx, n, chosen)

#define COMPARISON(name, op)                                                                                              \
    template <class T> __device__ void name(const T* a, const T* b, unsigned char* y, int n) {                            \
        INDEX                                                                                                             \
        y[i] = Acc<T>(a[i]) op Acc<T>(b[i]);                                                                              \
    }                                                                                                                     \
    FLOATS_AND_INTEGERS(name, (const T* a, const T* b, unsigned char* y, int n), a, b, y, n)
COMPARISON(equal, ==)
COMPARISON(not_equal, !=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(greater, >)
COMPARISON(greater_equal, >=)

template <class T>
__device__ void tril(const T* x, T* y, int n, int rows, int columns, int diagonal) {
    INDEX
    y[i] = i % columns <= i / columns % rows + diagonal ? Acc<T>(x[i]) : Acc<T>(0);
}
FLOATS(tril, (const T* x, T* y, int n, int rows, int columns, int diagonal), x, y, n, rows, columns, diagonal)

#define BACKWARD(name, TYPES, expression)                                                                                 \
    template <class T> __device__ void name(const T* a_, const T* b_, const T* dy, T* dx, int n) {                        \
        INDEX                                                                                                             \
        Acc<T> a = a_[i], b = b_[i], d = dy[i];                                                                           \
        dx[i] = Acc<T>(expression);                                                                                       \
    }                                                                                                                     \
    TYPES(name, (const T* a, const T* b, const T* dy, T* dx, int n), a, b, dy, dx, n)
BACKWARD(div_backward, FLOATS, -d * a / (b * b))
BACKWARD(pow_backward_base, FLOATS_WITH_MATH, b == 0 ? 0 : d * b * pow_of(a, b - 1))
BACKWARD(pow_backward_exponent, FLOATS_WITH_MATH, a == 0 && b >= 0 ? 0 : d * pow_of(a, b) * log_of(a))
BACKWARD(maximum_backward, FLOATS, a == b ? d / 2 : a < b ? 0 : d)
BACKWARD(minimum_backward, FLOATS, a == b ? d / 2 : a > b ? 0 : d)

template <class T>
__device__ void inside(const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta) {
    INDEX
    Acc<T> v = x[i];
    y[i] = Acc<T>(v >= alpha && v <= beta ? 1 : 0);
}
FLOATS(inside, (const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta), x, y, n, alpha, beta)
template <class T>
__device__ void pow_scalar(const T* x, T* y, int n, Acc<T> alpha) {
    INDEX
    y[i] = pow_of(Acc<T>(x[i]), alpha);
}
FLOATS_WITH_MATH(pow_scalar, (const T* x, T* y, int n, Acc<T> alpha), x, y, n, alpha)
template <class T>
__device__ void pow_scalar_backward(const T* kept, const T* dy, T* dx, int n, Acc<T> alpha) {
    INDEX
    dx[i] = alpha == 0 ? Acc<T>(0) : Acc<T>(dy[i]) * alpha * pow_of(Acc<T>(kept[i]), alpha - 1);
}
FLOATS_WITH_MATH(pow_scalar_backward, (const T* kept, const T* dy, T* dx, int n, Acc<T> alpha), kept, dy, dx, n, alpha)
template <class T>
__device__ void erf_value(const T* x, T* y, int n) {
    INDEX
    y[i] = erf_of(Acc<T>(x[i]));
}
FLOATS_WITH_MATH(erf_value, (const T* x, T* y, int n), x, y, n)
template <class T>
__device__ void erf_value_backward(const T* kept, const T* dy, T* dx, int n) {
    INDEX
    Acc<T> v = kept[i];
    dx[i] = Acc<T>(dy[i]) * Acc<T>(1.1283791670955126) * exp_of(-v * v);           // 2 / sqrt(pi)
}
FLOATS_WITH_MATH(erf_value_backward, (const T* kept, const T* dy, T* dx, int n), kept, dy, dx, n)

// Through Acc of the wider side: float, but double where one side is double; integers by C's conversion.
#define CAST(from, From, to, To)                                                                                          \
    extern "C" __global__ void cast_##from##_##to(const From* x, To* y, int n) {                                          \
        INDEX                                                                                                             \
        y[i] = (To)(Acc<To>)(Acc<From>)x[i];                                                                              \
    }
#define CASTS_FROM(from, From)                                                                                            \
    CAST(from, From, f32, float)                                                                                          \
    CAST(from, From, f64, double)                                                                                         \
    CAST(from, From, f16, f16)                                                                                            \
    CAST(from, From, bf16, bf16)                                                                                          \
    CAST(from, From, i64, long long)                                                                                      \
    CAST(from, From, i32, int)                                                                                            \
    CAST(from, From, u8, unsigned char)
CASTS_FROM(f32, float)
CASTS_FROM(f64, double)
CASTS_FROM(f16, f16)
CASTS_FROM(bf16, bf16)
CASTS_FROM(i64, long long)
CASTS_FROM(i32, int)
CASTS_FROM(u8, unsigned char)
