// Mathematics of whole programs where libclc is not installed: exp, log, pow and the others as short functions in f64, each to
// a few units in the last place; an f32 function is its f64 one, rounded. Included by lockstep_math.h.
#pragma once

LOCKSTEP_DEVICE double ldexp(double a, int e) {  // by powers of two that are numbers themselves
    if (e > 3000) e = 3000;
    if (e < -3000) e = -3000;
    for (; e > 1000; e -= 1000) a *= 0x1p1000;
    for (; e < -900; e += 900) a *= 0x1p-900;
    return a * __longlong_as_double((long long)(1023 + e) << 52);
}
LOCKSTEP_DEVICE float ldexpf(float a, int e) { return (float)ldexp((double)a, e); }
LOCKSTEP_DEVICE float scalbnf(float a, int e) { return ldexpf(a, e); }
LOCKSTEP_DEVICE double scalbn(double a, int e) { return ldexp(a, e); }
LOCKSTEP_DEVICE int ilogb(double a) {
    if (a == 0 || a != a) return -2147483647 - 1;
    if (fabs(a) == (double)INFINITY) return 2147483647;
    const bool tiny = fabs(a) < 0x1p-1022;
    return (int)(__double_as_longlong(tiny ? a * 0x1p100 : a) >> 52 & 2047) - 1023 - (tiny ? 100 : 0);
}
LOCKSTEP_DEVICE int ilogbf(float a) { return ilogb((double)a); }

