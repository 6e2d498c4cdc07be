// sin, cos and tan for clang without a toolkit: an angle is reduced to r in [-pi/4, pi/4] and a quadrant, r goes into a
// polynomial (minimax, fitted with 300 bits). Small angles are reduced by fused multiply-adds with pi/2 in three parts
// (Cody and Waite), large ones with as many bits of 2/pi as it takes (Payne and Hanek): so the error is below 2 units in the
// last place (f32), 2 (f64), tan 4 and 3, for every angle. Included by lockstep_math.h.
#pragma once

// 2/pi = 0.words, behind one word of zeros.
static __attribute__((device)) const unsigned lockstep_two_over_pi_32[] = {
    0,
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u,
    0xfe5163abu, 0xdebbc561u};
static __attribute__((device)) const unsigned long long lockstep_two_over_pi_64[] = {
    0,
    0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull,
    0xb7246e3a424dd2e0ull, 0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull,
    0xe99c7026b45f7e41ull, 0x3991d639835339f4ull, 0x9c845f8bbdf9283bull, 0x1ff897ffde05980full,
    0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull, 0x7527bac7ebe5f17bull,
    0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b6babull, 0xf0cfbc209af4361dull,
    0xa9e391615ee61b08ull, 0x6599855f14a06840ull};

// a = m 2^s: takes the bits of 2/pi that matter, a 2/pi mod 4 = the quadrant (2 bits) and the fraction behind it.
LOCKSTEP_DEVICE float lockstep_reduce_large(float a, int* quadrant) {
    const unsigned bits = __float_as_uint(a);
    const int exponent = (int)(bits >> 23 & 255u);
    if (exponent == 255) return NAN;
    const unsigned long long m = (bits & 0x7fffffu) | 0x800000u;
    const int from = exponent - 150 - 2 + 32, word = from >> 5, shift = from & 31;
    unsigned long long carry = 0;
    unsigned product[3];  // the low 96 bits, [0] on top
    for (int k = 2; k >= 0; --k) {
        const unsigned long long two = (unsigned long long)lockstep_two_over_pi_32[word + k] << 32 | lockstep_two_over_pi_32[word + k + 1];
        const unsigned long long p = m * (unsigned)(two << shift >> 32) + carry;
        product[k] = (unsigned)p;
        carry = p >> 32;
    }
    const unsigned long long top = (unsigned long long)product[0] << 32 | product[1];
    int q = (int)(top >> 62);
    const long long fraction = (long long)(top << 2 | product[2] >> 30);  // signed: a half and more counts down from the next quadrant
    if (fraction < 0) ++q;
    const bool negative = bits >> 31;
    *quadrant = negative ? -q : q;
    const float r = (float)((double)fraction * 8.5153039502163873e-20);  // pi/2 2^-64
    return negative ? -r : r;
}
LOCKSTEP_DEVICE float lockstep_reduce(float a, int* quadrant) {
    if (__nvvm_fabs_f(a) > 105615.0f) return lockstep_reduce_large(a, quadrant);
    const float j = __builtin_rintf(a * 0.636619772f);
    *quadrant = (int)j;
    return __nvvm_fma_rn_f(-j, -0x1.ee59dap-50f, __nvvm_fma_rn_f(-j, -0x1.777a5cp-25f, __nvvm_fma_rn_f(-j, 0x1.921fb6p+0f, a)));
}
// In f64 `rest` is what r itself had to leave out.
LOCKSTEP_DEVICE double lockstep_reduce_large(double a, int* quadrant, double* rest) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(a);
    const int exponent = (int)(bits >> 52 & 2047u);
    if (exponent == 2047) return NAN;
    const unsigned long long m = (bits & 0xfffffffffffffull) | 0x10000000000000ull;
    const int from = exponent - 1075 - 2 + 64, word = from >> 6, shift = from & 63;
    unsigned long long carry = 0, product[4];  // the low 256 bits, [0] on top
    for (int k = 3; k >= 0; --k) {
        const unsigned long long high = lockstep_two_over_pi_64[word + k], low = lockstep_two_over_pi_64[word + k + 1];
        const unsigned long long w = shift ? high << shift | low >> (64 - shift) : high;
        const unsigned long long p = m * w;
        product[k] = p + carry;
        carry = __umul64hi(m, w) + (product[k] < p ? 1 : 0);
    }
    int q = (int)(product[0] >> 62);
    unsigned long long high = product[0] << 2 | product[1] >> 62, low = product[1] << 2 | product[2] >> 62;
    unsigned long long last = product[2] << 2 | product[3] >> 62;
    bool negative = high >> 63;
    if (negative) {
        ++q;
        last = 0 - last;
        low = ~low + (last == 0 ? 1 : 0);
        high = ~high + (low == 0 && last == 0 ? 1 : 0);
    }
    int scale = -64;
    if (high == 0) {
        high = low;
        low = last;
        scale = -128;
    }
    const int zeros = high ? __clzll((long long)high) : 0;
    if (zeros) {
        high = high << zeros | low >> (64 - zeros);
        low = low << zeros;
    }
    scale -= zeros;
    // The top 53 bits and the 53 behind them, times pi/2 in two parts.
    const double power = __longlong_as_double((long long)(1023 + scale) << 52);
    const double first = (double)(high >> 11) * 2048.0 * power;
    const double second = ((double)(high & 2047u) + (double)(low >> 11) * 1.1102230246251565e-16) * power;
    const double r = first * 1.5707963267948966;
    const double left = __nvvm_fma_rn_d(first, 1.5707963267948966, -r) + (first * 6.123233995736766e-17 + second * 1.5707963267948966);
    if (bits >> 63) {
        negative = !negative;
        q = -q;
    }
    *quadrant = q;
    *rest = negative ? -left : left;
    return negative ? -r : r;
}
LOCKSTEP_DEVICE double lockstep_reduce(double a, int* quadrant, double* rest) {
    if (__nvvm_fabs_d(a) > 1e6) return lockstep_reduce_large(a, quadrant, rest);
    const double j = __builtin_rint(a * 0.63661977236758134);
    *quadrant = (int)j;
    const double first = __nvvm_fma_rn_d(-j, 0x1.921fb54442d18p+0, a);  // exact
    const double product = -j * 0x1.1a62633145c07p-54, r = first + product;
    const double lost = __nvvm_fma_rn_d(-j, 0x1.1a62633145c07p-54, -product);
    *rest = __nvvm_fma_rn_d(-j, -0x1.f1976b7ed8fbcp-110, (first - r) + product + lost);
    return r;
}

