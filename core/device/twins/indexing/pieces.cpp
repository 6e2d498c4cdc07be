// Putting pieces in place, choosing, comparing, changing types, gradients of two-operand ops (kernels/pieces.cu).
#include <cmath>

#include "core/device/twins/vector_math.h"
#include "core/device/twins/walk.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T>
void put_strided(ThreadPool& pool, const T* x, T* y, int n, int, int e0, int e1, int e2, int e3, int e4, int e5, int s0,
                 int s1, int s2, int s3, int s4, int s5) {
    if (n <= 0) return;
    const int64_t extents[] = {e0, e1, e2, e3, e4, e5}, strides[] = {s0, s1, s2, s3, s4, s5};
    int64_t dense[6] = {0, 0, 0, 0, 0, 1};
    for (size_t i = 5; i > 0; --i) dense[i - 1] = dense[i] * extents[i];
    Walk<2> walk;
    for (size_t i = 0; i < 6; ++i) walk.add(extents[i], {strides[i], dense[i]});
    const int64_t step = walk.inner().strides[0];
    walk.each(pool, [=](std::array<int64_t, 2> at, int64_t count) {
        T* to = y + at[0];
        const T* from = x + at[1];
        for (int64_t i = 0; i < count; ++i) to[i * step] = from[i];
    });
}

template <class T>
void where(ThreadPool& pool, const uint8_t* c, const T* a, const T* b, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = c[i] ? a[i] : b[i];
    });
}
template <class T>
void where_backward(ThreadPool& pool, const uint8_t* c, const T* dy, T* dx, int n, int chosen) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) dx[i] = (c[i] != 0) == (chosen != 0) ? Acc<T>(dy[i]) : Acc<T>(0);
    });
}

#define COMPARISON(name, op)                                                       \
    template <class T>                                                             \
    void name(ThreadPool& pool, const T* a, const T* b, uint8_t* y, int n) {       \
        elements(pool, n, [=](int begin, int end) {                                \
            for (int i = begin; i < end; ++i) y[i] = Acc<T>(a[i]) op Acc<T>(b[i]); \
        });                                                                        \
    }
COMPARISON(equal, ==)
COMPARISON(not_equal, !=)
COMPARISON(less, <)
COMPARISON(less_equal, <=)
COMPARISON(greater, >)
COMPARISON(greater_equal, >=)

template <class T>
void tril(ThreadPool& pool, const T* x, T* y, int n, int rows, int columns, int diagonal) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = i % columns <= i / columns % rows + diagonal ? Acc<T>(x[i]) : Acc<T>(0);
    });
}

#define BACKWARD(name, expression)                                                     \
    template <class T>                                                                 \
    void name(ThreadPool& pool, const T* a_, const T* b_, const T* dy, T* dx, int n) { \
        elements(pool, n, [=](int begin, int end) {                                    \
            for (int i = begin; i < end; ++i) {                                        \
                const Acc<T> a = a_[i], b = b_[i], d = dy[i];                          \
                dx[i] = expression;                                                    \
            }                                                                          \
        });                                                                            \
    }
BACKWARD(div_backward, -d* a / (b * b))
BACKWARD(pow_backward_base, b == 0 ? Acc<T>(0) : d * b * std::pow(a, b - 1))
BACKWARD(pow_backward_exponent, a == 0 && b >= 0 ? Acc<T>(0) : d * std::pow(a, b) * std::log(a))
BACKWARD(maximum_backward, a == b ? d / 2 : (a < b ? Acc<T>(0) : d))
BACKWARD(minimum_backward, a == b ? d / 2 : (a > b ? Acc<T>(0) : d))

template <class T>
void inside(ThreadPool& pool, const T* x, T* y, int n, Acc<T> alpha, Acc<T> beta) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> v = x[i];
            y[i] = v >= alpha && v <= beta ? Acc<T>(1) : Acc<T>(0);
        }
    });
}
template <class T>
void pow_scalar(ThreadPool& pool, const T* x, T* y, int n, Acc<T> alpha) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = std::pow(Acc<T>(x[i]), alpha);
    });
}
template <class T>
void pow_scalar_backward(ThreadPool& pool, const T* kept, const T* dy, T* dx, int n, Acc<T> alpha) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i)
            dx[i] = alpha == 0 ? Acc<T>(0) : Acc<T>(dy[i]) * alpha * std::pow(Acc<T>(kept[i]), alpha - 1);
    });
}
template <class T>
void erf_value(ThreadPool& pool, const T* x, T* y, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = erf_of(Acc<T>(x[i]));
    });
}
template <class T>
void erf_value_backward(ThreadPool& pool, const T* kept, const T* dy, T* dx, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) {
            const Acc<T> v = kept[i];
            dx[i] = Acc<T>(dy[i]) * Acc<T>(1.1283791670955126) * exp_of(-v * v);
        }
    });
}

template <class From, class To>
void cast(ThreadPool& pool, const From* x, To* y, int n) {
    elements(pool, n, [=](int begin, int end) {
        for (int i = begin; i < end; ++i) y[i] = static_cast<To>(static_cast<Acc<To>>(static_cast<Acc<From>>(x[i])));
    });
}
#define CAST(from, From)                                              \
    template <class To>                                               \
    void cast_##from(ThreadPool& pool, const From* x, To* y, int n) { \
        cast(pool, x, y, n);                                          \
    }
