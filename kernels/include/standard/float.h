// Limits of the number types. lockstep_cuda.h has them for clang.
#pragma once
#ifdef __CUDACC_RTC__
#define INT_MAX 0x7fffffff
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 0xffffffffu
#define FLT_MAX 3.40282347e+38f
#define FLT_MIN 1.17549435e-38f
#define FLT_EPSILON 1.19209290e-7f
#endif
