// Pointer chases: one thread follows links, each load needs the one before it. Cycles a load = (end - begin) / loads.
#include "micro.h"

// data: a ring of addresses. n loads are timed, behind one whole round of `warm` loads.
#define CHASE_GLOBAL(NAME, LOAD)                                                               \
    extern "C" __global__ void NAME(long long* clocks, unsigned long long data, int n, int warm) { \
        unsigned long long p = data, q;                                                        \
        for (int i = 0; i < warm; i += 16) {                                                   \
            REPEAT_16(asm volatile(LOAD " %0, [%1];" : "=l"(q) : "l"(p) : "memory"); p = q;)   \
        }                                                                                      \
        asm volatile("add.s64 %0, %1, 0;" : "=l"(q) : "l"(p));                                 \
        p = q;                                                                                 \
        const long long begin = clock_now();                                                   \
        for (int i = 0; i < n; i += 16) {                                                      \
            REPEAT_16(asm volatile(LOAD " %0, [%1];" : "=l"(q) : "l"(p) : "memory"); p = q;)   \
        }                                                                                      \
        asm volatile("add.s64 %0, %1, 0;" : "=l"(q) : "l"(p));                                 \
        const long long end = clock_now();                                                     \
        if (q == 1) clocks[0] = 0;                                                             \
        note(clocks, begin, end);                                                              \
    }
CHASE_GLOBAL(chase_global, "ld.global.u64")
CHASE_GLOBAL(chase_global_l2, "ld.global.cg.u64")

// 32 lanes at neighbouring addresses, WORD bytes each: every lane follows links of its own.
#define CHASE_LANES(NAME, WORD, LOAD)                                                          \
    extern "C" __global__ void NAME(long long* clocks, unsigned long long data, int n) {       \
        unsigned long long p = data + threadIdx.x % 32 * WORD, q, rest = 0;                    \
        long long begin = 0, end = 0;                                                          \
        for (int i = 0; i < n; ++i) {                                                          \
            REPEAT_16(LOAD)                                                                    \
            asm volatile("add.s64 %0, %1, 0;" : "=l"(q) : "l"(p));                             \
            p = q;                                                                             \
            begin = clock_now();                                                               \
            REPEAT_128(LOAD)                                                                   \
            end = clock_now();                                                                 \
        }                                                                                      \
        if (p + rest == 1) clocks[0] = 0;                                                      \
        note(clocks, begin, end);                                                              \
    }
CHASE_LANES(chase_lanes_8, 8, { asm volatile("ld.global.u64 %0, [%1];" : "=l"(q) : "l"(p) : "memory"); p = q; })
CHASE_LANES(chase_lanes_16, 16, { asm volatile("ld.global.v2.u64 {%0, %1}, [%2];" : "=l"(q), "=l"(rest) : "l"(p) : "memory"); p = q; })

// A ring of 64 words in shared memory.
extern "C" __global__ void chase_shared(long long* clocks, int* data, int n) {
    __shared__ unsigned ring[64];
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(ring));
    for (int i = threadIdx.x; i < 64; i += blockDim.x) ring[i] = base + (i + 1) % 64 * 4;
    __syncthreads();
    unsigned p = base, q;
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(q) : "r"(p) : "memory");
        asm volatile("add.u32 %0, %1, 0;" : "=r"(p) : "r"(q));
        begin = clock_now();
        REPEAT_128(asm volatile("ld.shared.u32 %0, [%1];" : "=r"(q) : "r"(p) : "memory"); p = q;)
        end = clock_now();
    }
    data[0] = static_cast<int>(p);
    note(clocks, begin, end);
}

// `links` holds a ring of addresses in .const, written by the host before the launch.
__constant__ unsigned long long links[4096];
extern "C" __global__ void chase_constant(long long* clocks, unsigned long long* data, int n, int warm) {
    unsigned long long p, q;
    asm volatile("mov.u64 %0, links;" : "=l"(p));
    p += data[1];  // 0, which ptxas does not know: it would follow an address that is the same for all on the uniform path
    for (int i = 0; i < warm; i += 16) {
        REPEAT_16(asm volatile("ld.const.u64 %0, [%1];" : "=l"(q) : "l"(p) : "memory"); p = q;)
    }
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        begin = clock_now();
        REPEAT_128(asm volatile("ld.const.u64 %0, [%1];" : "=l"(q) : "l"(p) : "memory"); p = q;)
        end = clock_now();
    }
    data[0] = p;
    note(clocks, begin, end);
}
