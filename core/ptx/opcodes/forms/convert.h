// cvt: the spellings of conversions. The usual ones, in registers of their types' sizes, are vector loops; all others are
// one function, `convert_any`, which takes a number apart into sign, significand and exponent and rounds it once, for any
// pair of types, any rounding and any registers, as its constant X says (convert_lane in opcode.h). Included by opcodes.cpp
// alone, after forms/float.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

// --- any type to any other
// --------------------------------------------------------------------------------------------------

struct Number {  // significand * 2^exponent
    bool negative, nan, infinite;
    u64 significand;
    int exponent;
};
inline Number number_from(u64 value, u32 width, u32 kind, u32 fraction, u32 flush_subnormal) {
    const u64 kept = width >= 64 ? value : value & ((1ull << width) - 1);
    const bool top = (kept >> (width - 1) & 1u) != 0;
    if (kind < 2) {
        const bool negative = kind == 1 && top;
        const u64 magnitude = negative ? (width >= 64 ? 0ull - kept : (1ull << width) - kept) : kept;
        return {negative, false, false, magnitude, 0};
    }
    const u32 exponents = (1u << (width - 1 - fraction)) - 1;
    const u32 e = static_cast<u32>(kept >> fraction) & exponents;
    const u64 m = kept & ((1ull << fraction) - 1);
    const int exponent = static_cast<int>(e ? e : 1u) - static_cast<int>(exponents / 2) - static_cast<int>(fraction);
    if (e == exponents) return {top, m != 0, m == 0, 0, 0};
    return {top, false, false, e ? m | 1ull << fraction : flush_subnormal ? 0 : m, exponent};
}

// significand / 2^drop (drop may be negative), rounded: see the roundings in opcode.h.
inline u64 shift_rounded(u64 significand, int drop, u32 rounding, bool negative) {
    if (drop <= 0) return drop > -64 ? significand << -drop : 0;
    const u64 kept = drop < 64 ? significand >> drop : 0;
    const u64 rest = drop < 64 ? significand & ((1ull << drop) - 1) : significand;
    const u64 half = drop <= 64 ? 1ull << (drop - 1) : 0;
    const bool nearest = half != 0 && (rest > half || (rest == half && (kept & 1u)));
    const bool up = rounding == 0 ? nearest : rest != 0 && ((rounding == 2 && negative) || (rounding == 3 && !negative));
    return kept + (up ? 1 : 0);
}
inline int length_of(u64 x) {  // bits
    return x ? 64 - __builtin_clzll(x) : 0;
}

inline u64 integer_from(const Number& x, u32 width, bool is_signed, u32 rounding, bool wide_nan) {
    const u64 most = ~0ull >> (64 - width + (is_signed ? 1 : 0)), ones = ~0ull >> (64 - width);
    if (x.nan) return wide_nan ? 1ull << (width - 1) : 0;
    const bool huge = x.infinite || length_of(x.significand) + x.exponent > 64;
    const u64 magnitude = huge ? ~0ull : shift_rounded(x.significand, -x.exponent, rounding, x.negative);
    if (!x.negative) return magnitude > most ? most : magnitude;
    if (!is_signed) return 0;
    return (magnitude > most ? most + 1 : 0ull - magnitude) & ones;
}
inline u64 float_from(const Number& x, u32 width, u32 fraction, u32 rounding) {  // a NaN is for the caller
    const u32 exponents = (1u << (width - 1 - fraction)) - 1;
    const u64 infinity = u64{exponents} << fraction, sign = u64{x.negative} << (width - 1);
    if (x.infinite) return sign | infinity;
    if (!x.significand) return sign;
    const int smallest =
        1 - static_cast<int>(exponents / 2) - static_cast<int>(fraction);  // exponent of the last subnormal bit
    const int wanted = x.exponent + length_of(x.significand) - static_cast<int>(fraction) - 1;
    const int unit = wanted > smallest ? wanted : smallest;
    const bool beyond = unit - smallest > static_cast<int>(exponents);
    const u64 rounded = shift_rounded(x.significand, unit - x.exponent, rounding, x.negative);
    const u64 encoded = beyond ? infinity : (static_cast<u64>(unit - smallest) << fraction) + rounded;
    const bool to_infinity = rounding == 0 || (rounding == 2 && x.negative) || (rounding == 3 && !x.negative);
    return sign | (encoded < infinity ? encoded : to_infinity ? infinity : infinity - 1);
}

