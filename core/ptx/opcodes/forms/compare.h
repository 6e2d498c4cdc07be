// The spellings of comparison and selection, each with what it does in one lane. setp without a combination compares by a
// vector instruction of its own; set and the combined setp take what they compare and combine with from a constant.
// Included by opcodes.cpp alone, after forms/integer.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

// Which of less, equal, greater, unordered two numbers are, as a bit number: comparisons are sets of those bits.
template <class T>
inline u32 outcome(T a, T b) {
    return a < b ? 0u : a == b ? 1u : a > b ? 2u : 3u;
}
inline bool combine(u32 combination, u32 a, u32 b) {
    return (combination >> (2 * a + b) & 1u) != 0;
}
inline float plain(float x) {
    return x;
}
inline double plain(double x) {
    return x;
}
inline float plain(Half x) {
    return widen(x);
}
inline float plain(Brain x) {
    return widen(x);
}
template <class T>
inline T plain(T x) {
    return x;
}

template <bool ftz, class T>
inline auto compared(T x) {  // the number that counts: f16 as f32; with .ftz a zero for a subnormal
    if constexpr (ftz && (same<T, Half> || same<T, float>))
        return plain(flush(x));
    else
        return plain(x);
}

// d[0] = (a ? b) combined with c, d[1] = !(a ? b) combined with c; s[2] may be null; s[3] the constant described in opcode.h
template <class T, bool ftz>
void set_predicates(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    const u32 other = s[2] ? *reinterpret_cast<const u32*>(s[2]) ^ (how[2] ? ~0u : 0u) : 0u;
    u32 first = 0, second = 0;
    for (int i = 0; i < 32; ++i) {
        const u32 holds = how[0] >> outcome(compared<ftz>(lane<T>(s[0], i)), compared<ftz>(lane<T>(s[1], i))) & 1u;
        first |= static_cast<u32>(combine(how[1], holds, other >> i & 1u)) << i;
        second |= static_cast<u32>(combine(how[1], holds ^ 1u, other >> i & 1u)) << i;
    }
    *reinterpret_cast<u32*>(d[0]) = first;
    if (d[1]) *reinterpret_cast<u32*>(d[1]) = second;
}
// Of f16x2 and bf16x2: the low half decides d[0], the high half d[1].
template <class T, bool ftz>
void set_predicates_of_halves(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    const u32 other = s[2] ? *reinterpret_cast<const u32*>(s[2]) ^ (how[2] ? ~0u : 0u) : 0u;
    u32 both[2] = {};
    for (int i = 0; i < 32; ++i)
        for (int h = 0; h < 2; ++h) {
            const T a{static_cast<u16>(lane<u32>(s[0], i) >> 16 * h)}, b{static_cast<u16>(lane<u32>(s[1], i) >> 16 * h)};
            const u32 holds = how[0] >> outcome(compared<ftz>(a), compared<ftz>(b)) & 1u;
            both[h] |= static_cast<u32>(combine(how[1], holds, other >> i & 1u)) << i;
        }
    *reinterpret_cast<u32*>(d[0]) = both[0];
    if (d[1]) *reinterpret_cast<u32*>(d[1]) = both[1];
}
template <class T, bool ftz, class R>
void set_lanes(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    const u32 other = s[2] ? *reinterpret_cast<const u32*>(s[2]) ^ (how[2] ? ~0u : 0u) : 0u;
    for (int i = 0; i < 32; ++i) {
        const u32 holds = how[0] >> outcome(compared<ftz>(lane<T>(s[0], i)), compared<ftz>(lane<T>(s[1], i))) & 1u;
        reinterpret_cast<R*>(d[0])[i] = static_cast<R>(combine(how[1], holds, other >> i & 1u) ? how[3] : 0u);
    }
}
template <class T, bool ftz>
void set_halves(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    const u32 other = s[2] ? *reinterpret_cast<const u32*>(s[2]) ^ (how[2] ? ~0u : 0u) : 0u;
    for (int i = 0; i < 32; ++i) {
        u32 result = 0;
        for (int h = 0; h < 2; ++h) {
            const T a{static_cast<u16>(lane<u32>(s[0], i) >> 16 * h)}, b{static_cast<u16>(lane<u32>(s[1], i) >> 16 * h)};
            const u32 holds = how[0] >> outcome(compared<ftz>(a), compared<ftz>(b)) & 1u;
            result |= (combine(how[1], holds, other >> i & 1u) ? how[3] & 0xffffu : 0u) << 16 * h;
        }
        reinterpret_cast<u32*>(d[0])[i] = result;
    }
}

