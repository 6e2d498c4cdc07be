// Products of matrices by mma.sync: chains for the latency, independent ones for the rate. arch: sm_80
#include "micro.h"

#define MMA(d)                                                                                                      \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
                 "{%10, %11, %12, %13};"                                                                           \
                 : "=f"(e.x), "=f"(e.y), "=f"(e.z), "=f"(e.w)                                                      \
                 : "r"(a), "r"(a), "r"(b), "r"(b), "r"(a), "r"(b), "f"(d.x), "f"(d.y), "f"(d.z), "f"(d.w));        \
    d = e;

extern "C" __global__ void chain_mma(long long* clocks, float* data, int n) {
    const unsigned a = __float_as_uint(data[0]), b = __float_as_uint(data[1]);
    float4 d = make_float4(0, 0, 0, 0), e;
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        MMA(d)
        begin = clock_now();
        REPEAT_128(MMA(d))
        end = clock_now();
    }
    data[32 + threadIdx.x] = d.x + d.y + d.z + d.w;
    note(clocks, begin, end);
}

extern "C" __global__ void rate_mma(long long* clocks, float* data, int n) {
    const unsigned a = __float_as_uint(data[0]), b = __float_as_uint(data[1]);
    float4 d0 = make_float4(0, 0, 0, 0), d1 = d0, d2 = d0, d3 = d0, e;
    MMA(d0) MMA(d1) MMA(d2) MMA(d3)
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        begin = clock_now();
        REPEAT_16(MMA(d0) MMA(d1) MMA(d2) MMA(d3))
        REPEAT_16(MMA(d0) MMA(d1) MMA(d2) MMA(d3))
        end = clock_now();
    }
    data[32 + threadIdx.x] = d0.x + d1.x + d2.x + d3.x + d0.y + d1.y + d2.y + d3.y;
    note(clocks, begin, end);
}
