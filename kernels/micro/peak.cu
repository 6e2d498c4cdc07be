// Nothing but independent multiply-adds: four chains a thread, 512 of them a round, no barriers and no clocks. Operations =
// 2 * 512 threads n, from the difference of two launches.
#include "micro.h"

#define PEAK(NAME, TYPE, STEP)                                                   \
    extern "C" __global__ void NAME(long long* clocks, TYPE* data, int n) {      \
        TYPE x0 = data[0], x1 = data[1], x2 = data[2], x3 = data[3];             \
        const TYPE a = data[4], b = data[5];                                     \
        _Pragma("unroll 1") for (int i = 0; i < n; ++i) {                        \
            REPEAT_64(STEP(x0) STEP(x1) STEP(x2) STEP(x3))                      \
            REPEAT_64(STEP(x0) STEP(x1) STEP(x2) STEP(x3))                      \
        }                                                                        \
        data[32 + threadIdx.x] = x0 + x1 + x2 + x3;                              \
        note(clocks, 0, 0);                                                      \
    }
#define STEP_F32(x) { float y; asm volatile("fma.rn.f32 %0, %1, %2, %3;" : "=f"(y) : "f"(x), "f"(a), "f"(b)); x = y; }
#define STEP_F64(x) { double y; asm volatile("fma.rn.f64 %0, %1, %2, %3;" : "=d"(y) : "d"(x), "d"(a), "d"(b)); x = y; }

PEAK(peak_fma_f32, float, STEP_F32)
PEAK(peak_fma_f64, double, STEP_F64)
