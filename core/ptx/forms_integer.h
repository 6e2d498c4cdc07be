// The spellings of integer and logic operations, each with what it does in one lane. Integers wrap: all is unsigned
// unless the sign matters. Included by opcodes.cpp alone.
#pragma once
#include "core/ptx/arithmetic.h"
#include "core/ptx/lanes.h"

namespace lockstep::ptx {
namespace {

// The same expression for unsigned and signed lanes of 16, 32 and 64 bits.
#define ONE(pattern, type, expression)                                       \
    {                                                                        \
        pattern, lanes([](type a) { return static_cast<type>(expression); }) \
    }
#define TWO(pattern, type, expression)                                               \
    {                                                                                \
        pattern, lanes([](type a, type b) { return static_cast<type>(expression); }) \
    }
#define TWO_UNSIGNED(expression) \
    TWO("(.u16|.s16)", u16, expression), TWO("(.u32|.s32)", u32, expression), TWO("(.u64|.s64)", u64, expression)
#define TWO_OF_EACH(expression)                                                                                             \
    TWO(".u16", u16, expression), TWO(".s16", s16, expression), TWO(".u32", u32, expression), TWO(".s32", s32, expression), \
        TWO(".u64", u64, expression), TWO(".s64", s64, expression)

constexpr Form add_integer[] = {
    TWO_UNSIGNED(u64{a} + b),
    {".sat.s32", lanes([](s32 a, s32 b) { return clamp_integer<s32>(s64{a} + b); })},
};
constexpr Form sub_integer[] = {
    TWO_UNSIGNED(u64{a} - b),
    {".sat.s32", lanes([](s32 a, s32 b) { return clamp_integer<s32>(s64{a} - b); })},
};
constexpr Form mul_low[] = {
    TWO(".lo(.u16|.s16)", u16, u64{a} * b),
    TWO(".lo(.u32|.s32)", u32, u64{a} * b),
    TWO(".lo(.u64|.s64)", u64, u64{a} * b),
};
constexpr Form mul_high_forms[] = {
    TWO(".hi.u16", u16, u32{a} * b >> 16), TWO(".hi.s16", s16, s32{a} * b >> 16), TWO(".hi.u32", u32, mul_high(a, b)),
    TWO(".hi.s32", s32, mul_high(a, b)),   TWO(".hi.u64", u64, mul_high(a, b)),   TWO(".hi.s64", s64, mul_high(a, b)),
};
constexpr Form mul_wide[] = {
    {".wide.u16", lanes([](u16 a, u16 b) { return u32{a} * b; })},
    {".wide.s16", lanes([](s16 a, s16 b) { return s32{a} * b; })},
    {".wide.u32", lanes([](u32 a, u32 b) { return u64{a} * b; })},
    {".wide.s32", lanes([](s32 a, s32 b) { return s64{a} * b; })},
};
constexpr Form mul_24[] = {
    {".lo.u32", lanes([](u32 a, u32 b) { return (a & 0xffffffu) * (b & 0xffffffu); })},
    {".lo.s32", lanes([](u32 a, u32 b) {
         return static_cast<u32>((static_cast<s32>(a << 8) >> 8)) * static_cast<u32>(static_cast<s32>(b << 8) >> 8);
     })},
};
constexpr Form mad_low[] = {
    {".lo(.u16|.s16)", lanes([](u16 a, u16 b, u16 c) { return static_cast<u16>(u32{a} * b + c); })},
    {".lo(.u32|.s32)", lanes([](u32 a, u32 b, u32 c) { return a * b + c; })},
    {".lo(.u64|.s64)", lanes([](u64 a, u64 b, u64 c) { return a * b + c; })},
};
constexpr Form mad_high[] = {
    {".hi.u32", lanes([](u32 a, u32 b, u32 c) { return mul_high(a, b) + c; })},
    {".hi.s32", lanes([](s32 a, s32 b, u32 c) { return static_cast<u32>(mul_high(a, b)) + c; })},
    {".hi.u64", lanes([](u64 a, u64 b, u64 c) { return mul_high(a, b) + c; })},
    {".hi.s64", lanes([](s64 a, s64 b, u64 c) { return static_cast<u64>(mul_high(a, b)) + c; })},
};
constexpr Form mad_wide[] = {
    {".wide.u16", lanes([](u16 a, u16 b, u32 c) { return u32{a} * b + c; })},
    {".wide.s16", lanes([](s16 a, s16 b, u32 c) { return static_cast<u32>(s32{a} * b) + c; })},
    {".wide.u32", lanes([](u32 a, u32 b, u64 c) { return u64{a} * b + c; })},
    {".wide.s32", lanes([](s32 a, s32 b, u64 c) { return static_cast<u64>(s64{a} * b) + c; })},
};
constexpr Form div_integer[] = {TWO_OF_EACH(quotient(a, b))};
constexpr Form rem_integer[] = {TWO_OF_EACH(remainder(a, b))};
constexpr Form min_integer[] = {TWO_OF_EACH(a < b ? a : b)};
constexpr Form max_integer[] = {TWO_OF_EACH(a > b ? a : b)};
constexpr Form neg_integer[] = {ONE(".s16", u16, u64{0} - a), ONE(".s32", u32, u64{0} - a), ONE(".s64", u64, u64{0} - a)};
constexpr Form abs_integer[] = {
    {".s16", lanes([](s16 a) { return static_cast<s16>(a < 0 ? -a : a); })},
    {".s32", lanes([](s32 a) { return a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a); })},
    {".s64", lanes([](s64 a) { return a < 0 ? 0ull - static_cast<u64>(a) : static_cast<u64>(a); })},
};
constexpr Form sad_integer[] = {
    {".u32", lanes([](u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); })},
    {".s32", lanes([](s32 a, s32 b, u32 c) {
         return c + (a < b ? static_cast<u32>(b) - static_cast<u32>(a) : static_cast<u32>(a) - static_cast<u32>(b));
     })},
};

