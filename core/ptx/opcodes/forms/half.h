// The spellings of f16, bf16 and their pairs, each with what it does in one lane: computed in f32, where one operation of
// them is exact enough to be rounded again, but fma, which is rounded to odd first. Included by opcodes.cpp alone, after
// forms/float.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

template <class T>
inline T nearest(float x) {
    if constexpr (same<T, Half>)
        return to_half(x);
    else
        return to_brain(x);
}
// .ftz of f16: what is less than its normal numbers when it is rounded to 11 bits becomes a zero.
inline float flush_small(float x) {
    return absolute(x) < 0x1.ffep-15f ? x * 0.0f : x;
}
template <class T>
inline T fused_half(T a, T b, T c) {
    return nearest<T>(odd_fma(widen(a), widen(b), widen(c)));
}
// .oob: 0 where an operand is the NaN that a tensor map puts beyond the tensor's ends (tensor_map.cpp).
template <class T>
inline T fused_inside(T a, T b, T c) {
    const auto beyond = [](T x) { return x.bits == 0x7fffu; };
    return beyond(a) || beyond(b) || beyond(c) ? T{0} : fused_half(a, b, c);
}
template <class T>
inline T rectified_half(T x) {  // .relu
    const bool nan = widen(x) != widen(x);
    return {static_cast<u16>(x.bits >> 15 && !nan ? 0u : x.bits)};
}
template <class T>
inline T without_sign(T x) {
    return {static_cast<u16>(x.bits & 0x7fffu)};
}

// One operation of halves alone and in pairs; x, y, z: its operands.
#define HALF_ONE(pattern, T, name, f)                   \
    {pattern "." name, lanes([](T x) { return f; })}, { \
        pattern "." name "x2", lanes([](Two<T> a) {     \
            const auto of = [](T x) { return f; };      \
            return Two<T>{of(a.low), of(a.high)};       \
        })                                              \
    }
#define HALF_TWO(pattern, T, name, f)                            \
    {pattern "." name, lanes([](T x, T y) { return f; })}, {     \
        pattern "." name "x2", lanes([](Two<T> a, Two<T> b) {    \
            const auto of = [](T x, T y) { return f; };          \
            return Two<T>{of(a.low, b.low), of(a.high, b.high)}; \
        })                                                       \
    }
#define HALF_THREE(pattern, T, name, f)                                         \
    {pattern "." name, lanes([](T x, T y, T z) { return f; })}, {               \
        pattern "." name "x2", lanes([](Two<T> a, Two<T> b, Two<T> c) {         \
            const auto of = [](T x, T y, T z) { return f; };                    \
            return Two<T>{of(a.low, b.low, c.low), of(a.high, b.high, c.high)}; \
        })                                                                      \
    }
#define HALF_ARITHMETIC(operator)                                                                                        \
    HALF_TWO("{.rn}", f16, "f16", to_half(widen(x) operator widen(y))),                                                  \
        HALF_TWO("{.rn}.ftz", f16, "f16", to_half(flush_small(widen(flush(x)) operator widen(flush(y))))),               \
        HALF_TWO("{.rn}.sat", f16, "f16", to_half(saturate(widen(x) operator widen(y)))),                                \
        HALF_TWO("{.rn}.ftz.sat", f16, "f16", to_half(saturate(flush_small(widen(flush(x)) operator widen(flush(y)))))), \
        HALF_TWO("{.rn}", bf16, "bf16", to_brain(widen(x) operator widen(y)))
