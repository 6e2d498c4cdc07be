// Products of matrices by mma.sync: chains for the latency, independent ones for the rate. arch: sm_80
#include "micro.h"

// m16n8k16 of halves and m16n8k8 of tf32 have the same registers.
#define MMA_OF(shape, type, d)                                                                            \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, "        \
                 "{%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"                                      \
                 : "=f"(e.x), "=f"(e.y), "=f"(e.z), "=f"(e.w)                                             \
                 : "r"(a), "r"(a), "r"(b), "r"(b), "r"(a), "r"(b), "f"(d.x), "f"(d.y), "f"(d.z), "f"(d.w)); \
    d = e;
#define MMA(d) MMA_OF("m16n8k16", "f16", d)
#define MMA_TF32(d) MMA_OF("m16n8k8", "tf32", d)
#define MMA_F64(d)                                                                           \
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%4, %5};" \
                 : "=d"(e.x), "=d"(e.y)                                                      \
                 : "d"(a), "d"(b), "d"(d.x), "d"(d.y));                                      \
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

#define RATE(NAME, PRODUCT)                                                                          \
    extern "C" __global__ void NAME(long long* clocks, float* data, int n) {                         \
        const unsigned a = __float_as_uint(data[0]), b = __float_as_uint(data[1]);                   \
        float4 d0 = make_float4(0, 0, 0, 0), d1 = d0, d2 = d0, d3 = d0, e;                           \
        PRODUCT(d0) PRODUCT(d1) PRODUCT(d2) PRODUCT(d3)                                              \
        long long begin = 0, end = 0;                                                                \
        for (int i = 0; i < n; ++i) {                                                                \
            __syncthreads();                                                                         \
            begin = clock_now();                                                                     \
            REPEAT_16(PRODUCT(d0) PRODUCT(d1) PRODUCT(d2) PRODUCT(d3))                               \
            REPEAT_16(PRODUCT(d0) PRODUCT(d1) PRODUCT(d2) PRODUCT(d3))                               \
            end = clock_now();                                                                       \
        }                                                                                            \
        data[32 + threadIdx.x] = d0.x + d1.x + d2.x + d3.x + d0.y + d1.y + d2.y + d3.y;              \
        note(clocks, begin, end);                                                                    \
    }
RATE(rate_mma, MMA)
RATE(rate_mma_tf32, MMA_TF32)

extern "C" __global__ void rate_mma_f64(long long* clocks, double* data, int n) {
    const double a = data[0], b = data[1];
    double2 d0 = make_double2(0, 0), d1 = d0, d2 = d0, d3 = d0, e;
    long long begin = 0, end = 0;
    for (int i = 0; i < n; ++i) {
        __syncthreads();
        begin = clock_now();
        REPEAT_16(MMA_F64(d0) MMA_F64(d1) MMA_F64(d2) MMA_F64(d3))
        REPEAT_16(MMA_F64(d0) MMA_F64(d1) MMA_F64(d2) MMA_F64(d3))
        end = clock_now();
    }
    data[32 + threadIdx.x] = d0.x + d1.x + d2.x + d3.x + d0.y + d1.y + d2.y + d3.y;
    note(clocks, begin, end);
}
