// __nv_bfloat16 and __nv_bfloat162 for clang without a toolkit: names of CUDA's cuda_bf16.h. Arithmetic is f32, rounded to
// nearest even once: the same as the PTX instructions for sums, differences, products and quotients (24 bits are more than
// twice 8 and 2).
#pragma once
#define LOCKSTEP_BF16_DEVICE static __inline__ __attribute__((always_inline, nodebug, device))
#ifdef LOCKSTEP_PROGRAM  // the host has all of it too, but for atomics
#define LOCKSTEP_BF16 static __inline__ __attribute__((always_inline, nodebug, host, device))
#define LOCKSTEP_BF16_MEMBER __attribute__((host, device))
#else
#define LOCKSTEP_BF16 LOCKSTEP_BF16_DEVICE
#define LOCKSTEP_BF16_MEMBER __attribute__((device))
#endif

struct __nv_bfloat16_raw {
    unsigned short x;
};
struct __attribute__((aligned(2))) __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    LOCKSTEP_BF16_MEMBER __nv_bfloat16(__nv_bfloat16_raw raw) : bits(raw.x) {}
    LOCKSTEP_BF16_MEMBER __nv_bfloat16(float a) {
        const unsigned b = __builtin_bit_cast(unsigned, a);
        bits = a != a ? 0x7fff : (unsigned short)((b + 0x7fffu + (b >> 16 & 1u)) >> 16);
    }
    LOCKSTEP_BF16_MEMBER __nv_bfloat16(double a) : __nv_bfloat16((float)a) {}
    LOCKSTEP_BF16_MEMBER __nv_bfloat16(int a) : __nv_bfloat16((float)a) {}
    LOCKSTEP_BF16_MEMBER operator float() const { return __builtin_bit_cast(float, (unsigned)bits << 16); }
    LOCKSTEP_BF16_MEMBER operator __nv_bfloat16_raw() const { return {bits}; }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __attribute__((aligned(4))) __nv_bfloat162 {
    __nv_bfloat16 x, y;  // x in the low half
    __nv_bfloat162() = default;
    LOCKSTEP_BF16_MEMBER __nv_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) : x(low), y(high) {}
};
typedef __nv_bfloat162 nv_bfloat162;

LOCKSTEP_BF16 __nv_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __nv_bfloat16_raw{a}; }
LOCKSTEP_BF16 unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
LOCKSTEP_BF16 __nv_bfloat16 __float2bfloat16(float a) { return a; }
LOCKSTEP_BF16 __nv_bfloat16 __float2bfloat16_rn(float a) { return a; }
LOCKSTEP_BF16 __nv_bfloat16 __float2bfloat16_rz(float a) {
    return a != a ? __ushort_as_bfloat16(0x7fff) : __ushort_as_bfloat16((unsigned short)(__builtin_bit_cast(unsigned, a) >> 16));
}
LOCKSTEP_BF16 __nv_bfloat16 __double2bfloat16(double a) { return a; }
LOCKSTEP_BF16 __nv_bfloat16 __int2bfloat16_rn(int a) { return a; }
LOCKSTEP_BF16 float __bfloat162float(__nv_bfloat16 a) { return a; }
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
LOCKSTEP_BF16 int __bfloat162int_rn(__nv_bfloat16 a) { return (int)__builtin_rintf((float)a); }
LOCKSTEP_BF16 int __bfloat162int_rz(__nv_bfloat16 a) { return (int)(float)a; }
#else
LOCKSTEP_BF16 int __bfloat162int_rn(__nv_bfloat16 a) { return __float2int_rn(a); }
LOCKSTEP_BF16 int __bfloat162int_rz(__nv_bfloat16 a) { return __float2int_rz(a); }
#endif
LOCKSTEP_BF16 __nv_bfloat162 __floats2bfloat162_rn(float low, float high) { return {low, high}; }
LOCKSTEP_BF16 __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
LOCKSTEP_BF16 __nv_bfloat162 __float2bfloat162_rn(float a) { return {a, a}; }
LOCKSTEP_BF16 float2 __bfloat1622float2(__nv_bfloat162 a) { return {a.x, a.y}; }
LOCKSTEP_BF16 float __low2float(__nv_bfloat162 a) { return a.x; }
LOCKSTEP_BF16 float __high2float(__nv_bfloat162 a) { return a.y; }
LOCKSTEP_BF16 __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
LOCKSTEP_BF16 __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
LOCKSTEP_BF16 __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return {a, a}; }
LOCKSTEP_BF16 __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return {low, high}; }
LOCKSTEP_BF16 __nv_bfloat162 make_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) { return {low, high}; }