constexpr Form add_half[] = {HALF_ARITHMETIC(+)};
constexpr Form sub_half[] = {HALF_ARITHMETIC(-)};
constexpr Form mul_half[] = {HALF_ARITHMETIC(*)};
#define FLUSHED_FMA to_half(flush_small(odd_fma(widen(flush(x)), widen(flush(y)), widen(flush(z)))))
constexpr Form fma_half[] = {HALF_THREE(".rn", f16, "f16", fused_half(x, y, z)),
                             HALF_THREE(".rn.ftz", f16, "f16", FLUSHED_FMA),
                             HALF_THREE(".rn.sat", f16, "f16", to_half(saturate(widen(fused_half(x, y, z))))),
                             HALF_THREE(".rn.ftz.sat", f16, "f16", to_half(saturate(widen(FLUSHED_FMA)))),
                             HALF_THREE(".rn.relu", f16, "f16", rectified_half(fused_half(x, y, z))),
                             HALF_THREE(".rn.ftz.relu", f16, "f16", rectified_half(FLUSHED_FMA)),
                             HALF_THREE(".rn.oob", f16, "f16", fused_inside(x, y, z)),
                             HALF_THREE(".rn.oob.relu", f16, "f16", rectified_half(fused_inside(x, y, z))),
                             HALF_THREE(".rn.oob", bf16, "bf16", fused_inside(x, y, z)),
                             HALF_THREE(".rn.oob.relu", bf16, "bf16", rectified_half(fused_inside(x, y, z))),
                             HALF_THREE(".rn", bf16, "bf16", fused_half(x, y, z)),
                             HALF_THREE(".rn.relu", bf16, "bf16", rectified_half(fused_half(x, y, z)))};
#undef FLUSHED_FMA
template <class T>
inline T canonical_half(T x) {
    return {static_cast<u16>(widen(x) != widen(x) ? 0x7fffu : x.bits)};
}
#define FLIP(T, v) canonical_half(T{static_cast<u16>(v.bits ^ 0x8000u)})
constexpr Form neg_half[] = {HALF_ONE("", f16, "f16", FLIP(f16, x)), HALF_ONE(".ftz", f16, "f16", FLIP(f16, flush(x))),
                             HALF_ONE("", bf16, "bf16", FLIP(bf16, x))};
#undef FLIP
constexpr Form abs_half[] = {HALF_ONE("", f16, "f16", canonical_half(without_sign(x))),
                             HALF_ONE(".ftz", f16, "f16", canonical_half(without_sign(flush(x)))),
                             HALF_ONE("", bf16, "bf16", canonical_half(without_sign(x)))};

template <bool nan, class T>
inline T least_half(T a, T b) {
    return nearest<T>(least_of<nan>(widen(a), widen(b)));
}
template <bool nan, class T>
inline T greatest_half(T a, T b) {
    return nearest<T>(greatest_of<nan>(widen(a), widen(b)));
}
template <class T>
inline T with_signs(T magnitude, T a, T b) {
    const bool nan = widen(magnitude) != widen(magnitude);
    return {static_cast<u16>(nan ? 0x7fffu : (magnitude.bits & 0x7fffu) | ((a.bits ^ b.bits) & 0x8000u))};
}
#define MIN_MAX(nan, which, f)                                                                                  \
    HALF_TWO(nan, f16, "f16", f<which>(x, y)), HALF_TWO(".ftz" nan, f16, "f16", f<which>(flush(x), flush(y))),  \
        HALF_TWO(nan ".xorsign.abs", f16, "f16", with_signs(f<which>(without_sign(x), without_sign(y)), x, y)), \
        HALF_TWO(".ftz" nan ".xorsign.abs", f16, "f16",                                                         \
                 with_signs(f<which>(without_sign(flush(x)), without_sign(flush(y))), x, y)),                   \
        HALF_TWO(nan, bf16, "bf16", f<which>(x, y)),                                                            \
        HALF_TWO(nan ".xorsign.abs", bf16, "bf16", with_signs(f<which>(without_sign(x), without_sign(y)), x, y))
constexpr Form min_half[] = {MIN_MAX("", false, least_half), MIN_MAX(".NaN", true, least_half)};
constexpr Form max_half[] = {MIN_MAX("", false, greatest_half), MIN_MAX(".NaN", true, greatest_half)};
#undef MIN_MAX
inline bf16 flush(bf16 b) {
    return {static_cast<u16>((b.bits & 0x7f80u) ? b.bits : b.bits & 0x8000u)};
}
constexpr Form ex2_half[] = {HALF_ONE(".approx", f16, "f16", to_half(ex2(widen(x)))),
                             HALF_ONE(".approx.ftz", bf16, "bf16", flush(to_brain(ex2(widen(flush(x))))))};
constexpr Form tanh_half[] = {HALF_ONE(".approx", f16, "f16", to_half(hyperbolic_tangent(widen(x)))),
                              HALF_ONE(".approx", bf16, "bf16", to_brain(hyperbolic_tangent(widen(x))))};

}  // namespace
}  // namespace lockstep::ptx
