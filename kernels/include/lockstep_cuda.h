// CUDA C++ for a clang without CUDA toolkit: the keywords, built-in variables and functions that kernels use. Put in front
// of a source by -include, device side only:
//   clang++ -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -Xclang -target-feature -Xclang +ptx64 -nocudainc -nocudalib
//           -S -O2 -gline-tables-only -include kernels/include/lockstep_cuda.h kernels/relu.cu -o relu.ptx
// "nodebug" gives the instructions of these functions the line of the kernel that calls them.
// NVIDIA's libdevice is not there, so expf, logf and their like are short functions here over the GPU's approximate
// instructions; each states its error. Division, square root and fused multiply-add are the exact IEEE ones.
#pragma once
#ifndef __CUDA__
#error "lockstep_cuda.h is for clang -x cuda"
#endif

#ifndef __CUDACC__
#define __CUDACC__
#endif
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 0
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define LOCKSTEP_DEVICE static __inline__ __attribute__((always_inline, nodebug, device))

typedef __SIZE_TYPE__ size_t;
typedef long clock_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#ifndef NULL
#define NULL __null
#endif
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")

// ---- vector types: aligned as CUDA aligns them, so that one load moves all of it
struct dim3 {
    unsigned x, y, z;
    __host__ __device__ constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
};
#define LOCKSTEP_VECTORS(T, name)                                                                    \
    struct name##1 {                                                                                 \
        T x;                                                                                         \
    };                                                                                               \
    struct __align__(2 * sizeof(T)) name##2 {                                                        \
        T x, y;                                                                                      \
    };                                                                                               \
    struct name##3 {                                                                                 \
        T x, y, z;                                                                                   \
    };                                                                                               \
    struct __align__(sizeof(T) == 8 ? 16 : 4 * sizeof(T)) name##4 {                                  \
        T x, y, z, w;                                                                                \
    };                                                                                               \
    LOCKSTEP_DEVICE name##1 make_##name##1(T x) { return {x}; }                                      \
    LOCKSTEP_DEVICE name##2 make_##name##2(T x, T y) { return {x, y}; }                              \
    LOCKSTEP_DEVICE name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                      \
    LOCKSTEP_DEVICE name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
LOCKSTEP_VECTORS(signed char, char)
LOCKSTEP_VECTORS(unsigned char, uchar)
LOCKSTEP_VECTORS(short, short)
LOCKSTEP_VECTORS(unsigned short, ushort)
LOCKSTEP_VECTORS(long long, longlong)
LOCKSTEP_VECTORS(unsigned long long, ulonglong)
LOCKSTEP_VECTORS(float, float)
LOCKSTEP_VECTORS(double, double)
LOCKSTEP_VECTORS(int, int)
LOCKSTEP_VECTORS(unsigned, uint)
#undef LOCKSTEP_VECTORS

#include "lockstep_device.h"
#include <cstddef>
#include <lockstep_std_math.h>
// A variable that both sides see is one of the device's to a kernel alone.
#define __managed__ __attribute__((device))
#undef LOCKSTEP_DEVICE
#undef LOCKSTEP_BOTH_SIDES