#define LOCKSTEP_TWO(name, expression)                                                                        \
    LOCKSTEP_BF16 __nv_bfloat16 __h##name(__nv_bfloat16 p, __nv_bfloat16 q) {                                 \
        const float a = p, b = q;                                                                             \
        return expression;                                                                                    \
    }                                                                                                         \
    LOCKSTEP_BF16 __nv_bfloat162 __h##name##2(__nv_bfloat162 p, __nv_bfloat162 q) {                           \
        return {__h##name(p.x, q.x), __h##name(p.y, q.y)};                                                    \
    }
LOCKSTEP_TWO(add, a + b)
LOCKSTEP_TWO(sub, a - b)
LOCKSTEP_TWO(mul, a * b)
LOCKSTEP_TWO(min, fminf(a, b))
LOCKSTEP_TWO(max, fmaxf(a, b))
#undef LOCKSTEP_TWO
LOCKSTEP_BF16 __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a / (float)b; }
LOCKSTEP_BF16 __nv_bfloat162 __h2div(__nv_bfloat162 a, __nv_bfloat162 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }
LOCKSTEP_BF16 __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    __nv_bfloat16 d;
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
    d = (float)((double)(float)a * (double)(float)b + (double)(float)c);
#else
    asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
#endif
    return d;
}
LOCKSTEP_BF16 __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
LOCKSTEP_BF16 __nv_bfloat16 __hneg(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.bits ^ 0x8000); }
LOCKSTEP_BF16 __nv_bfloat16 __habs(__nv_bfloat16 a) { return __ushort_as_bfloat16(a.bits & 0x7fff); }
LOCKSTEP_BF16 bool __hisnan(__nv_bfloat16 a) { return (a.bits & 0x7fff) > 0x7f80; }
#define LOCKSTEP_COMPARE(name, sign)                                                                          \
    LOCKSTEP_BF16 bool __h##name(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a sign(float) b; }         \
    LOCKSTEP_BF16 bool operator sign(__nv_bfloat16 a, __nv_bfloat16 b) { return (float)a sign(float) b; }
LOCKSTEP_COMPARE(eq, ==)
LOCKSTEP_COMPARE(ne, !=)
LOCKSTEP_COMPARE(lt, <)
LOCKSTEP_COMPARE(le, <=)
LOCKSTEP_COMPARE(gt, >)
LOCKSTEP_COMPARE(ge, >=)
#undef LOCKSTEP_COMPARE
LOCKSTEP_BF16 __nv_bfloat16 operator+(__nv_bfloat16 a, __nv_bfloat16 b) { return __hadd(a, b); }
LOCKSTEP_BF16 __nv_bfloat16 operator-(__nv_bfloat16 a, __nv_bfloat16 b) { return __hsub(a, b); }
LOCKSTEP_BF16 __nv_bfloat16 operator*(__nv_bfloat16 a, __nv_bfloat16 b) { return __hmul(a, b); }
LOCKSTEP_BF16 __nv_bfloat16 operator/(__nv_bfloat16 a, __nv_bfloat16 b) { return __hdiv(a, b); }
LOCKSTEP_BF16 __nv_bfloat16 operator-(__nv_bfloat16 a) { return __hneg(a); }
LOCKSTEP_BF16 __nv_bfloat16& operator+=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a + b; }
LOCKSTEP_BF16 __nv_bfloat16& operator-=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a - b; }
LOCKSTEP_BF16 __nv_bfloat16& operator*=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a * b; }
LOCKSTEP_BF16 __nv_bfloat162 operator+(__nv_bfloat162 a, __nv_bfloat162 b) { return __hadd2(a, b); }
LOCKSTEP_BF16 __nv_bfloat162 operator-(__nv_bfloat162 a, __nv_bfloat162 b) { return __hsub2(a, b); }
LOCKSTEP_BF16 __nv_bfloat162 operator*(__nv_bfloat162 a, __nv_bfloat162 b) { return __hmul2(a, b); }
LOCKSTEP_BF16 __nv_bfloat162 operator/(__nv_bfloat162 a, __nv_bfloat162 b) { return __h2div(a, b); }
LOCKSTEP_BF16 __nv_bfloat162 operator-(__nv_bfloat162 a) { return {__hneg(a.x), __hneg(a.y)}; }
LOCKSTEP_BF16 __nv_bfloat162& operator+=(__nv_bfloat162& a, __nv_bfloat162 b) { return a = a + b; }
LOCKSTEP_BF16 __nv_bfloat162& operator-=(__nv_bfloat162& a, __nv_bfloat162 b) { return a = a - b; }
LOCKSTEP_BF16 __nv_bfloat162& operator*=(__nv_bfloat162& a, __nv_bfloat162 b) { return a = a * b; }
LOCKSTEP_BF16 __nv_bfloat16& operator/=(__nv_bfloat16& a, __nv_bfloat16 b) { return a = a / b; }
#define LOCKSTEP_FUNCTION(name, expression)                                                                   \
    LOCKSTEP_BF16 __nv_bfloat16 h##name(__nv_bfloat16 h) {                                                    \
        const float a = h;                                                                                    \
        return expression;                                                                                    \
    }                                                                                                         \
    LOCKSTEP_BF16 __nv_bfloat162 h2##name(__nv_bfloat162 a) { return {h##name(a.x), h##name(a.y)}; }
