// What the files of the linked program share: each has its own copy of what is static here.
#pragma once
#include "../whole/check.h"

extern __device__ int counter;
extern __constant__ float weights[4];
extern __device__ int (*chosen)(int);
__device__ int twice(int x);
__global__ void count(int* out);

static __constant__ int scale[2] = {1, 1};
static __device__ int own = 100;

template <class T>
__device__ T plus_static(T x) {
    __shared__ T buffer[32];
    buffer[threadIdx.x] = x;
    __syncwarp();
    return buffer[threadIdx.x] + static_cast<T>(1);
}

inline __device__ int thrice(int x) { return 3 * x; }

template <class T>
__global__ void fill(T* out, T value) {
    out[threadIdx.x] = plus_static(value);
}

int run_solver(int* scratch);
int host_view_of_counter();