// A carry is 0 or 1 in the lanes of a hidden register of the operation's type.
template <class T, bool subtract, bool carry_in>
void add_with_carry(std::byte* const* d, const std::byte* const* s) {
    for (int i = 0; i < 32; ++i) {
        const T a = lane<T>(s[0], i), b = lane<T>(s[1], i);
        const T in = carry_in ? lane<T>(s[2], i) : T{0};
        const uint128 result = subtract ? uint128{a} - b - in : uint128{a} + b + in;
        reinterpret_cast<T*>(d[0])[i] = static_cast<T>(result);
        if (d[1]) reinterpret_cast<T*>(d[1])[i] = static_cast<T>(static_cast<u32>(result >> sizeof(T) * 8) & 1u);
    }
}
template <class T, bool high, bool carry_in>
void mad_with_carry(std::byte* const* d, const std::byte* const* s) {
    for (int i = 0; i < 32; ++i) {
        const uint128 product = uint128{lane<T>(s[0], i)} * lane<T>(s[1], i);
        const T part = static_cast<T>(high ? product >> sizeof(T) * 8 : product);
        const uint128 result = uint128{part} + lane<T>(s[2], i) + (carry_in ? lane<T>(s[3], i) : T{0});
        reinterpret_cast<T*>(d[0])[i] = static_cast<T>(result);
        if (d[1]) reinterpret_cast<T*>(d[1])[i] = static_cast<T>(static_cast<u32>(result >> sizeof(T) * 8) & 1u);
    }
}
constexpr Form add_carry_out[] = {{".cc(.u32|.s32)", &add_with_carry<u32, false, false>},
                                  {".cc(.u64|.s64)", &add_with_carry<u64, false, false>}};
constexpr Form add_carry_in[] = {{"{.cc}(.u32|.s32)", &add_with_carry<u32, false, true>},
                                 {"{.cc}(.u64|.s64)", &add_with_carry<u64, false, true>}};
constexpr Form sub_carry_out[] = {{".cc(.u32|.s32)", &add_with_carry<u32, true, false>},
                                  {".cc(.u64|.s64)", &add_with_carry<u64, true, false>}};
constexpr Form sub_carry_in[] = {{"{.cc}(.u32|.s32)", &add_with_carry<u32, true, true>},
                                 {"{.cc}(.u64|.s64)", &add_with_carry<u64, true, true>}};