LOCKSTEP_FUNCTION(exp2, exp2f(a))
LOCKSTEP_FUNCTION(log2, log2f(a))
LOCKSTEP_FUNCTION(log10, log10f(a))
LOCKSTEP_FUNCTION(sin, sinf(a))
LOCKSTEP_FUNCTION(cos, cosf(a))
LOCKSTEP_FUNCTION(floor, floorf(a))
LOCKSTEP_FUNCTION(ceil, ceilf(a))
LOCKSTEP_FUNCTION(trunc, truncf(a))
LOCKSTEP_FUNCTION(rint, rintf(a))
LOCKSTEP_FUNCTION(exp, expf(a))
LOCKSTEP_FUNCTION(log, logf(a))
LOCKSTEP_FUNCTION(sqrt, sqrtf(a))
LOCKSTEP_FUNCTION(rsqrt, rsqrtf(a))
LOCKSTEP_FUNCTION(rcp, 1.0f / a)
LOCKSTEP_FUNCTION(tanh, tanhf(a))
#undef LOCKSTEP_FUNCTION

#define LOCKSTEP_BF16_SHUFFLE(name, second)                                                                   \
    LOCKSTEP_BF16_DEVICE __nv_bfloat162 name(unsigned mask, __nv_bfloat162 value, second b, int width = 32) { \
        return __builtin_bit_cast(__nv_bfloat162, name(mask, __builtin_bit_cast(unsigned, value), b, width)); \
    }                                                                                                         \
    LOCKSTEP_BF16_DEVICE __nv_bfloat16 name(unsigned mask, __nv_bfloat16 value, second b, int width = 32) {   \
        return __ushort_as_bfloat16((unsigned short)name(mask, (unsigned)value.bits, b, width));              \
    }
LOCKSTEP_BF16_SHUFFLE(__shfl_sync, int)
LOCKSTEP_BF16_SHUFFLE(__shfl_up_sync, unsigned)
LOCKSTEP_BF16_SHUFFLE(__shfl_down_sync, unsigned)
LOCKSTEP_BF16_SHUFFLE(__shfl_xor_sync, int)
#undef LOCKSTEP_BF16_SHUFFLE

// As below compute capability 9.0, which has an instruction for it: a compare-and-swap loop.
LOCKSTEP_BF16_DEVICE __nv_bfloat162 atomicAdd(__nv_bfloat162* p, __nv_bfloat162 v) {
    unsigned* const word = (unsigned*)p;
    for (unsigned seen = *(volatile unsigned*)word;;) {
        const __nv_bfloat162 old = __builtin_bit_cast(__nv_bfloat162, seen);
        const __nv_bfloat162 sum(__nv_bfloat16((float)old.x + (float)v.x), __nv_bfloat16((float)old.y + (float)v.y));
        const unsigned before = atomicCAS(word, seen, __builtin_bit_cast(unsigned, sum));
        if (before == seen) return old;
        seen = before;
    }
}
LOCKSTEP_BF16_DEVICE __nv_bfloat16 atomicAdd(__nv_bfloat16* p, __nv_bfloat16 v) {
    unsigned* const word = (unsigned*)((unsigned long long)p & ~3ull);
    const unsigned shift = ((unsigned long long)p & 2) * 8;
    for (unsigned seen = *(volatile unsigned*)word;;) {
        const __nv_bfloat16 old = __ushort_as_bfloat16((unsigned short)(seen >> shift));
        const unsigned sum = __bfloat16_as_ushort(__nv_bfloat16((float)old + (float)v));
        const unsigned before = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | sum << shift);
        if (before == seen) return old;
        seen = before;
    }
}
#undef LOCKSTEP_BF16
#undef LOCKSTEP_BF16_DEVICE
#undef LOCKSTEP_BF16_MEMBER
