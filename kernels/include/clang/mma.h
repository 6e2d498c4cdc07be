// nvcuda::wmma for clang without a toolkit: names of CUDA's mma.h. A fragment belongs to the warp; which lane holds which
// element is nobody's business but the instructions'. Every load, store and product is one PTX instruction; the tables of
// shapes and types are at the end.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#define LOCKSTEP_WMMA static __inline__ __attribute__((always_inline, nodebug, device))

namespace nvcuda {
namespace wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment;

// "%[a0], %[a1]" and [a0] "r"(a.r[0]), [a1] "r"(a.r[1]): the registers of an operand.
#define LOCKSTEP_NAMES_1(x) "%[" #x "0]"
#define LOCKSTEP_NAMES_2(x) LOCKSTEP_NAMES_1(x) ", %[" #x "1]"
#define LOCKSTEP_NAMES_4(x) LOCKSTEP_NAMES_2(x) ", %[" #x "2], %[" #x "3]"
#define LOCKSTEP_NAMES_8(x) LOCKSTEP_NAMES_4(x) ", %[" #x "4], %[" #x "5], %[" #x "6], %[" #x "7]"
#define LOCKSTEP_BIND_1(x, letter) [x##0] letter(x.r[0])
#define LOCKSTEP_BIND_2(x, letter) LOCKSTEP_BIND_1(x, letter), [x##1] letter(x.r[1])
#define LOCKSTEP_BIND_4(x, letter) LOCKSTEP_BIND_2(x, letter), [x##2] letter(x.r[2]), [x##3] letter(x.r[3])
#define LOCKSTEP_BIND_8(x, letter)                                                                          \
    LOCKSTEP_BIND_4(x, letter), [x##4] letter(x.r[4]), [x##5] letter(x.r[5]), [x##6] letter(x.r[6]), [x##7] letter(x.r[7])

#define LOCKSTEP_FRAGMENT(use, m, n, k, T, layout, element, elements, word, words) \
    template <>                                                                    \
    struct fragment<use, m, n, k, T, layout> {                                     \
        enum { num_elements = elements, num_storage_elements = elements };         \
        union {                                                                    \
            element x[elements];                                                   \
            word r[words];                                                         \
        };                                                                         \
        fragment() = default;                                                      \
    };

// A factor in one layout: its fragment and its load. role a or b; type as in PTX.
#define LOCKSTEP_FACTOR_IN(role, layout, way, m, n, k, T, type, element, elements, word, letter, words)                   \
    LOCKSTEP_FRAGMENT(matrix_##role, m, n, k, T, layout, element, elements, word, words)                                  \
    LOCKSTEP_WMMA void load_matrix_sync(fragment<matrix_##role, m, n, k, T, layout>& f, const element* p, unsigned stride) { \
        asm volatile("wmma.load." #role ".sync.aligned." way ".m" #m "n" #n "k" #k "." type                               \
                     " {" LOCKSTEP_NAMES_##words(f) "}, [%[p]], %[stride];"                                               \
                     : LOCKSTEP_BIND_##words(f, "=" letter)                                                               \
                     : [p] "l"(p), [stride] "r"(stride)                                                                   \
                     : "memory");                                                                                         \
    }
#define LOCKSTEP_FACTOR(role, m, n, k, T, type, element, elements, word, letter, words)                           \
    LOCKSTEP_FACTOR_IN(role, row_major, "row", m, n, k, T, type, element, elements, word, letter, words)          \
    LOCKSTEP_FACTOR_IN(role, col_major, "col", m, n, k, T, type, element, elements, word, letter, words)

#define LOCKSTEP_SUM_IN(way, m, n, k, type, letter, words)                                                        \
    asm volatile("wmma.load.c.sync.aligned." way ".m" #m "n" #n "k" #k "." type                                   \
                 " {" LOCKSTEP_NAMES_##words(f) "}, [%[p]], %[stride];"                                           \
                 : LOCKSTEP_BIND_##words(f, "=" letter)                                                           \
                 : [p] "l"(p), [stride] "r"(stride)                                                               \
                 : "memory")
#define LOCKSTEP_SUM_OUT(way, m, n, k, type, letter, words)                                                       \
    asm volatile("wmma.store.d.sync.aligned." way ".m" #m "n" #n "k" #k "." type                                  \
                 " [%[p]], {" LOCKSTEP_NAMES_##words(f) "}, %[stride];"                                           \
                 :                                                                                                \
                 : LOCKSTEP_BIND_##words(f, letter), [p] "l"(p), [stride] "r"(stride)                             \
                 : "memory")
// An accumulator: its fragment, load and store.
#define LOCKSTEP_SUM(m, n, k, T, type, elements, word, letter, words)                                                        \
    LOCKSTEP_FRAGMENT(accumulator, m, n, k, T, void, T, elements, word, words)                                               \
    LOCKSTEP_WMMA void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* p, unsigned stride, layout_t layout) { \
        if (layout == mem_row_major)                                                                                         \
            LOCKSTEP_SUM_IN("row", m, n, k, type, letter, words);                                                            \
        else                                                                                                                 \
            LOCKSTEP_SUM_IN("col", m, n, k, type, letter, words);                                                            \
    }                                                                                                                        \
    LOCKSTEP_WMMA void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& f, unsigned stride, layout_t layout) { \
        if (layout == mem_row_major)                                                                                         \
            LOCKSTEP_SUM_OUT("row", m, n, k, type, letter, words);                                                           \
        else                                                                                                                 \
            LOCKSTEP_SUM_OUT("col", m, n, k, type, letter, words);                                                           \
    }

#define LOCKSTEP_PRODUCT_IN(la, wa, lb, wb, m, n, k, T, types, D, dl, dw, C, cl, cw, fl, aw, bw)                           \
    LOCKSTEP_WMMA void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, la>& a,         \
                                const fragment<matrix_b, m, n, k, T, lb>& b, const fragment<accumulator, m, n, k, C>& c) { \
        asm("wmma.mma.sync.aligned." wa "." wb ".m" #m "n" #n "k" #k types " {" LOCKSTEP_NAMES_##dw(d) "}, {"              \
            LOCKSTEP_NAMES_##aw(a) "}, {" LOCKSTEP_NAMES_##bw(b) "}, {" LOCKSTEP_NAMES_##cw(c) "};"                        \
            : LOCKSTEP_BIND_##dw(d, "=" dl)                                                                                \
            : LOCKSTEP_BIND_##aw(a, fl), LOCKSTEP_BIND_##bw(b, fl), LOCKSTEP_BIND_##cw(c, cl));                            \
    }
// d = a b + c in all four layouts; dl, cl, fl: letters of the registers of d, c and the factors; dw ...: how many.
#define LOCKSTEP_PRODUCT(...)                                           \
    LOCKSTEP_PRODUCT_IN(row_major, "row", row_major, "row", __VA_ARGS__) \
    LOCKSTEP_PRODUCT_IN(row_major, "row", col_major, "col", __VA_ARGS__) \
    LOCKSTEP_PRODUCT_IN(col_major, "col", row_major, "row", __VA_ARGS__) \
    LOCKSTEP_PRODUCT_IN(col_major, "col", col_major, "col", __VA_ARGS__)

// ---- the shapes of 16-bit and 8-bit factors: a and b take aw and bw registers of bf16, half as many of bytes
#define LOCKSTEP_SHAPE(m, n, k, aw, ae, bw, be, ab, abe, bb, bbe)                                        \
    LOCKSTEP_FACTOR(a, m, n, k, __half, "f16", __half, 16, unsigned, "r", 8)                             \
    LOCKSTEP_FACTOR(b, m, n, k, __half, "f16", __half, 16, unsigned, "r", 8)                             \
    LOCKSTEP_FACTOR(a, m, n, k, __nv_bfloat16, "bf16", __nv_bfloat16, ae, unsigned, "r", aw)             \
    LOCKSTEP_FACTOR(b, m, n, k, __nv_bfloat16, "bf16", __nv_bfloat16, be, unsigned, "r", bw)             \
    LOCKSTEP_FACTOR(a, m, n, k, signed char, "s8", signed char, abe, unsigned, "r", ab)                  \
    LOCKSTEP_FACTOR(b, m, n, k, signed char, "s8", signed char, bbe, unsigned, "r", bb)                  \
    LOCKSTEP_FACTOR(a, m, n, k, unsigned char, "u8", unsigned char, abe, unsigned, "r", ab)              \
    LOCKSTEP_FACTOR(b, m, n, k, unsigned char, "u8", unsigned char, bbe, unsigned, "r", bb)              \
    LOCKSTEP_SUM(m, n, k, float, "f32", 8, float, "f", 8)                                                \
    LOCKSTEP_SUM(m, n, k, __half, "f16", 8, unsigned, "r", 4)                                            \
    LOCKSTEP_SUM(m, n, k, int, "s32", 8, int, "r", 8)                                                    \
    LOCKSTEP_PRODUCT(m, n, k, __half, ".f32.f32", float, "f", 8, float, "f", 8, "r", 8, 8)               \
    LOCKSTEP_PRODUCT(m, n, k, __half, ".f32.f16", float, "f", 8, __half, "r", 4, "r", 8, 8)              \
    LOCKSTEP_PRODUCT(m, n, k, __half, ".f16.f32", __half, "r", 4, float, "f", 8, "r", 8, 8)              \
    LOCKSTEP_PRODUCT(m, n, k, __half, ".f16.f16", __half, "r", 4, __half, "r", 4, "r", 8, 8)             \
    LOCKSTEP_PRODUCT(m, n, k, __nv_bfloat16, ".f32.bf16.bf16.f32", float, "f", 8, float, "f", 8, "r", aw, bw) \
    LOCKSTEP_PRODUCT(m, n, k, signed char, ".s32.s8.s8.s32", int, "r", 8, int, "r", 8, "r", ab, bb)      \
    LOCKSTEP_PRODUCT(m, n, k, unsigned char, ".s32.u8.u8.s32", int, "r", 8, int, "r", 8, "r", ab, bb)
LOCKSTEP_SHAPE(16, 16, 16, 4, 8, 4, 8, 2, 8, 2, 8)
LOCKSTEP_SHAPE(32, 8, 16, 8, 16, 2, 4, 4, 16, 1, 4)
LOCKSTEP_SHAPE(8, 32, 16, 2, 4, 8, 16, 1, 4, 4, 16)
// ---- tf32 and f64
LOCKSTEP_FACTOR(a, 16, 16, 8, precision::tf32, "tf32", float, 4, unsigned, "r", 4)
LOCKSTEP_FACTOR(b, 16, 16, 8, precision::tf32, "tf32", float, 4, unsigned, "r", 4)
LOCKSTEP_SUM(16, 16, 8, float, "f32", 8, float, "f", 8)
LOCKSTEP_PRODUCT(16, 16, 8, precision::tf32, ".f32.tf32.tf32.f32", float, "f", 8, float, "f", 8, "r", 4, 4)
LOCKSTEP_FACTOR(a, 8, 8, 4, double, "f64", double, 1, double, "d", 1)
LOCKSTEP_FACTOR(b, 8, 8, 4, double, "f64", double, 1, double, "d", 1)
LOCKSTEP_SUM(8, 8, 4, double, "f64", 2, double, "d", 2)
LOCKSTEP_PRODUCT(8, 8, 4, double, ".f64.f64.f64.f64", double, "d", 2, double, "d", 2, "d", 1, 1)

template <class Use, int m, int n, int k, class T, class Layout, class Value>
LOCKSTEP_WMMA void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const Value& value) {
#pragma unroll
    for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}
LOCKSTEP_WMMA float __float_to_tf32(float a) {
    unsigned t;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(t) : "f"(a));
    return __uint_as_float(t);
}
}  // namespace wmma
}  // namespace nvcuda
