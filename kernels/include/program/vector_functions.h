// make_float4 and its like, on both sides.
#pragma once
#include "vector_types.h"
#define LOCKSTEP_MAKE static __inline__ __host__ __device__
#define LOCKSTEP_MAKE_VECTORS(T, name)                                        \
    LOCKSTEP_MAKE name##1 make_##name##1(T x) { return {x}; }                 \
    LOCKSTEP_MAKE name##2 make_##name##2(T x, T y) { return {x, y}; }         \
    LOCKSTEP_MAKE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
    LOCKSTEP_MAKE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
LOCKSTEP_MAKE_VECTORS(signed char, char)
LOCKSTEP_MAKE_VECTORS(unsigned char, uchar)
LOCKSTEP_MAKE_VECTORS(short, short)
LOCKSTEP_MAKE_VECTORS(unsigned short, ushort)
LOCKSTEP_MAKE_VECTORS(int, int)
LOCKSTEP_MAKE_VECTORS(unsigned, uint)
LOCKSTEP_MAKE_VECTORS(long, long)
LOCKSTEP_MAKE_VECTORS(unsigned long, ulong)
LOCKSTEP_MAKE_VECTORS(long long, longlong)
LOCKSTEP_MAKE_VECTORS(unsigned long long, ulonglong)
LOCKSTEP_MAKE_VECTORS(float, float)
LOCKSTEP_MAKE_VECTORS(double, double)
#undef LOCKSTEP_MAKE_VECTORS
#undef LOCKSTEP_MAKE
