// Mathematical functions for clang without a toolkit. Three sources:
//   the GPU's own instructions    sqrt, fma, floor, min, max ... (exact), __expf, __sinf ... (approximate, errors stated)
//   libclc                        LLVM's OpenCL C library, linked as bitcode and inlined where it is installed (LOCKSTEP_LIBCLC):
//                                 exp, log, pow, erf, tanh ... at most 2 units in the last place, tested function by function
//   here                          sin, cos, tan (lockstep_trigonometry.h), erfcf, tgamma, and, without libclc, short f32
//                                 versions of the commonest ones, each with its error
#pragma once

// ---- exact
LOCKSTEP_DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }  // a NaN loses against a number
LOCKSTEP_DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
LOCKSTEP_DEVICE float fabsf(float a) { return __nvvm_fabs_f(a); }
LOCKSTEP_DEVICE float sqrtf(float a) { return __nvvm_sqrt_rn_f(a); }
LOCKSTEP_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
LOCKSTEP_DEVICE float floorf(float a) { return __nvvm_floor_f(a); }
LOCKSTEP_DEVICE float ceilf(float a) { return __nvvm_ceil_f(a); }
LOCKSTEP_DEVICE float truncf(float a) { return __nvvm_trunc_f(a); }
LOCKSTEP_DEVICE float rintf(float a) { return __builtin_rintf(a); }  // ties to even
LOCKSTEP_DEVICE float nearbyintf(float a) { return __builtin_rintf(a); }
LOCKSTEP_DEVICE float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
LOCKSTEP_DEVICE float roundf(float a) { return truncf(a + copysignf(0.49999997f, a)); }
LOCKSTEP_DEVICE float fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
LOCKSTEP_DEVICE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
LOCKSTEP_DEVICE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
LOCKSTEP_DEVICE double fabs(double a) { return __nvvm_fabs_d(a); }
LOCKSTEP_DEVICE double sqrt(double a) { return __nvvm_sqrt_rn_d(a); }
LOCKSTEP_DEVICE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
LOCKSTEP_DEVICE double floor(double a) { return __nvvm_floor_d(a); }
LOCKSTEP_DEVICE double ceil(double a) { return __nvvm_ceil_d(a); }
LOCKSTEP_DEVICE double trunc(double a) { return __nvvm_trunc_d(a); }
LOCKSTEP_DEVICE double rint(double a) { return __builtin_rint(a); }
LOCKSTEP_DEVICE double nearbyint(double a) { return __builtin_rint(a); }
LOCKSTEP_DEVICE double copysign(double a, double b) { return __builtin_copysign(a, b); }
LOCKSTEP_DEVICE double round(double a) { return trunc(a + copysign(0.49999999999999994, a)); }
LOCKSTEP_DEVICE double fdim(double a, double b) { return a <= b ? 0.0 : a - b; }
LOCKSTEP_DEVICE int isnan(float a) { return a != a; }
LOCKSTEP_DEVICE int isnan(double a) { return a != a; }
LOCKSTEP_DEVICE int isinf(float a) { return fabsf(a) == INFINITY; }
LOCKSTEP_DEVICE int isinf(double a) { return fabs(a) == (double)INFINITY; }
LOCKSTEP_DEVICE int isfinite(float a) { return fabsf(a) < INFINITY; }
LOCKSTEP_DEVICE int isfinite(double a) { return fabs(a) < (double)INFINITY; }
LOCKSTEP_DEVICE int signbit(float a) { return (int)(__float_as_uint(a) >> 31); }
LOCKSTEP_DEVICE int signbit(double a) { return __double_as_longlong(a) < 0; }
LOCKSTEP_DEVICE int lrintf(float a) { return (int)rintf(a); }
LOCKSTEP_DEVICE long long llrintf(float a) { return (long long)rintf(a); }
LOCKSTEP_DEVICE int lroundf(float a) { return (int)roundf(a); }
LOCKSTEP_DEVICE long long llroundf(float a) { return (long long)roundf(a); }
LOCKSTEP_DEVICE long lrint(double a) { return (long)rint(a); }
LOCKSTEP_DEVICE long long llrint(double a) { return (long long)rint(a); }
LOCKSTEP_DEVICE long lround(double a) { return (long)round(a); }
LOCKSTEP_DEVICE long long llround(double a) { return (long long)round(a); }
LOCKSTEP_DEVICE int isnormal(float a) { return isfinite(a) && fabsf(a) >= 1.17549435e-38f; }
LOCKSTEP_DEVICE int isnormal(double a) { return isfinite(a) && fabs(a) >= 2.2250738585072014e-308; }
LOCKSTEP_DEVICE float nanf(const char*) { return NAN; }
LOCKSTEP_DEVICE double nan(const char*) { return NAN; }

