// CUDA's complex numbers: a pair of which x is the real part.
#pragma once
#include "lockstep_program.h"
typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;
#define LOCKSTEP_COMPLEX static __inline__ __host__ __device__
#define LOCKSTEP_COMPLEX_NUMBERS(T, C, f, F)                                                                               \
    LOCKSTEP_COMPLEX T cuCreal##f(C a) { return a.x; }                                                                     \
    LOCKSTEP_COMPLEX T cuCimag##f(C a) { return a.y; }                                                                     \
    LOCKSTEP_COMPLEX C make_cu##F##Complex(T x, T y) { return C{x, y}; }                                                   \
    LOCKSTEP_COMPLEX C cuConj##f(C a) { return C{a.x, -a.y}; }                                                             \
    LOCKSTEP_COMPLEX C cuCadd##f(C a, C b) { return C{a.x + b.x, a.y + b.y}; }                                             \
    LOCKSTEP_COMPLEX C cuCsub##f(C a, C b) { return C{a.x - b.x, a.y - b.y}; }                                             \
    LOCKSTEP_COMPLEX C cuCmul##f(C a, C b) { return C{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; }                     \
    LOCKSTEP_COMPLEX C cuCdiv##f(C a, C b) { /* scaled, so that no square overflows */                                     \
        const T s = fabs(b.x) + fabs(b.y), u = b.x / s, v = b.y / s, x = a.x / s, y = a.y / s, n = u * u + v * v;          \
        return C{(x * u + y * v) / n, (y * u - x * v) / n};                                                                \
    }                                                                                                                      \
    LOCKSTEP_COMPLEX T cuCabs##f(C a) { return hypot(a.x, a.y); }                                                          \
    LOCKSTEP_COMPLEX C cuCfma##f(C a, C b, C c) { return cuCadd##f(cuCmul##f(a, b), c); }
LOCKSTEP_COMPLEX_NUMBERS(float, cuFloatComplex, f, Float)
LOCKSTEP_COMPLEX_NUMBERS(double, cuDoubleComplex, , Double)
#undef LOCKSTEP_COMPLEX_NUMBERS
LOCKSTEP_COMPLEX cuComplex make_cuComplex(float x, float y) { return cuComplex{x, y}; }
LOCKSTEP_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex a) { return cuDoubleComplex{a.x, a.y}; }
LOCKSTEP_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex a) {
    return cuFloatComplex{(float)a.x, (float)a.y};
}
#undef LOCKSTEP_COMPLEX
