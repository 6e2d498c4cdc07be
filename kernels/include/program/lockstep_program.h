// Whole CUDA programs for a clang without a toolkit: in front of a source by -include, in both of its compilations,
//   device: clang++ -x cuda --cuda-device-only -S -o k.ptx ...    host: clang++ -x cuda --cuda-host-only -c ...
// with the host's own standard headers. A function that both sides have is two overloads here, told apart by the side that
// calls: the device's stand before the standard headers and in std too, so that those take them for what they are.
#pragma once
#pragma clang system_header
// By these a program's own headers tell that CUDA's are there.
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __VECTOR_FUNCTIONS_H__
#ifndef __CUDA__  // a C or C++ file of the program: the runtime's interface alone
#include "cuda_runtime_api.h"
#ifdef __cplusplus
#include "vector_functions.h"
#include "lockstep_call_sites.h"
#endif
#else
#define LOCKSTEP_PROGRAM 1
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0
#define __CUDACC_EXTENDED_LAMBDA__ 1
#define __CUDACC_RELAXED_CONSTEXPR__ 1
#include "driver_types.h"
#if __clang_major__ < 15  // a keyword of CUDA's since then
#define __noinline__ __attribute__((noinline))
#endif
#ifndef __grid_constant__
#define __grid_constant__
#endif
#define __inline_hint__
#define __nv_pure__ __attribute__((pure))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __cluster_dims__(...)
#define __maxnreg__(n)

#define LOCKSTEP_DEVICE static __inline__ __attribute__((always_inline, nodebug, device))
typedef long clock_t;
#ifndef NULL
#define NULL __null
#endif
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#include "../lockstep_device.h"

extern "C" {
__device__ int vprintf(const char* format, const char* arguments);
__device__ void __assertfail(const char* condition, const char* file, unsigned line, const char* function, size_t char_size);
LOCKSTEP_DEVICE void __assert_fail(const char* condition, const char* file, unsigned line, const char* function) {
    __assertfail(condition, file, line, function, 1);
}
}
LOCKSTEP_DEVICE int memcmp(const void* p, const void* q, size_t bytes) {
    const unsigned char *a = (const unsigned char*)p, *b = (const unsigned char*)q;
    for (size_t i = 0; i < bytes; ++i)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}
LOCKSTEP_DEVICE size_t strlen(const char* text) {
    size_t length = 0;
    while (text[length]) ++length;
    return length;
}
LOCKSTEP_DEVICE int strcmp(const char* a, const char* b) {
    while (*a && *a == *b) ++a, ++b;
    return (int)(unsigned char)*a - (int)(unsigned char)*b;
}
LOCKSTEP_DEVICE char* strcpy(char* to, const char* from) {
    char* const begin = to;
    while ((*to++ = *from++)) {
    }
    return begin;
}
LOCKSTEP_DEVICE void exit(int) { asm volatile("exit;"); }
LOCKSTEP_DEVICE void abort() { __trap(); }

namespace std {
using ::abs;
using ::ceil;
using ::copysign;
using ::cos;
using ::fabs;
using ::fabsf;
using ::fdim;
using ::floor;
using ::fma;
using ::fmax;
using ::fmin;
using ::free;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::isnormal;
using ::labs;
using ::llabs;
using ::llrint;
using ::llround;
using ::lrint;
using ::lround;
using ::malloc;
using ::memcpy;
using ::memmove;
using ::memset;
using ::nan;
using ::nearbyint;
using ::printf;
using ::rint;
using ::round;
using ::signbit;
using ::sin;
using ::sqrt;
using ::tan;
using ::trunc;
using ::acos;
using ::acosh;
using ::asin;
using ::asinh;
using ::atan;
using ::atan2;
using ::atanh;
using ::cbrt;
using ::cosh;
using ::erf;
using ::erfc;
using ::exp;
using ::exp2;
using ::expm1;
using ::fmod;
using ::frexp;
using ::hypot;
using ::ilogb;
using ::ldexp;
using ::lgamma;
using ::log;
using ::log10;
using ::log1p;
using ::log2;
using ::logb;
using ::modf;
using ::nextafter;
using ::pow;
using ::remainder;
using ::scalbn;
using ::sinh;
using ::tanh;
using ::tgamma;
}  // namespace std

// The host's headers that nvcc includes unasked
#undef INFINITY
#undef NAN
#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmath>
#include <cstdlib>
#include <new>
#include <utility>

#include "cuda_runtime_api.h"
#include "vector_functions.h"
#include "lockstep_host_math.h"
#include "lockstep_atomics.h"
#include "lockstep_unsupported.h"
#include "lockstep_texture_reference.h"
#include "lockstep_managed.h"
#include "lockstep_removed.h"
#undef LOCKSTEP_DEVICE
#undef LOCKSTEP_BOTH_SIDES
#include "lockstep_call_sites.h"
#define __NVCC__ 1  // behind the standard headers: programs ask by it whether __device__ is a word
#endif