// e^a: a = n ln 2 + r, |r| <= ln 2 / 2, and Taylor's series of r
LOCKSTEP_DEVICE double lockstep_exp(double a, double more) {  // e^(a + more), `more` being small
    if (a != a) return a;
    if (a > 710.0) return INFINITY;
    if (a < -746.0) return 0.0;
    const double n = rint(a * 1.4426950408889634);
    const double r = fma(-n, 1.9082149292705877e-10, fma(-n, 0.6931471803691238, a)) + more;
    double p = 1.0 / 6227020800.0;
    const double over_factorial[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                     1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0};
    for (double c : over_factorial) p = fma(p, r, c);
    return ldexp(fma(p, r, 1.0), (int)n);
}
LOCKSTEP_DEVICE double exp(double a) { return lockstep_exp(a, 0.0); }
LOCKSTEP_DEVICE double exp2(double a) {
    const double n = rint(a);
    if (a != a || fabs(a) > 2000.0) return a != a ? a : a > 0 ? (double)INFINITY : 0.0;
    return ldexp(exp((a - n) * 0.6931471805599453), (int)n);
}
// log a = high + low: a = m 2^n, f = (m - 1) / (m + 1), log m = 2 artanh f
LOCKSTEP_DEVICE double lockstep_log(double a, double* low) {
    int n = ilogb(a);
    double m = ldexp(a, -n);
    if (m > 1.4142135623730951) m *= 0.5, ++n;
    const double over = m - 1.0, under = m + 1.0, lost = m - (under - 1.0);
    const double f = over / under, rest = (fma(-f, under, over) - f * lost) / under, s = f * f;
    double p = 1.0 / 25.0;
    for (int k = 23; k >= 3; k -= 2) p = fma(p, s, 1.0 / k);
    const double big = n * 0.6931471803691238, sum = big + 2.0 * f;  // 32 bits of ln 2: n of them are exact
    const double back = sum - big, error = (big - (sum - back)) + (2.0 * f - back);
    *low = error + (n * 1.9082149292705877e-10 + 2.0 * (rest + f * s * p));
    return sum;
}
LOCKSTEP_DEVICE double log(double a) {
    if (a != a || a < 0) return NAN;
    if (a == 0) return -(double)INFINITY;
    if (a == (double)INFINITY) return a;
    double low;
    const double high = lockstep_log(a, &low);
    return high + low;
}
LOCKSTEP_DEVICE double log2(double a) {
    if (!(a > 0) || a == (double)INFINITY) return log(a);
    const int n = ilogb(a);
    const double m = ldexp(a, -n);
    return m == 1.0 ? n : fabs(a - 1.0) < 0.5 ? log(a) * 1.4426950408889634 : n + log(m) * 1.4426950408889634;
}
LOCKSTEP_DEVICE double log10(double a) {
    const double result = log(a) * 0.4342944819032518, whole = rint(result);
    return fabs(result - whole) < 1e-14 * fabs(whole) && whole > 0 && whole < 23 ? whole : result;
}
LOCKSTEP_DEVICE double log1p(double a) {
    const double u = 1.0 + a;
    return u == 1.0 || a == (double)INFINITY ? a : !(a > -1.0) ? log(u) : log(u) + (a - (u - 1.0)) / u;
}
LOCKSTEP_DEVICE double expm1(double a) {
    if (fabs(a) > 0.35) return exp(a) - 1.0;
    double p = 1.0 / 16.0;
    for (int k = 15; k >= 2; --k) p = fma(p, a, 1.0) / k;
    return fma(p * a, a, a);
}
LOCKSTEP_DEVICE double exp10(double a) {
    const double n = rint(a * 3.321928094887362);
    return fabs(a) > 400.0 || a != a ? exp(a * 2.302585092994046)
                                     : ldexp(exp(fma(-n, -1.9082149292705877e-10, fma(-n, 0.6931471803691238, a * 2.302585092994046)) -
                                                 2.0 * n * 1.9082149292705877e-10),
                                             (int)n);
}
LOCKSTEP_DEVICE double pow(double a, double b) {
    if (b == 0 || a == 1.0) return 1.0;
    if (a != a || b != b) return NAN;
    const double size = fabs(a);
    const bool whole = b == floor(b), odd = whole && fabs(b) < 0x1p53 && fabs(floor(b * 0.5) * 2.0 - b) == 1.0;
    if (fabs(b) == (double)INFINITY) return size == 1.0 ? 1.0 : (size > 1.0) == (b > 0) ? (double)INFINITY : 0.0;
    double result;
    if (size == 0 || size == (double)INFINITY) {
        result = (size == 0) == (b > 0) ? 0.0 : (double)INFINITY;
    } else {
        if (a < 0 && !whole) return NAN;
        double low;
        const double high = lockstep_log(size, &low), product = high * b;
        result = fabs(product) > 800.0 ? (product > 0 ? (double)INFINITY : 0.0)
                                       : lockstep_exp(product, fma(high, b, -product) + low * b);
    }
    return odd && __double_as_longlong(a) < 0 ? -result : result;
}
LOCKSTEP_DEVICE double sinh(double a) {
    const double t = expm1(fabs(a)), e = fabs(a) > 700.0 ? exp(fabs(a) * 0.5) : 0.0;
    return copysign(e > 0 ? 0.5 * e * e : 0.5 * (t + t / (t + 1.0)), a);
}
LOCKSTEP_DEVICE double cosh(double a) {
    const double e = exp(fabs(a) * 0.5), square = e * e;
    return fabs(a) > 700.0 ? 0.5 * e * e : 0.5 * (exp(fabs(a)) + 1.0 / square);
}
LOCKSTEP_DEVICE double tanh(double a) {
    const double t = expm1(-2.0 * fabs(a));
    return copysign(-t / (2.0 + t), a);
}
LOCKSTEP_DEVICE double atan(double a) {
    double x = fabs(a), base = 0, rest = 0;
    const bool turned = x > 1.0;
    if (turned) x = 1.0 / x;
    if (x > 0.2679491924311227) {
        x = (x * 1.7320508075688772 - 1.0) / (1.7320508075688772 + x);
        base = 0.5235987755982989, rest = -5.360408832255455e-17;
    }
    const double s = x * x;
    double p = 1.0 / 31.0;
    for (int k = 29; k >= 3; k -= 2) p = fma(-p, s, 1.0 / k);
    const double result = base + (rest + fma(-p * s, x, x));
    return copysign(a != a ? a : turned ? 1.5707963267948966 - (result - 6.123233995736766e-17) : result, a);
}
LOCKSTEP_DEVICE double atan2(double y, double x) {
    if (x != x || y != y) return NAN;
    const double ax = fabs(x), ay = fabs(y);
    double result = ay == 0                ? 0.0
                    : ax == ay             ? 0.7853981633974483  // both infinite too
                    : ay > ax              ? 1.5707963267948966 - (atan(ax / ay) - 6.123233995736766e-17)
                                           : atan(ay / ax);
    if (__double_as_longlong(x) < 0) result = 3.141592653589793 - (result - 1.2246467991473532e-16);
    return copysign(result, y);
}
LOCKSTEP_DEVICE double asin(double a) { return fabs(a) > 1.0 ? NAN : atan2(a, sqrt((1.0 - a) * (1.0 + a))); }
LOCKSTEP_DEVICE double acos(double a) { return fabs(a) > 1.0 ? NAN : atan2(sqrt((1.0 - a) * (1.0 + a)), a); }
LOCKSTEP_DEVICE double asinh(double a) {
    const double x = fabs(a);
    return copysign(x > 1e8 ? log(x) + 0.6931471805599453 : log1p(x + x * x / (1.0 + sqrt(x * x + 1.0))), a);
}
LOCKSTEP_DEVICE double acosh(double a) {
    return a > 1e8 ? log(a) + 0.6931471805599453 : log1p((a - 1.0) + sqrt((a - 1.0) * (a + 1.0)));
}
LOCKSTEP_DEVICE double atanh(double a) { return copysign(0.5 * log1p(2.0 * fabs(a) / (1.0 - fabs(a))), a); }
LOCKSTEP_DEVICE double cbrt(double a) {
    if (a == 0 || a != a || fabs(a) == (double)INFINITY) return a;
    double root = exp(log(fabs(a)) * (1.0 / 3.0));
    root -= (root - fabs(a) / (root * root)) * (1.0 / 3.0);
    return copysign(root, a);
}
LOCKSTEP_DEVICE double hypot(double a, double b) {
    const double most = fmax(fabs(a), fabs(b)), least = fmin(fabs(a), fabs(b)), ratio = least / most;
    return most == 0 || most == (double)INFINITY ? most : most * sqrt(fma(ratio, ratio, 1.0));
}
LOCKSTEP_DEVICE double fmod(double a, double b) {  // exact: a long division, bit by bit
    const double y = fabs(b);
    double x = fabs(a);
    if (!(x < (double)INFINITY) || y == 0 || y != y) return NAN;
    if (x < y) return a;
    for (int e = ilogb(x) - ilogb(y); e >= 0; --e) {
        const double step = ldexp(y, e);
        if (x >= step) x -= step;
    }
    return copysign(x, a);
}
LOCKSTEP_DEVICE double remainder(double a, double b) {
    const double y = fabs(b);
    double x = fmod(fabs(a), y + y < (double)INFINITY ? y + y : y);
    if (x != x) return fabs(a) < (double)INFINITY && y == (double)INFINITY ? a : x;
    if (2.0 * x > y && x >= 0.5 * y) {
        x -= y;
        if (2.0 * x >= y) x -= y;
    }
    return copysign(1.0, a) * x;
}
// erf by its series of all positive terms, erfc far out by its continued fraction
LOCKSTEP_DEVICE double lockstep_erf_series(double x) {
    double term = x, sum = x;
    for (int n = 1; n < 80 && term > sum * 1e-17; ++n) sum += term *= 2.0 * x * x / (2 * n + 1);
    return 1.1283791670955126 * exp(-x * x) * sum;
}
LOCKSTEP_DEVICE double lockstep_erfc_far(double x) {
    double f = x;
    for (int n = 60; n > 0; --n) f = x + 0.5 * n / f;
    const double square = x * x;
    return lockstep_exp(-square, -fma(x, x, -square)) * 0.5641895835477563 / f;
}
LOCKSTEP_DEVICE double erf(double a) {
    const double x = fabs(a);
    return a != a ? a : copysign(x < 2.5 ? lockstep_erf_series(x) : x > 6.0 ? 1.0 : 1.0 - lockstep_erfc_far(x), a);
}
LOCKSTEP_DEVICE double erfc(double a) { return a > 2.5 ? (a > 28.0 ? 0.0 : lockstep_erfc_far(a)) : 1.0 - erf(a); }
LOCKSTEP_DEVICE double sinpi(double a) {
    const double n = rint(2.0 * a), r = fma(-0.5, n, a) * 3.141592653589793;
    const int q = (int)(n - 4.0 * floor(n * 0.25));
    const double value = q & 1 ? cos(r) : sin(r);
    return q & 2 ? -value : value;
}
LOCKSTEP_DEVICE double cospi(double a) {
    const double n = rint(2.0 * a), r = fma(-0.5, n, a) * 3.141592653589793;
    const int q = (int)(n - 4.0 * floor(n * 0.25));
    const double value = q & 1 ? sin(r) : cos(r);
    return (q + 1) & 2 ? -value : value;
}
LOCKSTEP_DEVICE double lgamma(double a) {
    if (a == floor(a) && a <= 0) return INFINITY;
    if (a < 0.5) return log(3.141592653589793 / fabs(sinpi(a))) - lgamma(1.0 - a);
    double product = 1.0, x = a;
    for (; x < 12.0; x += 1.0) product *= x;
    const double t = 1.0 / x, u = t * t;
    double series = fma(u, 8.4175084175084175e-4, -5.9523809523809524e-4);
    series = fma(series, u, 7.9365079365079365e-4);
    series = fma(series, u, -2.7777777777777778e-3);
    series = fma(series, u, 8.3333333333333333e-2) * t;
    return (x - 0.5) * log(x) - x + 0.91893853320467274 + series - log(product);
}
LOCKSTEP_DEVICE double logb(double a) {
    return a == 0 ? -(double)INFINITY : fabs(a) < (double)INFINITY ? (double)ilogb(a) : a * a;
}
LOCKSTEP_DEVICE double nextafter(double a, double b) {
    if (a != a || b != b) return NAN;
    if (a == b) return b;
    if (a == 0) return copysign(4.9406564584124654e-324, b);
    return __longlong_as_double(__double_as_longlong(a) + ((a < b) == (a > 0) ? 1 : -1));
}
LOCKSTEP_DEVICE float nextafterf(float a, float b) {
    if (a != a || b != b) return NAN;
    if (a == b) return b;
    if (a == 0) return copysignf(1.4012984643248171e-45f, b);
    return __int_as_float(__float_as_int(a) + ((a < b) == (a > 0) ? 1 : -1));
}
#define LOCKSTEP_ROUNDED(name) \
    LOCKSTEP_DEVICE float name##f(float a) { return (float)name((double)a); }
