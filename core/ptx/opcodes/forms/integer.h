// The spellings of integer arithmetic, each with what it does in one lane. Integers wrap: all is unsigned unless the sign
// matters. ONE and TWO write one expression down for a type. Included by opcodes.cpp alone, before the other files here.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

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
    {"(.u16x2|.s16x2)",
     lanes([](u32 a, u32 b) { return ((a & 0x7fff7fffu) + (b & 0x7fff7fffu)) ^ ((a ^ b) & 0x80008000u); })},
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
inline u64 product_24(u32 a, u32 b) {
    return u64{a & 0xffffffu} * (b & 0xffffffu);
}
inline s64 product_24(s32 a, s32 b) {
    return s64{static_cast<s32>(static_cast<u32>(a) << 8) >> 8} * (static_cast<s32>(static_cast<u32>(b) << 8) >> 8);
}
constexpr Form mul_24[] = {TWO(".lo.u32", u32, product_24(a, b)), TWO(".lo.s32", s32, product_24(a, b)),
                           TWO(".hi.u32", u32, product_24(a, b) >> 16), TWO(".hi.s32", s32, product_24(a, b) >> 16)};
constexpr Form mad_24[] = {
    {".lo.u32", lanes([](u32 a, u32 b, u32 c) { return static_cast<u32>(product_24(a, b)) + c; })},
    {".lo.s32", lanes([](s32 a, s32 b, u32 c) { return static_cast<u32>(product_24(a, b)) + c; })},
    {".hi.u32", lanes([](u32 a, u32 b, u32 c) { return static_cast<u32>(product_24(a, b) >> 16) + c; })},
    {".hi.s32", lanes([](s32 a, s32 b, u32 c) { return static_cast<u32>(product_24(a, b) >> 16) + c; })},
    {".hi.sat.s32", lanes([](s32 a, s32 b, s32 c) { return clamp_integer<s32>((product_24(a, b) >> 16) + c); })},
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
    {".hi.u16", lanes([](u16 a, u16 b, u16 c) { return static_cast<u16>((u32{a} * b >> 16) + c); })},
    {".hi.s16", lanes([](s16 a, s16 b, u16 c) { return static_cast<u16>((s32{a} * b >> 16) + c); })},
    {".hi.sat.s32", lanes([](s32 a, s32 b, s32 c) { return clamp_integer<s32>(s64{mul_high(a, b)} + c); })},
};
constexpr Form mad_wide[] = {
    {".wide.u16", lanes([](u16 a, u16 b, u32 c) { return u32{a} * b + c; })},
    {".wide.s16", lanes([](s16 a, s16 b, u32 c) { return static_cast<u32>(s32{a} * b) + c; })},
    {".wide.u32", lanes([](u32 a, u32 b, u64 c) { return u64{a} * b + c; })},
    {".wide.s32", lanes([](s32 a, s32 b, u64 c) { return static_cast<u64>(s64{a} * b) + c; })},
};
constexpr Form div_integer[] = {TWO_OF_EACH(quotient(a, b))};
constexpr Form rem_integer[] = {TWO_OF_EACH(remainder(a, b))};
template <class T>
inline T smaller(T a, T b) {
    return a < b ? a : b;
}
template <class T>
inline T larger(T a, T b) {
    return a > b ? a : b;
}
// The halves of a u16x2 or s16x2, combined one by one.
#define TWO_HALVES(pattern, T, f)                                                                                         \
    {                                                                                                                     \
        pattern, lanes([](u32 x, u32 y) {                                                                                 \
            const auto of = [](T a, T b) { return u32{static_cast<u16>(f)}; };                                            \
            return of(static_cast<T>(x), static_cast<T>(y)) | of(static_cast<T>(x >> 16), static_cast<T>(y >> 16)) << 16; \
        })                                                                                                                \
    }
constexpr Form min_integer[] = {TWO_OF_EACH(smaller(a, b)),
                                TWO(".relu.s32", s32, larger(smaller(a, b), 0)),
                                TWO(".s32.relu", s32, larger(smaller(a, b), 0)),
                                TWO_HALVES(".u16x2", u16, smaller(a, b)),
                                TWO_HALVES(".s16x2", s16, smaller(a, b)),
                                TWO_HALVES(".relu.s16x2", s16, larger(smaller(a, b), s16{0})),
                                TWO_HALVES(".s16x2.relu", s16, larger(smaller(a, b), s16{0}))};
constexpr Form max_integer[] = {TWO_OF_EACH(larger(a, b)),
                                TWO(".relu.s32", s32, larger(larger(a, b), 0)),
                                TWO(".s32.relu", s32, larger(larger(a, b), 0)),
                                TWO_HALVES(".u16x2", u16, larger(a, b)),
                                TWO_HALVES(".s16x2", s16, larger(a, b)),
                                TWO_HALVES(".relu.s16x2", s16, larger(larger(a, b), s16{0})),
                                TWO_HALVES(".s16x2.relu", s16, larger(larger(a, b), s16{0}))};
