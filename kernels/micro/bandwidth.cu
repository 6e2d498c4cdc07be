// Streams of 16-byte loads. What is timed is said with each kernel; sums keep the loads alive.
#include "micro.h"

#define LOAD(v, p) asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");
#define LOAD_PAST_L1(v, p) asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p) : "memory");

// L1: every warp reads the same 16 KB, n times 8 loads of 512 bytes; the first round is not timed.
extern "C" __global__ void read_l1(long long* clocks, uint4* data, int n) {
    const uint4* from = data + threadIdx.x % 32 + threadIdx.x / 32 % 4 * 256;
    const long long none = data[1023].x;
    uint4 v0, v1, v2, v3;
    unsigned sum = 0;
    LOAD(v0, from) LOAD(v1, from + 32) LOAD(v2, from + 64) LOAD(v3, from + 96)
    sum += v0.x + v1.x + v2.x + v3.x;
    LOAD(v0, from + 128) LOAD(v1, from + 160) LOAD(v2, from + 192) LOAD(v3, from + 224)
    sum += v0.x + v1.x + v2.x + v3.x;
    __syncthreads();
    const long long begin = clock_now();
    for (int i = 0; i < n; ++i) {
        LOAD(v0, from) LOAD(v1, from + 32) LOAD(v2, from + 64) LOAD(v3, from + 96)
        sum += v0.x + v1.x + v2.x + v3.x;
        LOAD(v0, from + 128) LOAD(v1, from + 160) LOAD(v2, from + 192) LOAD(v3, from + 224)
        sum += v0.x + v1.x + v2.x + v3.x;
        SAME_PLACE(from, none)
    }
    const long long end = clock_now();
    data[1024 + threadIdx.x].x = sum;
    note(clocks, begin, end);
}

// L2 and DRAM: the whole grid reads `n` times 16 bytes a thread, block after block of 4 loads; each round begins again at the
// block's own place and wraps at `wrap` elements (a power of two). Timed: the launch. The
// loads go past L1, which would serve a warp that runs ahead of the others and comes round to its own elements.
extern "C" __global__ void read_all(long long* clocks, uint4* data, int n, int wrap) {
    const unsigned threads = gridDim.x * blockDim.x;
    unsigned at = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v0, v1, v2, v3;
    unsigned sum = 0;
    for (int i = 0; i < n; i += 4, at += 4 * threads) {
        const unsigned mask = wrap - 1;
        LOAD_PAST_L1(v0, data + (at & mask)) LOAD_PAST_L1(v1, data + (at + threads & mask))
        LOAD_PAST_L1(v2, data + (at + 2 * threads & mask)) LOAD_PAST_L1(v3, data + (at + 3 * threads & mask))
        sum += v0.x + v1.x + v2.x + v3.x;
    }
    if (sum == 1) clocks[0] = 0;
}

// Requests of 4 bytes at a stride: what the coalescer makes of them is in the counters; timed are n loads a warp that hit
// L1 after the first round.
extern "C" __global__ void strided_global(long long* clocks, unsigned* data, int n, int stride) {
    const unsigned* from = data + threadIdx.x % 32 * stride;
    const long long none = data[1055];
    unsigned v0, v1, v2, v3, sum = 0;
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        begin = clock_now();
        REPEAT_16(asm volatile("ld.global.u32 %0, [%1];" : "=r"(v0) : "l"(from) : "memory");
                  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v1) : "l"(from) : "memory");
                  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v2) : "l"(from) : "memory");
                  asm volatile("ld.global.u32 %0, [%1];" : "=r"(v3) : "l"(from) : "memory"); sum += v0 + v1 + v2 + v3; SAME_PLACE(from, none))
        end = clock_now();
    }
    data[1056 + threadIdx.x] = sum;
    note(clocks, begin, end);
}
