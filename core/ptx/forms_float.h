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

// --- cvt ------------------------------------------------------------------------------------------------------------

// Between integers, in registers of their natural size (8-bit types live in 16-bit registers).
template <class ToRegister, class To, class FromRegister, class From>
constexpr LaneFunction convert() {
    return lanes([](FromRegister a) { return static_cast<ToRegister>(static_cast<To>(static_cast<From>(a))); });
}
template <class ToRegister, class To, class FromRegister, class From>
constexpr LaneFunction convert_clamped() {
    return lanes([](FromRegister a) { return static_cast<ToRegister>(clamp_integer<To>(static_cast<From>(a))); });
}
#define CONVERT_FROM(name, R, T, from, F, S)                 \
    {"." name "." from, convert<R, T, F, S>()}, {            \
        ".sat." name "." from, convert_clamped<R, T, F, S>() \
    }
#define CONVERT_TO(name, R, T)                                                                \
    CONVERT_FROM(name, R, T, "u32", u32, u32), CONVERT_FROM(name, R, T, "s32", s32, s32),     \
        CONVERT_FROM(name, R, T, "u64", u64, u64), CONVERT_FROM(name, R, T, "s64", s64, s64), \
        CONVERT_FROM(name, R, T, "u16", u16, u16), CONVERT_FROM(name, R, T, "s16", s16, s16), \
        CONVERT_FROM(name, R, T, "u8", u16, u8), CONVERT_FROM(name, R, T, "s8", s16, s8)
constexpr Form cvt_integer[] = {CONVERT_TO("u32", u32, u32), CONVERT_TO("s32", s32, s32), CONVERT_TO("u64", u64, u64),
                                CONVERT_TO("s64", s64, s64), CONVERT_TO("u16", u16, u16), CONVERT_TO("s16", s16, s16),
                                CONVERT_TO("u8", u16, u8),   CONVERT_TO("s8", s16, s8)};

inline uint64_t load_lane(const std::byte* p, u32 bytes, int i) {
    return bytes == 2 ? lane<u16>(p, i) : bytes == 4 ? lane<u32>(p, i) : lane<u64>(p, i);
}
inline int128 narrow(uint64_t value, u32 width, bool is_signed) {
    const uint64_t kept = width >= 64 ? value : value & ((1ull << width) - 1);
    const bool negative = is_signed && (kept >> (width - 1) & 1u);
    return static_cast<int128>(kept) - (negative ? int128{1} << width : 0);
}
inline void convert_wide_registers(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[1]);
    for (int i = 0; i < 32; ++i) {
        const int128 value = narrow(load_lane(s[0], how[0], i), how[1], how[2] != 0);
        const int128 most = (int128{1} << (how[3] - (how[4] ? 1u : 0u))) - 1, smallest = how[4] ? -most - 1 : 0;
        const int128 clamped = !how[6] ? value : value > most ? most : value < smallest ? smallest : value;
        const uint64_t result = static_cast<uint64_t>(narrow(static_cast<uint64_t>(clamped), how[3], how[4] != 0));
        if (how[5] == 2) reinterpret_cast<u16*>(d[0])[i] = static_cast<u16>(result);
        if (how[5] == 4) reinterpret_cast<u32*>(d[0])[i] = static_cast<u32>(result);
        if (how[5] == 8) reinterpret_cast<u64*>(d[0])[i] = result;
    }
}
#define INTEGERS "(.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64)"
constexpr Form cvt_wide_registers[] = {{"{.sat}" INTEGERS INTEGERS, &convert_wide_registers}};

#define TO_INTEGER(name, R, T, modifier, round)                                                                            \
    {modifier "{.sat}." name ".f32", lanes([](f32 a) { return static_cast<R>(to_integer<T, round>(a)); })},                \
        {modifier ".ftz{.sat}." name ".f32", lanes([](f32 a) { return static_cast<R>(to_integer<T, round>(flush(a))); })}, \
        {modifier "{.sat}." name ".f64", lanes([](f64 a) { return static_cast<R>(to_integer<T, round>(a)); })}, {          \
        modifier "{.ftz}{.sat}." name ".f16", lanes([](f16 a) { return static_cast<R>(to_integer<T, round>(widen(a))); })  \
    }
#define TO_INTEGERS(modifier, round)                                                                \
    TO_INTEGER("s32", s32, s32, modifier, round), TO_INTEGER("u32", u32, u32, modifier, round),     \
        TO_INTEGER("s64", s64, s64, modifier, round), TO_INTEGER("u64", u64, u64, modifier, round), \
        TO_INTEGER("s16", s16, s16, modifier, round), TO_INTEGER("u16", u16, u16, modifier, round), \
        TO_INTEGER("s8", s16, s8, modifier, round), TO_INTEGER("u8", u16, u8, modifier, round)
constexpr Form cvt_to_integer[] = {TO_INTEGERS(".rzi", Round::zero), TO_INTEGERS(".rni", Round::nearest),
                                   TO_INTEGERS(".rmi", Round::minus), TO_INTEGERS(".rpi", Round::plus)};

#define FROM_INTEGER(name, R, T)                                                                         \
    {".rn."                                                                                              \
     "f32." name,                                                                                        \
     lanes([](R a) { return static_cast<f32>(static_cast<T>(a)); })},                                    \
        {".rn.sat.f32." name, lanes([](R a) { return saturate(static_cast<f32>(static_cast<T>(a))); })}, \
        {"{.rn}.f64." name, lanes([](R a) { return static_cast<f64>(static_cast<T>(a)); })}, {           \
        ".rn.f16." name, lanes([](R a) { return to_half(static_cast<f32>(static_cast<T>(a))); })         \
    }
