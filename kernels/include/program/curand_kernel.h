// Random numbers in kernels: names of cuRAND's device interface. The generators are the published ones: XORWOW (Marsaglia,
// "Xorshift RNGs", 2003), Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011) and MRG32k3a
// (L'Ecuyer, 1999). A seed's numbers are good ones, though not those that cuRAND gives for it, except Philox's.
#pragma once
#include "bits/xorwow_jumps.h"
#include "lockstep_program.h"
#define LOCKSTEP_RANDOM static __inline__ __attribute__((always_inline, device))
#define CURAND_2POW32_INV 2.3283064e-10f
#define CURAND_2POW32_INV_DOUBLE 2.3283064365386963e-10

// Normal numbers come in pairs: a state keeps the second.
struct curandStateXORWOW {
    unsigned d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
struct curandStateMRG32k3a {
    unsigned s1[3], s2[3];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

template <class State>
LOCKSTEP_RANDOM void lockstep_no_extra(State* state) {
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
}

// ---- XORWOW
LOCKSTEP_RANDOM unsigned curand(curandStateXORWOW* state) {
    const unsigned t = state->v[0] ^ state->v[0] >> 2;
    state->v[0] = state->v[1];
    state->v[1] = state->v[2];
    state->v[2] = state->v[3];
    state->v[3] = state->v[4];
    state->v[4] = state->v[4] ^ state->v[4] << 4 ^ t ^ t << 1;
    state->d += 362437;
    return state->v[4] + state->d;
}
// Moves the five words by the sum of the rows from `first` on whose bit is set in n.
LOCKSTEP_RANDOM void lockstep_jump(unsigned long long n, int first, curandStateXORWOW* state) {
    for (int k = first; n; ++k, n >>= 1) {
        if (!(n & 1)) continue;
        unsigned sum[5] = {0, 0, 0, 0, 0};
        for (int i = 0; i < 160; ++i) {
            const unsigned mask = 0u - (lockstep_xorwow_jumps[k][i / 32] >> i % 32 & 1);
            for (int word = 0; word < 5; ++word) sum[word] ^= state->v[word] & mask;
            curand(state);
        }
        for (int word = 0; word < 5; ++word) state->v[word] = sum[word];
    }
}
LOCKSTEP_RANDOM void skipahead(unsigned long long n, curandStateXORWOW* state) {
    const unsigned d = state->d + 362437u * (unsigned)n;
    if (n < 160)
        for (; n; --n) curand(state);
    else
        lockstep_jump(n, 0, state);
    state->d = d;
}
LOCKSTEP_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW* state) {  // each is 2^67 long
    const unsigned d = state->d;
    lockstep_jump(n, 64, state);
    state->d = d;
}
LOCKSTEP_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                 curandStateXORWOW* state) {
    const unsigned low = 1099087573u * ((unsigned)seed ^ 0xaad26b49u);
    const unsigned high = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
    state->d = 6615241u + high + low;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
    lockstep_no_extra(state);
}

// ---- Philox 4x32-10
LOCKSTEP_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long a = 0xd2511f53ull * c.x, b = 0xcd9e8d57ull * c.z;
        c = uint4{(unsigned)(b >> 32) ^ c.y ^ k.x, (unsigned)b, (unsigned)(a >> 32) ^ c.w ^ k.y, (unsigned)a};
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}
LOCKSTEP_RANDOM void lockstep_forward(uint4& counter, unsigned long long n) {
    const unsigned long long low = (unsigned long long)counter.y << 32 | counter.x, sum = low + n;
    counter.x = (unsigned)sum;
    counter.y = (unsigned)(sum >> 32);
    if (sum < low && ++counter.z == 0) ++counter.w;
}
LOCKSTEP_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10* state) {
    state->STATE += (unsigned)(n & 3);
    n /= 4;
    if (state->STATE > 3) ++n, state->STATE -= 4;
    lockstep_forward(state->ctr, n);
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
LOCKSTEP_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10* state) {
    const unsigned low = state->ctr.z + (unsigned)n;
    state->ctr.w += (unsigned)(n >> 32) + (low < state->ctr.z);
    state->ctr.z = low;
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
LOCKSTEP_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                 curandStatePhilox4_32_10* state) {
    state->key = uint2{(unsigned)seed, (unsigned)(seed >> 32)};
    state->ctr = uint4{0, 0, 0, 0};
    state->STATE = 0;
    lockstep_no_extra(state);
    skipahead_sequence(subsequence, state);
    skipahead(offset, state);
}
LOCKSTEP_RANDOM unsigned curand(curandStatePhilox4_32_10* state) {
    const unsigned k = state->STATE;
    const unsigned word = k == 0 ? state->output.x : k == 1 ? state->output.y : k == 2 ? state->output.z : state->output.w;
    skipahead(1ull, state);
    return word;
}
LOCKSTEP_RANDOM uint4 curand4(curandStatePhilox4_32_10* state) {
    uint4 four;
    four.x = curand(state);
    four.y = curand(state);
    four.z = curand(state);
    four.w = curand(state);
    return four;
}

