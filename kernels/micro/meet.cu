// All blocks meet n times: a barrier of the whole grid as cooperative groups have it since CUDA 12, of an atomic addition that
// releases and a loop of reads that acquire. There have to be no more blocks than fit at once. In front of each barrier the blocks scale 4,096
// numbers, as published measurements do. Nanoseconds a round, from launches of n and 2 n rounds.
#include "micro.h"

// data: the counter, and 64 bytes behind it 4,096 numbers and as many again.
extern "C" __global__ void meet(long long* clocks, double* data, int n) {
    unsigned* const arrived = reinterpret_cast<unsigned*>(data);
    double* from = data + 8;
    double* to = data + 8 + 4096;
    for (int round = 1; round <= n; ++round) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < 4096; i += gridDim.x * blockDim.x) to[i] = from[i] * 0.25;
        double* const other = from;
        from = to;
        to = other;
        __syncthreads();
        if (threadIdx.x == 0) {
            const unsigned mine = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1;  // all of them turn the highest bit
            unsigned before, seen;
            asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(arrived), "r"(mine) : "memory");
            do {
                asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
            } while (((before ^ seen) & 0x80000000u) == 0);
        }
        __syncthreads();
    }
    note(clocks, 0, 0);
}

// A fence behind a fence: of one warp, nothing under way.
extern "C" __global__ void chain_fence(long long* clocks, int* data, int n) {
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        begin = clock_now();
        REPEAT_128(asm volatile("membar.gl;" ::: "memory");)
        end = clock_now();
    }
    note(clocks, begin, end);
}

// Each addition needs the answer of the one before it.
extern "C" __global__ void chain_atomic(long long* clocks, unsigned* data, int n) {
    unsigned x = threadIdx.x;
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        begin = clock_now();
        REPEAT_128(x = atomicAdd(data + (x & 1u), 2u);)
        end = clock_now();
    }
    data[32] = x;
    note(clocks, begin, end);
}
