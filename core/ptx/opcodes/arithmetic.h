// Arithmetic that the rows share, exactly as the PTX ISA has it. Internal linkage, no standard library: see lanes.h.
#pragma once
#include <cstdint>

namespace lockstep::ptx {
namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using s8 = int8_t;
using s16 = int16_t;
using s32 = int32_t;
using s64 = int64_t;

template <class To, class From>
inline To bits(From from) {
    return __builtin_bit_cast(To, from);
}

// NaN results: f32 0x7fffffff, f16 0x7fff; f64 0xfff8000000000000 where an operation is invalid, else the operand that is a
// NaN, made quiet: as measured on an H200.
inline float canonical(float x) {
    return x == x ? x : bits<float>(0x7fffffffu);
}
inline double canonical(double x) {
    return x == x ? x : bits<double>(0xfff8000000000000ull);
}

inline double quiet(double x) {
    return bits<double>(bits<uint64_t>(x) | 0x0008000000000000ull);
}
inline double canonical(double result, double first) {  // with one operand
    return result == result ? result : first != first ? quiet(first) : canonical(result);
}
inline double canonical(double result, double first, double second) {  // two NaNs: the first
    return result == result ? result : first != first ? quiet(first) : canonical(result, second);
}

// .ftz: subnormal operands and results become zeros of their sign.
inline float flush(float x) {
    const uint32_t u = bits<uint32_t>(x);
    return bits<float>((u & 0x7f800000u) ? u : u & 0x80000000u);
}
inline float saturate(float x) {
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}  // NaN gives 0
inline double saturate(double x) {
    return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0;
}

inline float absolute(float x) {
    return bits<float>(bits<uint32_t>(x) & 0x7fffffffu);
}
inline double absolute(double x) {
    return bits<double>(bits<uint64_t>(x) & 0x7fffffffffffffffull);
}

// min and max: the other operand for a NaN, -0 below +0.
template <class U, class F>
inline F least(F a, F b) {
    const F either = a < b ? a : b < a ? b : bits<F>(static_cast<U>(bits<U>(a) | bits<U>(b)));
    return canonical(a != a ? b : b != b ? a : either);
}
template <class U, class F>
inline F greatest(F a, F b) {
    const F either = a > b ? a : b > a ? b : bits<F>(static_cast<U>(bits<U>(a) & bits<U>(b)));
    return canonical(a != a ? b : b != b ? a : either);
}

// --- f16 and bf16 -----------------------------------------------------------------------------------------------

struct Half {
    uint16_t bits;
};
struct Brain {
    uint16_t bits;
};
template <class T>
struct Two {  // f16x2, bf16x2
    T low, high;
};
using Pair = Two<Half>;

inline float widen(Half h) {
    const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
    const uint32_t rest = static_cast<uint32_t>(h.bits & 0x7fffu) << 13;
    const uint32_t normal = rest + (112u << 23);
    const uint32_t small = bits<uint32_t>(static_cast<float>(rest >> 13) * 0x1p-24f);  // subnormal: mantissa times 2^-24
    const uint32_t magnitude = rest >= 0x0f800000u ? rest | 0x7f800000u : rest >= 0x00800000u ? normal : small;
    return bits<float>(sign | magnitude);
}
inline float widen(Brain b) {
    return bits<float>(static_cast<uint32_t>(b.bits) << 16);
}

inline Half flush(Half h) {
    return {static_cast<uint16_t>((h.bits & 0x7c00u) ? h.bits : h.bits & 0x8000u)};
}

// To nearest even; a double whose bits beyond f16 hold a sticky bit is rounded once.
inline Half to_half(float x) {
    const uint32_t u = bits<uint32_t>(x), magnitude = u & 0x7fffffffu, sign = u >> 16 & 0x8000u;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    const uint32_t small = bits<uint32_t>(bits<float>(magnitude) + 0.5f) - 0x3f000000u;  // the adder rounds at 2^-24
    const uint32_t finite = magnitude < 0x38800000u ? small : normal;
    const uint32_t result = magnitude > 0x7f800000u ? 0x7fffu : magnitude >= 0x477ff000u ? sign | 0x7c00u : sign | finite;
    return {static_cast<uint16_t>(result)};
}
inline Half to_half_toward_zero(float x) {
    const Half h = to_half(x);
    return {static_cast<uint16_t>(h.bits - (absolute(widen(h)) > absolute(x) ? 1u : 0u))};
}
inline Brain to_brain(float x) {
    const uint32_t u = bits<uint32_t>(x);
    return {static_cast<uint16_t>(x != x ? 0x7fffu : (u + 0x7fffu + (u >> 16 & 1u)) >> 16)};
}

inline Brain to_brain_toward_zero(float x) {
    return {static_cast<uint16_t>(x != x ? 0x7fffu : bits<uint32_t>(x) >> 16)};
}

// s + error, rounded to a float with its last bit set where that is not exact ("to odd"): rounding that once more to half of
// the bits or fewer, or to fewer exponents, is rounding the sum once.
inline float odd_float(double s, double error) {
    const float near = static_cast<float>(s);
    const double over = static_cast<double>(near) - s;  // exact; infinite for a sum beyond f32
    const bool finite = s - s == 0, exact = over == 0 && error == 0;
    const bool outside =
        near > 0 || (near == 0 && s > 0) ? over > 0 || (over == 0 && error < 0) : over < 0 || (over == 0 && error > 0);
    const uint32_t n = bits<uint32_t>(near), sign = s < 0 || (s == 0 && n >> 31) ? 0x80000000u : 0u;
    const uint32_t toward_zero = outside ? n - 1 : n;
    return bits<float>(!finite || exact ? n : toward_zero | sign | 1u);
}
// a * b + c of numbers with at most 12 bits: exact as s + error.
inline float odd_fma(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b), addend = static_cast<double>(c);
    const double s = product + addend, t = s - product;
    return odd_float(s, (product - (s - t)) + (addend - t));
}

