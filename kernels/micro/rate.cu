// Independent arithmetic: four chains a thread, as many warps as the block has. Results a cycle and SM = 32 warps 4 64 /
// (latest end - earliest begin); with n rounds and the difference of two launches, the rate of the whole GPU.
#include "micro.h"

#define EACH(STEP) STEP(x0) STEP(x1) STEP(x2) STEP(x3)
#define REPEAT_2(x) x x
#define RATE(NAME, TYPE, STEP) RATE_OF(NAME, TYPE, REPEAT_64(EACH(STEP)))
#define RATE_OF(NAME, TYPE, STEPS_256)                                        \
    extern "C" __global__ void __launch_bounds__(1024) NAME(long long* clocks, TYPE* data, int n) { \
        TYPE x0 = data[threadIdx.x % 32], x1 = x0 + data[1], x2 = x0 + data[2], x3 = x0 + data[3];          \
        const TYPE a = data[4], b = data[5];                                  \
        long long begin = 0, end = 0;                                         \
        for (int i = 0; i < n; ++i) {                                         \
            __syncthreads();                                                  \
            begin = clock_now();                                              \
            STEPS_256                                                         \
            end = clock_now();                                                \
        }                                                                     \
        data[32 + threadIdx.x] = x0 + x1 + x2 + x3;                           \
        note(clocks, begin, end);                                             \
    }
#define STEP_ADD_F32(x) { float y; asm volatile("add.rn.f32 %0, %1, %2;" : "=f"(y) : "f"(x), "f"(a)); x = y; }
#define STEP_FMA_F32(x) { float y; asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(x), "f"(a), "f"(b)); x = y; }
// Every other one is an xor, as fast: of two minima ptxas makes one of three operands.
#define STEP_MIN_S32(x) { int y; asm volatile("min.s32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(a)); x = y; }
#define STEP_XOR_B32(x) { int y; asm volatile("xor.b32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(b)); x = y; }
#define STEP_MAD_S32(x) { int y; asm volatile("mad.lo.s32 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(a), "r"(b)); x = y; }
#define STEP_FMA_F64(x) { double y; asm volatile("fma.rn.f64 %0, %1, %2, %3;" : "=d"(y) : "d"(x), "d"(a), "d"(b)); x = y; }
#define STEP_EX2_F32(x) { float y; asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x)); x = y; }
#define STEP_SHUFFLE(x) { int y; asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, -1;" : "=r"(y) : "r"(x)); x = y; }
#define STEP_FMA_F16X2(x) { unsigned y; asm volatile("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(y) : "r"(x), "r"(a), "r"(b)); x = y; }

RATE(rate_add_f32, float, STEP_ADD_F32)
RATE(rate_fma_f32, float, STEP_FMA_F32)
RATE_OF(rate_min_s32, int, REPEAT_16(REPEAT_2(EACH(STEP_MIN_S32) EACH(STEP_XOR_B32))))
RATE(rate_mad_s32, int, STEP_MAD_S32)
RATE(rate_fma_f64, double, STEP_FMA_F64)
RATE(rate_ex2_f32, float, STEP_EX2_F32)
RATE(rate_shuffle, int, STEP_SHUFFLE)
RATE(rate_fma_f16x2, unsigned, STEP_FMA_F16X2)
