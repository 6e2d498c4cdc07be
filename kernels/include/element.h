// What the engine's kernels share: element types, and one line that makes a kernel for each of them.
//     template <class T> __device__ void relu(const T* x, T* y, int n) { ... }
//     FLOATS(relu, (const T* x, T* y, int n), x, y, n)          // relu_f32, relu_f64, relu_f16, relu_bf16
// Elements are stored as T and computed as Acc<T>: float, but double for double. f16 and bf16 are bits here, two bytes;
// reading one gives a float, writing one rounds to nearest even. Any compiler and any GPU has what that takes.
#pragma once

struct f16 {
    unsigned short bits;
    f16() = default;
    __device__ f16(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
    __device__ operator float() const {
        float value;
        asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
        return value;
    }
};

struct bf16 {  // the upper half of a float
    unsigned short bits;
    bf16() = default;
    __device__ bf16(float value) {
        unsigned wide = __float_as_uint(value);
        bits = value != value ? 0x7fff : (wide + 0x7fff + (wide >> 16 & 1)) >> 16;
    }
    __device__ operator float() const { return __uint_as_float((unsigned)bits << 16); }
};

template <class T> struct Computed { typedef float type; };
template <> struct Computed<double> { typedef double type; };
template <> struct Computed<int> { typedef int type; };
template <> struct Computed<long long> { typedef long long type; };
template <> struct Computed<unsigned char> { typedef unsigned type; };
template <class T> using Acc = typename Computed<T>::type;

// The kernel `name`_`suffix`: calls name<type>(arguments). T in `parameters` is the type.
#define KERNEL(name, suffix, type, parameters, ...)                                           \
    namespace name##_for_##suffix {                                                           \
    typedef type T;                                                                           \
    extern "C" __global__ void name##_##suffix parameters { name<T>(__VA_ARGS__); }           \
    }
#define FLOATS(name, parameters, ...)                                                         \
    KERNEL(name, f32, float, parameters, __VA_ARGS__)                                         \
    KERNEL(name, f64, double, parameters, __VA_ARGS__)                                        \
    KERNEL(name, f16, f16, parameters, __VA_ARGS__)                                           \
    KERNEL(name, bf16, bf16, parameters, __VA_ARGS__)
#define FLOATS_AND_INTEGERS(name, parameters, ...)                                            \
    FLOATS(name, parameters, __VA_ARGS__)                                                     \
    KERNEL(name, i64, long long, parameters, __VA_ARGS__)                                     \
    KERNEL(name, i32, int, parameters, __VA_ARGS__)                                           \
    KERNEL(name, u8, unsigned char, parameters, __VA_ARGS__)
// For kernels with exp, log and their like: clang without libclc has them for float alone.
#if defined(__clang__) && defined(__CUDA__) && !defined(LOCKSTEP_LIBCLC)
#define FLOATS_WITH_MATH(name, parameters, ...)                                               \
    KERNEL(name, f32, float, parameters, __VA_ARGS__)                                         \
    KERNEL(name, f16, f16, parameters, __VA_ARGS__)                                           \
    KERNEL(name, bf16, bf16, parameters, __VA_ARGS__)
__device__ double exp(double);  // declared for the templates' sake, never called
__device__ double log(double);
__device__ double tanh(double);
__device__ double erf(double);
__device__ double pow(double, double);
#else
#define FLOATS_WITH_MATH FLOATS
#endif

// One name for both accumulators.
__device__ inline float largest_of(float a, float b) { return fmaxf(a, b); }
__device__ inline double largest_of(double a, double b) { return fmax(a, b); }
__device__ inline float exp_of(float x) { return expf(x); }
__device__ inline double exp_of(double x) { return exp(x); }
__device__ inline float log_of(float x) { return logf(x); }
__device__ inline double log_of(double x) { return log(x); }
__device__ inline float sqrt_of(float x) { return sqrtf(x); }
__device__ inline double sqrt_of(double x) { return sqrt(x); }
__device__ inline float sin_of(float x) { return sinf(x); }
__device__ inline double sin_of(double x) { return sin(x); }
__device__ inline float cos_of(float x) { return cosf(x); }
__device__ inline double cos_of(double x) { return cos(x); }
__device__ inline float tanh_of(float x) { return tanhf(x); }
__device__ inline double tanh_of(double x) { return tanh(x); }
__device__ inline float erf_of(float x) { return erff(x); }
__device__ inline double erf_of(double x) { return erf(x); }
__device__ inline float pow_of(float a, float b) { return powf(a, b); }
__device__ inline double pow_of(double a, double b) { return pow(a, b); }
template <class A> __device__ A sigmoid_of(A x) { return 1 / (1 + exp_of(-x)); }