// --- directed rounding ------------------------------------------------------------------------------------------

enum class Toward { zero, minus, plus };

inline float step(float x, bool up) {  // the next float above or below
    const uint32_t u = bits<uint32_t>(x);
    const bool negative = (u >> 31) != 0;
    const uint32_t stepped = (u & 0x7fffffffu) == 0 ? (up ? 1u : 0x80000001u) : negative == up ? u - 1 : u + 1;
    return bits<float>(stepped);
}

// s + error (error smaller than half a unit of s), rounded once.
template <Toward toward>
inline float round_once(double s, double error) {
    const float nearest = static_cast<float>(s);
    const double over = static_cast<double>(nearest) - s;  // exact
    const bool above = over > 0 || (over == 0 && error < 0);
    const bool below = over < 0 || (over == 0 && error > 0);
    const bool down = toward == Toward::minus || (toward == Toward::zero && s > 0);
    const bool up = toward == Toward::plus || (toward == Toward::zero && s < 0);
    const float lower = step(nearest, false), higher = step(nearest, true);
    return down && above ? lower : up && below ? higher : nearest;
}

template <Toward toward>
inline float fma_toward(float a, float b, float c) {
    const double product = static_cast<double>(a) * static_cast<double>(b);  // exact
    const double addend = static_cast<double>(c);
    const double s = product + addend;
    const double t = s - product;
    const double error = (product - (s - t)) + (addend - t);  // Knuth's two-sum: s + error is exact
    const float r = round_once<toward>(s, error);
    const bool minus_zero =
        toward == Toward::minus && s == 0 && bits<uint64_t>(product) >> 63 != bits<uint64_t>(addend) >> 63;
    return canonical(minus_zero ? -0.0f : r);
}
template <Toward toward>
inline float mul_toward(float a, float b) {
    return canonical(round_once<toward>(static_cast<double>(a) * static_cast<double>(b), 0.0));
}

// Quotient and root: the sign of what double leaves over says on which side of it the exact value lies.
template <Toward toward>
inline float div_toward(float a, float b) {
    const double x = static_cast<double>(a), y = static_cast<double>(b), q = x / y;
    return canonical(round_once<toward>(q, __builtin_fma(-q, y, x) / y));
}
template <Toward toward>
inline float sqrt_toward(float a) {
    const double x = static_cast<double>(a), q = __builtin_sqrt(x);
    return canonical(round_once<toward>(q, __builtin_fma(-q, q, x)));
}

// --- transcendental functions of halves ---------------------------------------------------------------------------
// Computed in double by polynomials and rounded once: the same bits on every machine, within the ISA's bounds.