// What a NaN becomes, as measured on an H200: f64 gets and gives its sign and payload, all else has one NaN. What only moves
// (`plain`) keeps all bits.
inline u64 nan_from(u64 value, const u32* how) {
    using namespace convert_lane;
    const u32 width = how[to_width], from = how[from_width], fraction = how[to_fraction];
    const bool plain = width == from && fraction == how[from_fraction] && !how[to_integral];
    if (plain && width >= 32 && !how[flush_from]) return width == 64 ? value : value & 0xffffffffu;
    const u64 sign = 1ull << (width - 1), payloads = (1ull << fraction) - 1;
    if ((width != 64 && from != 64) || how[from_kind] != 2) return sign - 1;
    if (width == 64 && how[flush_from]) return 0x7fffffffe0000000ull;
    const u64 payload =
        fraction > how[from_fraction] ? value << (fraction - how[from_fraction]) : value >> (how[from_fraction] - fraction);
    return (value >> (from - 1) & 1 ? sign : 0) | (sign - 1 - payloads) | (payloads + 1) >> 1 | (payload & payloads);
}

inline u64 load_lane(const std::byte* p, u32 bytes, int i) {
    return bytes == 2 ? lane<u16>(p, i) : bytes == 4 ? lane<u32>(p, i) : lane<u64>(p, i);
}
inline void convert_any(std::byte* const* d, const std::byte* const* s) {
    using namespace convert_lane;
    const u32* how = reinterpret_cast<const u32*>(s[1]);
    const u32 width = how[to_width], kind = how[to_kind];
    for (int i = 0; i < 32; ++i) {
        const u64 value = load_lane(s[0], how[from_bytes], i);
        Number x = number_from(value, how[from_width], how[from_kind], how[from_fraction], how[flush_from]);
        u64 result = 0;
        if (kind == 2) {
            if (how[to_integral] && x.exponent < 0) {
                x.significand = shift_rounded(x.significand, -x.exponent, how[to_integral] - 1, x.negative);
                x.exponent = 0;
            }
            result = float_from(x, width, how[to_fraction], how[rounding]);
            const u64 sign = 1ull << (width - 1), one = ((1ull << (width - 2 - how[to_fraction])) - 1) << how[to_fraction];
            if (how[flush_to] && !((result & ~sign) >> how[to_fraction])) result &= sign;
            if (x.nan) result = nan_from(value, how);
            if (how[saturated]) result = x.nan || (result & sign) ? 0 : result > one ? one : result;
        } else {
            if (how[from_kind] < 2 && !how[saturated]) {
                result = x.negative ? 0ull - x.significand : x.significand;  // integers wrap
            } else {
                result = integer_from(x, width, kind == 1, how[to_integral] ? how[to_integral] - 1 : 1u,
                                      how[from_width] == 64 || width == 64);
            }
            const u32 unused = 64 - width;
            result = result << unused >> unused;
            if (kind == 1) result = static_cast<u64>(static_cast<s64>(result << unused) >> unused);
        }
        if (how[to_bytes] == 2) reinterpret_cast<u16*>(d[0])[i] = static_cast<u16>(result);
        if (how[to_bytes] == 4) reinterpret_cast<u32*>(d[0])[i] = static_cast<u32>(result);
        if (how[to_bytes] == 8) reinterpret_cast<u64*>(d[0])[i] = result;
    }
}
#define INTEGERS "(.u8|.s8|.u16|.s16|.u32|.s32|.u64|.s64)"
constexpr Form cvt_any[] = {{"{.sat}" INTEGERS INTEGERS, &convert_any},
                            {"(.rni|.rzi|.rmi|.rpi){.sat}" INTEGERS "(.f16|.bf16|.f32|.f64)", &convert_any},
                            {"(.rni|.rzi|.rmi|.rpi).ftz{.sat}" INTEGERS ".f32", &convert_any},
                            {"(.rn|.rz|.rm|.rp){.sat}(.f16|.bf16|.f32|.f64)" INTEGERS, &convert_any},
                            {"(.rn|.rz|.rm|.rp).ftz{.sat}.f32" INTEGERS, &convert_any},
                            {"(.rn|.rz|.rm|.rp){.sat}.f16(.f16|.bf16|.f32|.f64)", &convert_any},
                            {"(.rn|.rz|.rm|.rp){.sat}.bf16(.f16|.bf16|.f64)", &convert_any},
                            {"(.rn|.rz|.rm|.rp).ftz{.sat}(.f16|.f32).f32", &convert_any},
                            {"(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32.f64", &convert_any},
                            {"(.rn|.rz|.rm|.rp).ftz{.sat}.f32.bf16", &convert_any},
                            {"(.rn|.rz|.rm|.rp).f64.bf16", &convert_any},
                            {"{.sat}(.f16|.f64)(.f16|.bf16)", &convert_any},
                            {"{.sat}.f32.f16", &convert_any},
                            {"{.rn}.bf16.bf16", &convert_any},
                            {".ftz{.sat}.f32(.f16|.bf16)", &convert_any},
                            {"{.ftz}{.sat}(.f32|.f64).f32", &convert_any},
                            {"{.sat}.f64.f64", &convert_any},
                            {"(.rni|.rzi|.rmi|.rpi){.sat}.f16.f16", &convert_any},
                            {"(.rni|.rzi|.rmi|.rpi).bf16.bf16", &convert_any},
                            {"(.rni|.rzi|.rmi|.rpi){.ftz}{.sat}.f32.f32", &convert_any},
                            {"(.rni|.rzi|.rmi|.rpi){.sat}.f64.f64", &convert_any}};
