// Random numbers in kernels: names of cuRAND's device interface. The generators are the published ones: XORWOW (Marsaglia,
// "Xorshift RNGs", 2003), Philox 4x32-10 (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011) and MRG32k3a
// (L'Ecuyer, 1999). A seed's numbers are good ones, though not those that cuRAND gives for it, except Philox's.
#pragma once
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

LOCKSTEP_RANDOM unsigned long long lockstep_mixed(unsigned long long& seed) {  // splitmix64
    unsigned long long z = seed += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}
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
LOCKSTEP_RANDOM void skipahead(unsigned long long n, curandStateXORWOW* state) {
    for (unsigned long long k = 0; k < n; ++k) curand(state);
}
LOCKSTEP_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                 curandStateXORWOW* state) {
    unsigned long long mix = seed ^ 0x6a09e667f3bcc908ull, other = subsequence ^ 0xbb67ae8584caa73bull;
    for (int k = 0; k < 3; ++k) {
        const unsigned long long word = lockstep_mixed(mix) + lockstep_mixed(other);
        state->v[2 * k % 5] = (unsigned)word | (k == 0);  // not all zero
        if (k < 2)
            state->v[2 * k + 1] = (unsigned)(word >> 32);
        else
            state->v[4] = (unsigned)(word >> 32), state->d = (unsigned)word;
    }
    lockstep_no_extra(state);
    skipahead(offset, state);
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
LOCKSTEP_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                 curandStatePhilox4_32_10* state) {
    state->key = uint2{(unsigned)seed, (unsigned)(seed >> 32)};
    state->ctr = uint4{0, 0, (unsigned)subsequence, (unsigned)(subsequence >> 32)};
    state->STATE = 0;
    lockstep_no_extra(state);
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

// ---- MRG32k3a
LOCKSTEP_RANDOM unsigned curand(curandStateMRG32k3a* state) {
    const long long m1 = 4294967087ll, m2 = 4294944443ll;
    long long p1 = (1403580ll * state->s1[1] - 810728ll * state->s1[0]) % m1;
    if (p1 < 0) p1 += m1;
    long long p2 = (527612ll * state->s2[2] - 1370589ll * state->s2[0]) % m2;
    if (p2 < 0) p2 += m2;
    state->s1[0] = state->s1[1], state->s1[1] = state->s1[2], state->s1[2] = (unsigned)p1;
    state->s2[0] = state->s2[1], state->s2[1] = state->s2[2], state->s2[2] = (unsigned)p2;
    return (unsigned)(p1 > p2 ? p1 - p2 : p1 - p2 + m1);
}
LOCKSTEP_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a* state) {
    for (unsigned long long k = 0; k < n; ++k) curand(state);
}
LOCKSTEP_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                                 curandStateMRG32k3a* state) {
    unsigned long long mix = seed ^ 0x6a09e667f3bcc908ull, other = subsequence ^ 0xbb67ae8584caa73bull;
    for (int k = 0; k < 3; ++k) {
        const unsigned long long word = lockstep_mixed(mix) + lockstep_mixed(other);
        state->s1[k] = (unsigned)word % 4294967086u + 1;
        state->s2[k] = (unsigned)(word >> 32) % 4294944442u + 1;
    }
    lockstep_no_extra(state);
    skipahead(offset, state);
}

// ---- Distributions, of any generator: uniform ones in (0, 1], normal ones by Box and Muller
LOCKSTEP_RANDOM float lockstep_uniform(unsigned x) { return x * 2.3283064e-10f + 1.1641532e-10f; }
LOCKSTEP_RANDOM double lockstep_uniform(unsigned x, unsigned y) {
    return (double)((unsigned long long)x ^ (unsigned long long)y << 21) * 1.1102230246251565e-16 + 5.5511151231257827e-17;
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
template <class State>
LOCKSTEP_RANDOM float2 curand_normal2(State* state) {
    const float u = curand_uniform(state), v = curand_uniform(state) * 6.2831853f, r = sqrtf(-2.0f * logf(u));
    return float2{r * sinf(v), r * cosf(v)};
}
template <class State>
LOCKSTEP_RANDOM float curand_normal(State* state) {
    if (state->boxmuller_flag) return state->boxmuller_flag = 0, state->boxmuller_extra;
    const float2 pair = curand_normal2(state);
    state->boxmuller_flag = 1;
    state->boxmuller_extra = pair.y;
    return pair.x;
}
template <class State>
LOCKSTEP_RANDOM float curand_log_normal(State* state, float mean, float deviation) {
    return expf(mean + deviation * curand_normal(state));
}
template <class State>
LOCKSTEP_RANDOM float2 curand_log_normal2(State* state, float mean, float deviation) {
    const float2 pair = curand_normal2(state);
    return float2{expf(mean + deviation * pair.x), expf(mean + deviation * pair.y)};
}
LOCKSTEP_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return float4{lockstep_uniform(x.x), lockstep_uniform(x.y), lockstep_uniform(x.z), lockstep_uniform(x.w)};
}
LOCKSTEP_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10* state) {
    const uint4 x = curand4(state);
    return double2{lockstep_uniform(x.x, x.y), lockstep_uniform(x.z, x.w)};
}
LOCKSTEP_RANDOM float4 curand_normal4(curandStatePhilox4_32_10* state) {
    const float2 a = curand_normal2(state), b = curand_normal2(state);
    return float4{a.x, a.y, b.x, b.y};
}
template <class State>
LOCKSTEP_RANDOM double2 curand_normal2_double(State* state) {
    const double u = curand_uniform_double(state), v = curand_uniform_double(state) * 6.283185307179586;
    const double r = sqrt(-2.0 * log(u));
    return double2{r * sin(v), r * cos(v)};
}
template <class State>
LOCKSTEP_RANDOM double curand_normal_double(State* state) {
    if (state->boxmuller_flag_double) return state->boxmuller_flag_double = 0, state->boxmuller_extra_double;
    const double2 pair = curand_normal2_double(state);
    state->boxmuller_flag_double = 1;
    state->boxmuller_extra_double = pair.y;
    return pair.x;
}
template <class State>
LOCKSTEP_RANDOM double curand_log_normal_double(State* state, double mean, double deviation) {
    return exp(mean + deviation * curand_normal_double(state));
}
// Poisson numbers: by products of uniform ones for small means, by a rounded normal one for large.
template <class State>
LOCKSTEP_RANDOM unsigned curand_poisson(State* state, double mean) {
    if (mean > 64) {
        const double x = rint(mean + sqrt(mean) * curand_normal_double(state));
        return x > 0 ? (unsigned)x : 0u;
    }
    const double least = exp(-mean);
    unsigned count = 0;
    for (double product = curand_uniform_double(state); product > least; product *= curand_uniform_double(state)) ++count;
    return count;
}
#undef LOCKSTEP_RANDOM
