// The spellings of floating-point operations and of conversions, each with what it does in one lane.
// Included by opcodes.cpp alone, after forms_integer.h.
#pragma once
#include "core/ptx/arithmetic.h"
#include "core/ptx/lanes.h"

namespace lockstep::ptx {
namespace {

using f32 = float;
using f64 = double;
using f16 = Half;
using bf16 = Brain;

struct Pair {  // f16x2
    Half low, high;
};

inline float fused(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
inline double fused(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
inline Half fused(Half a, Half b, Half c) {  // rounded once: the sum in double is made odd when it is not exact
    const double product = static_cast<double>(widen(a)) * static_cast<double>(widen(b)),
                 addend = static_cast<double>(widen(c));
    const double s = product + addend, t = s - product;
    const double error = (product - (s - t)) + (addend - t);
    const uint64_t u = bits<uint64_t>(s);
    const bool finite = s - s == 0;
    // toward zero, then the last bit set: a sum between two floats never looks like a tie
    const bool beyond = finite && error != 0 && (error > 0) != (s > 0);
    const double odd = !finite || error == 0 ? s : bits<double>((beyond ? u - 1 : u) | 1u);
    // to float by truncation with a sticky bit, then once to f16
    const float near = static_cast<float>(odd);
    const uint32_t n = bits<uint32_t>(near);
    const double over = static_cast<double>(absolute(near)) - absolute(odd);
    const float sticky = finite && over != 0 ? bits<float>((over > 0 ? n - 1 : n) | 1u) : near;
    return to_half(sticky);
}

// The spellings of one f32 operation with flushing and saturation. a, b, c: its operands.
#define FLOAT_TWO(f)                                                                                            \
    {"{.rn}.f32", lanes([](f32 a, f32 b) { return canonical(f); })}, {"{.rn}.ftz.f32", lanes([](f32 x, f32 y) { \
                                                                          const f32 a = flush(x), b = flush(y); \
                                                                          return canonical(flush(f));           \
                                                                      })},                                      \
        {"{.rn}.sat.f32", lanes([](f32 a, f32 b) { return saturate(f); })}, {                                   \
        "{.rn}.ftz.sat.f32", lanes([](f32 x, f32 y) {                                                           \
            const f32 a = flush(x), b = flush(y);                                                               \
            return saturate(flush(f));                                                                          \
        })                                                                                                      \
    }
#define FLOAT_DIRECTED(modifier, f)                                             \
    {modifier ".f32", lanes([](f32 a, f32 b) { return f; })},                   \
        {modifier ".sat.f32", lanes([](f32 a, f32 b) { return saturate(f); })}, \
        {modifier ".ftz.f32", lanes([](f32 x, f32 y) {                          \
             const f32 a = flush(x), b = flush(y);                              \
             return flush(f);                                                   \
         })},                                                                   \
    {                                                                           \
        modifier ".ftz.sat.f32", lanes([](f32 x, f32 y) {                       \
            const f32 a = flush(x), b = flush(y);                               \
            return saturate(flush(f));                                          \
        })                                                                      \
    }
#define DIRECTED(operation)                                                                          \
    FLOAT_DIRECTED(".rz", operation(Toward::zero)), FLOAT_DIRECTED(".rm", operation(Toward::minus)), \
        FLOAT_DIRECTED(".rp", operation(Toward::plus))
#define ADD_TOWARD(toward) fma_toward<toward>(a, 1.0f, b)
#define SUB_TOWARD(toward) fma_toward<toward>(b, -1.0f, a)
#define MUL_TOWARD(toward) mul_toward<toward>(a, b)
#define HALF_TWO(operator)                                                                                            \
    {"{.rn}{.ftz}.f16", lanes([](f16 a, f16 b) { return to_half(widen(a) operator widen(b)); })},                     \
        {"{.rn}{.ftz}.sat.f16", lanes([](f16 a, f16 b) { return to_half(saturate(widen(a) operator widen(b))); })},   \
        {"{.rn}{.ftz}.f16x2", lanes([](Pair a, Pair b) {                                                              \
             return Pair{to_half(widen(a.low) operator widen(b.low)), to_half(widen(a.high) operator widen(b.high))}; \
         })},                                                                                                         \
    {                                                                                                                 \
        "{.rn}.bf16", lanes([](bf16 a, bf16 b) { return to_brain(widen(a) operator widen(b)); })                      \
    }
#define DOUBLE_TWO(f)                                                 \
    {                                                                 \
        "{.rn}.f64", lanes([](f64 a, f64 b) { return canonical(f); }) \
    }

constexpr Form add_f32[] = {FLOAT_TWO(a + b), DIRECTED(ADD_TOWARD)};
constexpr Form sub_f32[] = {FLOAT_TWO(a - b), DIRECTED(SUB_TOWARD)};
constexpr Form mul_f32[] = {FLOAT_TWO(a * b), DIRECTED(MUL_TOWARD)};
constexpr Form add_f64[] = {DOUBLE_TWO(a + b)};
constexpr Form sub_f64[] = {DOUBLE_TWO(a - b)};
constexpr Form mul_f64[] = {DOUBLE_TWO(a * b)};
constexpr Form div_f64[] = {{".rn.f64", lanes([](f64 a, f64 b) { return canonical(a / b); })}};
constexpr Form add_f16[] = {HALF_TWO(+)};
constexpr Form sub_f16[] = {HALF_TWO(-)};
constexpr Form mul_f16[] = {HALF_TWO(*)};

#define FMA_DIRECTED(modifier, toward)                                                                                   \
    {modifier ".f32", lanes([](f32 a, f32 b, f32 c) { return fma_toward<toward>(a, b, c); })},                           \
        {modifier ".sat.f32", lanes([](f32 a, f32 b, f32 c) { return saturate(fma_toward<toward>(a, b, c)); })},         \
        {modifier ".ftz.f32",                                                                                            \
         lanes([](f32 a, f32 b, f32 c) { return flush(fma_toward<toward>(flush(a), flush(b), flush(c))); })},            \
    {                                                                                                                    \
        modifier ".ftz.sat.f32",                                                                                         \
            lanes([](f32 a, f32 b, f32 c) { return saturate(flush(fma_toward<toward>(flush(a), flush(b), flush(c)))); }) \
    }
#define FMA(nearest)                                                                                        \
    {nearest ".f32", lanes([](f32 a, f32 b, f32 c) { return canonical(fused(a, b, c)); })},                 \
        {nearest ".sat.f32", lanes([](f32 a, f32 b, f32 c) { return saturate(fused(a, b, c)); })},          \
        {nearest ".ftz.f32",                                                                                \
         lanes([](f32 a, f32 b, f32 c) { return canonical(flush(fused(flush(a), flush(b), flush(c)))); })}, \
        {nearest ".ftz.sat.f32",                                                                            \
         lanes([](f32 a, f32 b, f32 c) { return saturate(flush(fused(flush(a), flush(b), flush(c)))); })},  \
        FMA_DIRECTED(".rz", Toward::zero), FMA_DIRECTED(".rm", Toward::minus), FMA_DIRECTED(".rp", Toward::plus)
constexpr Form fma_f32[] = {FMA(".rn")};
constexpr Form mad_f32[] = {FMA("{.rn}")};
constexpr Form fma_f64[] = {{".rn.f64", lanes([](f64 a, f64 b, f64 c) { return canonical(fused(a, b, c)); })}};
constexpr Form fma_f16[] = {
    {".rn{.ftz}.f16", lanes([](f16 a, f16 b, f16 c) { return fused(a, b, c); })},
    {".rn{.ftz}.f16x2", lanes([](Pair a, Pair b, Pair c) {
         return Pair{fused(a.low, b.low, c.low), fused(a.high, b.high, c.high)};
     })},
    {".rn.bf16", lanes([](bf16 a, bf16 b, bf16 c) { return to_brain(fused(widen(a), widen(b), widen(c))); })}};

inline float divide_approximately(float a, float b) {  // for |b| in (2^126, 2^128) the ISA gives a zero
    const float magnitude = absolute(b);
    const float q = a / b;
    return canonical(magnitude > 0x1p126f && magnitude < __builtin_inff() ? q * 0.0f + a * 0.0f : q);
}
#define DIV_DIRECTED(modifier, toward)                                                                         \
    {modifier ".f32", lanes([](f32 a, f32 b) { return div_toward<toward>(a, b); })}, {                         \
        modifier ".ftz.f32", lanes([](f32 a, f32 b) { return flush(div_toward<toward>(flush(a), flush(b))); }) \
    }
constexpr Form div_f32[] = {
    DIV_DIRECTED(".rz", Toward::zero),
    DIV_DIRECTED(".rm", Toward::minus),
    DIV_DIRECTED(".rp", Toward::plus),
    {".rn.f32", lanes([](f32 a, f32 b) { return canonical(a / b); })},
    {".rn.ftz.f32", lanes([](f32 a, f32 b) { return canonical(flush(flush(a) / flush(b))); })},
    {".full.f32", lanes([](f32 a, f32 b) { return canonical(a / b); })},
    {".full.ftz.f32", lanes([](f32 a, f32 b) { return canonical(flush(flush(a) / flush(b))); })},
    {".approx.f32", lanes([](f32 a, f32 b) { return divide_approximately(a, b); })},
    {".approx.ftz.f32", lanes([](f32 a, f32 b) { return flush(divide_approximately(flush(a), flush(b))); })}};

#define FLOAT_ONE(modifier, f)                                      \
    {modifier ".f32", lanes([](f32 a) { return canonical(f); })}, { \
        modifier ".ftz.f32", lanes([](f32 x) {                      \
            const f32 a = flush(x);                                 \
            return canonical(flush(f));                             \
        })                                                          \
    }
#define ONE_DIRECTED(f) \
    FLOAT_ONE(".rz", f(Toward::zero)), FLOAT_ONE(".rm", f(Toward::minus)), FLOAT_ONE(".rp", f(Toward::plus))
#define RCP_TOWARD(toward) div_toward<toward>(1.0f, a)
#define SQRT_TOWARD(toward) sqrt_toward<toward>(a)
constexpr Form rcp_f32[] = {FLOAT_ONE("(.rn|.approx)", 1.0f / a), ONE_DIRECTED(RCP_TOWARD)};
constexpr Form sqrt_f32[] = {FLOAT_ONE("(.rn|.approx)", __builtin_sqrtf(a)), ONE_DIRECTED(SQRT_TOWARD)};
constexpr Form rsqrt_f32[] = {FLOAT_ONE(".approx", static_cast<f32>(1.0 / __builtin_sqrt(static_cast<f64>(a))))};
constexpr Form ex2_f32[] = {FLOAT_ONE(".approx", ex2(a))};
constexpr Form lg2_f32[] = {FLOAT_ONE(".approx", lg2(a))};
constexpr Form sin_f32[] = {FLOAT_ONE(".approx", sine(a, 0.0))};
constexpr Form cos_f32[] = {FLOAT_ONE(".approx", sine(a, 1.0))};
constexpr Form tanh_f32[] = {{".approx.f32", lanes([](f32 a) { return hyperbolic_tangent(a); })}};
constexpr Form ex2_f16[] = {{".approx.f16", lanes([](f16 a) { return to_half(ex2(widen(a))); })}};
constexpr Form tanh_f16[] = {{".approx.f16", lanes([](f16 a) { return to_half(hyperbolic_tangent(widen(a))); })}};
constexpr Form rcp_f64[] = {{".rn.f64", lanes([](f64 a) { return canonical(1.0 / a); })},
                            {".approx.ftz.f64", lanes([](f64 a) { return canonical(1.0 / a); })}};
constexpr Form sqrt_f64[] = {{".rn.f64", lanes([](f64 a) { return canonical(__builtin_sqrt(a)); })}};
constexpr Form rsqrt_f64[] = {{".approx{.ftz}.f64", lanes([](f64 a) { return canonical(1.0 / __builtin_sqrt(a)); })}};

#define FLIP_SIGN(T, U, top) bits<T>(static_cast<U>(bits<U>(a) ^ U{top}))
constexpr Form neg_float[] = {{".f32", lanes([](f32 a) { return canonical(FLIP_SIGN(f32, uint32_t, 0x80000000u)); })},
                              {".ftz.f32", lanes([](f32 x) {
                                   const f32 a = flush(x);
                                   return canonical(FLIP_SIGN(f32, uint32_t, 0x80000000u));
                               })},
                              {"{.ftz}(.f16|.bf16)", lanes([](uint16_t a) { return static_cast<uint16_t>(a ^ 0x8000u); })},
                              {"{.ftz}.f16x2", lanes([](uint32_t a) { return a ^ 0x80008000u; })}};
constexpr Form neg_f64[] = {{".f64", lanes([](f64 a) { return FLIP_SIGN(f64, uint64_t, 0x8000000000000000ull); })}};
constexpr Form abs_float[] = {{".f32", lanes([](f32 a) { return canonical(absolute(a)); })},
                              {".ftz.f32", lanes([](f32 a) { return canonical(absolute(flush(a))); })},
                              {"{.ftz}(.f16|.bf16)", lanes([](uint16_t a) { return static_cast<uint16_t>(a & 0x7fffu); })},
                              {"{.ftz}.f16x2", lanes([](uint32_t a) { return a & 0x7fff7fffu; })}};
constexpr Form abs_f64[] = {{".f64", lanes([](f64 a) { return absolute(a); })}};
#define MIN_MAX(f, which)                                                                                          \
    constexpr Form which##_float[] = {                                                                             \
        {".f32", lanes([](f32 a, f32 b) { return f<uint32_t>(a, b); })},                                           \
        {".ftz.f32", lanes([](f32 a, f32 b) { return f<uint32_t>(flush(a), flush(b)); })},                         \
        {".NaN.f32", lanes([](f32 a, f32 b) { return canonical(a != a || b != b ? a + b : f<uint32_t>(a, b)); })}, \
        {"{.ftz}.f16", lanes([](f16 a, f16 b) { return to_half(f<uint32_t>(widen(a), widen(b))); })},              \
        {"{.ftz}.f16x2", lanes([](Pair a, Pair b) {                                                                \
             return Pair{to_half(f<uint32_t>(widen(a.low), widen(b.low))),                                         \
                         to_half(f<uint32_t>(widen(a.high), widen(b.high)))};                                      \
         })},                                                                                                      \
        {".bf16", lanes([](bf16 a, bf16 b) { return to_brain(f<uint32_t>(widen(a), widen(b))); })}};               \
    constexpr Form which##_f64[] = {{".f64", lanes([](f64 a, f64 b) { return f<uint64_t>(a, b); })}};
MIN_MAX(least, min)
MIN_MAX(greatest, max)
constexpr Form copysign_forms[] = {
    {".f32", lanes([](uint32_t a, uint32_t b) { return (a & 0x80000000u) | (b & 0x7fffffffu); })},
    {".f64", lanes([](uint64_t a, uint64_t b) { return (a & 1ull << 63) | (b & ~(1ull << 63)); })}};
#define TEST(modifier, f)                                \
    {modifier ".f32", lanes([](f32 a) { return f; })}, { \
        modifier ".f64", lanes([](f64 a) { return f; })  \
    }
constexpr Form testp_forms[] = {TEST(".finite", a - a == 0),
                                TEST(".infinite", a == a && a - a != 0),
                                TEST(".number", a == a),
                                TEST(".notanumber", a != a),
                                {".normal.f32", lanes([](f32 a) { return absolute(a) >= 0x1p-126f && a - a == 0; })},
                                {".subnormal.f32", lanes([](f32 a) { return a != 0 && absolute(a) < 0x1p-126f; })},
                                {".normal.f64", lanes([](f64 a) { return absolute(a) >= 0x1p-1022 && a - a == 0; })},
                                {".subnormal.f64", lanes([](f64 a) { return a != 0 && absolute(a) < 0x1p-1022; })}};

}  // namespace
}  // namespace lockstep::ptx
