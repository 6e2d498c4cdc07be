// The approximate functions of f32 as the special function unit (MUFU) gives them, bit for bit as on an H200: a segment of
// a table by the significand's upper bits, a quadratic in the lower 17, truncated. Oberman and Siu describe the unit ("A
// High-Performance Area-Efficient Multifunction Interpolator", 2005). Subnormal operands and results of these are zeros;
// what `.approx` without .ftz does about them is what ptxas writes around the instruction.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/special_tables.h"

namespace lockstep::ptx {
namespace {

// The upper 15 bits of the square of a 17-bit number, from partial products of which the lower 19 columns are left out.
inline uint32_t truncated_square(uint32_t t) {
    const uint32_t h = t >> 9;
    uint32_t sum = (h * h - (h & 1u)) >> 1;
    for (uint32_t i = 2; i < 9; ++i) sum += (0u - (t >> i & 1u)) & h >> (9u - i);
    return sum;
}
// Every product and sum is an integer below 2^53.
template <int N>
inline double interpolate(const Quadratics<N>& table, uint32_t segment, uint32_t t) {
    const int64_t row = static_cast<int64_t>(segment);  // 64 bits wide: an index that compilers gather by
    const double place = static_cast<double>(static_cast<int32_t>(t));
    const double square = static_cast<double>(static_cast<int32_t>(truncated_square(t)));
    return table.constant[row] + table.slope[row] * place + table.bend[row] * square;
}
inline double with_24_bits(double x) {  // rounded to zero
    return bits<double>(bits<uint64_t>(x) & ~0x1fffffffull);
}
inline double power_of_two(int32_t n) {
    return bits<double>(static_cast<uint64_t>(static_cast<uint32_t>(n + 1023)) << 52);
}
inline float signed_as(float magnitude, uint32_t sign) {
    return bits<float>(bits<uint32_t>(magnitude) | (sign & 0x80000000u));
}
constexpr float special_infinity = __builtin_inff();

inline float special_rcp(float x) {
    const uint32_t u = bits<uint32_t>(x), e = u >> 23 & 255u;
    const double v = with_24_bits(interpolate(reciprocal_table, u >> 16 & 127u, (u & 0xffffu) << 1));
    const float finite = flush(static_cast<float>(v * power_of_two(127 - 41 - static_cast<int32_t>(e))));
    const float magnitude = e == 0 ? special_infinity : e == 255 ? 0.0f : finite;
    return x == x ? signed_as(magnitude, u) : bits<float>(0x7fffffffu);
}
inline float special_rsqrt(float x) {
    const uint32_t u = bits<uint32_t>(x), e = u >> 23 & 255u, odd = ~e & 1u, t = u & 0x1ffffu;
    const uint32_t segment = odd << 6 | (u >> 17 & 63u);
    const double within = with_24_bits(interpolate(inverse_root_table, segment, t));
    const double v = (segment | t) == 0 ? 0x1p41 : within;
    const float finite = static_cast<float>(v * power_of_two(64 - 41 - static_cast<int32_t>((e + 1u) >> 1)));
    const float magnitude = e == 0 ? special_infinity : e == 255 ? 0.0f : finite;
    return x >= 0.0f || e == 0 ? signed_as(magnitude, u) : bits<float>(0x7fffffffu);
}
inline float special_sqrt(float x) {
    const uint32_t u = bits<uint32_t>(x), e = u >> 23 & 255u, odd = ~e & 1u;
    const double v = with_24_bits(interpolate(root_table, odd << 6 | (u >> 17 & 63u), u & 0x1ffffu));
    const float finite = static_cast<float>(v * power_of_two(static_cast<int32_t>((e + 1u) >> 1) - 64 - 40));
    const float magnitude = e == 0 ? 0.0f : e == 255 ? special_infinity : finite;
    return x >= 0.0f || e == 0 ? signed_as(magnitude, u) : bits<float>(0x7fffffffu);
}
inline float special_ex2(float x) {
    const float clamped = absolute(x) < 200.0f ? absolute(x) : 200.0f;
    const int32_t fixed = static_cast<int32_t>(clamped * 0x1p23f);
    const int32_t whole = (fixed & 0x7fffff) == 0 ? -fixed : ~fixed;  // below 0: the complement, but of whole numbers
    const int32_t place = x < 0.0f ? whole : fixed;
    const uint32_t f = static_cast<uint32_t>(place) & 0x7fffffu;
    const double v = with_24_bits(interpolate(power_table, f >> 17, f & 0x1ffffu));
    const float result = flush(static_cast<float>(v * power_of_two((place >> 23) - 40)));
    return x == x ? result : bits<float>(0x7fffffffu);
}
inline float special_lg2(float x) {
    const uint32_t u = bits<uint32_t>(x), e = u >> 23 & 255u;
    const double fraction = interpolate(logarithm_table, u >> 17 & 63u, u & 0x1ffffu);
    const double v = (static_cast<double>(static_cast<int32_t>(e)) - 127.0) * 0x1p38 + fraction * 0.125;
    const double magnitude = v < 0.0 ? -v - 1.0 : v;               // the complement of its bits
    const double fixed = (magnitude - 1.5 + 0x1.8p54) - 0x1.8p54;  // rounded down to multiples of four: 2^-36
    const float rounded = static_cast<float>(with_24_bits(fixed) * 0x1p-38);
    const float finite = u == 0x3f800000u ? 0.0f : v < 0.0 ? -rounded : rounded;
    const float positive = e == 255 ? special_infinity : finite;
    return e == 0 ? -special_infinity : x > 0.0f ? positive : bits<float>(0x7fffffffu);
}
// The sine of x (quarter 0) or its cosine (quarter 1): turns, rounded to zero, then their fraction in 25 bits.
inline float special_sine(float x, uint32_t quarter) {
    const uint32_t u = bits<uint32_t>(x) & 0x7fffffffu, fractional = 0u - static_cast<uint32_t>(u < 0x4e800000u);
    const double turns = with_24_bits(static_cast<double>(bits<float>(u & fractional)) * 0x1.45f306p-3);  // else whole turns
    const double part = turns - ((turns + 0x1p52) - 0x1p52);                                              // [-0.5, 0.5]
    const uint32_t fixed = static_cast<uint32_t>(static_cast<int32_t>((part + 1.0) * 0x1p25)) & 0x1ffffffu;
    const uint32_t quadrant = (fixed >> 23) + quarter;
    const uint32_t f = (fixed ^ (0u - (quadrant & 1u))) & 0x7fffffu;
    const float magnitude =
        static_cast<float>(with_24_bits(interpolate(sine_quarter_table, f >> 17, f & 0x1ffffu)) * 0x1p-41);
    const uint32_t sign = quadrant << 30 ^ (quarter ? 0u : bits<uint32_t>(x));
    const float nothing = x - x;  // NaN for infinities
    return nothing == nothing ? signed_as(magnitude, sign) : bits<float>(0x7fffffffu);
}
// For each octave from 2^-8: its first segment * 256 + the base-2 logarithm of how many it has.
constexpr uint64_t tangent_octaves[11] = {0x000, 0x100, 0x200, 0x301, 0x501, 0x702, 0xb02, 0xf02, 0x1303, 0x1b04, 0x2b03};
inline float special_tanh(float x) {
    const uint32_t u = bits<uint32_t>(x), e = u >> 23 & 255u;
    const uint32_t within = e < 119u ? 119u : e, octave = (within < 129u ? within : 129u) - 119u;
    const uint32_t row = static_cast<uint32_t>(tangent_octaves[static_cast<int64_t>(octave)]);
    const uint32_t m = (u & 0x7fffffu) << (row & 255u);
    const double v = with_24_bits(interpolate(tangent_table, (row >> 8) + (m >> 23), m >> 6 & 0x1ffffu));
    const float inside = static_cast<float>(v * 0x1p-41);
    const float magnitude = absolute(x) < 0x1p-8f ? absolute(x) : absolute(x) < 8.0f ? inside : 1.0f;
    return x == x ? signed_as(magnitude, u) : bits<float>(0x7fffffffu);
}

// Without .ftz: operands and results out of the unit's range are scaled around it, as ptxas does.
inline float approximate_rcp(float a) {
    const float scale = absolute(a) < 0x1p-126f ? 0x1p24f : absolute(a) > 0x1p126f ? 0.25f : 1.0f;
    return canonical(special_rcp(a * scale) * scale);
}
inline float approximate_rsqrt(float a) {
    const bool small = absolute(a) < 0x1p-126f;
    return canonical(special_rsqrt(small ? a * 0x1p24f : a) * (small ? 0x1p12f : 1.0f));
}
inline float approximate_sqrt(float a) {
    const bool small = absolute(a) < 0x1p-126f;
    return canonical(special_sqrt(small ? a * 0x1p24f : a) * (small ? 0x1p-12f : 1.0f));
}
inline float approximate_ex2(float a) {
    const bool small = a < -126.0f;
    const float power = special_ex2(small ? a * 0.5f : a);
    return canonical(power * (small ? power : 1.0f));
}
inline float approximate_lg2(float a) {
    const bool small = absolute(a) < 0x1p-126f;
    return canonical(special_lg2(small ? a * 0x1p24f : a) - (small ? 24.0f : 0.0f));
}
inline float approximate_quotient(float a, float b) {
    const float scale = absolute(b) < 0x1p-126f ? 0x1p24f : 1.0f;
    return canonical(special_rcp(b * scale) * (a * scale));
}
inline float full_quotient(float a, float b) {
    const float scale = absolute(b) < 0x1p-126f ? 0x1p24f : absolute(b) > 0x1p126f ? 0.25f : 1.0f;
    return canonical(special_rcp(b * scale) * (a * scale));
}
inline float full_flushed_quotient(float a, float b) {
    const float scale = absolute(b) > 0x1p126f ? 0.25f : 1.0f;
    return canonical(flush(special_rcp(b * scale) * flush(flush(a) * scale)));
}

}  // namespace
}  // namespace lockstep::ptx
