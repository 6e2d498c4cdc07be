// Eight loads a round, each behind a guard of its own or behind none: ptxas makes predicates of the guards, and the loads of
// a round are under way together all the same. Rounds are apart by barriers. Cycles a round = (end - begin) / 4, one block.
#include "micro.h"

#define ROUNDS 4
#define LOADS 8

// clocks, data (n words, of which the last is the answer), n
#define GUARDS(NAME, GUARD)                                                        \
    extern "C" __global__ void NAME(long long* clocks, float* data, int n) {       \
        float sum = 0;                                                             \
        const long long begin = clock_now();                                       \
        _Pragma("unroll 1") for (int round = 0; round < ROUNDS; ++round) {         \
            const int first = (round * LOADS * blockDim.x + threadIdx.x) * 32;     \
            _Pragma("unroll") for (int k = 0; k < LOADS; ++k) {                    \
                const int at = first + k * blockDim.x * 32;                        \
                float x = 0;                                                       \
                if (GUARD) x = data[at];                                           \
                sum += x;                                                          \
            }                                                                      \
            __syncthreads();                                                       \
        }                                                                          \
        const long long end = clock_now();                                         \
        if (sum == 123.0f) data[n - 1] = sum;                                      \
        note(clocks, begin, end);                                                  \
    }

GUARDS(loads_plain, true)
GUARDS(loads_guarded, at < n)
