// __half on the host: its bits from a number, rounded once, and back. For cuda_fp16.h in whole programs.
#pragma once
#include <math.h>
#include <string.h>

// 0 to the nearest, ties to even; 1 towards zero; 2 down; 3 up
static inline unsigned short lockstep_half_of(double a, int rounding) {
    unsigned long long bits;
    memcpy(&bits, &a, 8);
    const unsigned sign = (unsigned)(bits >> 48) & 0x8000u;
    const int exponent = (int)(bits >> 52 & 2047) - 1023;
    const bool away = (rounding == 2 && sign) || (rounding == 3 && !sign);
    if (exponent == 1024) return (unsigned short)((bits & 0xfffffffffffffull) ? 0x7fff : sign | 0x7c00);
    if ((bits << 1) == 0) return (unsigned short)sign;
    const unsigned long long m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    unsigned result = 0x7c00;
    if (exponent <= 15) {
        int shift = 42 + (exponent < -14 ? -14 - exponent : 0);
        if (shift > 62) shift = 62;
        const unsigned long long rest = m & ((1ull << shift) - 1), half = 1ull << (shift - 1);
        unsigned long long kept = m >> shift;
        if (rounding == 0 ? rest > half || (rest == half && (kept & 1)) : away && rest) ++kept;
        result = ((exponent < -14 ? 0u : (unsigned)(exponent + 14)) << 10) + (unsigned)kept;
    }
    if (result >= 0x7c00 && rounding != 0 && !away) result = 0x7bff;  // the largest number
    return (unsigned short)(sign | (result > 0x7c00 ? 0x7c00 : result));
}
static inline float lockstep_half_value(unsigned short bits) {
    const int exponent = bits >> 10 & 31, m = bits & 1023;
    const float value = exponent == 31  ? (m ? __builtin_nanf("") : __builtin_inff())
                        : exponent == 0 ? ldexpf((float)m, -24)
                                        : ldexpf((float)(m | 1024), exponent - 25);
    return bits & 0x8000 ? -value : value;
}
// The rounding that a PTX instruction's modifiers name.
static constexpr int lockstep_rounding(const char* text) {
    return text[1] == 'z' ? 1 : text[1] == 'm' ? 2 : text[1] == 'p' ? 3 : 0;  // rn, rz, rm, rp
}
template <class T>
static inline T lockstep_from_half(float a, const char* text) {
    if constexpr ((T)0.5f != (T)0) return (T)a;  // a float
    const char way = text[1];                    // rni, rzi, rmi, rpi
    const double whole = way == 'z' ? trunc((double)a) : way == 'm' ? floor((double)a) : way == 'p' ? ceil((double)a) : rint((double)a);
    const bool is_signed = (T)-1 < (T)0;
    const double most = ldexp(1.0, (int)sizeof(T) * 8 - (is_signed ? 1 : 0)), least = is_signed ? -most : 0.0;
    if (a != a) return sizeof(T) == 8 ? (T)(1ull << 63) : (T)0;
    if (whole >= most) return (T)(is_signed ? ~(1ull << (sizeof(T) * 8 - 1)) : ~0ull);
    return whole < least ? (T)least : (T)whole;
}
