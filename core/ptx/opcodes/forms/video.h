// The video instructions, each with what it does in one lane. The scalar ones take a byte, a half or all of each source, the
// SIMD ones two halves or four bytes of both sources together. What they select, and what they do with the result (clamp it,
// combine it with c, put it into a part of c) stands in the constant X (video_lane in opcode.h), the same for all lanes.
// Included by opcodes.cpp alone, after forms/compare.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

enum class Video { add, sub, difference, min, max, average, compare, shift_left, shift_right };

inline s64 part_of(u32 x, u32 part, u32 is_signed) {  // part: first bit | bits << 8
    const u32 bits_left = 64 - (part >> 8);
    const u64 top = u64{x} >> (part & 255u) << bits_left;
    return is_signed ? static_cast<s64>(top) >> bits_left : static_cast<s64>(top >> bits_left);
}
// Into the range of a number of that many bits.
template <class Wide>
inline Wide clamp_part(Wide value, u32 width, u32 is_signed) {
    const Wide most = static_cast<Wide>((1ull << (is_signed ? width - 1 : width)) - 1),
               least_value = is_signed ? -most - 1 : 0;
    return value < least_value ? least_value : value > most ? most : value;
}

template <Video operation>
inline s64 video(s64 a, s64 b, u32 how) {
    switch (operation) {
        case Video::add:
            return a + b;
        case Video::sub:
            return a - b;
        case Video::difference:
            return a > b ? a - b : b - a;
        case Video::min:
            return a < b ? a : b;
        case Video::max:
            return a > b ? a : b;
        case Video::average:  // ties away from zero
            return (a + b + (a + b >= 0 ? 1 : 0)) >> 1;
        case Video::compare:
            return how >> outcome(a, b) & 1u;
        default:
            return a >> (how ? b & 31 : b > 32 ? 32 : b);
    }
}

inline int128 shift_left(s64 a, s64 b, u32 wraps) {  // up to 64 bits and a sign
    return static_cast<int128>(a) * (s64{1} << (wraps ? b & 31 : b > 32 ? 32 : b));
}

// What comes after the operation: the clamp, then c, as an H200 does both, which the ISA's text would not have. Into a part
// of d what is negative is clamped to the most. Sums of unsigned d wrap before they are clamped to 32 bits. min and max
// compare signed sums that wrapped; an unsigned negative result, and an unsigned sum with its top bit set, is above any c.
template <Video operation, class Wide>
inline u32 with_c(Wide result, u32 word, const u32* how) {
    constexpr bool sums = operation == Video::add || operation == Video::sub;
    constexpr bool chooses = operation == Video::min || operation == Video::max;
    const u32 is_signed = how[video_lane::d_signed], combine_by = how[video_lane::combine];
    const Wide huge = Wide{1} << 40;
    Wide value = result;
    if (how[video_lane::saturate]) {
        if (how[video_lane::merge] && (sums || chooses) && value < 0) value = huge;
        if (!how[video_lane::merge] && sums && !is_signed && value >= 0) value = static_cast<u32>(value);
        value = clamp_part(value, how[video_lane::d_part] >> 8, is_signed);
    }
    if (combine_by >= 2 && sums) {
        const u32 low = static_cast<u32>(value);
        value = is_signed ? Wide{static_cast<s32>(low)} : low >> 31 ? huge + low : Wide{low};
    }
    if (combine_by >= 2 && chooses && !is_signed && value < 0) value += huge;
    const Wide c = is_signed ? Wide{static_cast<s32>(word)} : Wide{word};
    return static_cast<u32>(combine_by == 1   ? value + c
                            : combine_by == 2 ? (value < c ? value : c)
                            : combine_by == 3 ? (value > c ? value : c)
                                              : value);
}

// d = combine(clamp(a operation b), c), or that in a part of c. s: a, b, c (may be null), X.
template <Video operation>
void video_scalar(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    const u32 at = how[video_lane::d_part] & 255u, width = how[video_lane::d_part] >> 8;
    const u32 inside = static_cast<u32>(((1ull << width) - 1) << at);
    for (int i = 0; i < 32; ++i) {
        const s64 a = part_of(lane<u32>(s[0], i), how[video_lane::a_part], how[video_lane::a_signed]);
        const s64 b = part_of(lane<u32>(s[1], i), how[video_lane::b_part], how[video_lane::b_signed]);
        const u32 c = s[2] ? lane<u32>(s[2], i) : 0;
        u32 combined;
        if constexpr (operation == Video::shift_left)
            combined = with_c<operation>(int128{shift_left(a, b, how[video_lane::how])}, c, how);
        else
            combined = with_c<operation>(video<operation>(a, b, how[video_lane::how]), c, how);
        // Into the upper half goes the upper half: measured on an H200.
        const u32 placed = at == 16 && width == 16 ? combined : combined << at;
        reinterpret_cast<u32*>(d[0])[i] = how[video_lane::merge] ? (placed & inside) | (c & ~inside) : combined;
    }
}

