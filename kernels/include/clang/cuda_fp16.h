// __half and __half2 for clang without a toolkit: names and roundings of CUDA's cuda_fp16.h, each operation one PTX
// instruction (f16, f16x2); divisions and functions go through f32 and are rounded once more.
#pragma once
#ifdef LOCKSTEP_PROGRAM  // the host has all of it too, but for atomics and shuffles
#define LOCKSTEP_HALF static __inline__ __attribute__((always_inline, nodebug, host, device))
#define LOCKSTEP_HALF_MEMBER __attribute__((host, device))
#else
#define LOCKSTEP_HALF static __inline__ __attribute__((always_inline, nodebug, device))
#define LOCKSTEP_HALF_MEMBER __attribute__((device))
#endif
#define LOCKSTEP_HALF_DEVICE static __inline__ __attribute__((always_inline, nodebug, device))
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
#define LOCKSTEP_ON_HOST(host, device) host
#include "lockstep_half_host.h"
#else
#define LOCKSTEP_ON_HOST(host, device) device
#endif

struct __half_raw {
    unsigned short x;
};
struct __half2_raw {
    unsigned short x, y;
};
struct __attribute__((aligned(2))) __half {
    unsigned short bits;
    __half() = default;
    LOCKSTEP_HALF_MEMBER __half(__half_raw raw) : bits(raw.x) {}
    LOCKSTEP_HALF_MEMBER __half(float a) { LOCKSTEP_ON_HOST(bits = lockstep_half_of((double)a, 0);, asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(a));) }
    LOCKSTEP_HALF_MEMBER __half(double a) { LOCKSTEP_ON_HOST(bits = lockstep_half_of((double)a, 0);, asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(a));) }
#ifdef LOCKSTEP_PROGRAM
    LOCKSTEP_HALF_MEMBER __half(short a) : __half((int)a) {}
    LOCKSTEP_HALF_MEMBER __half(unsigned short a) : __half((unsigned)a) {}
    LOCKSTEP_HALF_MEMBER __half(long a) : __half((long long)a) {}
    LOCKSTEP_HALF_MEMBER __half(unsigned long a) : __half((float)a) {}
    LOCKSTEP_HALF_MEMBER __half(unsigned long long a) : __half((float)a) {}
#endif
    LOCKSTEP_HALF_MEMBER __half(int a) { LOCKSTEP_ON_HOST(bits = lockstep_half_of((double)a, 0);, asm("cvt.rn.f16.s32 %0, %1;" : "=h"(bits) : "r"(a));) }
    LOCKSTEP_HALF_MEMBER __half(unsigned a) { LOCKSTEP_ON_HOST(bits = lockstep_half_of((double)a, 0);, asm("cvt.rn.f16.u32 %0, %1;" : "=h"(bits) : "r"(a));) }
    LOCKSTEP_HALF_MEMBER __half(long long a) { LOCKSTEP_ON_HOST(bits = lockstep_half_of((double)a, 0);, asm("cvt.rn.f16.s64 %0, %1;" : "=h"(bits) : "l"(a));) }
    LOCKSTEP_HALF_MEMBER operator float() const {
        float a;
        LOCKSTEP_ON_HOST(a = lockstep_half_value(bits);, asm("cvt.f32.f16 %0, %1;" : "=f"(a) : "h"(bits));)
        return a;
    }
    LOCKSTEP_HALF_MEMBER operator __half_raw() const { return {bits}; }
};
typedef __half half;
struct __attribute__((aligned(4))) __half2 {
    __half x, y;  // x in the low half
    __half2() = default;
    LOCKSTEP_HALF_MEMBER __half2(__half low, __half high) : x(low), y(high) {}
};
typedef __half2 half2;
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
#include "lockstep_half_operations_host.h"
#endif