constexpr Form mad_carry_out[] = {{".lo.cc(.u32|.s32)", &mad_with_carry<u32, false, false>},
                                  {".hi.cc.u32", &mad_with_carry<u32, true, false>},
                                  {".lo.cc(.u64|.s64)", &mad_with_carry<u64, false, false>},
                                  {".hi.cc.u64", &mad_with_carry<u64, true, false>}};
constexpr Form mad_carry_in[] = {{".lo{.cc}(.u32|.s32)", &mad_with_carry<u32, false, true>},
                                 {".hi{.cc}.u32", &mad_with_carry<u32, true, true>},
                                 {".lo{.cc}(.u64|.s64)", &mad_with_carry<u64, false, true>},
                                 {".hi{.cc}.u64", &mad_with_carry<u64, true, true>}};

// --- logic, shifts, bit fields ------------------------------------------------------------------------------------

#define LOGIC(operator)                                                                                             \
    {".pred", lanes([](Mask a, Mask b) { return Mask{a.bits operator b.bits }; })}, TWO(".b16", u16, a operator b), \
        TWO(".b32", u32, a operator b), TWO(".b64", u64, a operator b)
constexpr Form and_forms[] = {LOGIC(&)};
constexpr Form or_forms[] = {LOGIC(|)};
constexpr Form xor_forms[] = {LOGIC(^)};
constexpr Form not_forms[] = {{".pred", lanes([](Mask a) { return Mask{~a.bits}; })},
                              ONE(".b16", u16, ~a),
                              ONE(".b32", u32, ~a),
                              ONE(".b64", u64, ~a)};
constexpr Form cnot_forms[] = {ONE(".b16", u16, a == 0), ONE(".b32", u32, a == 0), ONE(".b64", u64, a == 0)};
constexpr Form lop3_forms[] = {{".b32", many([](u32 a, u32 b, u32 c, u32 table) { return logic3(a, b, c, table); })}};

#define SHIFT(pattern, type, beyond, within)                                                                         \
    {                                                                                                                \
        pattern, lanes([](type a, u32 b) { return static_cast<type>(b >= sizeof(type) * 8 ? (beyond) : (within)); }) \
    }
constexpr Form shl_forms[] = {SHIFT(".b16", u16, 0, u32{a} << (b & 15u)), SHIFT(".b32", u32, 0, a << (b & 31u)),
                              SHIFT(".b64", u64, 0, a << (b & 63u))};
constexpr Form shr_forms[] = {
    SHIFT("(.u16|.b16)", u16, 0, a >> (b & 15u)),       SHIFT("(.u32|.b32)", u32, 0, a >> (b & 31u)),
    SHIFT("(.u64|.b64)", u64, 0, a >> (b & 63u)),       SHIFT(".s16", s16, a < 0 ? -1 : 0, a >> (b & 15u)),
    SHIFT(".s32", s32, a < 0 ? -1 : 0, a >> (b & 31u)), SHIFT(".s64", s64, a < 0 ? -1 : 0, a >> (b & 63u))};
constexpr Form shf_forms[] = {
    {".l.wrap.b32", lanes([](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) << (c & 31u) >> 32); })},
    {".r.wrap.b32", lanes([](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) >> (c & 31u)); })},
    {".l.clamp.b32",
     lanes([](u32 a, u32 b, u32 c) { return c >= 32 ? a : static_cast<u32>((u64{b} << 32 | a) << (c & 31u) >> 32); })},
    {".r.clamp.b32",
     lanes([](u32 a, u32 b, u32 c) { return c >= 32 ? b : static_cast<u32>((u64{b} << 32 | a) >> (c & 31u)); })},
};
constexpr Form bfe_forms[] = {{".u32", lanes([](u32 a, u32 b, u32 c) { return extract_field(a, b, c); })},
                              {".s32", lanes([](s32 a, u32 b, u32 c) { return extract_field(a, b, c); })},
                              {".u64", lanes([](u64 a, u32 b, u32 c) { return extract_field(a, b, c); })},
                              {".s64", lanes([](s64 a, u32 b, u32 c) { return extract_field(a, b, c); })}};
constexpr Form bfi_forms[] = {{".b32", many([](u32 a, u32 b, u32 at, u32 count) { return insert_field(a, b, at, count); })},
                              {".b64", many([](u64 a, u64 b, u32 at, u32 count) { return insert_field(a, b, at, count); })}};