// ---- MRG32k3a: two recurrences of the third order, modulo m1 and m2. Its own number lies in 1 .. m1.
#define LOCKSTEP_MRG_M1 4294967087ull
#define LOCKSTEP_MRG_M2 4294944443ull
LOCKSTEP_RANDOM unsigned lockstep_mrg(curandStateMRG32k3a* state) {
    const long long m1 = LOCKSTEP_MRG_M1, m2 = LOCKSTEP_MRG_M2;
    long long p1 = (1403580ll * state->s1[1] - 810728ll * state->s1[0]) % m1;
    if (p1 < 0) p1 += m1;
    long long p2 = (527612ll * state->s2[2] - 1370589ll * state->s2[0]) % m2;
    if (p2 < 0) p2 += m2;
    state->s1[0] = state->s1[1], state->s1[1] = state->s1[2], state->s1[2] = (unsigned)p1;
    state->s2[0] = state->s2[1], state->s2[1] = state->s2[2], state->s2[2] = (unsigned)p2;
    return (unsigned)(p1 > p2 ? p1 - p2 : p1 - p2 + m1);
}
LOCKSTEP_RANDOM unsigned curand(curandStateMRG32k3a* state) {
    return (unsigned)((double)lockstep_mrg(state) * 1.000000048662);
}
// matrix = matrix * by, modulo m.
LOCKSTEP_RANDOM void lockstep_multiply(unsigned (&matrix)[3][3], const unsigned (&by)[3][3], unsigned long long m) {
    unsigned product[3][3];
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; ++k) sum = (sum + (unsigned long long)matrix[i][k] * by[k][j] % m) % m;
            product[i][j] = (unsigned)sum;
        }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) matrix[i][j] = product[i][j];
}
// Moves three words by 2^squarings * n steps, each of which `step` is.
LOCKSTEP_RANDOM void lockstep_move(unsigned (&words)[3], unsigned (&step)[3][3], unsigned long long m, int squarings,
                                   unsigned long long n) {
    for (int k = 0; k < squarings && n; ++k) lockstep_multiply(step, step, m);
    for (; n; n >>= 1, lockstep_multiply(step, step, m)) {
        if (!(n & 1)) continue;
        unsigned moved[3];
        for (int i = 0; i < 3; ++i) {
            unsigned long long sum = 0;
            for (int k = 0; k < 3; ++k) sum = (sum + (unsigned long long)step[i][k] * words[k] % m) % m;
            moved[i] = (unsigned)sum;
        }
        for (int i = 0; i < 3; ++i) words[i] = moved[i];
    }
}
LOCKSTEP_RANDOM void lockstep_move(curandStateMRG32k3a* state, int squarings, unsigned long long n) {
    unsigned first[3][3] = {{0, 1, 0}, {0, 0, 1}, {(unsigned)(LOCKSTEP_MRG_M1 - 810728), 1403580, 0}};
    unsigned second[3][3] = {{0, 1, 0}, {0, 0, 1}, {(unsigned)(LOCKSTEP_MRG_M2 - 1370589), 0, 527612}};
    lockstep_move(state->s1, first, LOCKSTEP_MRG_M1, squarings, n);
    lockstep_move(state->s2, second, LOCKSTEP_MRG_M2, squarings, n);
}
LOCKSTEP_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a* state) { lockstep_move(state, 0, n); }
LOCKSTEP_RANDOM void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a* state) { lockstep_move(state, 76, n); }
LOCKSTEP_RANDOM void skipahead_sequence(unsigned long long n, curandStateMRG32k3a* state) { lockstep_move(state, 127, n); }
LOCKSTEP_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                 curandStateMRG32k3a* state) {
    for (int k = 0; k < 3; ++k) state->s1[k] = state->s2[k] = 12345;
    if (seed) {
        const unsigned low = (unsigned)seed ^ 0x55555555u, high = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
        for (int k = 0; k < 3; ++k) {
            state->s1[k] = (unsigned)((unsigned long long)(k % 2 ? high : low) * state->s1[k] % LOCKSTEP_MRG_M1);
            state->s2[k] = (unsigned)((unsigned long long)(k % 2 ? low : high) * state->s2[k] % LOCKSTEP_MRG_M2);
        }
    }
    skipahead_subsequence(subsequence, state);
    skipahead(offset, state);
    lockstep_no_extra(state);
}

