// The keywords of CUDA C++, for clang -x cuda; nothing where a plain C++ compiler reads the interface alone.
#pragma once
#ifdef __CUDA__
#ifndef __CUDACC__
#define __CUDACC__
#endif
#ifndef __host__
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#endif
#else
#define __host__
#define __device__
#endif
#ifndef __forceinline__
#define __forceinline__ __inline__ __attribute__((always_inline))
#endif
#ifndef __align__
#define __align__(n) __attribute__((aligned(n)))
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#define CUDART_CB
#endif