LOCKSTEP_HALF __half __ushort_as_half(unsigned short a) { return __half_raw{a}; }
LOCKSTEP_HALF __half __short_as_half(short a) { return __half_raw{(unsigned short)a}; }
LOCKSTEP_HALF unsigned short __half_as_ushort(__half a) { return a.bits; }
LOCKSTEP_HALF short __half_as_short(__half a) { return (short)a.bits; }
LOCKSTEP_HALF unsigned lockstep_bits(__half2 a) { return a.x.bits | (unsigned)a.y.bits << 16; }
LOCKSTEP_HALF __half2 lockstep_half2(unsigned a) {
    return {__ushort_as_half((unsigned short)a), __ushort_as_half((unsigned short)(a >> 16))};
}

// ---- conversions
#define LOCKSTEP_FROM(name, type, letter, text)                               \
    LOCKSTEP_HALF __half name(type a) {                                       \
        __half h;                                                             \
        LOCKSTEP_ON_HOST(h.bits = lockstep_half_of((double)a, lockstep_rounding(text));,            \
                         asm("cvt." text " %0, %1;" : "=h"(h.bits) : letter(a));)                   \
        return h;                                                             \
    }
LOCKSTEP_FROM(__float2half, float, "f", "rn.f16.f32")
LOCKSTEP_FROM(__float2half_rn, float, "f", "rn.f16.f32")
LOCKSTEP_FROM(__float2half_rz, float, "f", "rz.f16.f32")
LOCKSTEP_FROM(__float2half_rd, float, "f", "rm.f16.f32")
LOCKSTEP_FROM(__float2half_ru, float, "f", "rp.f16.f32")
LOCKSTEP_FROM(__double2half, double, "d", "rn.f16.f64")
LOCKSTEP_FROM(__int2half_rn, int, "r", "rn.f16.s32")
LOCKSTEP_FROM(__uint2half_rn, unsigned, "r", "rn.f16.u32")
LOCKSTEP_FROM(__short2half_rn, short, "h", "rn.f16.s16")
LOCKSTEP_FROM(__ushort2half_rn, unsigned short, "h", "rn.f16.u16")
LOCKSTEP_FROM(__ll2half_rn, long long, "l", "rn.f16.s64")
#undef LOCKSTEP_FROM
#define LOCKSTEP_TO(name, type, letter, text)                                 \
    LOCKSTEP_HALF type name(__half h) {                                       \
        type a;                                                               \
        LOCKSTEP_ON_HOST(a = lockstep_from_half<type>(lockstep_half_value(h.bits), text);,           \
                         asm("cvt." text " %0, %1;" : letter(a) : "h"(h.bits));)                    \
        return a;                                                             \
    }