constexpr Form bmsk_forms[] = {
    {".clamp.b32", lanes([](u32 a, u32 b) { return a >= 32 || b == 0 ? 0u : (b >= 32 ? ~0u : (1u << b) - 1u) << a; })},
    {".wrap.b32", lanes([](u32 a, u32 b) { return ((1u << (b & 31u)) - 1u) << (a & 31u); })}};
constexpr Form clz_forms[] = {{".b32", lanes([](u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : 32u; })},
                              {".b64", lanes([](u64 a) { return a ? static_cast<u32>(__builtin_clzll(a)) : 64u; })}};
constexpr Form popc_forms[] = {{".b32", lanes([](u32 a) { return static_cast<u32>(__builtin_popcount(a)); })},
                               {".b64", lanes([](u64 a) { return static_cast<u32>(__builtin_popcountll(a)); })}};
constexpr Form brev_forms[] = {ONE(".b32", u32, reverse_bits(a)), ONE(".b64", u64, reverse_bits(a))};
constexpr Form bfind_forms[] = {
    {".u32", lanes([](u32 a) { return a ? 31u - static_cast<u32>(__builtin_clz(a)) : ~0u; })},
    {".s32", lanes([](s32 a) {
         const u32 x = static_cast<u32>(a < 0 ? ~a : a);
         return x ? 31u - static_cast<u32>(__builtin_clz(x)) : ~0u;
     })},
    {".u64", lanes([](u64 a) { return a ? 63u - static_cast<u32>(__builtin_clzll(a)) : ~0u; })},
    {".s64", lanes([](s64 a) {
         const u64 x = static_cast<u64>(a < 0 ? ~a : a);
         return x ? 63u - static_cast<u32>(__builtin_clzll(x)) : ~0u;
     })},
    {".shiftamt.u32", lanes([](u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : ~0u; })},
    {".shiftamt.s32", lanes([](s32 a) {
         const u32 x = static_cast<u32>(a < 0 ? ~a : a);
         return x ? static_cast<u32>(__builtin_clz(x)) : ~0u;
     })},
    {".shiftamt.u64", lanes([](u64 a) { return a ? static_cast<u32>(__builtin_clzll(a)) : ~0u; })},
    {".shiftamt.s64", lanes([](s64 a) {
         const u64 x = static_cast<u64>(a < 0 ? ~a : a);
         return x ? static_cast<u32>(__builtin_clzll(x)) : ~0u;
     })},
};
constexpr Form prmt_forms[] = {{".b32", lanes([](u32 a, u32 b, u32 c) { return permute(a, b, c); })}};
template <class A, class B>
inline u32 dot4(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 32; i += 8) c += static_cast<u32>(s32{static_cast<A>(a >> i)} * s32{static_cast<B>(b >> i)});
    return c;
}
constexpr Form dp4a_forms[] = {{".u32.u32", lanes([](u32 a, u32 b, u32 c) { return dot4<u8, u8>(a, b, c); })},
                               {".u32.s32", lanes([](u32 a, u32 b, u32 c) { return dot4<u8, s8>(a, b, c); })},
                               {".s32.u32", lanes([](u32 a, u32 b, u32 c) { return dot4<s8, u8>(a, b, c); })},
                               {".s32.s32", lanes([](u32 a, u32 b, u32 c) { return dot4<s8, s8>(a, b, c); })}};

// --- comparison, selection, moves -----------------------------------------------------------------------------------