constexpr Form cvt_brain[] = {{"(.rn|.rz|.rm|.rp){.ftz}{.sat}.bf16.f32", &convert_any},
                              {"{.rn|.rz|.rm|.rp}{.sat}.f32.bf16", &convert_any}};

// --- the usual ones
// ---------------------------------------------------------------------------------------------------------

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

#define TO_INTEGER(name, T, modifier, round)                                                               \
    {modifier "{.sat}." name ".f32", lanes([](f32 a) { return to_integer<T, round>(a); })},                \
        {modifier ".ftz{.sat}." name ".f32", lanes([](f32 a) { return to_integer<T, round>(flush(a)); })}, \
        {modifier "{.sat}." name ".f64", lanes([](f64 a) { return to_integer<T, round>(a); })}, {          \
        modifier "{.sat}." name ".f16", lanes([](f16 a) { return to_integer<T, round>(widen(a)); })        \
    }
#define TO_INTEGERS(modifier, round)                                                  \
    TO_INTEGER("s32", s32, modifier, round), TO_INTEGER("u32", u32, modifier, round), \
        TO_INTEGER("s64", s64, modifier, round), TO_INTEGER("u64", u64, modifier, round)
constexpr Form cvt_to_integer[] = {TO_INTEGERS(".rzi", Round::zero), TO_INTEGERS(".rni", Round::nearest),
                                   TO_INTEGERS(".rmi", Round::minus), TO_INTEGERS(".rpi", Round::plus)};

