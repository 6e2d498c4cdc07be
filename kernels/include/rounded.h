// Products that are rounded by themselves: a compiler joins a * b + c to one fused operation where it may, and another compiler
// elsewhere; with these, every compiler and the host's twin give the same bits.
#pragma once

__device__ inline float times(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
