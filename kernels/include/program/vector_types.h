// dim3 and the vector types, aligned as CUDA aligns them so that one load moves all of a vector.
#pragma once
#include "host_defines.h"
#ifndef LOCKSTEP_VECTOR_TYPES
#define LOCKSTEP_VECTOR_TYPES
#ifdef __cplusplus
#define LOCKSTEP_C_NAMES(name)
#else
#define LOCKSTEP_C_NAMES(name)          \
    typedef struct name##1 name##1;     \
    typedef struct name##2 name##2;     \
    typedef struct name##3 name##3;     \
    typedef struct name##4 name##4;
#endif
#define LOCKSTEP_VECTOR_TYPE(T, name)                                \
    LOCKSTEP_C_NAMES(name)                                           \
    struct name##1 {                                                 \
        T x;                                                         \
    };                                                               \
    struct __align__(2 * sizeof(T)) name##2 {                        \
        T x, y;                                                      \
    };                                                               \
    struct name##3 {                                                 \
        T x, y, z;                                                   \
    };                                                               \
    struct __align__(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 {  \
        T x, y, z, w;                                                \
    };
LOCKSTEP_VECTOR_TYPE(signed char, char)
LOCKSTEP_VECTOR_TYPE(unsigned char, uchar)
LOCKSTEP_VECTOR_TYPE(short, short)
LOCKSTEP_VECTOR_TYPE(unsigned short, ushort)
LOCKSTEP_VECTOR_TYPE(int, int)
LOCKSTEP_VECTOR_TYPE(unsigned int, uint)
LOCKSTEP_VECTOR_TYPE(long, long)
LOCKSTEP_VECTOR_TYPE(unsigned long, ulong)
LOCKSTEP_VECTOR_TYPE(long long, longlong)
LOCKSTEP_VECTOR_TYPE(unsigned long long, ulonglong)
LOCKSTEP_VECTOR_TYPE(float, float)
LOCKSTEP_VECTOR_TYPE(double, double)
#undef LOCKSTEP_VECTOR_TYPE
#undef LOCKSTEP_C_NAMES
#ifdef __cplusplus
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    __host__ __device__ constexpr operator uint3() const { return uint3{x, y, z}; }
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif
#endif