// ---- Uniform numbers in (0, 1]
LOCKSTEP_RANDOM float lockstep_uniform(unsigned x) { return fmaf((float)x, 2.3283064e-10f, 1.1641532e-10f); }
LOCKSTEP_RANDOM double lockstep_uniform(unsigned x, unsigned y) {
    return fma((double)((unsigned long long)x ^ (unsigned long long)y << 21), 1.1102230246251565e-16, 5.5511151231257827e-17);
}
template <class State>
LOCKSTEP_RANDOM float curand_uniform(State* state) {
    return lockstep_uniform(curand(state));
}
template <class State>
LOCKSTEP_RANDOM double curand_uniform_double(State* state) {
    const unsigned x = curand(state);
    return lockstep_uniform(x, curand(state));
}
LOCKSTEP_RANDOM double curand_uniform_double(curandStatePhilox4_32_10* state) {  // of 32 bits
    return fma((double)curand(state), 2.3283064365386963e-10, 2.3283064365386963e-10);
}
LOCKSTEP_RANDOM double curand_uniform_double(curandStateMRG32k3a* state) {
    return (double)lockstep_mrg(state) * 2.3283065498378288e-10;
}
LOCKSTEP_RANDOM float curand_uniform(curandStateMRG32k3a* state) { return (float)curand_uniform_double(state); }
LOCKSTEP_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return float4{lockstep_uniform(x.x), lockstep_uniform(x.y), lockstep_uniform(x.z), lockstep_uniform(x.w)};
}
LOCKSTEP_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return double2{lockstep_uniform(x.x, x.y), lockstep_uniform(x.z, x.w)};
}
LOCKSTEP_RANDOM double4 curand_uniform4_double(curandStatePhilox4_32_10* state) {
    const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
    return double4{a.x, a.y, b.x, b.y};
}