#define COMPARE(pattern, type, expression)        \
    {                                             \
        pattern, lanes([](type x, type y) {       \
            auto a = plain(x), b = plain(y);      \
            return static_cast<bool>(expression); \
        })                                        \
    }
#define COMPARE_EQUAL(suffix, type) COMPARE(".eq" suffix, type, a == b), COMPARE(".ne" suffix, type, a != b)
#define COMPARE_ORDER(lt, le, gt, ge, suffix, type)                                                     \
    COMPARE(lt suffix, type, a < b), COMPARE(le suffix, type, a <= b), COMPARE(gt suffix, type, a > b), \
        COMPARE(ge suffix, type, a >= b)
#define COMPARE_INTEGER(suffix, type) COMPARE_EQUAL(suffix, type), COMPARE_ORDER(".lt", ".le", ".gt", ".ge", suffix, type)
#define COMPARE_UNSIGNED(suffix, type) \
    COMPARE_EQUAL(suffix, type), COMPARE_ORDER("(.lt|.lo)", "(.le|.ls)", "(.gt|.hi)", "(.ge|.hs)", suffix, type)
#define COMPARE_FLOAT(suffix, type)                                                                               \
    COMPARE(".eq" suffix, type, a == b), COMPARE(".ne" suffix, type, a<b || a> b),                                \
        COMPARE_ORDER(".lt", ".le", ".gt", ".ge", suffix, type), COMPARE(".equ" suffix, type, !(a < b || a > b)), \
        COMPARE(".neu" suffix, type, !(a == b)), COMPARE(".ltu" suffix, type, !(a >= b)),                         \
        COMPARE(".leu" suffix, type, !(a > b)), COMPARE(".gtu" suffix, type, !(a <= b)),                          \
        COMPARE(".geu" suffix, type, !(a < b)), COMPARE(".num" suffix, type, a == a && b == b),                   \
        COMPARE(".nan" suffix, type, a != a || b != b)
struct Flushed {
    float value;
};
inline float plain(Flushed x) {
    return flush(x.value);
}
struct FlushedHalf {
    Half value;
};
inline float plain(FlushedHalf x) {
    return widen(flush(x.value));
}
constexpr Form setp_forms[] = {
    COMPARE_INTEGER(".s32", s32),       COMPARE_UNSIGNED(".u32", u32), COMPARE_FLOAT(".f32", float),
    COMPARE_EQUAL(".b32", u32),         COMPARE_INTEGER(".s64", s64),  COMPARE_UNSIGNED(".u64", u64),
    COMPARE_EQUAL(".b64", u64),         COMPARE_FLOAT(".f64", double), COMPARE_INTEGER(".s16", s16),
    COMPARE_UNSIGNED(".u16", u16),      COMPARE_EQUAL(".b16", u16),    COMPARE_FLOAT(".f16", Half),
    COMPARE_FLOAT(".ftz.f32", Flushed), COMPARE_FLOAT(".bf16", Brain), COMPARE_FLOAT(".ftz.f16", FlushedHalf)};

#define SIGNED_COMPARISONS "(.eq|.ne|.lt|.le|.gt|.ge)"
#define UNSIGNED_COMPARISONS "(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs)"
#define FLOAT_COMPARISONS "(.eq|.ne|.lt|.le|.gt|.ge|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)"
#define COMBINATIONS "{.and|.or|.xor}"
// f<type, ftz, ...> for every type that can be compared; `to` is the type of the result, of set.
#define COMPARED_INTEGERS(to, f, ...)                                                \
    {SIGNED_COMPARISONS COMBINATIONS to ".s32", &f<s32, false __VA_ARGS__>},         \
        {UNSIGNED_COMPARISONS COMBINATIONS to ".u32", &f<u32, false __VA_ARGS__>},   \
        {"(.eq|.ne)" COMBINATIONS to ".b32", &f<u32, false __VA_ARGS__>},            \
        {SIGNED_COMPARISONS COMBINATIONS to ".s64", &f<s64, false __VA_ARGS__>},     \
        {UNSIGNED_COMPARISONS COMBINATIONS to ".u64", &f<u64, false __VA_ARGS__>},   \
        {"(.eq|.ne)" COMBINATIONS to ".b64", &f<u64, false __VA_ARGS__>},            \
        {SIGNED_COMPARISONS COMBINATIONS to ".s16", &f<s16, false __VA_ARGS__>},     \
        {UNSIGNED_COMPARISONS COMBINATIONS to ".u16", &f<u16, false __VA_ARGS__>}, { \
        "(.eq|.ne)" COMBINATIONS to ".b16", &f<u16, false __VA_ARGS__>               \
    }
