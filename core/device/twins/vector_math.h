// Elementary functions as loops can use them: no branches, no library calls, so that a compiler makes vectors of them.
// f32 and f64; errors below 3 units in the last place (tests/device/vector_math_test.cpp). NaN gives NaN.
// Sources of the coefficients: Cephes (Moshier), fdlibm (Sun); the exponential is a Taylor series on |r| <= ln 2 / 2.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/device/twins/isa.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

template <class T, size_t n>
inline T polynomial(T x, const T (&coefficients)[n]) {  // highest power first
    T sum = coefficients[0];
    for (size_t i = 1; i < n; ++i) sum = sum * x + coefficients[i];
    return sum;
}

// 2^n for n from -1022 (f32: -126) to 1023 (127).
inline float power_of_two(int32_t n) {
    return std::bit_cast<float>((n + 127) << 23);
}
inline double power_of_two(int64_t n) {
    return std::bit_cast<double>((n + 1023) << 52);
}

inline float exp_of(float x) {
    const float clamped = x < -104.0f ? -104.0f : (x > 89.0f ? 89.0f : x);
    const float shifted = clamped * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum's last bits are the rounded quotient
    const float n = shifted - 12582912.0f;
    const float r = clamped - n * 0.693359375f + n * 2.12194440e-4f;
    const float series[] = {1.9875691500e-4f, 1.3981999507e-3f, 8.3334519073e-3f,
                            4.1665795894e-2f, 1.6666665459e-1f, 5.0000001201e-1f};
    const float value = polynomial(r, series) * r * r + r + 1.0f;
    const int32_t whole = std::bit_cast<int32_t>(shifted) - std::bit_cast<int32_t>(12582912.0f);
    const int32_t half = whole >> 1;
    const float result = value * power_of_two(half) * power_of_two(whole - half);
    return x != x ? x : result;
}

inline double exp_of(double x) {
    const double clamped = x < -746.0 ? -746.0 : (x > 710.0 ? 710.0 : x);
    const double shifted = clamped * 1.4426950408889634 + 6755399441055744.0;  // 1.5 * 2^52
    const double n = shifted - 6755399441055744.0;
    const double r = (clamped - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
    const double series[] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
                             1.0 / 5040,       1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5};
    const double value = polynomial(r, series) * r * r + r + 1.0;
    const int64_t whole = std::bit_cast<int64_t>(shifted) - std::bit_cast<int64_t>(6755399441055744.0);
    const int64_t half = whole >> 1;
    const double result = value * power_of_two(half) * power_of_two(whole - half);
    return x != x ? x : result;
}

// x = 2^e m with m from sqrt(1/2) to sqrt(2); log m by s = f / (2 + f), f = m - 1.
inline float log_of(float x) {
    const bool tiny = x < std::numeric_limits<float>::min();
    const uint32_t bits = std::bit_cast<uint32_t>(tiny ? x * 8388608.0f : x);
    const uint32_t shifted = bits - 0x3f3504f3u;
    const float e = static_cast<float>(static_cast<int32_t>(shifted) >> 23) - (tiny ? 23.0f : 0.0f);
    const float f = std::bit_cast<float>((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const float s = f / (2.0f + f), z = s * s, half = 0.5f * f * f;
    const float series[] = {0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f};
    const float result =
        e * 6.9313812256e-1f - ((half - (s * (half + z * polynomial(z, series)) + e * 9.0580006145e-6f)) - f);
    const float zero = x == 0.0f ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::quiet_NaN();
    return x > 0.0f ? (x == std::numeric_limits<float>::infinity() ? x : result) : zero;
}

inline double log_of(double x) {
    const bool tiny = x < std::numeric_limits<double>::min();
    const uint64_t bits = std::bit_cast<uint64_t>(tiny ? x * 4503599627370496.0 * 4.0 : x);
    const uint64_t shifted = bits - 0x3fe6a09e667f3bcdu;
    const double e = static_cast<double>(static_cast<int32_t>(static_cast<int64_t>(shifted) >> 52)) - (tiny ? 54.0 : 0.0);
    const double f = std::bit_cast<double>((shifted & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1.0;
    const double s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    const double series[] = {1.479819860511658591e-1, 1.531383769920937332e-1, 1.818357216161805012e-1,
                             2.222219843214978396e-1, 2.857142874366239149e-1, 3.999999999940941908e-1,
                             6.666666666666735130e-1};
    const double result = e * 6.93147180369123816490e-1 -
                          ((half - (s * (half + z * polynomial(z, series)) + e * 1.90821492927058770002e-10)) - f);
    const double zero = x == 0.0 ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    return x > 0.0 ? (x == std::numeric_limits<double>::infinity() ? x : result) : zero;
}

template <class T>
inline T tanh_of(T x) {
    const T a = x < 0 ? -x : x, z = x * x;
    const T large = 1 - 2 / (exp_of(2 * a) + 1);
    const T top[] = {T(-9.64399179425052238628e-1), T(-9.92877231001918586564e1), T(-1.61468768441708447952e3)};
    const T bottom[] = {T(1), T(1.12811678491632931402e2), T(2.23548839060100448583e3), T(4.84406305325125486048e3)};
    const T small = x + x * z * polynomial(z, top) / polynomial(z, bottom);
    return a < T(0.625) ? small : (x < 0 ? -large : large);
}

template <class T>
inline T sigmoid_of(T x) {
    return 1 / (1 + exp_of(-x));
}

template <class T>
inline T erf_of(T x) {
    const T a = x < 0 ? -x : x, z = x * x;
    const T top[] = {T(9.60497373987051638749), T(9.00260197203842689217e1), T(2.23200534594684319226e3),
                     T(7.00332514112805075473e3), T(5.55923013010394962768e4)};
    const T bottom[] = {T(1),
                        T(3.35617141647503099647e1),
                        T(5.21357949780152679795e2),
                        T(4.59432382970980127987e3),
                        T(2.26290000613890934246e4),
                        T(4.92673942608635921086e4)};
    const T small = x * polynomial(z, top) / polynomial(z, bottom);
    const T b = a > 6 ? T(6) : a;  // erf(6) is 1 to the last bit
    const T p[] = {T(2.46196981473530512524e-10), T(5.64189564831068821977e-1), T(7.46321056442269912687),
                   T(4.86371970985681366614e1),   T(1.96520832956077098242e2),  T(5.26445194995477358631e2),
                   T(9.34528527171957607540e2),   T(1.02755188689515710272e3),  T(5.57535335369399327526e2)};
    const T q[] = {T(1),
                   T(1.32281951154744992508e1),
                   T(8.67072140885989742329e1),
                   T(3.54937778887819891062e2),
                   T(9.75708501743205489753e2),
                   T(1.82390916687909736289e3),
                   T(2.24633760818710981792e3),
                   T(1.65666309194161350182e3),
                   T(5.57535340817727675546e2)};
    const T large = 1 - exp_of(-b * b) * polynomial(b, p) / polynomial(b, q);
    return a < 1 ? small : (x != x ? x : (x < 0 ? -large : large));
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