template <class T>
inline bool compare(u32 comparison, T a, T b) {  // `comparison` is an index into `comparisons`
    const bool unordered = a != a || b != b;
    switch (comparison) {
        case 0:
            return a == b;
        case 1:
            return !unordered && a != b;
        case 2:
        case 6:
            return a < b;
        case 3:
        case 7:
            return a <= b;
        case 4:
        case 8:
            return a > b;
        case 5:
        case 9:
            return a >= b;
        case 10:
            return unordered || a == b;
        case 11:
            return unordered || a != b;
        case 12:
            return unordered || a < b;
        case 13:
            return unordered || a <= b;
        case 14:
            return unordered || a > b;
        case 15:
            return unordered || a >= b;
        case 16:
            return !unordered;
        default:
            return unordered;
    }
}
inline bool combine(u32 combination, bool a, bool b) {
    return combination == 1 ? a && b : combination == 2 ? a || b : combination == 3 ? a != b : a;
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

// d[0] = (a ? b) combined with c, d[1] = !(a ? b) combined with c; s[2] may be null; s[3] the constant described in opcode.h
template <class T, bool ftz>
void set_predicates(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    u32 first = 0, second = 0;
    for (int i = 0; i < 32; ++i) {
        auto a = plain(lane<T>(s[0], i)), b = plain(lane<T>(s[1], i));
        if constexpr (ftz) a = flush(a), b = flush(b);
        const bool c = s[2] && lane<bool>(s[2], i) != (how[2] != 0);
        const bool holds = compare(how[0], a, b);
        first |= static_cast<u32>(combine(how[1], holds, c)) << i;
        second |= static_cast<u32>(combine(how[1], !holds, c)) << i;
    }
    *reinterpret_cast<u32*>(d[0]) = first;
    if (d[1]) *reinterpret_cast<u32*>(d[1]) = second;
}
template <class T, bool ftz, class R = u32>
void set_lanes(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    for (int i = 0; i < 32; ++i) {
        auto a = plain(lane<T>(s[0], i)), b = plain(lane<T>(s[1], i));
        if constexpr (ftz) a = flush(a), b = flush(b);
        const bool c = s[2] && lane<bool>(s[2], i) != (how[2] != 0);
        const bool holds = combine(how[1], compare(how[0], a, b), c);
        reinterpret_cast<R*>(d[0])[i] = static_cast<R>(holds ? how[3] : 0u);
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
constexpr Form setp_forms[] = {
    COMPARE_INTEGER(".s32", s32),       COMPARE_UNSIGNED(".u32", u32), COMPARE_FLOAT(".f32", float),
    COMPARE_EQUAL(".b32", u32),         COMPARE_INTEGER(".s64", s64),  COMPARE_UNSIGNED(".u64", u64),
    COMPARE_EQUAL(".b64", u64),         COMPARE_FLOAT(".f64", double), COMPARE_INTEGER(".s16", s16),
    COMPARE_UNSIGNED(".u16", u16),      COMPARE_EQUAL(".b16", u16),    COMPARE_FLOAT("{.ftz}.f16", Half),
    COMPARE_FLOAT(".ftz.f32", Flushed), COMPARE_FLOAT(".bf16", Brain)};
#define COMPARISONS "(.eq|.ne|.lt|.le|.gt|.ge|.lo|.ls|.hi|.hs|.equ|.neu|.ltu|.leu|.gtu|.geu|.num|.nan)"
#define COMBINED(f, types)                                                     \
    {COMPARISONS "{.and|.or|.xor}" types ".s32", &f<s32, false>},              \
        {COMPARISONS "{.and|.or|.xor}" types "(.u32|.b32)", &f<u32, false>},   \
        {COMPARISONS "{.and|.or|.xor}" types ".f32", &f<float, false>},        \
        {COMPARISONS "{.and|.or|.xor}.ftz" types ".f32", &f<float, true>},     \
        {COMPARISONS "{.and|.or|.xor}" types ".f64", &f<double, false>},       \
        {COMPARISONS "{.and|.or|.xor}" types ".s64", &f<s64, false>},          \
        {COMPARISONS "{.and|.or|.xor}" types "(.u64|.b64)", &f<u64, false>},   \
        {COMPARISONS "{.and|.or|.xor}" types ".s16", &f<s16, false>},          \
        {COMPARISONS "{.and|.or|.xor}" types "(.u16|.b16)", &f<u16, false>}, { \
        COMPARISONS "{.and|.or|.xor}{.ftz}" types ".f16", &f<Half, false>      \
    }
constexpr Form setp_combined[] = {COMBINED(set_predicates, "")};
constexpr Form set_forms[] = {COMBINED(set_lanes, "(.u32|.s32|.f32)"),
                              {COMPARISONS "{.and|.or|.xor}{.ftz}.f16.f16", &set_lanes<Half, false, u16>}};

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
constexpr Form slct_forms[] = {
    {"(.b32|.u32|.s32|.f32).s32", lanes([](u32 a, u32 b, s32 c) { return c >= 0 ? a : b; })},
    {"(.b64|.u64|.s64|.f64).s32", lanes([](u64 a, u64 b, s32 c) { return c >= 0 ? a : b; })},
    {"{.ftz}(.b32|.u32|.s32|.f32).f32", lanes([](u32 a, u32 b, float c) { return c >= 0 ? a : b; })},
    {"{.ftz}(.b64|.u64|.s64|.f64).f32", lanes([](u64 a, u64 b, float c) { return c >= 0 ? a : b; })}};
inline void copy_128(std::byte* d, const std::byte* a, const std::byte*, const std::byte*) {
    __builtin_memmove(d, a, 32 * 16);
}
inline void pack_128(std::byte* const* d, const std::byte* const* s) {
    for (size_t i = 0; i < 64; ++i) __builtin_memcpy(d[0] + i * 8, s[i % 2] + i / 2 * 8, 8);
}
inline void unpack_128(std::byte* const* d, const std::byte* const* s) {
    for (size_t i = 0; i < 64; ++i)
        if (d[i % 2]) __builtin_memcpy(d[i % 2] + i / 2 * 8, s[0] + i * 8, 8);
}
constexpr Form mov_forms[] = {ONE("(.b32|.u32|.s32|.f32|.f16x2)", u32, a),
                              ONE("(.b64|.u64|.s64|.f64)", u64, a),
                              ONE("(.b16|.u16|.s16|.f16|.bf16)", u16, a),
                              {".pred", lanes([](Mask a) { return a; })},
                              {".b128", &copy_128}};

template <class Whole, class Part, int parts>
void pack(std::byte* const* d, const std::byte* const* s) {
    for (int i = 0; i < 32; ++i) {
        Whole whole = 0;
        for (int k = 0; k < parts; ++k)
            whole = static_cast<Whole>(whole | static_cast<Whole>(Whole{lane<Part>(s[k], i)} << k * sizeof(Part) * 8));
        reinterpret_cast<Whole*>(d[0])[i] = whole;
    }
}
template <class Whole, class Part, int parts>
void unpack(std::byte* const* d, const std::byte* const* s) {
    for (int i = 0; i < 32; ++i) {
        const Whole whole = lane<Whole>(s[0], i);
        for (int k = 0; k < parts; ++k)
            if (d[k]) reinterpret_cast<Part*>(d[k])[i] = static_cast<Part>(whole >> k * sizeof(Part) * 8);
    }
}
constexpr Form pack_forms[] = {
    {".b32.v2", &pack<u32, u16, 2>}, {".b64.v2", &pack<u64, u32, 2>}, {".b64.v4", &pack<u64, u16, 4>}, {".b128.v2", &pack_128}};
constexpr Form unpack_forms[] = {
    {".b32.v2", &unpack<u32, u16, 2>}, {".b64.v2", &unpack<u64, u32, 2>}, {".b64.v4", &unpack<u64, u16, 4>}, {".b128.v2", &unpack_128}};

constexpr Form cvta_forms[] = {ONE("{.to}(.global|.const|.param).u64", u64, a),
                               ONE("{.to}(.global|.const|.param).u32", u32, a),
                               {".shared{::cta}.u64", lanes([](u64 a) { return a + 0x0100'0000'0000ull; })},
                               {".to.shared{::cta}.u64", lanes([](u64 a) { return a - 0x0100'0000'0000ull; })},
                               {".local.u64", lanes([](u64 a) { return a + 0x0200'0000'0000ull; })},
                               {".to.local.u64", lanes([](u64 a) { return a - 0x0200'0000'0000ull; })}};
constexpr Form isspacep_forms[] = {
    {".shared{::cta}", lanes([](u64 a) { return a - 0x0100'0000'0000ull < (1ull << 24); })},
    {".local", lanes([](u64 a) { return a - 0x0200'0000'0000ull < (1ull << 24); })},
    {".const", lanes([](u64) { return false; })},
    {".global",
     lanes([](u64 a) { return a - 0x0100'0000'0000ull >= (1ull << 24) && a - 0x0200'0000'0000ull >= (1ull << 24); })}};

}  // namespace
}  // namespace lockstep::ptx
