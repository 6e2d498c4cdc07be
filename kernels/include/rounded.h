// Products that are rounded by themselves: a compiler joins a * b + c to one fused operation where it may, and another compiler
// elsewhere; with these, every compiler and the host's twin give the same bits.
#pragma once

#if defined(__clang__)  // which takes __fmul_rn for any product
__device__ inline float times(float a, float b) {
    float product;
    asm("mul.rn.f32 %0, %1, %2;" : "=f"(product) : "f"(a), "f"(b));
    return product;
}
__device__ inline double times(double a, double b) {
    double product;
    asm("mul.rn.f64 %0, %1, %2;" : "=d"(product) : "d"(a), "d"(b));
    return product;
}
#else
__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
#endif