#define FROM_INTEGER(name, R, T)                                                                               \
    {".rn{.ftz}.f32." name, lanes([](R a) { return static_cast<f32>(static_cast<T>(a)); })},                   \
        {".rn{.ftz}.sat.f32." name, lanes([](R a) { return saturate(static_cast<f32>(static_cast<T>(a))); })}, \
        {"{.rn}.f64." name, lanes([](R a) { return static_cast<f64>(static_cast<T>(a)); })}, {                 \
        ".rn.f16." name, lanes([](R a) { return to_half(static_cast<f32>(static_cast<T>(a))); })               \
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
        {modifier ".f64.f64", lanes([](f64 a) { return canonical(integral<round>(a), a); })}, {          \
        modifier ".f16.f16", lanes([](f16 a) { return to_half(integral<round>(widen(a))); })             \
    }
inline f64 widened_nan(u32 value, u32 width, u32 fraction) {  // see nan_from
    const u64 payload = u64{value & ((1u << fraction) - 1)} << (52 - fraction);
    return bits<f64>(u64{value >> (width - 1) & 1u} << 63 | 0x7ff8000000000000ull | payload);
}
inline f32 narrowed_nan(f64 x) {
    const u64 u = bits<u64>(x);
    return bits<f32>(static_cast<u32>(u >> 32 & 0x80000000u) | 0x7fc00000u | static_cast<u32>(u >> 29 & 0x3fffffu));
}
#define NARROW(modifier, toward)                                                                                           \
    {modifier ".f32.f64", lanes([](f64 a) { return a == a ? round_once<toward>(a, 0.0) : narrowed_nan(a); })}, {           \
        modifier ".ftz.f32.f64", lanes([](f64 a) { return a == a ? flush(round_once<toward>(a, 0.0)) : narrowed_nan(a); }) \
    }
// f32 to f16 and bf16, once or in pairs. .relu and .satfinite change the number before it is rounded.
template <bool relu>
inline f32 rectified(f32 x) {  // -0 becomes +0
    return !relu || x > 0.0f || x != x ? x : 0.0f;
}
inline f32 within_finite(f32 x, f32 most) {
    return x > most ? most : x < -most ? -most : x;
}
template <class To, bool zero, bool relu, bool finite>
inline To narrow(f32 x) {
    f32 v = rectified<relu>(x);
    if constexpr (same<To, Half>) {
        if constexpr (finite) v = within_finite(v, 65504.0f);
        return zero ? to_half_toward_zero(v) : to_half(v);
    } else {
        if constexpr (finite) v = within_finite(v, bits<f32>(0x7f7f0000u));
        return zero ? to_brain_toward_zero(v) : to_brain(v);
    }
}
#define NARROW_ONE(pattern, To, zero, relu, finite)                             \
    {                                                                           \
        pattern, lanes([](f32 a) { return narrow<To, zero, relu, finite>(a); }) \
    }
#define NARROW_TWO(pattern, To, zero, relu, finite)                                               \
    {                                                                                             \
        pattern, lanes([](f32 a, f32 b) {                                                         \
            return Two<To>{narrow<To, zero, relu, finite>(b), narrow<To, zero, relu, finite>(a)}; \
        })                                                                                        \
    }
#define NARROWED(one, types, To, rounding, zero)                                                     \
    one(rounding types, To, zero, false, false), one(rounding ".relu" types, To, zero, true, false), \
        one(rounding ".satfinite" types, To, zero, false, true),                                     \
        one(rounding ".relu.satfinite" types, To, zero, true, true),                                 \
        one(rounding ".satfinite.relu" types, To, zero, true, true)

// tf32: f32 with a fraction of 10 bits. On an H200 .rna rounds a NaN as if it were a number.
template <bool relu, bool zero>
inline u32 to_tf32(f32 x) {
    const f32 v = rectified<relu>(x);
    const u32 u = bits<u32>(v);
    const u32 rounded = (zero ? u : u + 0xfffu + (u >> 13 & 1u)) & ~0x1fffu;
    return v != v ? 0x7fffe000u : rounded;
}
template <bool finite>
inline u32 to_tf32_away(f32 x) {
    const u32 u = bits<u32>(x), sign = u & 0x80000000u, magnitude = ((u & 0x7fffffffu) + 0x1000u) & ~0x1fffu;
    return x != x ? (u + 0x1000u) & ~0x1fffu : sign | (finite && magnitude > 0x7f7fe000u ? 0x7f7fe000u : magnitude);
}
constexpr Form cvt_narrow[] = {NARROWED(NARROW_ONE, ".f16.f32", f16, ".rn", false),
                               NARROWED(NARROW_ONE, ".f16.f32", f16, ".rz", true),
                               NARROWED(NARROW_ONE, ".bf16.f32", bf16, ".rn", false),
                               NARROWED(NARROW_ONE, ".bf16.f32", bf16, ".rz", true),
                               {".rn.sat.f16.f32", lanes([](f32 a) { return to_half(saturate(a)); })},
                               {".rn.ftz.f16.f32", lanes([](f32 a) { return to_half(flush(a)); })},
                               {".rna.tf32.f32", lanes([](f32 a) { return to_tf32_away<false>(a); })},
                               {".rna.satfinite.tf32.f32", lanes([](f32 a) { return to_tf32_away<true>(a); })}};
constexpr Form cvt_tf32[] = {{".rn.tf32.f32", lanes([](f32 a) { return to_tf32<false, false>(a); })},
                             {".rn.relu.tf32.f32", lanes([](f32 a) { return to_tf32<true, false>(a); })},
                             {".rz.tf32.f32", lanes([](f32 a) { return to_tf32<false, true>(a); })},
                             {".rz.relu.tf32.f32", lanes([](f32 a) { return to_tf32<true, true>(a); })}};

// fp8: e4m3 has no infinity and one NaN, e5m2 is the upper half of an f16. To nearest even; what is beyond the largest
// becomes the largest.
template <int fraction>
inline u32 to_byte(f32 x) {
    constexpr u32 bias = fraction == 3 ? 7 : 15, drop = 23 - fraction, most = fraction == 3 ? 0x7e : 0x7b;
    constexpr f32 adder = fraction == 3 ? 0x1p14f : 0x1p7f;  // whose last bit is the smallest subnormal
    const u32 u = bits<u32>(x), magnitude = u & 0x7fffffffu;
    const u32 normal = (magnitude - ((127u - bias) << 23) + ((1u << (drop - 1)) - 1u) + (magnitude >> drop & 1u)) >> drop;
    const u32 small = bits<u32>(bits<f32>(magnitude) + adder) - bits<u32>(adder);
    const u32 finite = magnitude < (128u - bias) << 23 ? small : normal;
    const u32 kept = finite > most ? most : finite;
    return magnitude > 0x7f800000u ? 0x7fu : (u >> 24 & 0x80u) | kept;
}
template <int fraction, bool relu>
inline Half from_byte(u32 byte) {
    const u32 sign = (byte & 0x80u) << 8, rest = byte & 0x7fu;
    const u32 magnitude = fraction == 2 ? rest << 8 : to_half(bits<f32>(rest << 20) * 0x1p120f).bits;
    const bool nan = fraction == 2 ? rest > 0x7cu : rest == 0x7fu;
    return {static_cast<u16>(nan ? 0x7fffu : relu && sign ? 0u : sign | magnitude)};
}
#define TO_BYTES(modifiers, type, fraction, relu)                                                                        \
    {                                                                                                                    \
        ".rn" modifiers "." type ".f32", lanes([](f32 a, f32 b) {                                                        \
            return static_cast<u16>(to_byte<fraction>(rectified<relu>(a)) << 8 | to_byte<fraction>(rectified<relu>(b))); \
        })                                                                                                               \
    }
#define TO_BYTES_FROM_PAIR(modifiers, type, fraction, relu)                                  \
    {                                                                                        \
        ".rn" modifiers "." type ".f16x2", lanes([](Pair a) {                                \
            return static_cast<u16>(to_byte<fraction>(rectified<relu>(widen(a.high))) << 8 | \
                                    to_byte<fraction>(rectified<relu>(widen(a.low))));       \
        })                                                                                   \
    }
#define FROM_BYTES(modifiers, type, fraction, relu)                                                   \
    {                                                                                                 \
        ".rn" modifiers ".f16x2." type, lanes([](u16 a) {                                             \
            return Pair{from_byte<fraction, relu>(a & 255u), from_byte<fraction, relu>(u32{a} >> 8)}; \
        })                                                                                            \
    }
#define EACH_BYTE(one)                                                                    \
    one(".satfinite", "e4m3x2", 3, false), one(".satfinite.relu", "e4m3x2", 3, true),     \
        one(".relu.satfinite", "e4m3x2", 3, true), one(".satfinite", "e5m2x2", 2, false), \
        one(".satfinite.relu", "e5m2x2", 2, true), one(".relu.satfinite", "e5m2x2", 2, true)
constexpr Form cvt_bytes[] = {EACH_BYTE(TO_BYTES_FROM_PAIR), FROM_BYTES("", "e4m3x2", 3, false),
                              FROM_BYTES(".relu", "e4m3x2", 3, true), FROM_BYTES("", "e5m2x2", 2, false),
                              FROM_BYTES(".relu", "e5m2x2", 2, true)};
constexpr Form cvt_pair[] = {NARROWED(NARROW_TWO, ".f16x2.f32", f16, ".rn", false),
                             NARROWED(NARROW_TWO, ".f16x2.f32", f16, ".rz", true),
                             NARROWED(NARROW_TWO, ".bf16x2.f32", bf16, ".rn", false),
                             NARROWED(NARROW_TWO, ".bf16x2.f32", bf16, ".rz", true), EACH_BYTE(TO_BYTES)};

// cvt.pack: a and b clamped and side by side, a above b; above them what c has in its low bits.
template <s32 least_value, s32 most, int width>
inline u32 packed(s32 a, s32 b, u32 c) {
    const auto part = [](s32 x) {
        return static_cast<u32>(x < least_value ? least_value : x > most ? most : x) & ((1u << width) - 1);
    };
    return (width == 16 ? 0u : c << (2 * width & 31)) | part(a) << width | part(b);
}
#define PACK(type, least_value, most, width)                                                                               \
    {                                                                                                                      \
        ".pack.sat." type ".s32.b32", lanes([](s32 a, s32 b, u32 c) { return packed<least_value, most, width>(a, b, c); }) \
    }
constexpr Form cvt_pack[] = {PACK("u8", 0, 255, 8), PACK("s8", -128, 127, 8), PACK("u4", 0, 15, 4),
                             PACK("s4", -8, 7, 4),  PACK("u2", 0, 3, 2),      PACK("s2", -2, 1, 2)};
constexpr Form cvt_pack_halves[] = {
    {".pack.sat.u16.s32", lanes([](s32 a, s32 b) { return packed<0, 65535, 16>(a, b, 0); })},
    {".pack.sat.s16.s32", lanes([](s32 a, s32 b) { return packed<-32768, 32767, 16>(a, b, 0); })}};

constexpr Form cvt_float[] = {
    {".f64.f32", lanes([](f32 a) { return a == a ? static_cast<f64>(a) : widened_nan(bits<u32>(a), 32, 23); })},
    {".ftz.f64.f32", lanes([](f32 a) { return a == a ? static_cast<f64>(flush(a)) : bits<f64>(u64{0x7fffffffe0000000}); })},
    {".rn.f32.f64", lanes([](f64 a) { return a == a ? static_cast<f32>(a) : narrowed_nan(a); })},
    {".rn.ftz.f32.f64", lanes([](f64 a) { return a == a ? flush(static_cast<f32>(a)) : narrowed_nan(a); })},
    {".rn.sat.f32.f64", lanes([](f64 a) { return saturate(static_cast<f32>(a)); })},
    {".rn.ftz.sat.f32.f64", lanes([](f64 a) { return saturate(flush(static_cast<f32>(a))); })},
    NARROW(".rz", Toward::zero),
    NARROW(".rm", Toward::minus),
    NARROW(".rp", Toward::plus),
    {".f32.f32", lanes([](u32 a) { return a; })},
    {".ftz.f32.f32", lanes([](f32 a) { return canonical(flush(a)); })},
    {".sat.f32.f32", lanes([](f32 a) { return saturate(a); })},
    {".ftz.sat.f32.f32", lanes([](f32 a) { return saturate(flush(a)); })},
    {".f64.f64", lanes([](u64 a) { return a; })},
    {".sat.f64.f64", lanes([](f64 a) { return saturate(a); })},
    TO_INTEGRAL(".rni", Round::nearest),
    TO_INTEGRAL(".rzi", Round::zero),
    TO_INTEGRAL(".rmi", Round::minus),
    TO_INTEGRAL(".rpi", Round::plus),
    {".f32.f16", lanes([](f16 a) { return canonical(widen(a)); })},
    {".sat.f32.f16", lanes([](f16 a) { return saturate(widen(a)); })},
    {".f64.f16", lanes([](f16 a) {
         const f32 x = widen(a);
         return x == x ? static_cast<f64>(x) : widened_nan(a.bits, 16, 10);
     })},
    {".f32.bf16", lanes([](bf16 a) { return canonical(widen(a)); })}};

}  // namespace
}  // namespace lockstep::ptx
