// L1 by words that lie `stride` apart, in the shape of published tables (gpu-benches, gpu-strides): eight loads a lane at
// eight places of a row, two warps beside each other. Cycles a warp = (latest end - earliest begin) / (warps 128).
#include "micro.h"

#define LOAD(v, words, type, reg) \
    asm volatile("ld.global." type " %0, [%1+%2];" : "=" reg(v) : "l"(from), "n"((words) * (int)sizeof(v)) : "memory");
#define EIGHT_LOADS(type, reg)                                                                            \
    LOAD(v0, 0, type, reg) LOAD(v1, 4, type, reg) LOAD(v2, 8, type, reg) LOAD(v3, 12, type, reg)           \
    LOAD(v4, 20, type, reg) LOAD(v5, 16, type, reg) LOAD(v6, 24, type, reg) LOAD(v7, 28, type, reg)        \
    sum ^= v0 ^ v1 ^ v2 ^ v3 ^ v4 ^ v5 ^ v6 ^ v7; SAME_PLACE(from, none)

#define STRIDED(NAME, TYPE, type, reg)                                                  \
    extern "C" __global__ void __launch_bounds__(1024) NAME(long long* clocks, TYPE* data, int n, int stride) { \
        const TYPE* from = data + threadIdx.x % 64 * stride;                            \
        const long long none = data[16383];                                             \
        TYPE v0, v1, v2, v3, v4, v5, v6, v7, sum = 0;                                   \
        long long begin = 0, end = 0;                                                   \
        for (int i = 0; i < n; ++i) {                                                   \
            __syncthreads();                                                            \
            begin = clock_now();                                                        \
            REPEAT_16(EIGHT_LOADS(type, reg))                                           \
            end = clock_now();                                                          \
        }                                                                               \
        data[65536 / sizeof(TYPE) + threadIdx.x] = sum;                                 \
        note(clocks, begin, end);                                                       \
    }

STRIDED(strided_l1_4, unsigned, "u32", "r")
STRIDED(strided_l1_8, unsigned long long, "u64", "l")
