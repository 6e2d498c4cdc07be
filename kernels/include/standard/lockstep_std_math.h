// CUDA's mathematical functions by their names in std, for compilers of the kernels alone: nvcc has them of the host's cmath.
#pragma once
#define LOCKSTEP_STD_1(name)                                                   \
    __device__ __forceinline__ float name(float a) { return ::name##f(a); }    \
    __device__ __forceinline__ double name(double a) { return ::name(a); }     \
    __device__ __forceinline__ double name(int a) { return ::name((double)a); }
#define LOCKSTEP_STD_2(name)                                                                   \
    __device__ __forceinline__ float name(float a, float b) { return ::name##f(a, b); }        \
    __device__ __forceinline__ double name(double a, double b) { return ::name(a, b); }        \
    __device__ __forceinline__ double name(float a, double b) { return ::name((double)a, b); } \
    __device__ __forceinline__ double name(double a, float b) { return ::name(a, (double)b); } \
    __device__ __forceinline__ float name(float a, int b) { return ::name##f(a, (float)b); }   \
    __device__ __forceinline__ double name(double a, int b) { return ::name(a, (double)b); }
namespace std {
__device__ __forceinline__ int abs(int a) { return a < 0 ? -a : a; }
__device__ __forceinline__ long abs(long a) { return a < 0 ? -a : a; }
__device__ __forceinline__ long long abs(long long a) { return a < 0 ? -a : a; }
__device__ __forceinline__ float abs(float a) { return ::fabsf(a); }
__device__ __forceinline__ double abs(double a) { return ::fabs(a); }
LOCKSTEP_STD_1(fabs)
LOCKSTEP_STD_1(sqrt)
LOCKSTEP_STD_1(floor)
LOCKSTEP_STD_1(ceil)
LOCKSTEP_STD_1(round)
LOCKSTEP_STD_1(trunc)
LOCKSTEP_STD_1(rint)
LOCKSTEP_STD_2(fmin)
LOCKSTEP_STD_2(fmax)
LOCKSTEP_STD_2(copysign)
__device__ __forceinline__ float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
__device__ __forceinline__ double fma(double a, double b, double c) { return ::fma(a, b, c); }
#if defined __CUDACC_RTC__ || defined LOCKSTEP_LIBCLC
LOCKSTEP_STD_1(cbrt)
LOCKSTEP_STD_1(exp)
LOCKSTEP_STD_1(exp2)
LOCKSTEP_STD_1(expm1)
LOCKSTEP_STD_1(log)
LOCKSTEP_STD_1(log2)
LOCKSTEP_STD_1(log10)
LOCKSTEP_STD_1(log1p)
LOCKSTEP_STD_1(sin)
LOCKSTEP_STD_1(cos)
LOCKSTEP_STD_1(tan)
LOCKSTEP_STD_1(asin)
LOCKSTEP_STD_1(acos)
LOCKSTEP_STD_1(atan)
LOCKSTEP_STD_1(sinh)
LOCKSTEP_STD_1(cosh)
LOCKSTEP_STD_1(tanh)
LOCKSTEP_STD_1(erf)
LOCKSTEP_STD_2(pow)
LOCKSTEP_STD_2(atan2)
LOCKSTEP_STD_2(fmod)
LOCKSTEP_STD_2(hypot)
__device__ __forceinline__ double pow(int a, int b) { return ::pow((double)a, (double)b); }
__device__ __forceinline__ double pow(int a, double b) { return ::pow((double)a, b); }
__device__ __forceinline__ double pow(int a, float b) { return ::pow((double)a, (double)b); }
#endif
__device__ __forceinline__ bool isnan(float a) { return a != a; }
__device__ __forceinline__ bool isnan(double a) { return a != a; }
__device__ __forceinline__ bool isinf(float a) { return ::fabsf(a) == __int_as_float(0x7f800000); }
__device__ __forceinline__ bool isinf(double a) { return ::fabs(a) == (double)__int_as_float(0x7f800000); }
__device__ __forceinline__ bool isfinite(float a) { return ::fabsf(a) < __int_as_float(0x7f800000); }
__device__ __forceinline__ bool isfinite(double a) { return ::fabs(a) < (double)__int_as_float(0x7f800000); }
__device__ __forceinline__ bool signbit(float a) { return __float_as_int(a) < 0; }
__device__ __forceinline__ bool signbit(double a) { return __double_as_longlong(a) < 0; }
}  // namespace std
#ifdef __CUDACC_RTC__  // nvcc has these of the host's cmath
__device__ __forceinline__ double pow(int a, int b) { return pow((double)a, (double)b); }
#endif
#undef LOCKSTEP_STD_1
#undef LOCKSTEP_STD_2