inline double exp2_of(double x) {  // x in [-1000, 1000]
    const double shifted = x + 0x1.8p52;
    const double n = shifted - 0x1.8p52;
    const double f = x - n;  // [-0.5, 0.5]; Taylor series of 2^f in ln2 * f
    double p = 1.0178086009239699e-7;
    p = p * f + 1.3215486790144307e-6;
    p = p * f + 1.5252733804059841e-5;
    p = p * f + 1.5403530393381608e-4;
    p = p * f + 1.3333558146428443e-3;
    p = p * f + 9.6181291076284772e-3;
    p = p * f + 5.5504108664821580e-2;
    p = p * f + 2.4022650695910072e-1;
    p = p * f + 6.9314718055994531e-1;
    p = p * f + 1.0;
    return p * bits<double>((bits<uint64_t>(shifted) + 1023u) << 52);
}
inline float ex2(float x) {
    const double clamped = x < -200.0f ? -200.0 : x > 200.0f ? 200.0 : static_cast<double>(x);
    return canonical(x != x ? x : static_cast<float>(exp2_of(clamped)));
}
inline float hyperbolic_tangent(float x) {
    const float a = absolute(x);
    const double wide = static_cast<double>(a < 20.0f ? a : 20.0f);
    const double e = exp2_of(wide * 2.8853900817779268);
    const double q = wide * wide;
    const double series = wide * (1.0 - q * (3.3333333333333333e-1 - q * 1.3333333333333333e-1));
    const double value = wide < 0.05 ? series : (e - 1.0) / (e + 1.0);
    const float result = static_cast<float>(value);
    return canonical(x != x ? x : bits<float>(bits<uint32_t>(result) | (bits<uint32_t>(x) & 0x80000000u)));
}

// --- integers ---------------------------------------------------------------------------------------------------

inline uint32_t mul_high(uint32_t a, uint32_t b) {
    return static_cast<uint32_t>(static_cast<uint64_t>(a) * b >> 32);
}
inline int32_t mul_high(int32_t a, int32_t b) {
    return static_cast<int32_t>(static_cast<int64_t>(a) * b >> 32);
}
__extension__ typedef unsigned __int128 uint128;
__extension__ typedef __int128 int128;
inline uint64_t mul_high(uint64_t a, uint64_t b) {
    return static_cast<uint64_t>(static_cast<uint128>(a) * b >> 64);
}
inline int64_t mul_high(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<int128>(a) * b >> 64);
}

// Division by zero gives all ones, and so does its remainder, as NVIDIA's own code for them does. The most negative number
// by -1 wraps.
template <class T>
inline T quotient(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (static_cast<T>(~b) == 0 && static_cast<T>(-1) < 0) return static_cast<T>(0 - static_cast<uint64_t>(a));
    return static_cast<T>(a / b);
}
template <class T>
inline T remainder(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if (static_cast<T>(~b) == 0 && static_cast<T>(-1) < 0) return 0;
    return static_cast<T>(a % b);
}