#define COMPARED_FLOATS(to, f, ...)                                                       \
    {FLOAT_COMPARISONS COMBINATIONS to ".f32", &f<float, false __VA_ARGS__>},             \
        {FLOAT_COMPARISONS COMBINATIONS ".ftz" to ".f32", &f<float, true __VA_ARGS__>}, { \
        FLOAT_COMPARISONS COMBINATIONS to ".f64", &f<double, false __VA_ARGS__>           \
    }
#define COMPARED_HALVES(to, f, ...)                                                      \
    {FLOAT_COMPARISONS COMBINATIONS to ".f16", &f<Half, false __VA_ARGS__>},             \
        {FLOAT_COMPARISONS COMBINATIONS ".ftz" to ".f16", &f<Half, true __VA_ARGS__>}, { \
        FLOAT_COMPARISONS COMBINATIONS to ".bf16", &f<Brain, false __VA_ARGS__>          \
    }
#define COMPARED_PAIRS(to, brain_to, f)                                        \
    {FLOAT_COMPARISONS COMBINATIONS to ".f16x2", &f<Half, false>},             \
        {FLOAT_COMPARISONS COMBINATIONS ".ftz" to ".f16x2", &f<Half, true>}, { \
        FLOAT_COMPARISONS COMBINATIONS brain_to ".bf16x2", &f<Brain, false>    \
    }
constexpr Form setp_combined[] = {COMPARED_INTEGERS("", set_predicates), COMPARED_FLOATS("", set_predicates),
                                  COMPARED_HALVES("", set_predicates), COMPARED_PAIRS("", "", set_predicates_of_halves)};
constexpr Form set_forms[] = {COMPARED_INTEGERS("(.u32|.s32|.f32)", set_lanes, , u32),
                              COMPARED_FLOATS("(.u32|.s32|.f32)", set_lanes, , u32),
                              COMPARED_INTEGERS("(.f16|.bf16)", set_lanes, , u16),
                              COMPARED_FLOATS("(.f16|.bf16)", set_lanes, , u16),
                              COMPARED_HALVES("(.u32|.s32)", set_lanes, , u32),
                              COMPARED_HALVES("(.u16|.s16|.f16|.bf16)", set_lanes, , u16),
                              COMPARED_PAIRS("(.u32|.s32|.f16x2)", "(.u32|.s32|.bf16x2)", set_halves)};

#define SELECT(pattern, type)                                                                 \
    {                                                                                         \
        pattern, lanes([](type a, type b, Bit c) {                                            \
            return static_cast<type>(b ^ ((a ^ b) & (type{0} - static_cast<type>(c.value)))); \
        })                                                                                    \
    }
constexpr Form selp_forms[] = {
    SELECT("(.b32|.u32|.s32|.f32)", u32),
    SELECT("(.b64|.u64|.s64|.f64)", u64),
    SELECT("(.b16|.u16|.s16|.f16)", u16),
    {".pred", lanes([](Mask a, Mask b, Mask c) { return Mask{(a.bits & c.bits) | (b.bits & ~c.bits)}; })}};
template <class T>
inline T by_sign(T a, T b, s32 c) {
    return c >= 0 ? a : b;
}
template <class T>
inline T by_sign(T a, T b, float c) {  // a NaN picks b
    return c >= 0 ? a : b;
}
#define SLCT(types, T)                                                                        \
    {types ".s32", lanes([](T a, T b, s32 c) { return by_sign(a, b, c); })},                  \
        {types ".f32", lanes([](T a, T b, float c) { return by_sign(a, b, c); })}, {          \
        ".ftz" types ".f32", lanes([](T a, T b, float c) { return by_sign(a, b, flush(c)); }) \
    }
constexpr Form slct_forms[] = {SLCT("(.b32|.u32|.s32|.f32)", u32), SLCT("(.b64|.u64|.s64|.f64)", u64),
                               SLCT("(.b16|.u16|.s16)", u16)};
#undef SLCT

}  // namespace
}  // namespace lockstep::ptx
