// Elementwise operations of two tensors. Two kernels each: `add` for equal shapes without gaps, and `add_broadcast`, which
// finds its operands by strides (0 along an axis that is broadcast); six extents, leading ones in front.
// One thread an element; launch ceil(n / 256) blocks of 256.  Bytes: 3 n elements (less where an operand is broadcast).
// maximum and minimum: a NaN wins, as in PyTorch. pow is the C library's: 0^0 = 1, a negative base takes whole exponents.
// A line below is an operation's one definition: the host's twins (core/device/twins/elementwise) come from the same lines.

#ifndef BINARY  // the twins bring their own
#include "include/element.h"

#define SIX(x) int x##0, int x##1, int x##2, int x##3, int x##4, int x##5
#define THE_SIX(x) x##0, x##1, x##2, x##3, x##4, x##5

template <class T, class F>
__device__ void combine(const T* a, const T* b, T* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = F::of(Acc<T>(a[i]), Acc<T>(b[i]));
}

template <class T, class F>
__device__ void combine_broadcast(const T* a, const T* b, T* y, int n, int rank, SIX(e), SIX(s), SIX(t)) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int rest = i;                                                               // the index, axis by axis from the last
    long long at_a = 0, at_b = 0;
#define AXIS(from_last, e, s, t)                                                \
    if (rank > from_last) {                                                     \
        int along = rest % e;                                                   \
        rest /= e;                                                              \
        at_a += (long long)along * s;                                           \
        at_b += (long long)along * t;                                           \
    }
    AXIS(0, e5, s5, t5) AXIS(1, e4, s4, t4) AXIS(2, e3, s3, t3) AXIS(3, e2, s2, t2) AXIS(4, e1, s1, t1) AXIS(5, e0, s0, t0)
    y[i] = F::of(Acc<T>(a[at_a]), Acc<T>(b[at_b]));
}

#define BINARY(name, TYPES, where, what, formula)                                                                         \
    struct name##_function { template <class A> static __device__ A of(A a, A b) { return formula; } };                   \
    template <class T>                                                                                                    \
    __device__ void name(const T* a, const T* b, T* y, int n) { combine<T, name##_function>(a, b, y, n); }                \
    TYPES(name, (const T* a, const T* b, T* y, int n), a, b, y, n)                                                        \
    template <class T>                                                                                                    \
    __device__ void name##_broadcast(const T* a, const T* b, T* y, int n, int rank, SIX(e), SIX(s), SIX(t)) {             \
        combine_broadcast<T, name##_function>(a, b, y, n, rank, THE_SIX(e), THE_SIX(s), THE_SIX(t));                      \
    }                                                                                                                     \
    TYPES(name##_broadcast, (const T* a, const T* b, T* y, int n, int rank, SIX(e), SIX(s), SIX(t)), a, b, y, n, rank,    \
          THE_SIX(e), THE_SIX(s), THE_SIX(t))
#endif

//     name     types             defined   in words                         y
BINARY(add,     FLOATS,           anywhere, "y = a + b",                     a + b)
BINARY(sub,     FLOATS,           anywhere, "y = a - b",                     a - b)
BINARY(mul,     FLOATS,           anywhere, "y = a b",                       a * b)
BINARY(div,     FLOATS,           anywhere, "y = a / b",                     a / b)
BINARY(maximum, FLOATS,           anywhere, "y = the larger of a and b",     a > b || a != a ? a : b)
BINARY(minimum, FLOATS,           anywhere, "y = the smaller of a and b",    a < b || a != a ? a : b)
BINARY(pow,     FLOATS_WITH_MATH, above_0,  "y = a to the power of b",       pow_of(a, b))
