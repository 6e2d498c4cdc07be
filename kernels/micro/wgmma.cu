// Products of matrices by a warpgroup: wgmma m64n256k16, both operands in shared memory. arch: sm_90a
#include "micro.h"

#define ACCUMULATORS \
    "d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12, d13, d14, d15, " \
    "d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31, " \
    "d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47, " \
    "d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63, " \
    "d64, d65, d66, d67, d68, d69, d70, d71, d72, d73, d74, d75, d76, d77, d78, d79, " \
    "d80, d81, d82, d83, d84, d85, d86, d87, d88, d89, d90, d91, d92, d93, d94, d95, " \
    "d96, d97, d98, d99, d100, d101, d102, d103, d104, d105, d106, d107, d108, d109, d110, d111, " \
    "d112, d113, d114, d115, d116, d117, d118, d119, d120, d121, d122, d123, d124, d125, d126, d127"
#define WGMMA "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {" ACCUMULATORS "}, %1, %2, 1, 1, 1, 0, 0;\n"
#define WGMMA_4 WGMMA WGMMA WGMMA WGMMA

// The accumulators live within the assembly, so that no instruction moves them. 16 products a round.
extern "C" __global__ void __launch_bounds__(256, 1) rate_wgmma(long long* clocks, float* data, int n) {
    __shared__ __align__(1024) unsigned short tiles[64 * 16 + 256 * 16];
    for (int i = threadIdx.x; i < 64 * 16 + 256 * 16; i += blockDim.x) tiles[i] = 0;
    __syncthreads();
    const unsigned long long at = __cvta_generic_to_shared(tiles) >> 4 & 0x3fff;
    const unsigned long long offsets = 8ull << 16 | 16ull << 32;  // bytes / 16 from core matrix to core matrix
    const unsigned long long a = at | offsets, b = at + 64 * 16 * 2 / 16 | offsets;
    float sum = 0;
    long long begin = 0, end = 0;
    begin = clock_now();
    asm volatile(
        "{\n.reg .f32 d<128>;\n.reg .pred p;\n.reg .s32 i;\n"
        "mov.f32 d0, 0f00000000;\n"
        "mov.s32 i, %3;\n"
        "wgmma.fence.sync.aligned;\n"
        "again: " WGMMA_4 WGMMA_4 WGMMA_4 WGMMA_4
        "add.s32 i, i, -1;\nsetp.gt.s32 p, i, 0;\n@p bra again;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n"
        "add.f32 %0, d0, d127;\n}\n"
        : "=f"(sum) : "l"(a), "l"(b), "r"(n) : "memory");
    end = clock_now();
    data[32 + threadIdx.x] = sum;
    note(clocks, begin, end);
}