// Of 32 bits the low byte of a position and a length counts, of 64 bits all of it: as measured on an H200.
template <class T>
inline uint64_t field_number(uint32_t x) {
    return sizeof(T) == 8 ? x : x & 255u;
}
template <class T>
inline T extract_field(T a, uint32_t position, uint32_t length) {  // bfe; T signed: the field's top bit fills
    constexpr uint64_t width = sizeof(T) * 8;
    const uint64_t at = field_number<T>(position), count = field_number<T>(length);
    const bool is_signed = static_cast<T>(-1) < 0;
    const uint64_t wide = sizeof(T) == 8 ? static_cast<uint64_t>(a) : static_cast<uint64_t>(a) & 0xffffffffull;
    if (count == 0) return 0;
    const uint64_t top = at + count - 1 < width - 1 ? at + count - 1 : width - 1;
    const bool sign = is_signed && (wide >> top & 1u);
    const uint64_t field = at < width ? wide >> at : 0;
    const uint64_t valid = at < width ? (count < width - at ? count : width - at) : 0;
    const uint64_t mask = valid >= 64 ? ~0ull : (1ull << valid) - 1;
    return static_cast<T>((field & mask) | (sign ? ~mask : 0));
}
template <class T>
inline T insert_field(T a, T b, uint32_t position, uint32_t length) {  // bfi: the low bits of a into b
    constexpr uint64_t width = sizeof(T) * 8;
    const uint64_t at = field_number<T>(position), count = field_number<T>(length);
    if (at >= width || count == 0) return b;
    const T ones = count >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
    const T mask = static_cast<T>(ones << at);
    return static_cast<T>((b & static_cast<T>(~mask)) | (static_cast<T>(a << at) & mask));
}
inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {  // prmt, default mode
    const uint64_t both = static_cast<uint64_t>(b) << 32 | a;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t pick = selector >> 4 * i & 15u;
        const uint32_t byte = static_cast<uint32_t>(both >> 8 * (pick & 7u)) & 255u;
        result |= ((pick & 8u) ? (byte & 128u ? 255u : 0u) : byte) << 8 * i;
    }
    return result;
}
inline uint32_t extend_sign(uint32_t a, uint32_t count) {  // szext.s32: the low `count` < 32 bits
    const uint32_t unused = (32u - count) & 31u;
    return count ? static_cast<uint32_t>(static_cast<int32_t>(a << unused) >> unused) : 0u;
}
inline uint32_t nth_set(uint32_t mask, uint32_t base, int32_t offset) {  // fns: from bit `base` up, down for offset < 0
    if (offset == INT32_MIN) return 0;                                   // an H200 gives no ~0 here, and at least once this
    if (base > 31) return ~0u;
    if (offset == 0) return (mask >> base & 1u) ? base : ~0u;
    uint32_t rest = offset > 0 ? mask & (~0u << base) : mask & (~0u >> (31u - base));
    uint32_t wanted = offset > 0 ? static_cast<uint32_t>(offset) : 0u - static_cast<uint32_t>(offset);
    if (wanted > 32) return ~0u;
    for (; wanted > 1; --wanted)
        rest = offset > 0 ? rest & (rest - 1) : rest & ~(rest ? 1u << (31 - __builtin_clz(rest)) : 0u);
    if (!rest) return ~0u;
    return static_cast<uint32_t>(offset > 0 ? __builtin_ctz(rest) : 31 - __builtin_clz(rest));
}
inline uint32_t reverse_bits(uint32_t x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
inline uint64_t reverse_bits(uint64_t x) {
    return static_cast<uint64_t>(reverse_bits(static_cast<uint32_t>(x))) << 32 |
           reverse_bits(static_cast<uint32_t>(x >> 32));
}
inline uint32_t logic3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {  // lop3: bit 4a+2b+c of the table
    uint32_t result = 0;
    for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t term = (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
        result |= (table >> i & 1u) ? term : 0u;
    }
    return result;
}

// --- conversions ------------------------------------------------------------------------------------------------

enum class Round { nearest, zero, minus, plus };

template <Round round>
inline float integral(float x) {
    if constexpr (round == Round::nearest) return __builtin_rintf(x);
    if constexpr (round == Round::zero) return __builtin_truncf(x);
    if constexpr (round == Round::minus) return __builtin_floorf(x);
    if constexpr (round == Round::plus) return __builtin_ceilf(x);
}
template <Round round>
inline double integral(double x) {
    if constexpr (round == Round::nearest) return __builtin_rint(x);
    if constexpr (round == Round::zero) return __builtin_trunc(x);
    if constexpr (round == Round::minus) return __builtin_floor(x);
    if constexpr (round == Round::plus) return __builtin_ceil(x);
}

// Float to integer: clamped to the integer's range, NaN gives 0 (for 64-bit and f64 results the most negative number).
template <class T, Round round, class F>
inline T to_integer(F x) {
    constexpr bool is_signed = static_cast<T>(-1) < 0;
    constexpr int width = sizeof(T) * 8 - (is_signed ? 1 : 0);
    constexpr T most = static_cast<T>(~0ull >> (64 - width));
    constexpr T least_value = is_signed ? static_cast<T>(-most - 1) : T{0};
    const F above = static_cast<F>(static_cast<double>(1ull << (width - 1)) * 2.0);  // most + 1, exact
    constexpr T nan = sizeof(T) == 8 || sizeof(F) == 8 ? static_cast<T>(1ull << (sizeof(T) * 8 - 1)) : T{0};
    const F whole = integral<round>(x);
    const F inside = whole < above && whole > -above ? whole : F(0);
    const T converted = is_signed || inside > 0 ? static_cast<T>(inside) : T{0};
    return whole != whole   ? nan
           : whole >= above ? most
           : is_signed      ? (whole <= -above ? least_value : converted)
                            : converted;
}

template <class To, class From>
inline To clamp_integer(From x) {  // cvt.sat between integers
    const int128 value = x;
    constexpr bool is_signed = static_cast<To>(-1) < 0;
    constexpr int width = sizeof(To) * 8 - (is_signed ? 1 : 0);
    const int128 most = (int128{1} << width) - 1, least_value = is_signed ? -most - 1 : 0;
    return static_cast<To>(value > most ? most : value < least_value ? least_value : value);
}

}  // namespace
}  // namespace lockstep::ptx