LOCKSTEP_TO(__half2float, float, "=f", "f32.f16")
LOCKSTEP_TO(__half2int_rn, int, "=r", "rni.s32.f16")
LOCKSTEP_TO(__half2int_rz, int, "=r", "rzi.s32.f16")
LOCKSTEP_TO(__half2int_rd, int, "=r", "rmi.s32.f16")
LOCKSTEP_TO(__half2int_ru, int, "=r", "rpi.s32.f16")
LOCKSTEP_TO(__half2uint_rn, unsigned, "=r", "rni.u32.f16")
LOCKSTEP_TO(__half2uint_rz, unsigned, "=r", "rzi.u32.f16")
LOCKSTEP_TO(__half2short_rn, short, "=h", "rni.s16.f16")
LOCKSTEP_TO(__half2short_rz, short, "=h", "rzi.s16.f16")
LOCKSTEP_TO(__half2ll_rn, long long, "=l", "rni.s64.f16")
#undef LOCKSTEP_TO
LOCKSTEP_HALF __half2 __floats2half2_rn(float low, float high) { return {__float2half_rn(low), __float2half_rn(high)}; }
LOCKSTEP_HALF __half2 __float22half2_rn(float2 a) { return __floats2half2_rn(a.x, a.y); }
LOCKSTEP_HALF __half2 __float2half2_rn(float a) { return __floats2half2_rn(a, a); }
LOCKSTEP_HALF float2 __half22float2(__half2 a) { return {__half2float(a.x), __half2float(a.y)}; }
LOCKSTEP_HALF float __low2float(__half2 a) { return __half2float(a.x); }
LOCKSTEP_HALF float __high2float(__half2 a) { return __half2float(a.y); }
LOCKSTEP_HALF __half __low2half(__half2 a) { return a.x; }
LOCKSTEP_HALF __half __high2half(__half2 a) { return a.y; }
LOCKSTEP_HALF __half2 __half2half2(__half a) { return {a, a}; }
LOCKSTEP_HALF __half2 __halves2half2(__half low, __half high) { return {low, high}; }
LOCKSTEP_HALF __half2 make_half2(__half low, __half high) { return {low, high}; }
LOCKSTEP_HALF __half2 __low2half2(__half2 a) { return {a.x, a.x}; }
LOCKSTEP_HALF __half2 __high2half2(__half2 a) { return {a.y, a.y}; }
LOCKSTEP_HALF __half2 __lows2half2(__half2 a, __half2 b) { return {a.x, b.x}; }
LOCKSTEP_HALF __half2 __highs2half2(__half2 a, __half2 b) { return {a.y, b.y}; }
LOCKSTEP_HALF __half2 __lowhigh2highlow(__half2 a) { return {a.y, a.x}; }

// ---- arithmetic
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
#define LOCKSTEP_TWO(name, text)                                                                              \
    LOCKSTEP_HALF __half name(__half a, __half b) { return lockstep_half_operation(text, (float)a, (float)b); } \
    LOCKSTEP_HALF __half2 name##2(__half2 a, __half2 b) { return {name(a.x, b.x), name(a.y, b.y)}; }