#define FROM_SMALL_INTEGER(name, T)                                                                          \
    {".rz.f32." name, lanes([](T a) { return round_once<Toward::zero>(static_cast<f64>(a), 0.0); })},        \
        {".rm.f32." name, lanes([](T a) { return round_once<Toward::minus>(static_cast<f64>(a), 0.0); })}, { \
        ".rp.f32." name, lanes([](T a) { return round_once<Toward::plus>(static_cast<f64>(a), 0.0); })       \
    }
constexpr Form cvt_from_integer[] = {FROM_INTEGER("s32", s32, s32),  FROM_INTEGER("u32", u32, u32),
                                     FROM_INTEGER("s64", s64, s64),  FROM_INTEGER("u64", u64, u64),
                                     FROM_INTEGER("s16", s16, s16),  FROM_INTEGER("u16", u16, u16),
                                     FROM_INTEGER("s8", s16, s8),    FROM_INTEGER("u8", u16, u8),
                                     FROM_SMALL_INTEGER("s32", s32), FROM_SMALL_INTEGER("u32", u32)};

#define TO_INTEGRAL(modifier, round)                                                                     \
    {modifier ".f32.f32", lanes([](f32 a) { return canonical(integral<round>(a)); })},                   \
        {modifier ".ftz.f32.f32", lanes([](f32 a) { return canonical(integral<round>(flush(a))); })},    \
        {modifier ".sat.f32.f32", lanes([](f32 a) { return saturate(integral<round>(a)); })},            \
        {modifier ".ftz.sat.f32.f32", lanes([](f32 a) { return saturate(integral<round>(flush(a))); })}, \
        {modifier ".f64.f64", lanes([](f64 a) { return canonical(integral<round>(a)); })}, {             \
        modifier "{.ftz}.f16.f16", lanes([](f16 a) { return to_half(integral<round>(widen(a))); })       \
    }
#define NARROW(modifier, toward)                                                                           \
    {modifier ".f32.f64", lanes([](f64 a) { return canonical(round_once<toward>(a, 0.0)); })}, {           \
        modifier ".ftz.f32.f64", lanes([](f64 a) { return canonical(flush(round_once<toward>(a, 0.0))); }) \
    }
inline float sticky_float(double x) {  // so that rounding it to f16 rounds x once
    const float near = static_cast<float>(x);
    const double over = static_cast<double>(absolute(near)) - absolute(x);
    const uint32_t n = bits<uint32_t>(near);
    return over != 0 && over - over == 0 ? bits<float>((over > 0 ? n - 1 : n) | 1u) : near;
}
inline Half to_half_saturated(float x) {
    return to_half(saturate(x));
}
constexpr Form cvt_float[] = {{".f64.f32", lanes([](f32 a) { return canonical(static_cast<f64>(a)); })},
                              {".ftz.f64.f32", lanes([](f32 a) { return canonical(static_cast<f64>(flush(a))); })},
                              {".rn.f32.f64", lanes([](f64 a) { return canonical(static_cast<f32>(a)); })},
                              {".rn.ftz.f32.f64", lanes([](f64 a) { return canonical(flush(static_cast<f32>(a))); })},
                              {".rn.sat.f32.f64", lanes([](f64 a) { return saturate(static_cast<f32>(a)); })},
                              {".rn.ftz.sat.f32.f64", lanes([](f64 a) { return saturate(flush(static_cast<f32>(a))); })},
                              NARROW(".rz", Toward::zero),
                              NARROW(".rm", Toward::minus),
                              NARROW(".rp", Toward::plus),
                              {".f32.f32", lanes([](f32 a) { return canonical(a); })},
                              {".ftz.f32.f32", lanes([](f32 a) { return canonical(flush(a)); })},
                              {".sat.f32.f32", lanes([](f32 a) { return saturate(a); })},
                              {".ftz.sat.f32.f32", lanes([](f32 a) { return saturate(flush(a)); })},
                              {".f64.f64", lanes([](f64 a) { return canonical(a); })},
                              {".sat.f64.f64", lanes([](f64 a) { return saturate(a); })},
                              TO_INTEGRAL(".rni", Round::nearest),
                              TO_INTEGRAL(".rzi", Round::zero),
                              TO_INTEGRAL(".rmi", Round::minus),
                              TO_INTEGRAL(".rpi", Round::plus),
                              {"{.ftz}.f32.f16", lanes([](f16 a) { return canonical(widen(a)); })},
                              {".sat.f32.f16", lanes([](f16 a) { return saturate(widen(a)); })},
                              {".f64.f16", lanes([](f16 a) { return canonical(static_cast<f64>(widen(a))); })},
                              {".rn{.ftz}.f16.f32", lanes([](f32 a) { return to_half(a); })},
                              {".rn{.ftz}.sat.f16.f32", lanes([](f32 a) { return to_half_saturated(a); })},
                              {".rz{.ftz}.f16.f32", lanes([](f32 a) { return to_half_toward_zero(a); })},
                              {".rn.f16.f64", lanes([](f64 a) { return to_half(sticky_float(a)); })},
                              {".f16.f16", lanes([](f16 a) { return to_half(widen(a)); })},
                              {".f32.bf16", lanes([](bf16 a) { return canonical(widen(a)); })},
                              {".rn.bf16.f32", lanes([](f32 a) { return to_brain(a); })}};
constexpr Form cvt_pair[] = {{".rn.f16x2.f32", lanes([](f32 a, f32 b) { return Pair{to_half(b), to_half(a)}; })}};

}  // namespace
}  // namespace lockstep::ptx