// d = (a * b + c) >> shift with more bits than any of that needs.
inline void video_multiply(std::byte* const* d, const std::byte* const* s) {
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    const u32 negate_product = how[video_lane::negate_product], negate_c = how[video_lane::negate_c];
    const u32 is_signed = how[video_lane::a_signed] | how[video_lane::b_signed] | negate_product | negate_c;
    for (int i = 0; i < 32; ++i) {
        const int128 a = part_of(lane<u32>(s[0], i), how[video_lane::a_part], how[video_lane::a_signed]);
        const int128 b = part_of(lane<u32>(s[1], i), how[video_lane::b_part], how[video_lane::b_signed]);
        const u32 word = lane<u32>(s[2], i);
        const int128 c = is_signed ? s64{static_cast<s32>(word)} : s64{word};
        const int128 sum = (negate_product ? -(a * b) : a * b) + (negate_c ? -c : c) + how[video_lane::plus_one];
        const int128 value = sum >> how[video_lane::how];
        reinterpret_cast<u32*>(d[0])[i] =
            static_cast<u32>(how[video_lane::saturate] ? clamp_part(value, 32, is_signed) : value);
    }
}

// Two halves or four bytes: the computed ones into c, or their sum added to c.
template <Video operation, u32 parts>
void video_simd(std::byte* const* d, const std::byte* const* s) {
    constexpr u32 width = 32 / parts, ones = static_cast<u32>((1ull << width) - 1);
    const u32* how = reinterpret_cast<const u32*>(s[3]);
    for (int i = 0; i < 32; ++i) {
        const u64 both = u64{lane<u32>(s[1], i)} << 32 | lane<u32>(s[0], i);
        const u32 c = lane<u32>(s[2], i);
        u32 merged = c, sum = c;
        for (u32 k = 0; k < parts; ++k) {
            const auto picked = [&](u32 selected, u32 is_signed) {
                return part_of(static_cast<u32>(both >> (selected >> 4 * k & 15u) * width), width << 8, is_signed);
            };
            s64 value = video<operation>(picked(how[video_lane::a_part], how[video_lane::a_signed]),
                                         picked(how[video_lane::b_part], how[video_lane::b_signed]), how[video_lane::how]);
            if (how[video_lane::saturate]) value = clamp_part(value, width, how[video_lane::d_signed]);
            const u32 chosen = 0u - (how[video_lane::d_part] >> k & 1u);
            sum += static_cast<u32>(value) & chosen;
            const u32 place = (ones << k * width) & chosen;
            merged = (merged & ~place) | (static_cast<u32>(value) << k * width & place);
        }
        reinterpret_cast<u32*>(d[0])[i] = how[video_lane::combine] ? sum : merged;
    }
}

#define VIDEO_TYPES "(.u32|.s32)(.u32|.s32)(.u32|.s32)"
#define WITH_C "{.add|.min|.max}"
constexpr Form vadd_forms[] = {{VIDEO_TYPES "{.sat}" WITH_C, &video_scalar<Video::add>}};
constexpr Form vsub_forms[] = {{VIDEO_TYPES "{.sat}" WITH_C, &video_scalar<Video::sub>}};
constexpr Form vabsdiff_forms[] = {{VIDEO_TYPES "{.sat}" WITH_C, &video_scalar<Video::difference>}};
constexpr Form vmin_forms[] = {{VIDEO_TYPES "{.sat}" WITH_C, &video_scalar<Video::min>}};
constexpr Form vmax_forms[] = {{VIDEO_TYPES "{.sat}" WITH_C, &video_scalar<Video::max>}};
constexpr Form vshl_forms[] = {{"(.u32|.s32)(.u32|.s32).u32{.sat}(.clamp|.wrap)" WITH_C, &video_scalar<Video::shift_left>}};
constexpr Form vshr_forms[] = {{"(.u32|.s32)(.u32|.s32).u32{.sat}(.clamp|.wrap)" WITH_C, &video_scalar<Video::shift_right>}};
constexpr Form vset_forms[] = {{"(.u32|.s32)(.u32|.s32)" SIGNED_COMPARISONS WITH_C, &video_scalar<Video::compare>}};
constexpr Form vmad_forms[] = {{VIDEO_TYPES "{.po}{.sat}{.shr7|.shr15}", &video_multiply}};
#define SIMD(name, operation)                                                                          \
    constexpr Form name##2_forms [] = {{VIDEO_TYPES "{.sat|.add}", &video_simd<Video::operation, 2>}}; \
    constexpr Form name##4_forms [] = {{VIDEO_TYPES "{.sat|.add}", &video_simd<Video::operation, 4>}};
SIMD(vadd, add)
SIMD(vsub, sub)
SIMD(vavrg, average)
SIMD(vabsdiff, difference)
SIMD(vmin, min)
SIMD(vmax, max)
#undef SIMD
constexpr Form vset2_forms[] = {{"(.u32|.s32)(.u32|.s32)" SIGNED_COMPARISONS "{.add}", &video_simd<Video::compare, 2>}};
constexpr Form vset4_forms[] = {{"(.u32|.s32)(.u32|.s32)" SIGNED_COMPARISONS "{.add}", &video_simd<Video::compare, 4>}};

}  // namespace
}  // namespace lockstep::ptx
