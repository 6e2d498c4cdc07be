// The spellings of logic, shifts, bit fields and dot products of bytes, each with what it does in one lane.
// Included by opcodes.cpp alone, after forms/integer.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

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
// Of predicates of which some are negated (!p): X says which.
template <class F>
void logic_of_negated(std::byte* const* d, const std::byte* const* s) {
    constexpr F f{};
    const u32* how = reinterpret_cast<const u32*>(s[2]);
    const u32 a = *reinterpret_cast<const u32*>(s[0]), b = *reinterpret_cast<const u32*>(s[1]);
    *reinterpret_cast<u32*>(d[0]) = f(how[0] ? ~a : a, how[1] ? ~b : b);
}
template <class F>
constexpr ManyLaneFunction negated(F) {
    return &logic_of_negated<F>;
}
constexpr Form and_negated[] = {{".pred", negated([](u32 a, u32 b) { return a & b; })}};
constexpr Form or_negated[] = {{".pred", negated([](u32 a, u32 b) { return a | b; })}};
constexpr Form xor_negated[] = {{".pred", negated([](u32 a, u32 b) { return a ^ b; })}};

// lop3 with a predicate: d[1] = whether any bit of the result is set, combined with s[3].
inline void logic_and_any(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[4]);
    u32* out = reinterpret_cast<u32*>(d[0]);
    const std::byte *const a = s[0], *const b = s[1], *const c = s[2];
    const u32 table = how[logic_lane::table];
    u32 any = 0;
    LOCKSTEP_LANES_INDEPENDENT
    for (int i = 0; i < 32; ++i) {
        const u32 result = logic3(lane<u32>(a, i), lane<u32>(b, i), lane<u32>(c, i), table);
        any |= static_cast<u32>(result != 0) << i;
        out[i] = result;
    }
    const u32 other = *reinterpret_cast<const u32*>(s[3]) ^ (how[logic_lane::negated] ? ~0u : 0u);
    *reinterpret_cast<u32*>(d[1]) = how[logic_lane::combination] ? any | other : any & other;
}
constexpr Form lop3_predicate[] = {{"(.and|.or).b32", &logic_and_any}};
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
constexpr Form szext_forms[] = {{".clamp.u32", lanes([](u32 a, u32 b) { return b >= 32 ? a : a & ((1u << b) - 1u); })},
                                {".wrap.u32", lanes([](u32 a, u32 b) { return a & ((1u << (b & 31u)) - 1u); })},
                                {".clamp.s32", lanes([](u32 a, u32 b) { return b >= 32 ? a : extend_sign(a, b); })},
                                {".wrap.s32", lanes([](u32 a, u32 b) { return extend_sign(a, b & 31u); })}};
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
// The other modes of prmt take the two low bits of c: which bytes of b:a then, one nibble each.
#define PERMUTE(mode, s0, s1, s2, s3)                                      \
    {                                                                      \
        ".b32." mode, lanes([](u32 a, u32 b, u32 c) {                      \
            const u32 low = (c & 1u) ? s1 : s0, high = (c & 1u) ? s3 : s2; \
            return permute(a, b, (c & 2u) ? high : low);                   \
        })                                                                 \
    }
constexpr Form prmt_forms[] = {{".b32", lanes([](u32 a, u32 b, u32 c) { return permute(a, b, c); })},
                               PERMUTE("f4e", 0x3210u, 0x4321u, 0x5432u, 0x6543u),
                               PERMUTE("b4e", 0x5670u, 0x6701u, 0x7012u, 0x0123u),
                               PERMUTE("rc8", 0x0000u, 0x1111u, 0x2222u, 0x3333u),
                               PERMUTE("ecl", 0x3210u, 0x3211u, 0x3222u, 0x3333u),
                               PERMUTE("ecr", 0x0000u, 0x1110u, 0x2210u, 0x3210u),
                               PERMUTE("rc16", 0x1010u, 0x3232u, 0x1010u, 0x3232u)};
#undef PERMUTE
constexpr Form fns_forms[] = {{".b32", lanes([](u32 mask, u32 base, s32 offset) { return nth_set(mask, base, offset); })}};

template <class A, class B>
inline u32 dot4(u32 a, u32 b, u32 c) {
    for (int i = 0; i < 32; i += 8) c += static_cast<u32>(s32{static_cast<A>(a >> i)} * s32{static_cast<B>(b >> i)});
    return c;
}
template <class A, class B>
inline u32 dot2(u32 a, u32 b, u32 c) {  // the two halves of a by the two low bytes of b
    for (int i = 0; i < 2; ++i)
        c += static_cast<u32>(s32{static_cast<A>(a >> 16 * i)}) * static_cast<u32>(s32{static_cast<B>(b >> 8 * i)});
    return c;
}
#define DOT(pattern, f)                                       \
    {                                                         \
        pattern, lanes([](u32 a, u32 b, u32 c) { return f; }) \
    }
constexpr Form dp4a_forms[] = {DOT(".u32.u32", (dot4<u8, u8>(a, b, c))), DOT(".u32.s32", (dot4<u8, s8>(a, b, c))),
                               DOT(".s32.u32", (dot4<s8, u8>(a, b, c))), DOT(".s32.s32", (dot4<s8, s8>(a, b, c)))};
constexpr Form dp2a_forms[] = {
    DOT(".lo.u32.u32", (dot2<u16, u8>(a, b, c))),       DOT(".lo.u32.s32", (dot2<u16, s8>(a, b, c))),
    DOT(".lo.s32.u32", (dot2<s16, u8>(a, b, c))),       DOT(".lo.s32.s32", (dot2<s16, s8>(a, b, c))),
    DOT(".hi.u32.u32", (dot2<u16, u8>(a, b >> 16, c))), DOT(".hi.u32.s32", (dot2<u16, s8>(a, b >> 16, c))),
    DOT(".hi.s32.u32", (dot2<s16, u8>(a, b >> 16, c))), DOT(".hi.s32.s32", (dot2<s16, s8>(a, b >> 16, c)))};
#undef DOT

}  // namespace
}  // namespace lockstep::ptx