CAST(f32, float)
CAST(f64, double)
CAST(f16, f16)
CAST(bf16, bf16)
CAST(i64, int64_t)
CAST(i32, int)
CAST(u8, uint8_t)

std::span<const Kernel> pieces() {
    static constexpr Kernel rows[] = {
        {"put_strided", "pieces.cu", "y at its strides = x[n]", "x[n] &y[" REACH(e, s) "] " STRIDED,
         FLOATS_AND_INTEGERS(put_strided)},
        {"where", "pieces.cu", "y = a where c, else b", "c[n]:u8{0..2} a[n] b[n] >y[n] n", FLOATS_AND_INTEGERS(where)},
        {"where_backward", "pieces.cu", "dx = dy where c is as asked, else 0", "c[n]:u8{0..2} dy[n] >dx[n] n chosen=1",
         FLOATS(where_backward)},
        {"equal", "pieces.cu", "y (u8) = a == b", "a[n] b[n] >y[n]:u8 n", FLOATS_AND_INTEGERS(equal)},
        {"not_equal", "pieces.cu", "y (u8) = a != b", "a[n] b[n] >y[n]:u8 n", FLOATS_AND_INTEGERS(not_equal)},
        {"less", "pieces.cu", "y (u8) = a < b", "a[n] b[n] >y[n]:u8 n", FLOATS_AND_INTEGERS(less)},
        {"less_equal", "pieces.cu", "y (u8) = a <= b", "a[n] b[n] >y[n]:u8 n", FLOATS_AND_INTEGERS(less_equal)},
        {"greater", "pieces.cu", "y (u8) = a > b", "a[n] b[n] >y[n]:u8 n", FLOATS_AND_INTEGERS(greater)},
        {"greater_equal", "pieces.cu", "y (u8) = a >= b", "a[n] b[n] >y[n]:u8 n", FLOATS_AND_INTEGERS(greater_equal)},
        {"tril", "pieces.cu", "y = x on and below the diagonal, else 0", "x[n] >y[n] n rows columns diagonal=1",
         FLOATS(tril)},
        {"div_backward", "pieces.cu", "db = -dy a / b^2", "a[n]{0.1..2.1} b[n]{0.1..2.1} dy[n] >dx[n] n",
         FLOATS(div_backward), "threads(n)", Agreement::nearly},
        {"pow_backward_base", "pieces.cu", "da = dy b a^(b - 1)", "a[n]{0.1..2.1} b[n]{0.1..2.1} dy[n] >dx[n] n",
         FLOATS(pow_backward_base), "threads(n)", Agreement::nearly},
        {"pow_backward_exponent", "pieces.cu", "db = dy a^b log a", "a[n]{0.1..2.1} b[n]{0.1..2.1} dy[n] >dx[n] n",
         FLOATS(pow_backward_exponent), "threads(n)", Agreement::nearly},
        {"maximum_backward", "pieces.cu", "da = dy where a > b, half where equal",
         "a[n]{0.1..2.1} b[n]{0.1..2.1} dy[n] >dx[n] n", FLOATS(maximum_backward), "threads(n)", Agreement::nearly},
        {"minimum_backward", "pieces.cu", "da = dy where a < b, half where equal",
         "a[n]{0.1..2.1} b[n]{0.1..2.1} dy[n] >dx[n] n", FLOATS(minimum_backward), "threads(n)", Agreement::nearly},
        {"inside", "pieces.cu", "y = 1 where x is in [alpha, beta], else 0", "x[n] >y[n] n alpha:sum=-0.5 beta:sum=1.25",
         FLOATS(inside)},
        {"pow_scalar", "pieces.cu", "y = x^alpha", "x[n]{0.1..2.1} >y[n] n alpha:sum=2.5", FLOATS(pow_scalar), "threads(n)",
         Agreement::nearly},
        {"pow_scalar_backward", "pieces.cu", "dx = dy alpha x^(alpha - 1)", "kept[n]{0.1..2.1} dy[n] >dx[n] n alpha:sum=2.5",
         FLOATS(pow_scalar_backward), "threads(n)", Agreement::nearly},
        {"erf_value", "pieces.cu", "y = the error function of x", "x[n] >y[n] n", FLOATS(erf_value), "threads(n)",
         Agreement::nearly},
        {"erf_value_backward", "pieces.cu", "dx = dy 2/sqrt(pi) e^(-x^2)", "kept[n] dy[n] >dx[n] n",
         FLOATS(erf_value_backward), "threads(n)", Agreement::nearly},
        {"cast_f32", "pieces.cu", "y = x, from f32", "x[n]:f32{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_f32)},
        {"cast_f64", "pieces.cu", "y = x, from f64", "x[n]:f64{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_f64)},
        {"cast_f16", "pieces.cu", "y = x, from f16", "x[n]:f16{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_f16)},
        {"cast_bf16", "pieces.cu", "y = x, from bf16", "x[n]:bf16{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_bf16)},
        {"cast_i64", "pieces.cu", "y = x, from i64", "x[n]:i64{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_i64)},
        {"cast_i32", "pieces.cu", "y = x, from i32", "x[n]:i32{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_i32)},
        {"cast_u8", "pieces.cu", "y = x, from u8", "x[n]:u8{0..100} >y[n] n", FLOATS_AND_INTEGERS(cast_u8)},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