constexpr Form neg_integer[] = {ONE(".s16", u16, u64{0} - a), ONE(".s32", u32, u64{0} - a), ONE(".s64", u64, u64{0} - a)};
constexpr Form abs_integer[] = {
    {".s16", lanes([](s16 a) { return static_cast<s16>(a < 0 ? -a : a); })},
    {".s32", lanes([](s32 a) { return a < 0 ? 0u - static_cast<u32>(a) : static_cast<u32>(a); })},
    {".s64", lanes([](s64 a) { return a < 0 ? 0ull - static_cast<u64>(a) : static_cast<u64>(a); })},
};
constexpr Form sad_integer[] = {
    {".u16", lanes([](u16 a, u16 b, u16 c) { return static_cast<u16>(c + (a < b ? b - a : a - b)); })},
    {".s16", lanes([](s16 a, s16 b, u16 c) { return static_cast<u16>(c + (a < b ? b - a : a - b)); })},
    {".u32", lanes([](u32 a, u32 b, u32 c) { return c + (a < b ? b - a : a - b); })},
    {".s32", lanes([](s32 a, s32 b, u32 c) {
         const u32 difference = static_cast<u32>(a) - static_cast<u32>(b);
         return c + (a < b ? 0u - difference : difference);
     })},
    {".u64", lanes([](u64 a, u64 b, u64 c) { return c + (a < b ? b - a : a - b); })},
    {".s64", lanes([](s64 a, s64 b, u64 c) {
         const u64 difference = static_cast<u64>(a) - static_cast<u64>(b);
         return c + (a < b ? 0ull - difference : difference);
     })},
};

// The carry flag is a predicate: a mask, a bit a lane. Chains of 32 and of 64 bits share it, and those that add and
// subtract: a subtraction is a sum with the complement, so that its flag is 0 where it borrows.
template <class T, bool subtract, bool carry_in>
void add_with_carry(std::byte* const* d, const std::byte* const* s) {
    T* out = reinterpret_cast<T*>(d[0]);
    const std::byte *const left = s[0], *const right =
                                            s[1];  // once: a lane that is stored could be the list's, for all GCC knows
    const u32 flags = carry_in ? *reinterpret_cast<const u32*>(s[2]) : 0;
    u32 carries = 0;
    LOCKSTEP_LANES_INDEPENDENT
    for (int i = 0; i < 32; ++i) {
        const T a = lane<T>(left, i), b = lane<T>(right, i);
        const T flag = static_cast<T>(flags >> i & 1u);
        const T in = subtract && carry_in ? T{1} - flag : flag;
        const T sum = subtract ? a - b : a + b, result = subtract ? sum - in : sum + in;
        carries |= static_cast<u32>(subtract ? !((a < b) | (sum < in)) : (sum < a) | (result < sum)) << i;
        out[i] = result;
    }
    if (d[1]) *reinterpret_cast<u32*>(d[1]) = carries;
}
template <class T, bool is_signed, bool high, bool carry_in>
void mad_with_carry(std::byte* const* d, const std::byte* const* s) {
    T* out = reinterpret_cast<T*>(d[0]);
    const std::byte *const left = s[0], *const right = s[1], *const added = s[2];
    const u32 flags = carry_in ? *reinterpret_cast<const u32*>(s[3]) : 0;
    u32 carries = 0;
    LOCKSTEP_LANES_INDEPENDENT
    for (int i = 0; i < 32; ++i) {
        const T a = lane<T>(left, i), b = lane<T>(right, i), c = lane<T>(added, i);
        const T top = static_cast<T>(mul_high(a, b));
        // of signed numbers: less b where a is negative, less a where b is
        const T correction =
            is_signed ? static_cast<T>((a >> (sizeof(T) * 8 - 1) ? b : T{0}) + (b >> (sizeof(T) * 8 - 1) ? a : T{0})) : T{0};
        const T part = high ? top - correction : a * b;
        const T in = static_cast<T>(flags >> i & 1u);
        const T sum = part + c, result = sum + in;
        carries |= static_cast<u32>((sum < c) | (result < sum)) << i;
        out[i] = result;
    }
    if (d[1]) *reinterpret_cast<u32*>(d[1]) = carries;
}
constexpr Form add_carry_out[] = {{".cc(.u32|.s32)", &add_with_carry<u32, false, false>},
                                  {".cc(.u64|.s64)", &add_with_carry<u64, false, false>}};
constexpr Form add_carry_in[] = {{"{.cc}(.u32|.s32)", &add_with_carry<u32, false, true>},
                                 {"{.cc}(.u64|.s64)", &add_with_carry<u64, false, true>}};
constexpr Form sub_carry_out[] = {{".cc(.u32|.s32)", &add_with_carry<u32, true, false>},
                                  {".cc(.u64|.s64)", &add_with_carry<u64, true, false>}};
constexpr Form sub_carry_in[] = {{"{.cc}(.u32|.s32)", &add_with_carry<u32, true, true>},
                                 {"{.cc}(.u64|.s64)", &add_with_carry<u64, true, true>}};
#define MAD_CARRY(cc, in)                                                                                                  \
    {".lo" cc "(.u32|.s32)", &mad_with_carry<u32, false, false, in>},                                                      \
        {".hi" cc ".u32", &mad_with_carry<u32, false, true, in>}, {".hi" cc ".s32", &mad_with_carry<u32, true, true, in>}, \
        {".lo" cc "(.u64|.s64)", &mad_with_carry<u64, false, false, in>},                                                  \
        {".hi" cc ".u64", &mad_with_carry<u64, false, true, in>}, {                                                        \
        ".hi" cc ".s64", &mad_with_carry<u64, true, true, in>                                                              \
    }
constexpr Form mad_carry_out[] = {MAD_CARRY(".cc", false)};
constexpr Form mad_carry_in[] = {MAD_CARRY("{.cc}", true)};
#undef MAD_CARRY

}  // namespace
}  // namespace lockstep::ptx
