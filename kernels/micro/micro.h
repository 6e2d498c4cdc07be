// What the micro-benchmarks share. Every kernel takes (clocks, data, n) and notes, for each warp, the clock before and behind
// what is timed: clocks[2 warp], clocks[2 warp + 1]. What is timed runs twice and the second time counts, so that
// instructions and data are there. The steps are volatile assembly, in straight lines: nothing is left out or moved.
#pragma once

#define STEPS 128  // timed operations a thread, where the kernel does not take their number

__device__ inline long long clock_now() {
    long long now;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(now)::"memory");
    return now;
}

__device__ inline void note(long long* clocks, long long begin, long long end) {
    if (threadIdx.x % 32 != 0) return;
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    clocks[2 * warp] = begin;
    clocks[2 * warp + 1] = end;
}

// The pointer stays what it is, as `none` is 0, which is known to the one who fills the buffers and not to ptxas: it takes
// none of the loads behind for one in front.
#define SAME_PLACE(pointer, none) asm volatile("add.s64 %0, %0, %1;" : "+l"(pointer) : "l"(none));

#define REPEAT_4(x) x x x x
#define REPEAT_16(x) REPEAT_4(REPEAT_4(x))
#define REPEAT_64(x) REPEAT_4(REPEAT_16(x))
#define REPEAT_128(x) REPEAT_64(x) REPEAT_64(x)
