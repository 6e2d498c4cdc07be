// The spellings of moves, packing and addresses of spaces, each with what it does in one lane. Included by opcodes.cpp
// alone, after forms/integer.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

inline void copy_128(std::byte* d, const std::byte* a, const std::byte*, const std::byte*) {
    __builtin_memmove(d, a, 32 * 16);
}
constexpr Form mov_forms[] = {ONE("(.b32|.u32|.s32|.f32|.f16x2|.bf16x2)", u32, a),
                              ONE("(.b64|.u64|.s64|.f64)", u64, a),
                              ONE("(.b16|.u16|.s16|.f16|.bf16)", u16, a),
                              {".pred", lanes([](Mask a) { return a; })},
                              {".b128", &copy_128}};

// Bytes live in registers of 16 bits: `bits` of each part count.
template <class Whole, class Part, int parts>
void pack(std::byte* const* d, const std::byte* const* s) {
    constexpr int width = sizeof(Whole) * 8 / parts;
    const std::byte* from[parts];  // once: a lane that is stored could be the list's, for all GCC knows
    for (int k = 0; k < parts; ++k) from[k] = s[k];
    Whole* const out = reinterpret_cast<Whole*>(d[0]);
    LOCKSTEP_LANES_INDEPENDENT
    for (int i = 0; i < 32; ++i) {
        Whole whole = 0;
        for (int k = 0; k < parts; ++k) {
            const Part part = static_cast<Part>(lane<Part>(from[k], i) & static_cast<Part>(~0ull >> (64 - width)));
            whole = static_cast<Whole>(whole | static_cast<Whole>(Whole{part} << k * width));
        }
        out[i] = whole;
    }
}
template <class Whole, class Part, int parts>
void unpack(std::byte* const* d, const std::byte* const* s) {
    constexpr int width = sizeof(Whole) * 8 / parts;
    Whole whole[32];  // a part may be in its place: bytes are
    __builtin_memcpy(whole, s[0], sizeof whole);
    for (int k = 0; k < parts; ++k) {
        if (!d[k]) continue;
        Part* const out = reinterpret_cast<Part*>(d[k]);
        LOCKSTEP_LANES_INDEPENDENT
        for (int i = 0; i < 32; ++i)
            out[i] = static_cast<Part>((whole[i] >> k * width) & static_cast<Part>(~0ull >> (64 - width)));
    }
}
template <int parts>  // of 128 / parts bits
void pack_128(std::byte* const* d, const std::byte* const* s) {
    constexpr size_t bytes = 16 / parts;
    std::byte whole[512];  // a part may be one of the sources
    for (size_t i = 0; i < 32; ++i)
        for (size_t k = 0; k < parts; ++k) __builtin_memcpy(whole + i * 16 + k * bytes, s[k] + i * bytes, bytes);
    __builtin_memcpy(d[0], whole, sizeof whole);
}
template <int parts>
void unpack_128(std::byte* const* d, const std::byte* const* s) {
    constexpr size_t bytes = 16 / parts;
    for (size_t i = 0; i < 32; ++i)
        for (size_t k = 0; k < parts; ++k)
            if (d[k]) __builtin_memcpy(d[k] + i * bytes, s[0] + i * 16 + k * bytes, bytes);
}
constexpr Form pack_forms[] = {{".b16.v2", &pack<u16, u16, 2>}, {".b32.v2", &pack<u32, u16, 2>},
                               {".b32.v4", &pack<u32, u16, 4>}, {".b64.v2", &pack<u64, u32, 2>},
                               {".b64.v4", &pack<u64, u16, 4>}, {".b128.v2", &pack_128<2>},
                               {".b128.v4", &pack_128<4>}};
constexpr Form unpack_forms[] = {{".b16.v2", &unpack<u16, u16, 2>}, {".b32.v2", &unpack<u32, u16, 2>},
                                 {".b32.v4", &unpack<u32, u16, 4>}, {".b64.v2", &unpack<u64, u32, 2>},
                                 {".b64.v4", &unpack<u64, u16, 4>}, {".b128.v2", &unpack_128<2>},
                                 {".b128.v4", &unpack_128<4>}};

constexpr Form cvta_forms[] = {
    ONE("{.to}(.global|.const).u64", u64, a),
    ONE("{.to}(.global|.const|.param|.param::entry).u32", u32, a),
    {"(.param|.param::entry).u64", lanes([](u64 a) { return a + 0x0300'0000'0000ull; })},
    {".to(.param|.param::entry).u64", lanes([](u64 a) { return a - 0x0300'0000'0000ull; })},
    {"(.shared|.shared::cta|.shared::cluster).u64", lanes([](u64 a) { return a + 0x0100'0000'0000ull; })},
    {".to(.shared|.shared::cta|.shared::cluster).u64", lanes([](u64 a) { return a - 0x0100'0000'0000ull; })},
    {".local.u64", lanes([](u64 a) { return a + 0x0200'0000'0000ull; })},
    {".to.local.u64", lanes([](u64 a) { return a - 0x0200'0000'0000ull; })}};
// The windows of program.h: shared memory at 2^40, above it that of the cluster's up to 16 blocks, local memory at 2^41,
// parameters at 3 * 2^40.
inline bool within(u64 address, u64 window, u64 windows) {
    return address - window < windows << 24;
}
constexpr Form isspacep_forms[] = {
    {"(.shared|.shared::cta)", lanes([](u64 a) { return within(a, 1ull << 40, 1); })},
    {".shared::cluster", lanes([](u64 a) { return within(a, 1ull << 40, 17); })},
    {".local", lanes([](u64 a) { return within(a, 1ull << 41, 1); })},
    {".const", lanes([](u64) { return false; })},
    {"(.param|.param::entry)", lanes([](u64 a) { return within(a, 3ull << 40, 1); })},
    {".global",
     lanes([](u64 a) { return !within(a, 1ull << 40, 17) && !within(a, 1ull << 41, 1) && !within(a, 3ull << 40, 1); })}};

}  // namespace
}  // namespace lockstep::ptx