// IEEE operations in a chosen rounding: to nearest, towards zero, up, down.
// A sum and a product are never joined into one fused operation: clang takes __nvvm_mul_rn_f for any product, so in assembly.
#define LOCKSTEP_ALONE(name, instruction, type, letter)                                              \
    LOCKSTEP_DEVICE type name(type a, type b) {                                                      \
        type result;                                                                                 \
        asm(instruction " %0, %1, %2;" : "=" letter(result) : letter(a), letter(b));                 \
        return result;                                                                               \
    }
#define LOCKSTEP_ROUNDED(mode, suffix)                                                                        \
    LOCKSTEP_ALONE(__fadd_##mode, "add." #suffix ".f32", float, "f")                                          \
    LOCKSTEP_ALONE(__fsub_##mode, "sub." #suffix ".f32", float, "f")                                          \
    LOCKSTEP_ALONE(__fmul_##mode, "mul." #suffix ".f32", float, "f")                                          \
    LOCKSTEP_ALONE(__dadd_##mode, "add." #suffix ".f64", double, "d")                                         \
    LOCKSTEP_ALONE(__dsub_##mode, "sub." #suffix ".f64", double, "d")                                         \
    LOCKSTEP_ALONE(__dmul_##mode, "mul." #suffix ".f64", double, "d")                                         \
    LOCKSTEP_DEVICE float __fdiv_##mode(float a, float b) { return __nvvm_div_##suffix##_f(a, b); }           \
    LOCKSTEP_DEVICE float __fmaf_##mode(float a, float b, float c) { return __nvvm_fma_##suffix##_f(a, b, c); } \
    LOCKSTEP_DEVICE float __frcp_##mode(float a) { return __nvvm_rcp_##suffix##_f(a); }                       \
    LOCKSTEP_DEVICE float __fsqrt_##mode(float a) { return __nvvm_sqrt_##suffix##_f(a); }                     \
    LOCKSTEP_DEVICE double __ddiv_##mode(double a, double b) { return __nvvm_div_##suffix##_d(a, b); }        \
    LOCKSTEP_DEVICE double __fma_##mode(double a, double b, double c) { return __nvvm_fma_##suffix##_d(a, b, c); } \
    LOCKSTEP_DEVICE double __drcp_##mode(double a) { return __nvvm_rcp_##suffix##_d(a); }                     \
    LOCKSTEP_DEVICE double __dsqrt_##mode(double a) { return __nvvm_sqrt_##suffix##_d(a); }                   \
    LOCKSTEP_DEVICE float __double2float_##mode(double a) { return __nvvm_d2f_##suffix(a); }                  \
    LOCKSTEP_DEVICE int __float2int_##mode(float a) { return __nvvm_f2i_##suffix(a); }                        \
    LOCKSTEP_DEVICE unsigned __float2uint_##mode(float a) { return __nvvm_f2ui_##suffix(a); }                 \
    LOCKSTEP_DEVICE long long __float2ll_##mode(float a) { return __nvvm_f2ll_##suffix(a); }                  \
    LOCKSTEP_DEVICE unsigned long long __float2ull_##mode(float a) { return __nvvm_f2ull_##suffix(a); }       \
    LOCKSTEP_DEVICE int __double2int_##mode(double a) { return __nvvm_d2i_##suffix(a); }                      \
    LOCKSTEP_DEVICE unsigned __double2uint_##mode(double a) { return __nvvm_d2ui_##suffix(a); }               \
    LOCKSTEP_DEVICE long long __double2ll_##mode(double a) { return __nvvm_d2ll_##suffix(a); }                \
    LOCKSTEP_DEVICE unsigned long long __double2ull_##mode(double a) { return __nvvm_d2ull_##suffix(a); }     \
    LOCKSTEP_DEVICE float __int2float_##mode(int a) { return __nvvm_i2f_##suffix(a); }                        \
    LOCKSTEP_DEVICE float __uint2float_##mode(unsigned a) { return __nvvm_ui2f_##suffix(a); }                 \
    LOCKSTEP_DEVICE float __ll2float_##mode(long long a) { return __nvvm_ll2f_##suffix(a); }                  \
    LOCKSTEP_DEVICE double __ll2double_##mode(long long a) { return __nvvm_ll2d_##suffix(a); }
LOCKSTEP_ROUNDED(rn, rn)
LOCKSTEP_ROUNDED(rz, rz)
LOCKSTEP_ROUNDED(ru, rp)
LOCKSTEP_ROUNDED(rd, rm)
#undef LOCKSTEP_ROUNDED
#undef LOCKSTEP_ALONE
LOCKSTEP_DEVICE double __int2double_rn(int a) { return a; }
LOCKSTEP_DEVICE double __uint2double_rn(unsigned a) { return a; }
LOCKSTEP_DEVICE double __ull2double_rn(unsigned long long a) { return (double)a; }
LOCKSTEP_DEVICE float __ull2float_rn(unsigned long long a) { return (float)a; }

// ---- the GPU's approximate instructions, with the PTX ISA's errors
LOCKSTEP_DEVICE float rsqrtf(float a) { return __nvvm_rsqrt_approx_f(a); }  // relative 2^-22
LOCKSTEP_DEVICE float __frsqrt_rn(float a) { return 1.0f / sqrtf(a); }
LOCKSTEP_DEVICE float __exp2f(float a) { return __nvvm_ex2_approx_f(a); }                      // relative 2^-22
LOCKSTEP_DEVICE float __expf(float a) { return __nvvm_ex2_approx_f(a * 1.44269504f); }        // relative 2^-22 + |a| 2^-23
LOCKSTEP_DEVICE float __exp10f(float a) { return __nvvm_ex2_approx_f(a * 3.32192809f); }      // relative 2^-22 + |a| 2^-22
LOCKSTEP_DEVICE float __log2f(float a) { return __nvvm_lg2_approx_f(a); }  // relative 2^-22; absolute where 0.5 < a < 2
LOCKSTEP_DEVICE float __logf(float a) { return __nvvm_lg2_approx_f(a) * 0.693147181f; }
LOCKSTEP_DEVICE float __log10f(float a) { return __nvvm_lg2_approx_f(a) * 0.301029996f; }
LOCKSTEP_DEVICE float __powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
LOCKSTEP_DEVICE float __sinf(float a) { return __nvvm_sin_approx_f(a); }  // absolute 2^-20 within [-pi, pi]
LOCKSTEP_DEVICE float __cosf(float a) { return __nvvm_cos_approx_f(a); }
LOCKSTEP_DEVICE float __tanf(float a) { return __sinf(a) / __cosf(a); }
LOCKSTEP_DEVICE void __sincosf(float a, float* s, float* c) {
    *s = __sinf(a);
    *c = __cosf(a);
}
LOCKSTEP_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }  // 2 units in the last place
LOCKSTEP_DEVICE float fdividef(float a, float b) { return a / b; }
LOCKSTEP_DEVICE float __saturatef(float a) { return __nvvm_saturate_f(a); }

// Lengths: sums of squares in f64, where those of f32 are exact and none overflows. At most 1 unit in the last place.
LOCKSTEP_DEVICE float norm3df(float a, float b, float c) {
    return (float)sqrt((double)a * a + (double)b * b + (double)c * c);
}
LOCKSTEP_DEVICE float norm4df(float a, float b, float c, float d) {
    return (float)sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d);
}
LOCKSTEP_DEVICE float rhypotf(float a, float b) { return (float)(1.0 / sqrt((double)a * a + (double)b * b)); }
LOCKSTEP_DEVICE float rnorm3df(float a, float b, float c) {
    return (float)(1.0 / sqrt((double)a * a + (double)b * b + (double)c * c));
}

LOCKSTEP_DEVICE float rnorm4df(float a, float b, float c, float d) {
    return (float)(1.0 / sqrt((double)a * a + (double)b * b + (double)c * c + (double)d * d));
}
// In f64 the longest part is scaled to 1, so that no square overflows. At most 2 units in the last place.
LOCKSTEP_DEVICE double norm4d(double a, double b, double c, double d) {
    const double most = fmax(fmax(fabs(a), fabs(b)), fmax(fabs(c), fabs(d)));
    if (most == 0 || isinf(most)) return most;
    const double u = a / most, v = b / most, w = c / most, x = d / most;
    return most * sqrt(fma(u, u, fma(v, v, fma(w, w, x * x))));
}
LOCKSTEP_DEVICE double norm3d(double a, double b, double c) { return norm4d(a, b, c, 0.0); }
LOCKSTEP_DEVICE double rnorm4d(double a, double b, double c, double d) { return 1.0 / norm4d(a, b, c, d); }
LOCKSTEP_DEVICE double rnorm3d(double a, double b, double c) { return 1.0 / norm4d(a, b, c, 0.0); }
LOCKSTEP_DEVICE double rhypot(double a, double b) { return 1.0 / norm4d(a, b, 0.0, 0.0); }

#include "lockstep_trigonometry.h"

#if defined LOCKSTEP_LIBCLC || defined LOCKSTEP_PROGRAM
#define LOCKSTEP_ALL_FUNCTIONS
#endif
#ifdef LOCKSTEP_LIBCLC
#define LOCKSTEP_UNARY(name, length)                                                                                     \
    extern "C" __attribute__((device)) float lockstep_clc_##name##f(float) __asm__("_Z" #length #name "f");              \
    extern "C" __attribute__((device)) double lockstep_clc_##name(double) __asm__("_Z" #length #name "d");
#define LOCKSTEP_BINARY(name, length)                                                                                    \
    extern "C" __attribute__((device)) float lockstep_clc_##name##f(float, float) __asm__("_Z" #length #name "ff");      \
    extern "C" __attribute__((device)) double lockstep_clc_##name(double, double) __asm__("_Z" #length #name "dd");      \
    LOCKSTEP_DEVICE float name##f(float a, float b) { return lockstep_clc_##name##f(a, b); }                             \
    LOCKSTEP_DEVICE double name(double a, double b) { return lockstep_clc_##name(a, b); }
#define LOCKSTEP_BOTH(name, length)                                                       \
    LOCKSTEP_UNARY(name, length)                                                          \
    LOCKSTEP_DEVICE float name##f(float a) { return lockstep_clc_##name##f(a); }          \
    LOCKSTEP_DEVICE double name(double a) { return lockstep_clc_##name(a); }
LOCKSTEP_BOTH(exp, 3)
LOCKSTEP_BOTH(exp2, 4)
LOCKSTEP_BOTH(exp10, 5)
LOCKSTEP_BOTH(expm1, 5)
LOCKSTEP_BOTH(log, 3)
LOCKSTEP_BOTH(log2, 4)
LOCKSTEP_BOTH(log10, 5)
LOCKSTEP_BOTH(log1p, 5)
LOCKSTEP_BOTH(asin, 4)
LOCKSTEP_BOTH(acos, 4)
LOCKSTEP_BOTH(atan, 4)
LOCKSTEP_BOTH(sinh, 4)
LOCKSTEP_BOTH(cosh, 4)
LOCKSTEP_BOTH(tanh, 4)
LOCKSTEP_BOTH(asinh, 5)
LOCKSTEP_BOTH(acosh, 5)
LOCKSTEP_BOTH(atanh, 5)
LOCKSTEP_BOTH(erf, 3)
LOCKSTEP_BOTH(cbrt, 4)
LOCKSTEP_BOTH(lgamma, 6)
LOCKSTEP_BOTH(sinpi, 5)
LOCKSTEP_BOTH(cospi, 5)
LOCKSTEP_BOTH(logb, 4)
LOCKSTEP_UNARY(erfc, 4)
LOCKSTEP_BINARY(pow, 3)
LOCKSTEP_BINARY(atan2, 5)
LOCKSTEP_BINARY(hypot, 5)
LOCKSTEP_BINARY(fmod, 4)
LOCKSTEP_BINARY(remainder, 9)
LOCKSTEP_BINARY(nextafter, 9)
#undef LOCKSTEP_UNARY
#undef LOCKSTEP_BINARY
#undef LOCKSTEP_BOTH
LOCKSTEP_DEVICE double erfc(double a) { return lockstep_clc_erfc(a); }
extern "C" __attribute__((device)) float lockstep_clc_ldexpf(float, int) __asm__("_Z5ldexpfi");
extern "C" __attribute__((device)) double lockstep_clc_ldexp(double, int) __asm__("_Z5ldexpdi");
extern "C" __attribute__((device)) int lockstep_clc_ilogbf(float) __asm__("_Z5ilogbf");
extern "C" __attribute__((device)) int lockstep_clc_ilogb(double) __asm__("_Z5ilogbd");
LOCKSTEP_DEVICE float ldexpf(float a, int e) { return lockstep_clc_ldexpf(a, e); }
LOCKSTEP_DEVICE double ldexp(double a, int e) { return lockstep_clc_ldexp(a, e); }
LOCKSTEP_DEVICE float scalbnf(float a, int e) { return ldexpf(a, e); }
LOCKSTEP_DEVICE double scalbn(double a, int e) { return ldexp(a, e); }
LOCKSTEP_DEVICE int ilogbf(float a) { return lockstep_clc_ilogbf(a); }
LOCKSTEP_DEVICE int ilogb(double a) { return lockstep_clc_ilogb(a); }
#elif defined LOCKSTEP_PROGRAM
#include "lockstep_math_alone.h"
#endif
#ifdef LOCKSTEP_ALL_FUNCTIONS
LOCKSTEP_DEVICE float erfcf(float a) { return (float)erfc((double)a); }  // libclc's own f32 version loses digits in the tail
LOCKSTEP_DEVICE double rsqrt(double a) { return 1.0 / sqrt(a); }
LOCKSTEP_DEVICE float rcbrtf(float a) { return (float)(1.0 / cbrt((double)a)); }
LOCKSTEP_DEVICE double rcbrt(double a) { return 1.0 / cbrt(a); }
LOCKSTEP_DEVICE float normcdff(float a) { return (float)(0.5 * erfc((double)a * -0.70710678118654752)); }
LOCKSTEP_DEVICE double normcdf(double a) { return 0.5 * erfc(a * -0.70710678118654752); }
LOCKSTEP_DEVICE float powif(float a, int b) { return powf(a, (float)b); }
LOCKSTEP_DEVICE void sincospif(float a, float* s, float* c) {
    *s = sinpif(a);
    *c = cospif(a);
}
LOCKSTEP_DEVICE void sincospi(double a, double* s, double* c) {
    *s = sinpi(a);
    *c = cospi(a);
}
LOCKSTEP_DEVICE float frexpf(float a, int* e) {
    if (a == 0 || !isfinite(a)) return *e = 0, a;
    *e = ilogbf(a) + 1;
    return ldexpf(a, -*e);
}
LOCKSTEP_DEVICE double frexp(double a, int* e) {
    if (a == 0 || !isfinite(a)) return *e = 0, a;
    *e = ilogb(a) + 1;
    return ldexp(a, -*e);
}
LOCKSTEP_DEVICE float modff(float a, float* whole) { return *whole = truncf(a), isinf(a) ? copysignf(0.0f, a) : copysignf(a - *whole, a); }
LOCKSTEP_DEVICE double modf(double a, double* whole) { return *whole = trunc(a), isinf(a) ? copysign(0.0, a) : copysign(a - *whole, a); }

// The gamma function: Stirling's series from 12 on, below it by Gamma(x) = Gamma(x + n) / (x (x + 1) ...), for negative x by
// reflection; powers are halved so that they do not overflow early. At most 12 units in the last place (f64).
LOCKSTEP_DEVICE double tgamma(double a) {
    if (a != a || (a < 0 && a == floor(a))) return NAN;
    if (a == 0) return copysign((double)INFINITY, a);
    if (a > 171.7) return INFINITY;
    const double x0 = fabs(a);
    const int steps = x0 < 12.0 ? 12 - (int)x0 : 0;
    double product = 1.0;
    for (int k = 0; k < steps; ++k) product *= x0 + k;
    const double x = x0 + steps, lost = x0 - (x - steps);  // what the sum rounded away
    const double t = 1.0 / x, u = t * t;
    double series = fma(u, -1.9175269175269175e-3, 8.4175084175084175e-4);
    series = fma(series, u, -5.9523809523809524e-4);
    series = fma(series, u, 7.9365079365079365e-4);
    series = fma(series, u, -2.7777777777777778e-3);
    series = fma(series, u, 8.3333333333333333e-2) * t;
    const double half = pow(x, 0.5 * x - 0.25);
    const double g = 2.5066282746310005 * half * exp(-x) * half * (1.0 + expm1(series)) * fma(lost, log(x), 1.0) / product;
    if (a > 0) return g;
    return -3.1415926535897932 / (x0 * sinpi(x0) * g);
}
LOCKSTEP_DEVICE float tgammaf(float a) { return (float)tgamma((double)a); }
#else
// ---- without libclc: f32 alone, errors as stated
LOCKSTEP_DEVICE float exp2f(float a) { return __exp2f(a); }
LOCKSTEP_DEVICE float log2f(float a) { return __log2f(a); }
// e^a = 2^i e^f with i whole and |f| <= ln 2 / 2; the product i ln 2 is taken off in two parts, so no digits are lost.
// Relative error below 2^-21 for every a.
LOCKSTEP_DEVICE float expf(float a) {
    if (a != a) return a;
    a = fminf(fmaxf(a, -110.0f), 90.0f);  // beyond: 0 and infinity all the same
    float i = rintf(a * 1.44269504f);
    float f = fmaf(i, -0.693145752f, a);
    f = fmaf(i, -1.42860677e-6f, f);
    return exp2f(i - 1.0f) * exp2f(f * 1.44269504f) * 2.0f;  // 2^128 alone would be infinite
}
LOCKSTEP_DEVICE float logf(float a) { return __logf(a); }  // relative 2^-21; absolute 2^-22 where 0.5 < a < 2
LOCKSTEP_DEVICE float log10f(float a) { return __log10f(a); }
LOCKSTEP_DEVICE float exp10f(float a) { return expf(a * 2.30258509f); }  // relative 2^-21 + |a| 2^-22
LOCKSTEP_DEVICE float powf(float a, float b) {  // a >= 0; relative 2^-20 (1 + |b log2 a|)
    return b == 0.0f ? 1.0f : exp2f(b * log2f(a));
}
LOCKSTEP_DEVICE float tanhf(float a) {  // absolute 2^-21
    float e = expf(-2.0f * fabsf(a));
    float t = (1.0f - e) / (1.0f + e);
    return a < 0.0f ? -t : t;
}
LOCKSTEP_DEVICE float erff(float a) {  // absolute 2^-22: Abramowitz and Stegun, 7.1.26
    float x = fabsf(a), t = 1.0f / fmaf(0.3275911f, x, 1.0f);
    float series = fmaf(t, 1.061405429f, -1.453152027f);
    series = fmaf(t, series, 1.421413741f);
    series = fmaf(t, series, -0.284496736f);
    series = fmaf(t, series, 0.254829592f) * t;
    return copysignf(1.0f - series * expf(-x * x), a);
}
LOCKSTEP_DEVICE float fmodf(float a, float b) {  // exact where |a / b| < 2^24
    if (b == 0.0f || fabsf(a) == INFINITY) return NAN;
    if (fabsf(b) == INFINITY) return a;
    float r = fmaf(-truncf(a / b), b, a);
    return r * a < 0.0f ? r + copysignf(fabsf(b), a) : r;  // where the division rounded up to a whole number
}
#endif

// ---- as C++ has them: one name for all types; an integer becomes a double
template <bool, class T = void>
struct lockstep_if {};
template <class T>
struct lockstep_if<true, T> {
    typedef T type;
};
#define LOCKSTEP_ONE_NAME(name)                                                                      \
    LOCKSTEP_DEVICE float name(float a) { return name##f(a); }                                       \
    template <class T, class = typename lockstep_if<__is_integral(T)>::type>                         \
    LOCKSTEP_DEVICE double name(T a) {                                                               \
        return name((double)a);                                                                      \
    }
#define LOCKSTEP_ONE_NAME_2(name)                                                                    \
    LOCKSTEP_DEVICE float name(float a, float b) { return name##f(a, b); }                           \
    template <class T, class S, class = typename lockstep_if<__is_arithmetic(T) && __is_arithmetic(S)>::type>  \
    LOCKSTEP_DEVICE double name(T a, S b) {                                                                    \
        return name((double)a, (double)b);                                                           \
    }
LOCKSTEP_ONE_NAME(fabs)
LOCKSTEP_ONE_NAME(sqrt)
LOCKSTEP_ONE_NAME(floor)
LOCKSTEP_ONE_NAME(ceil)
LOCKSTEP_ONE_NAME(trunc)
LOCKSTEP_ONE_NAME(rint)
LOCKSTEP_ONE_NAME(round)
LOCKSTEP_ONE_NAME(sin)
LOCKSTEP_ONE_NAME(cos)
LOCKSTEP_ONE_NAME(tan)
LOCKSTEP_ONE_NAME_2(fmin)
LOCKSTEP_ONE_NAME_2(fmax)
LOCKSTEP_ONE_NAME_2(copysign)
LOCKSTEP_DEVICE float fma(float a, float b, float c) { return fmaf(a, b, c); }
LOCKSTEP_DEVICE float fdim(float a, float b) { return fdimf(a, b); }
LOCKSTEP_DEVICE float nearbyint(float a) { return rintf(a); }
LOCKSTEP_DEVICE long lrint(float a) { return (long)rintf(a); }
LOCKSTEP_DEVICE long long llrint(float a) { return (long long)rintf(a); }
LOCKSTEP_DEVICE long lround(float a) { return (long)roundf(a); }
LOCKSTEP_DEVICE long long llround(float a) { return (long long)roundf(a); }
LOCKSTEP_DEVICE float abs(float a) { return fabsf(a); }
LOCKSTEP_DEVICE double abs(double a) { return fabs(a); }
#ifdef LOCKSTEP_ALL_FUNCTIONS
LOCKSTEP_DEVICE float rsqrt(float a) { return rsqrtf(a); }
LOCKSTEP_ONE_NAME(exp)
LOCKSTEP_ONE_NAME(exp2)
LOCKSTEP_ONE_NAME(expm1)
LOCKSTEP_ONE_NAME(log)
LOCKSTEP_ONE_NAME(log2)
LOCKSTEP_ONE_NAME(log10)
LOCKSTEP_ONE_NAME(log1p)
LOCKSTEP_ONE_NAME(asin)
LOCKSTEP_ONE_NAME(acos)
LOCKSTEP_ONE_NAME(atan)
LOCKSTEP_ONE_NAME(sinh)
LOCKSTEP_ONE_NAME(cosh)
LOCKSTEP_ONE_NAME(tanh)
LOCKSTEP_ONE_NAME(asinh)
LOCKSTEP_ONE_NAME(acosh)
LOCKSTEP_ONE_NAME(atanh)
LOCKSTEP_ONE_NAME(erf)
LOCKSTEP_ONE_NAME(erfc)
LOCKSTEP_ONE_NAME(cbrt)
LOCKSTEP_ONE_NAME(tgamma)
LOCKSTEP_ONE_NAME(lgamma)
LOCKSTEP_ONE_NAME_2(pow)
LOCKSTEP_ONE_NAME_2(atan2)
LOCKSTEP_ONE_NAME_2(hypot)
LOCKSTEP_ONE_NAME_2(fmod)
LOCKSTEP_ONE_NAME_2(remainder)
LOCKSTEP_ONE_NAME_2(nextafter)
LOCKSTEP_ONE_NAME(logb)
LOCKSTEP_DEVICE float ldexp(float a, int e) { return ldexpf(a, e); }
LOCKSTEP_DEVICE float scalbn(float a, int e) { return ldexpf(a, e); }
LOCKSTEP_DEVICE int ilogb(float a) { return ilogbf(a); }
LOCKSTEP_DEVICE float frexp(float a, int* e) { return frexpf(a, e); }
LOCKSTEP_DEVICE float modf(float a, float* whole) { return modff(a, whole); }
LOCKSTEP_DEVICE float rcbrt(float a) { return rcbrtf(a); }
LOCKSTEP_DEVICE float normcdf(float a) { return normcdff(a); }
LOCKSTEP_DEVICE float sinpi(float a) { return sinpif(a); }
LOCKSTEP_DEVICE float cospi(float a) { return cospif(a); }
LOCKSTEP_DEVICE float exp10(float a) { return exp10f(a); }
#endif
#undef LOCKSTEP_ONE_NAME
#undef LOCKSTEP_ONE_NAME_2