LOCKSTEP_DEVICE float lockstep_sin_of(float r) {
    const float u = r * r;
    const float p = __nvvm_fma_rn_f(__nvvm_fma_rn_f(-0.000195875057735f, u, 0.00833274666987f), u, -0.16666664656f);
    return __nvvm_fma_rn_f(r * u, p, r);
}
LOCKSTEP_DEVICE float lockstep_cos_of(float r) {
    const float u = r * r;
    const float p = __nvvm_fma_rn_f(__nvvm_fma_rn_f(0.0000245475363134f, u, -0.00138883013092f), u, 0.0416666646522f);
    return __nvvm_fma_rn_f(u * u, p, __nvvm_fma_rn_f(-0.5f, u, 1.0f));
}
LOCKSTEP_DEVICE double lockstep_sin_of(double r, double rest) {
    const double u = r * r;
    double p = __nvvm_fma_rn_d(-7.5865805248301566e-13, u, 1.6058529644917013e-10);
    p = __nvvm_fma_rn_d(p, u, -2.5052106220024281e-8);
    p = __nvvm_fma_rn_d(p, u, 2.7557319219303519e-6);
    p = __nvvm_fma_rn_d(p, u, -0.00019841269841265019);
    p = __nvvm_fma_rn_d(p, u, 0.0083333333333333315);
    p = __nvvm_fma_rn_d(p, u, -0.16666666666666667);
    return r + __nvvm_fma_rn_d(r * u, p, __nvvm_fma_rn_d(-0.5 * u, rest, rest));
}
LOCKSTEP_DEVICE double lockstep_cos_of(double r, double rest) {
    const double u = r * r;
    double p = __nvvm_fma_rn_d(4.7458068626299816e-14, u, -1.1470459786064739e-11);
    p = __nvvm_fma_rn_d(p, u, 2.0876755784145522e-9);
    p = __nvvm_fma_rn_d(p, u, -2.7557319221382916e-7);
    p = __nvvm_fma_rn_d(p, u, 0.000024801587301584621);
    p = __nvvm_fma_rn_d(p, u, -0.0013888888888888888);
    p = __nvvm_fma_rn_d(p, u, 0.041666666666666667);
    const double half = 0.5 * u, most = 1.0 - half;
    return most + (__nvvm_fma_rn_d(u * u, p, (1.0 - most) - half) - r * rest);
}

#define LOCKSTEP_TRIGONOMETRY(T, f, declared, more, also)                                                      \
    LOCKSTEP_DEVICE T sin##f(T a) {                                                                            \
        int q;                                                                                                 \
        declared const T r = lockstep_reduce(a, &q more);                                                      \
        const T s = q & 1 ? lockstep_cos_of(r also) : lockstep_sin_of(r also);                                 \
        return a == 0 ? a : q & 2 ? -s : s;                                                                    \
    }                                                                                                          \
    LOCKSTEP_DEVICE T cos##f(T a) {                                                                            \
        int q;                                                                                                 \
        declared const T r = lockstep_reduce(a, &q more);                                                      \
        const T c = q & 1 ? lockstep_sin_of(r also) : lockstep_cos_of(r also);                                 \
        return (q + 1) & 2 ? -c : c;                                                                           \
    }                                                                                                          \
    LOCKSTEP_DEVICE void sincos##f(T a, T* s, T* c) {                                                          \
        *s = sin##f(a);                                                                                        \
        *c = cos##f(a);                                                                                        \
    }                                                                                                          \
    LOCKSTEP_DEVICE T tan##f(T a) {                                                                            \
        int q;                                                                                                 \
        declared const T r = lockstep_reduce(a, &q more);                                                      \
        const T s = lockstep_sin_of(r also), c = lockstep_cos_of(r also);                                      \
        return a == 0 ? a : q & 1 ? -c / s : s / c;                                                            \
    }
#define LOCKSTEP_AND_REST , &rest
#define LOCKSTEP_WITH_REST , rest
LOCKSTEP_TRIGONOMETRY(float, f, , , )
LOCKSTEP_TRIGONOMETRY(double, , double rest;, LOCKSTEP_AND_REST, LOCKSTEP_WITH_REST)
#undef LOCKSTEP_TRIGONOMETRY
#undef LOCKSTEP_AND_REST
#undef LOCKSTEP_WITH_REST