#define LOCKSTEP_ROUNDED_2(name) \
    LOCKSTEP_DEVICE float name##f(float a, float b) { return (float)name((double)a, (double)b); }
LOCKSTEP_ROUNDED(exp)
LOCKSTEP_ROUNDED(exp2)
LOCKSTEP_ROUNDED(exp10)
LOCKSTEP_ROUNDED(expm1)
LOCKSTEP_ROUNDED(log)
LOCKSTEP_ROUNDED(log2)
LOCKSTEP_ROUNDED(log10)
LOCKSTEP_ROUNDED(log1p)
LOCKSTEP_ROUNDED(asin)
LOCKSTEP_ROUNDED(acos)
LOCKSTEP_ROUNDED(atan)
LOCKSTEP_ROUNDED(sinh)
LOCKSTEP_ROUNDED(cosh)
LOCKSTEP_ROUNDED(tanh)
LOCKSTEP_ROUNDED(asinh)
LOCKSTEP_ROUNDED(acosh)
LOCKSTEP_ROUNDED(atanh)
LOCKSTEP_ROUNDED(erf)
LOCKSTEP_ROUNDED(cbrt)
LOCKSTEP_ROUNDED(lgamma)
LOCKSTEP_ROUNDED(sinpi)
LOCKSTEP_ROUNDED(cospi)
LOCKSTEP_ROUNDED(logb)
LOCKSTEP_ROUNDED_2(pow)
LOCKSTEP_ROUNDED_2(atan2)
LOCKSTEP_ROUNDED_2(hypot)
LOCKSTEP_ROUNDED_2(fmod)
LOCKSTEP_ROUNDED_2(remainder)
#undef LOCKSTEP_ROUNDED
#undef LOCKSTEP_ROUNDED_2