// ---- Normal numbers, in pairs, by Box and Muller
LOCKSTEP_RANDOM float2 lockstep_normal(float u, float angle) {
    const float r = sqrtf(-2.0f * logf(u));
    float2 pair;
    __sincosf(angle, &pair.x, &pair.y);
    return float2{pair.x * r, pair.y * r};
}
LOCKSTEP_RANDOM float2 lockstep_normal(unsigned x, unsigned y) {
    const float turn = 2.3283064e-10f * 6.2831855f;
    return lockstep_normal(lockstep_uniform(x), fmaf((float)y, turn, turn / 2));
}
LOCKSTEP_RANDOM double2 lockstep_normal(double u, double half_turns) {
    const double r = sqrt(-2.0 * log(u));
    double2 pair;
    sincospi(half_turns, &pair.x, &pair.y);
    return double2{pair.x * r, pair.y * r};
}
LOCKSTEP_RANDOM double2 lockstep_normal(unsigned x, unsigned y, unsigned z, unsigned w) {
    const double v = (double)((unsigned long long)z ^ (unsigned long long)w << 21);
    return lockstep_normal(lockstep_uniform(x, y), fma(v, 2 * 1.1102230246251565e-16, 1.1102230246251565e-16));
}
template <class State>
LOCKSTEP_RANDOM float2 curand_normal2(State* state) {
    const unsigned x = curand(state);
    return lockstep_normal(x, curand(state));
}
LOCKSTEP_RANDOM float2 curand_normal2(curandStateMRG32k3a* state) {
    const float u = curand_uniform(state);
    return lockstep_normal(u, curand_uniform(state) * 6.2831855f);
}
template <class State>
LOCKSTEP_RANDOM double2 curand_normal2_double(State* state) {
    const unsigned x = curand(state), y = curand(state), z = curand(state);
    return lockstep_normal(x, y, z, curand(state));
}
LOCKSTEP_RANDOM double2 curand_normal2_double(curandStateMRG32k3a* state) {
    const double u = curand_uniform_double(state);
    return lockstep_normal(u, curand_uniform_double(state) * 2.0);
}
// A state keeps the second of a pair, for numbers of the same kind (1: normal, 2: log-normal) alone.
template <class State>
LOCKSTEP_RANDOM float lockstep_next_normal(State* state, int kind) {
    if (state->boxmuller_flag == kind) return state->boxmuller_flag = 0, state->boxmuller_extra;
    const float2 pair = curand_normal2(state);
    state->boxmuller_flag = kind;
    state->boxmuller_extra = pair.y;
    return pair.x;
}
template <class State>
LOCKSTEP_RANDOM double lockstep_next_normal_double(State* state, int kind) {
    if (state->boxmuller_flag_double == kind) return state->boxmuller_flag_double = 0, state->boxmuller_extra_double;
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_flag_double = kind;
    state->boxmuller_extra_double = pair.y;
    return pair.x;
}
template <class State>
LOCKSTEP_RANDOM float curand_normal(State* state) {
    return lockstep_next_normal(state, 1);
}
template <class State>
LOCKSTEP_RANDOM double curand_normal_double(State* state) {
    return lockstep_next_normal_double(state, 1);
}
template <class State>
LOCKSTEP_RANDOM float curand_log_normal(State* state, float mean, float deviation) {
    return expf(mean + deviation * lockstep_next_normal(state, 2));
}
template <class State>
LOCKSTEP_RANDOM double curand_log_normal_double(State* state, double mean, double deviation) {
    return exp(mean + deviation * lockstep_next_normal_double(state, 2));
}
template <class State>
LOCKSTEP_RANDOM float2 curand_log_normal2(State* state, float mean, float deviation) {
    const float2 pair = curand_normal2(state);
    return float2{expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}
template <class State>
LOCKSTEP_RANDOM double2 curand_log_normal2_double(State* state, double mean, double deviation) {
    const double2 pair = curand_normal2_double(state);
    return double2{exp(mean + deviation * pair.x), exp(mean + deviation * pair.y)};
}
LOCKSTEP_RANDOM float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const float2 a = curand_normal2(state), b = curand_normal2(state);
    return float4{a.x, a.y, b.x, b.y};
}
LOCKSTEP_RANDOM double4 curand_normal4_double(curandStatePhilox4_32_10* state) {
    const double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
    return double4{a.x, a.y, b.x, b.y};
}
LOCKSTEP_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10* state, float mean, float deviation) {
    const float4 n = curand_normal4(state);
    return float4{expf(mean + deviation * n.x), expf(mean + deviation * n.y), expf(mean + deviation * n.z),
                  expf(mean + deviation * n.w)};
}
LOCKSTEP_RANDOM double4 curand_log_normal4_double(curandStatePhilox4_32_10* state, double mean, double deviation) {
    const double4 n = curand_normal4_double(state);
    return double4{exp(mean + deviation * n.x), exp(mean + deviation * n.y), exp(mean + deviation * n.z),
                   exp(mean + deviation * n.w)};
}

// ---- Poisson numbers: by products of uniform ones for small means, by a rounded normal one for large
template <class State>
LOCKSTEP_RANDOM unsigned curand_poisson(State* state, double mean) {
    if (mean >= 64) {
        const double x = rint(mean + sqrt(mean) * curand_normal_double(state));
        return x > 0 ? (unsigned)x : 0u;
    }
    unsigned count = 0;
    for (float product = expf((float)mean) * curand_uniform(state); product > 1.0f; product *= curand_uniform(state)) ++count;
    return count;
}
LOCKSTEP_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10* state, double mean) {
    uint4 four;
    four.x = curand_poisson(state, mean);
    four.y = curand_poisson(state, mean);
    four.z = curand_poisson(state, mean);
    four.w = curand_poisson(state, mean);
    return four;
}
#undef LOCKSTEP_MRG_M1
#undef LOCKSTEP_MRG_M2
#undef LOCKSTEP_RANDOM
