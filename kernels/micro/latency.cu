// Chains of dependent arithmetic: each step needs the one before it. Cycles a step = (end - begin) / STEPS, one warp.
#include "micro.h"

// One step: x = OP(x, ...). The result goes to `data`, so that nobody leaves the chain out.
#define CHAIN(NAME, TYPE, STEP) CHAIN_OF(NAME, TYPE, STEP, REPEAT_128)
#define CHAIN_OF_64(NAME, TYPE, STEPS_2) CHAIN_OF(NAME, TYPE, STEPS_2, REPEAT_64)
#define CHAIN_OF(NAME, TYPE, STEP, REPEAT)                                    \
    extern "C" __global__ void NAME(long long* clocks, TYPE* data, int n) {   \
        TYPE x = data[threadIdx.x % 32], a = data[1], b = data[2];                           \
        long long begin = 0, end = 0;                                         \
        for (int i = 0; i < n; ++i) {                                         \
            STEP                                                              \
            begin = clock_now();                                              \
            REPEAT(STEP)                                                      \
            end = clock_now();                                                \
        }                                                                     \
        data[32 + threadIdx.x] = x + b;                                       \
        note(clocks, begin, end);                                             \
    }
#define STEP_2(OP, R) { decltype(x) y; asm volatile(OP " %0, %1, %2;" : "=" R(y) : R(x), R(a)); x = y; }
#define STEP_1(OP, R) { decltype(x) y; asm volatile(OP " %0, %1;" : "=" R(y) : R(x)); x = y; }
#define STEP_3(OP, R) { decltype(x) y; asm volatile(OP " %0, %1, %2, %3;" : "=" R(y) : R(x), R(a), R(b)); x = y; }

CHAIN(chain_add_f32, float, STEP_2("add.rn.f32", "f"))
CHAIN(chain_mul_f32, float, STEP_2("mul.rn.f32", "f"))
CHAIN(chain_fma_f32, float, STEP_3("fma.rn.f32", "f"))
// Two steps a time where ptxas would make one of many: a - (a - x) is x.
CHAIN_OF_64(chain_sub_s32, int, STEP_2("sub.s32", "r") STEP_2("xor.b32", "r"))
CHAIN(chain_mad_s32, int, STEP_3("mad.lo.s32", "r"))
CHAIN_OF_64(chain_min_s32, int, STEP_2("min.s32", "r") STEP_2("xor.b32", "r"))
CHAIN(chain_add_f64, double, STEP_2("add.rn.f64", "d"))
CHAIN(chain_fma_f64, double, STEP_3("fma.rn.f64", "d"))
CHAIN(chain_div_f64, double, STEP_2("div.rn.f64", "d"))
CHAIN(chain_sqrt_f64, double, STEP_1("sqrt.rn.f64", "d"))
CHAIN(chain_ex2_f32, float, STEP_1("ex2.approx.ftz.f32", "f"))
CHAIN(chain_rsqrt_f32, float, STEP_1("rsqrt.approx.ftz.f32", "f"))
CHAIN(chain_shuffle, int, { int y; asm volatile("shfl.sync.up.b32 %0, %1, 1, 0, -1;" : "=r"(y) : "r"(x)); x = y; })
CHAIN(chain_fma_f16x2, unsigned, STEP_3("fma.rn.f16x2", "r"))
CHAIN(chain_barrier, int, asm volatile("bar.sync 0;" ::: "memory");)