#else
#define LOCKSTEP_TWO(name, text)                                                                              \
    LOCKSTEP_HALF __half name(__half a, __half b) {                                                           \
        __half d;                                                                                             \
        asm(text ".f16 %0, %1, %2;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits));                               \
        return d;                                                                                             \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 name##2(__half2 a, __half2 b) {                                                     \
        unsigned d;                                                                                           \
        asm(text ".f16x2 %0, %1, %2;" : "=r"(d) : "r"(lockstep_bits(a)), "r"(lockstep_bits(b)));              \
        return lockstep_half2(d);                                                                             \
    }
#endif
LOCKSTEP_TWO(__hadd, "add.rn")
LOCKSTEP_TWO(__hsub, "sub.rn")
LOCKSTEP_TWO(__hmul, "mul.rn")
LOCKSTEP_TWO(__hadd_rn, "add.rn")
LOCKSTEP_TWO(__hsub_rn, "sub.rn")
LOCKSTEP_TWO(__hmul_rn, "mul.rn")
LOCKSTEP_TWO(__hmin, "min")
LOCKSTEP_TWO(__hmax, "max")
LOCKSTEP_TWO(__hmin_nan, "min.NaN")
LOCKSTEP_TWO(__hmax_nan, "max.NaN")
#undef LOCKSTEP_TWO
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
#define LOCKSTEP_SATURATED(name, text)                                                                        \
    LOCKSTEP_HALF __half name##_sat(__half a, __half b) {                                                     \
        return lockstep_half_saturated(lockstep_half_operation(text, (float)a, (float)b));                    \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 name##2_sat(__half2 a, __half2 b) { return {name##_sat(a.x, b.x), name##_sat(a.y, b.y)}; }
#else
#define LOCKSTEP_SATURATED(name, text)                                                                        \
    LOCKSTEP_HALF __half name##_sat(__half a, __half b) {                                                     \
        __half d;                                                                                             \
        asm(text ".sat.f16 %0, %1, %2;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits));                           \
        return d;                                                                                             \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 name##2_sat(__half2 a, __half2 b) {                                                 \
        unsigned d;                                                                                           \
        asm(text ".sat.f16x2 %0, %1, %2;" : "=r"(d) : "r"(lockstep_bits(a)), "r"(lockstep_bits(b)));          \
        return lockstep_half2(d);                                                                             \
    }
#endif
LOCKSTEP_SATURATED(__hadd, "add")
LOCKSTEP_SATURATED(__hsub, "sub")
LOCKSTEP_SATURATED(__hmul, "mul")
#undef LOCKSTEP_SATURATED
#if defined LOCKSTEP_PROGRAM && !defined __CUDA_ARCH__
#define LOCKSTEP_FMA(name, text)                                                                              \
    LOCKSTEP_HALF __half __hfma##name(__half a, __half b, __half c) {                                         \
        return lockstep_half_fma(text, (float)a, (float)b, (float)c);                                         \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 __hfma2##name(__half2 a, __half2 b, __half2 c) {                                    \
        return {__hfma##name(a.x, b.x, c.x), __hfma##name(a.y, b.y, c.y)};                                    \
    }
#else
#define LOCKSTEP_FMA(name, text)                                                                              \
    LOCKSTEP_HALF __half __hfma##name(__half a, __half b, __half c) {                                         \
        __half d;                                                                                             \
        asm(text ".f16 %0, %1, %2, %3;" : "=h"(d.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));              \
        return d;                                                                                             \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 __hfma2##name(__half2 a, __half2 b, __half2 c) {                                    \
        unsigned d;                                                                                           \
        asm(text ".f16x2 %0, %1, %2, %3;"                                                                     \
            : "=r"(d)                                                                                         \
            : "r"(lockstep_bits(a)), "r"(lockstep_bits(b)), "r"(lockstep_bits(c)));                           \
        return lockstep_half2(d);                                                                             \
    }
#endif
LOCKSTEP_FMA(, "fma.rn")
LOCKSTEP_FMA(_sat, "fma.rn.sat")
LOCKSTEP_FMA(_relu, "fma.rn.relu")
#undef LOCKSTEP_FMA
LOCKSTEP_HALF __half __hneg(__half a) { return __ushort_as_half(a.bits ^ 0x8000); }
LOCKSTEP_HALF __half __habs(__half a) { return __ushort_as_half(a.bits & 0x7fff); }
LOCKSTEP_HALF __half __hdiv(__half a, __half b) { return __float2half_rn(__half2float(a) / __half2float(b)); }
LOCKSTEP_HALF __half2 __hneg2(__half2 a) { return {__hneg(a.x), __hneg(a.y)}; }
LOCKSTEP_HALF __half2 __habs2(__half2 a) { return {__habs(a.x), __habs(a.y)}; }
LOCKSTEP_HALF __half2 __h2div(__half2 a, __half2 b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; }

// ---- comparisons: false for a NaN, but for those with u
#define LOCKSTEP_COMPARE(name, expression, unordered)                                                         \
    LOCKSTEP_HALF bool __h##name(__half p, __half q) {                                                        \
        const float a = __half2float(p), b = __half2float(q);                                                 \
        return expression;                                                                                    \
    }                                                                                                         \
    LOCKSTEP_HALF bool __h##name##u(__half p, __half q) {                                                     \
        const float a = __half2float(p), b = __half2float(q);                                                 \
        return unordered;                                                                                     \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 __h##name##2(__half2 p, __half2 q) {                                                \
        return {__half(__h##name(p.x, q.x) ? 1.0f : 0.0f), __half(__h##name(p.y, q.y) ? 1.0f : 0.0f)};        \
    }                                                                                                         \
    LOCKSTEP_HALF bool __hb##name##2(__half2 p, __half2 q) { return __h##name(p.x, q.x) && __h##name(p.y, q.y); }
LOCKSTEP_COMPARE(eq, a == b, !(a < b || a > b))
LOCKSTEP_COMPARE(ne, a < b || a > b, !(a == b))
LOCKSTEP_COMPARE(lt, a < b, !(a >= b))
LOCKSTEP_COMPARE(le, a <= b, !(a > b))
LOCKSTEP_COMPARE(gt, a > b, !(a <= b))
LOCKSTEP_COMPARE(ge, a >= b, !(a < b))
#undef LOCKSTEP_COMPARE
LOCKSTEP_HALF bool __hisnan(__half a) { return (a.bits & 0x7fff) > 0x7c00; }
LOCKSTEP_HALF int __hisinf(__half a) { return a.bits == 0x7c00 ? 1 : a.bits == 0xfc00 ? -1 : 0; }

LOCKSTEP_HALF __half operator+(__half a, __half b) { return __hadd(a, b); }
LOCKSTEP_HALF __half operator-(__half a, __half b) { return __hsub(a, b); }
LOCKSTEP_HALF __half operator*(__half a, __half b) { return __hmul(a, b); }
LOCKSTEP_HALF __half operator/(__half a, __half b) { return __hdiv(a, b); }
LOCKSTEP_HALF __half operator-(__half a) { return __hneg(a); }
LOCKSTEP_HALF __half& operator+=(__half& a, __half b) { return a = a + b; }
LOCKSTEP_HALF __half& operator-=(__half& a, __half b) { return a = a - b; }
LOCKSTEP_HALF __half& operator*=(__half& a, __half b) { return a = a * b; }
LOCKSTEP_HALF __half& operator/=(__half& a, __half b) { return a = a / b; }
LOCKSTEP_HALF bool operator==(__half a, __half b) { return __heq(a, b); }
LOCKSTEP_HALF bool operator!=(__half a, __half b) { return __hneu(a, b); }
LOCKSTEP_HALF bool operator<(__half a, __half b) { return __hlt(a, b); }
LOCKSTEP_HALF bool operator<=(__half a, __half b) { return __hle(a, b); }
LOCKSTEP_HALF bool operator>(__half a, __half b) { return __hgt(a, b); }
LOCKSTEP_HALF bool operator>=(__half a, __half b) { return __hge(a, b); }
LOCKSTEP_HALF __half2 operator+(__half2 a, __half2 b) { return __hadd2(a, b); }
LOCKSTEP_HALF __half2 operator-(__half2 a, __half2 b) { return __hsub2(a, b); }
LOCKSTEP_HALF __half2 operator*(__half2 a, __half2 b) { return __hmul2(a, b); }
LOCKSTEP_HALF __half2 operator/(__half2 a, __half2 b) { return __h2div(a, b); }
LOCKSTEP_HALF __half2& operator+=(__half2& a, __half2 b) { return a = a + b; }
LOCKSTEP_HALF __half2& operator*=(__half2& a, __half2 b) { return a = a * b; }
LOCKSTEP_HALF __half2& operator-=(__half2& a, __half2 b) { return a = a - b; }
LOCKSTEP_HALF __half2& operator/=(__half2& a, __half2 b) { return a = a / b; }
LOCKSTEP_HALF __half2 operator-(__half2 a) { return __hneg2(a); }
LOCKSTEP_HALF __half2 operator+(__half2 a) { return a; }
LOCKSTEP_HALF __half operator+(__half a) { return a; }
LOCKSTEP_HALF bool operator==(__half2 a, __half2 b) { return __hbeq2(a, b); }
LOCKSTEP_HALF bool operator!=(__half2 a, __half2 b) { return __hneu(a.x, b.x) && __hneu(a.y, b.y); }
LOCKSTEP_HALF bool operator<(__half2 a, __half2 b) { return __hblt2(a, b); }
LOCKSTEP_HALF bool operator<=(__half2 a, __half2 b) { return __hble2(a, b); }
LOCKSTEP_HALF bool operator>(__half2 a, __half2 b) { return __hbgt2(a, b); }
LOCKSTEP_HALF bool operator>=(__half2 a, __half2 b) { return __hbge2(a, b); }
LOCKSTEP_HALF __half& operator++(__half& a) { return a = a + __ushort_as_half(0x3c00); }
LOCKSTEP_HALF __half& operator--(__half& a) { return a = a - __ushort_as_half(0x3c00); }
LOCKSTEP_HALF __half operator++(__half& a, int) {
    const __half before = a;
    return ++a, before;
}
LOCKSTEP_HALF __half operator--(__half& a, int) {
    const __half before = a;
    return --a, before;
}

// ---- functions: in f32, rounded
#define LOCKSTEP_FUNCTION(name, expression)                                                                   \
    LOCKSTEP_HALF __half h##name(__half h) {                                                                  \
        const float a = __half2float(h);                                                                      \
        return __float2half_rn(expression);                                                                   \
    }                                                                                                         \
    LOCKSTEP_HALF __half2 h2##name(__half2 a) { return {h##name(a.x), h##name(a.y)}; }
LOCKSTEP_FUNCTION(exp, expf(a))
LOCKSTEP_FUNCTION(exp2, exp2f(a))
LOCKSTEP_FUNCTION(log, logf(a))
LOCKSTEP_FUNCTION(log2, log2f(a))
LOCKSTEP_FUNCTION(log10, log10f(a))
LOCKSTEP_FUNCTION(sin, sinf(a))
LOCKSTEP_FUNCTION(cos, cosf(a))
LOCKSTEP_FUNCTION(sqrt, sqrtf(a))
LOCKSTEP_FUNCTION(rsqrt, rsqrtf(a))
LOCKSTEP_FUNCTION(rcp, 1.0f / a)
LOCKSTEP_FUNCTION(floor, floorf(a))
LOCKSTEP_FUNCTION(ceil, ceilf(a))
LOCKSTEP_FUNCTION(trunc, truncf(a))
LOCKSTEP_FUNCTION(rint, rintf(a))
LOCKSTEP_FUNCTION(tanh, tanhf(a))
#undef LOCKSTEP_FUNCTION

// ---- atomics, shuffles, read-only loads
LOCKSTEP_HALF_DEVICE __half2 atomicAdd(__half2* p, __half2 v) {
    unsigned old;
    asm volatile("atom.add.noftz.f16x2 %0, [%1], %2;" : "=r"(old) : "l"(p), "r"(lockstep_bits(v)) : "memory");
    return lockstep_half2(old);
}
LOCKSTEP_HALF_DEVICE __half atomicAdd(__half* p, __half v) {
    __half old;
    asm volatile("atom.add.noftz.f16 %0, [%1], %2;" : "=h"(old.bits) : "l"(p), "h"(v.bits) : "memory");
    return old;
}
#define LOCKSTEP_HALF_SHUFFLE(name, second)                                                                   \
    LOCKSTEP_HALF_DEVICE __half2 name(unsigned mask, __half2 value, second b, int width = 32) {                      \
        return lockstep_half2(name(mask, lockstep_bits(value), b, width));                                    \
    }                                                                                                         \
    LOCKSTEP_HALF_DEVICE __half name(unsigned mask, __half value, second b, int width = 32) {                        \
        return __ushort_as_half((unsigned short)name(mask, (unsigned)value.bits, b, width));                  \
    }
LOCKSTEP_HALF_SHUFFLE(__shfl_sync, int)
LOCKSTEP_HALF_SHUFFLE(__shfl_up_sync, unsigned)
LOCKSTEP_HALF_SHUFFLE(__shfl_down_sync, unsigned)
LOCKSTEP_HALF_SHUFFLE(__shfl_xor_sync, int)
#undef LOCKSTEP_HALF_SHUFFLE
#undef LOCKSTEP_HALF
#undef LOCKSTEP_HALF_DEVICE
#undef LOCKSTEP_HALF_MEMBER
#undef LOCKSTEP_ON_HOST
