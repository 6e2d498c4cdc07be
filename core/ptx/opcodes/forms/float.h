// The spellings of f32 operations, with testp and copysign of both types, each with what it does in one lane.
// Included by opcodes.cpp alone, after forms/integer.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"
#include "core/ptx/opcodes/special.h"

namespace lockstep::ptx {
namespace {

using f32 = float;
using f64 = double;
using f16 = Half;
using bf16 = Brain;

inline float fused(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}
// .ftz: a result that is less than the normal numbers becomes a zero, where it is rounded to 24 bits and not to those of a
// subnormal number, as measured on an H200. `scaled`: by 2^64, so that it is rounded like that.
inline float flushed_product(float a, float b) {
    const float product = a * b;
    return absolute((a * 0x1p64f) * b) < 0x1p-62f ? product * 0.0f : product;
}
inline float flushed_fma(float a, float b, float c) {
    const float sum = fused(a, b, c);
    return absolute(fused(a * 0x1p64f, b, c * 0x1p64f)) < 0x1p-62f ? sum * 0.0f : sum;
}
inline float flush_toward(float result, float scaled) {
    return absolute(scaled) < 0x1p-62f ? result * 0.0f : result;
}
// The spellings of one f32 operation with flushing and saturation. a, b, c: its operands; `flushed`: of flushed ones.
#define FLOAT_TWO(f, flushed)                                                                                   \
    {"{.rn}.f32", lanes([](f32 a, f32 b) { return canonical(f); })}, {"{.rn}.ftz.f32", lanes([](f32 x, f32 y) { \
                                                                          const f32 a = flush(x), b = flush(y); \
                                                                          return canonical(flushed);            \
                                                                      })},                                      \
        {"{.rn}.sat.f32", lanes([](f32 a, f32 b) { return saturate(f); })}, {                                   \
        "{.rn}.ftz.sat.f32", lanes([](f32 x, f32 y) {                                                           \
            const f32 a = flush(x), b = flush(y);                                                               \
            return saturate(flushed);                                                                           \
        })                                                                                                      \
    }
#define FLOAT_DIRECTED(modifier, f, flushed)                                    \
    {modifier ".f32", lanes([](f32 a, f32 b) { return f; })},                   \
        {modifier ".sat.f32", lanes([](f32 a, f32 b) { return saturate(f); })}, \
        {modifier ".ftz.f32", lanes([](f32 x, f32 y) {                          \
             const f32 a = flush(x), b = flush(y);                              \
             return flushed;                                                    \
         })},                                                                   \
    {                                                                           \
        modifier ".ftz.sat.f32", lanes([](f32 x, f32 y) {                       \
            const f32 a = flush(x), b = flush(y);                               \
            return saturate(flushed);                                           \
        })                                                                      \
    }
#define DIRECTED(operation, flushed)                                             \
    FLOAT_DIRECTED(".rz", operation(Toward::zero), flushed(Toward::zero)),       \
        FLOAT_DIRECTED(".rm", operation(Toward::minus), flushed(Toward::minus)), \
        FLOAT_DIRECTED(".rp", operation(Toward::plus), flushed(Toward::plus))
#define ADD_TOWARD(toward) fma_toward<toward>(a, 1.0f, b)
#define SUB_TOWARD(toward) fma_toward<toward>(b, -1.0f, a)
#define MUL_TOWARD(toward) mul_toward<toward>(a, b)
#define FLUSHED_ADD(toward) flush(ADD_TOWARD(toward))
#define FLUSHED_SUB(toward) flush(SUB_TOWARD(toward))
#define FLUSHED_MUL(toward) flush_toward(MUL_TOWARD(toward), mul_toward<toward>(a * 0x1p64f, b))
constexpr Form add_f32[] = {FLOAT_TWO(a + b, flush(a + b)), DIRECTED(ADD_TOWARD, FLUSHED_ADD)};
constexpr Form sub_f32[] = {FLOAT_TWO(a - b, flush(a - b)), DIRECTED(SUB_TOWARD, FLUSHED_SUB)};
constexpr Form mul_f32[] = {FLOAT_TWO(a * b, flushed_product(a, b)), DIRECTED(MUL_TOWARD, FLUSHED_MUL)};
template <Toward toward>
inline f32 flushed_fma_toward(f32 x, f32 y, f32 z) {
    const f32 a = flush(x), b = flush(y), c = flush(z);
    return flush_toward(fma_toward<toward>(a, b, c), fma_toward<toward>(a * 0x1p64f, b, c * 0x1p64f));
}
#define FMA_DIRECTED(modifier, toward)                                                                                    \
    {modifier ".f32", lanes([](f32 a, f32 b, f32 c) { return fma_toward<toward>(a, b, c); })},                            \
        {modifier ".sat.f32", lanes([](f32 a, f32 b, f32 c) { return saturate(fma_toward<toward>(a, b, c)); })},          \
        {modifier ".ftz.f32", lanes([](f32 a, f32 b, f32 c) { return flushed_fma_toward<toward>(a, b, c); })}, {          \
        modifier ".ftz.sat.f32", lanes([](f32 a, f32 b, f32 c) { return saturate(flushed_fma_toward<toward>(a, b, c)); }) \
    }
#define FMA(nearest)                                                                                       \
    {nearest ".f32", lanes([](f32 a, f32 b, f32 c) { return canonical(fused(a, b, c)); })},                \
        {nearest ".sat.f32", lanes([](f32 a, f32 b, f32 c) { return saturate(fused(a, b, c)); })},         \
        {nearest ".ftz.f32",                                                                               \
         lanes([](f32 a, f32 b, f32 c) { return canonical(flushed_fma(flush(a), flush(b), flush(c))); })}, \
        {nearest ".ftz.sat.f32",                                                                           \
         lanes([](f32 a, f32 b, f32 c) { return saturate(flushed_fma(flush(a), flush(b), flush(c))); })},  \
        FMA_DIRECTED(".rz", Toward::zero), FMA_DIRECTED(".rm", Toward::minus), FMA_DIRECTED(".rp", Toward::plus)
constexpr Form fma_f32[] = {FMA(".rn")};
constexpr Form mad_f32[] = {FMA("{.rn}")};
template <Toward toward>
inline float flushed_quotient(float x, float y) {
    const float a = flush(x), b = flush(y);
    return flush_toward(div_toward<toward>(a, b), div_toward<toward>(a * 0x1p64f, b));
}
inline float flushed_quotient(float x, float y) {
    const float a = flush(x), b = flush(y);
    return canonical(flush_toward(a / b, a * 0x1p64f / b));
}
#define DIV_DIRECTED(modifier, toward)                                                          \
    {modifier ".f32", lanes([](f32 a, f32 b) { return div_toward<toward>(a, b); })}, {          \
        modifier ".ftz.f32", lanes([](f32 a, f32 b) { return flushed_quotient<toward>(a, b); }) \
    }
constexpr Form div_f32[] = {
    DIV_DIRECTED(".rz", Toward::zero),
    DIV_DIRECTED(".rm", Toward::minus),
    DIV_DIRECTED(".rp", Toward::plus),
    {".rn.f32", lanes([](f32 a, f32 b) { return canonical(a / b); })},
    {".rn.ftz.f32", lanes([](f32 a, f32 b) { return flushed_quotient(a, b); })},
    {".full.f32", lanes([](f32 a, f32 b) { return full_quotient(a, b); })},
    {".full.ftz.f32", lanes([](f32 a, f32 b) { return full_flushed_quotient(a, b); })},
    {".approx.f32", lanes([](f32 a, f32 b) { return approximate_quotient(a, b); })},
    {".approx.ftz.f32", lanes([](f32 a, f32 b) { return canonical(flush(special_rcp(b) * flush(a))); })}};

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
constexpr Form rcp_f32[] = {FLOAT_ONE(".rn", 1.0f / a),
                            ONE_DIRECTED(RCP_TOWARD),
                            {".approx.f32", lanes([](f32 a) { return approximate_rcp(a); })},
                            {".approx.ftz.f32", lanes([](f32 a) { return special_rcp(a); })}};
constexpr Form sqrt_f32[] = {FLOAT_ONE(".rn", __builtin_sqrtf(a)),
                             ONE_DIRECTED(SQRT_TOWARD),
                             {".approx.f32", lanes([](f32 a) { return approximate_sqrt(a); })},
                             {".approx.ftz.f32", lanes([](f32 a) { return special_sqrt(a); })}};
constexpr Form rsqrt_f32[] = {{".approx.f32", lanes([](f32 a) { return approximate_rsqrt(a); })},
                              {".approx.ftz.f32", lanes([](f32 a) { return special_rsqrt(a); })}};
constexpr Form ex2_f32[] = {{".approx.f32", lanes([](f32 a) { return approximate_ex2(a); })},
                            {".approx.ftz.f32", lanes([](f32 a) { return special_ex2(a); })}};
constexpr Form lg2_f32[] = {{".approx.f32", lanes([](f32 a) { return approximate_lg2(a); })},
                            {".approx.ftz.f32", lanes([](f32 a) { return special_lg2(a); })}};
constexpr Form sin_f32[] = {{".approx{.ftz}.f32", lanes([](f32 a) { return special_sine(a, 0); })}};
constexpr Form cos_f32[] = {{".approx{.ftz}.f32", lanes([](f32 a) { return special_sine(a, 1); })}};
constexpr Form tanh_f32[] = {{".approx.f32", lanes([](f32 a) { return special_tanh(a); })}};
constexpr Form neg_f32[] = {FLOAT_ONE("", bits<f32>(bits<u32>(a) ^ 0x80000000u))};
constexpr Form abs_f32[] = {FLOAT_ONE("", absolute(a))};
// min and max: of magnitudes with .xorsign.abs, whose result has both operands' signs multiplied.
template <bool nan, class F>
inline F one_of(F a, F b, F number) {
    return nan ? canonical(a != a || b != b ? a + b : number) : number;
}
inline f32 with_signs(f32 magnitude, f32 a, f32 b) {
    return canonical(bits<f32>((bits<u32>(magnitude) & 0x7fffffffu) | ((bits<u32>(a) ^ bits<u32>(b)) & 0x80000000u)));
}
template <bool nan>
inline f32 least_of(f32 a, f32 b) {
    return one_of<nan>(a, b, least<u32>(a, b));
}
template <bool nan>
inline f32 greatest_of(f32 a, f32 b) {
    return one_of<nan>(a, b, greatest<u32>(a, b));
}
#define MIN_MAX(nan_word, nan, f)                                                                                \
    {nan_word ".f32", lanes([](f32 a, f32 b) { return f<nan>(a, b); })},                                         \
        {".ftz" nan_word ".f32", lanes([](f32 a, f32 b) { return f<nan>(flush(a), flush(b)); })},                \
        {nan_word ".xorsign.abs.f32",                                                                            \
         lanes([](f32 a, f32 b) { return with_signs(f<nan>(absolute(a), absolute(b)), a, b); })},                \
    {                                                                                                            \
        ".ftz" nan_word ".xorsign.abs.f32",                                                                      \
            lanes([](f32 a, f32 b) { return with_signs(f<nan>(absolute(flush(a)), absolute(flush(b))), a, b); }) \
    }
constexpr Form min_f32[] = {MIN_MAX("", false, least_of), MIN_MAX(".NaN", true, least_of)};
constexpr Form max_f32[] = {MIN_MAX("", false, greatest_of), MIN_MAX(".NaN", true, greatest_of)};
#undef MIN_MAX
constexpr Form copysign_forms[] = {
    {".f32", lanes([](uint32_t a, uint32_t b) { return (a & 0x80000000u) | (b & 0x7fffffffu); })},
    {".f64", lanes([](uint64_t a, uint64_t b) { return (a & 1ull << 63) | (b & ~(1ull << 63)); })}};
#define TEST(modifier, f)                                \
    {modifier ".f32", lanes([](f32 a) { return f; })}, { \
        modifier ".f64", lanes([](f64 a) { return f; })  \
    }
constexpr Form testp_forms[] = {
    TEST(".finite", a - a == 0),
    TEST(".infinite", a == a && a - a != 0),
    TEST(".number", a == a),
    TEST(".notanumber", a != a),
    // A zero counts as normal: as measured on an H200.
    {".normal.f32", lanes([](f32 a) { return (absolute(a) >= 0x1p-126f && a - a == 0) || a == 0; })},
    {".subnormal.f32", lanes([](f32 a) { return a != 0 && absolute(a) < 0x1p-126f; })},
    {".normal.f64", lanes([](f64 a) { return (absolute(a) >= 0x1p-1022 && a - a == 0) || a == 0; })},
    {".subnormal.f64", lanes([](f64 a) { return a != 0 && absolute(a) < 0x1p-1022; })}};

}  // namespace
}  // namespace lockstep::ptx
