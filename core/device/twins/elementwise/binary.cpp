// Elementwise operations of two tensors, of equal shapes or broadcast, from the lines of kernels/binary.cu: read first as
// functions, then as rows.
#include <cmath>

#include "core/device/twins/walk.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

namespace {
template <class T, class F>
void combine(ThreadPool& pool, const T* a, const T* b, T* y, int n, F of) {
    elements(pool, n, [=](int begin, int end) {
#pragma GCC ivdep
        for (int i = begin; i < end; ++i) y[i] = of(Acc<T>(a[i]), Acc<T>(b[i]));
    });
}

template <class T, class F>
void combine_broadcast(ThreadPool& pool, const T* a, const T* b, T* y, const int64_t (&extents)[6], const int64_t (&s)[6],
                       const int64_t (&t)[6], F of) {
    int64_t dense[6] = {0, 0, 0, 0, 0, 1};
    for (size_t i = 5; i > 0; --i) dense[i - 1] = dense[i] * extents[i];
    Walk<3> walk;
    for (size_t i = 0; i < 6; ++i) walk.add(extents[i], {s[i], t[i], dense[i]});
    const int64_t step_a = walk.inner().strides[0], step_b = walk.inner().strides[1];
    walk.each(pool, [=](std::array<int64_t, 3> at, int64_t count) {
        const T *from_a = a + at[0], *from_b = b + at[1];
        T* to = y + at[2];
        if (step_a == 1 && step_b == 1)
            for (int64_t i = 0; i < count; ++i) to[i] = of(Acc<T>(from_a[i]), Acc<T>(from_b[i]));
        else if (step_a == 1 && step_b == 0)
            for (int64_t i = 0; i < count; ++i) to[i] = of(Acc<T>(from_a[i]), Acc<T>(from_b[0]));
        else if (step_a == 0 && step_b == 1)
            for (int64_t i = 0; i < count; ++i) to[i] = of(Acc<T>(from_a[0]), Acc<T>(from_b[i]));
        else
            for (int64_t i = 0; i < count; ++i) to[i] = of(Acc<T>(from_a[i * step_a]), Acc<T>(from_b[i * step_b]));
    });
}
template <class A>
A pow_of(A a, A b) {
    return std::pow(a, b);
}
}  // namespace

#define BINARY(name, types, where, what, formula)                                                                          \
    struct name##_function {                                                                                               \
        template <class A>                                                                                                 \
        A operator()(A a, A b) const {                                                                                     \
            return formula;                                                                                                \
        }                                                                                                                  \
    };                                                                                                                     \
    template <class T>                                                                                                     \
    void name(ThreadPool& pool, const T* a, const T* b, T* y, int n) {                                                     \
        combine(pool, a, b, y, n, name##_function());                                                                      \
    }                                                                                                                      \
    template <class T>                                                                                                     \
    void name##_broadcast(ThreadPool& pool, const T* a, const T* b, T* y, int n, int, int e0, int e1, int e2, int e3,      \
                          int e4, int e5, int s0, int s1, int s2, int s3, int s4, int s5, int t0, int t1, int t2, int t3,  \
                          int t4, int t5) {                                                                                \
        if (n > 0)                                                                                                         \
            combine_broadcast(pool, a, b, y, {e0, e1, e2, e3, e4, e5}, {s0, s1, s2, s3, s4, s5}, {t0, t1, t2, t3, t4, t5}, \
                              name##_function());                                                                          \
    }
#include "kernels/binary.cu"

#undef BINARY
#define DRAWN_anywhere ""
#define DRAWN_above_0 "{0.1..2.1}"
#define AGREEMENT_anywhere Agreement::to_the_bit
#define AGREEMENT_above_0 Agreement::nearly  // a power is found by exponentials
#define BINARY(name, types, where, what, formula)                                                                    \
    {#name, "binary.cu", what, "a[n]" DRAWN_##where " b[n] >y[n] n", FLOATS(name), "threads(n)", AGREEMENT_##where}, \
        {#name "_broadcast",                                                                                         \
         "binary.cu",                                                                                                \
         what ", by strides",                                                                                        \
         "a[" REACH(e, s) "]" DRAWN_##where                                                                          \
         " b[" REACH(e, t) "] >y[n] n rank=2 " /* a column [m,1] with a transposed [n,m] */                          \
         EXTENTS(e, "@m", "@n") " " STRIDES(s, "1", "0") " " STRIDES(t, "1", "@m"),                                  \
         FLOATS(name##_broadcast),                                                                                   \
         "threads(n)",                                                                                               \
         AGREEMENT_##where,                                                                                          \
         {.walk = 5, .strides = {{{0, 11}, {1, 17}}}}},
std::span<const Kernel> binary() {
    static constexpr Kernel rows[] = {
#include "kernels/binary.cu"
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
