// Loads from shared memory at a stride, volatile, so that ptxas leaves each of them in: cycles a load = (latest end - earliest begin) / (warps loads), the whole SM.
#include "micro.h"

// 128 loads a round, each lane from word lane * stride; sums keep them alive.
#define STRIDED(NAME, TYPE, LOAD, R)                                                           \
    extern "C" __global__ void __launch_bounds__(1024) NAME(long long* clocks, int* data, int n, int stride) { \
        __shared__ TYPE words[4096 / (sizeof(TYPE) / 4)];                                      \
        for (int i = threadIdx.x; i < static_cast<int>(sizeof words / sizeof(TYPE)); i += blockDim.x) words[i] = i; \
        __syncthreads();                                                                       \
        const int place = threadIdx.x % 32 * stride % static_cast<int>(sizeof words / sizeof(TYPE)); \
        const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words + place));    \
        TYPE v0, v1, v2, v3, sum = 0;                                                          \
        long long begin = 0, end = 0;                                                          \
        for (int i = 0; i < n; ++i) {                                                          \
            __syncthreads();                                                                   \
            begin = clock_now();                                                               \
            REPEAT_16(REPEAT_4(LOAD(v0, R) LOAD(v1, R)) sum += v0 ^ v1;)                       \
            end = clock_now();                                                                 \
        }                                                                                      \
        v2 = v3 = sum;                                                                         \
        sum += v2 + v3;                                                                        \
        data[32 + threadIdx.x] = static_cast<int>(sum + (sum >> sizeof(TYPE) * 4));            \
        note(clocks, begin, end);                                                              \
    }
#define LOAD_4(v, R) asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=" R(v) : "r"(at) : "memory");
#define LOAD_8(v, R) asm volatile("ld.volatile.shared.u64 %0, [%1];" : "=" R(v) : "r"(at) : "memory");
STRIDED(strided_shared_4, unsigned, LOAD_4, "r")
STRIDED(strided_shared_8, unsigned long long, LOAD_8, "l")

// 16 bytes a lane.
extern "C" __global__ void __launch_bounds__(1024) strided_shared_16(long long* clocks, int* data, int n, int stride) {
    __shared__ int4 words[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) words[i] = make_int4(i, i, i, i);
    __syncthreads();
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(words + threadIdx.x % 32 * stride % 1024));
    int x = 0, y = 0, z = 0, w = 0, sum = 0;
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        begin = clock_now();
        REPEAT_128(asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at) : "memory");)
        end = clock_now();
        sum += x + y + z + w;
    }
    data[32 + threadIdx.x] = sum;
    note(clocks, begin, end);
}
