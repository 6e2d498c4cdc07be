// Random numbers by counter: Philox 4x32-10 (Salmon et al. 2011), a block cipher of ten rounds. Four words are a function of
// (seed, counter) alone: no state, any order, the same bits on every device. Element e takes word e % 4 of counter
// offset + e / 4: a launch over n elements uses ceil(n / 4) counters.
// uniform: low + (high - low) u, u of 24 bits in [0, 1).
// normal:  mean + deviation z, z from the inverse of the normal distribution (Wichura 1988, AS 241, PPND7: 7 digits; |z| < 5.5).
// dropout: y = 0 where the word is below `threshold` (= p 2^32), else x scale; the same launch on dy is its gradient: no mask is kept.
// One thread four elements; launch ceil(n / 1024) blocks of 256.  Bytes: n elements (dropout 2 n).

#include "include/element.h"
#include "include/rounded.h"

struct Words {
    unsigned word[4];
};

__device__ inline Words philox(unsigned long long seed, unsigned long long counter) {
    unsigned a = (unsigned)counter, b = (unsigned)(counter >> 32), c = 0, d = 0;
    unsigned key0 = (unsigned)seed, key1 = (unsigned)(seed >> 32);
    for (int round = 0; round < 10; ++round) {
        unsigned low0 = 0xD2511F53u * a, high0 = __umulhi(0xD2511F53u, a);
        unsigned low1 = 0xCD9E8D57u * c, high1 = __umulhi(0xCD9E8D57u, c);
        a = high1 ^ b ^ key0;
        b = low1;
        c = high0 ^ d ^ key1;
        d = low0;
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return {{a, b, c, d}};
}

__device__ inline float polynomial(float x, float a, float b, float c, float d) {  // rounded step by step
    return times(times(times(a, x) + b, x) + c, x) + d;
}

__device__ inline float natural_log(float x) {                                  // of a number in (0, 0.5]; 1e-7 relative
    int shifted = (int)(__float_as_uint(x) - 0x3f3504f3u), whole = shifted >> 23;
    float e = whole, f = __uint_as_float((shifted & 0x007fffff) + 0x3f3504f3) - 1.0f;
    float s = f / (2.0f + f), z = times(s, s), half = times(times(0.5f, f), f);
    float r = times(z, polynomial(z, 0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f));
    return times(e, 6.9313812256e-1f) - ((half - (times(s, half + r) + times(e, 9.0580006145e-6f))) - f);
}

__device__ inline float normal_of(unsigned word) {
    float p = times((float)(word >> 9) + 0.5f, 1.1920928955078125e-7f), q = p - 0.5f;  // 2^-23
    if (fabsf(q) <= 0.425f) {
        float r = 0.180625f - times(q, q);
        return times(q, polynomial(r, 59.109374720f, 159.29113202f, 50.434271938f, 3.3871327179f)) /
               polynomial(r, 67.187563600f, 78.757757664f, 17.895169469f, 1.0f);
    }
    float r = sqrtf(-natural_log(q < 0 ? p : 1.0f - p));
    float z = r <= 5.0f ? polynomial(r - 1.6f, 0.17023821103f, 1.3067284816f, 2.7568153900f, 1.4234372777f) /
                              polynomial(r - 1.6f, 0.0f, 0.12021132975f, 0.73700164250f, 1.0f)
                        : polynomial(r - 5.0f, 0.017337203997f, 0.42868294337f, 3.0812263860f, 6.6579051150f) /
                              polynomial(r - 5.0f, 0.0f, 0.012258202635f, 0.24197894225f, 1.0f);
    return q < 0 ? -z : z;
}

template <class T>
__device__ void uniform(T* y, long long seed, long long offset, Acc<T> low, Acc<T> high, int n) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group > (n - 1) / 4) return;
    Words words = philox(seed, offset + group);
    for (int i = 0; i < 4; ++i)
        if (4 * group + i < n) y[4 * group + i] = low + times(high - low, times(Acc<T>(words.word[i] >> 8), Acc<T>(5.9604644775390625e-8)));  // 2^-24
}
FLOATS(uniform, (T* y, long long seed, long long offset, Acc<T> low, Acc<T> high, int n), y, seed, offset, low, high, n)

template <class T>
__device__ void normal(T* y, long long seed, long long offset, Acc<T> mean, Acc<T> deviation, int n) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group > (n - 1) / 4) return;
    Words words = philox(seed, offset + group);
    for (int i = 0; i < 4; ++i)
        if (4 * group + i < n) y[4 * group + i] = mean + times(deviation, Acc<T>(normal_of(words.word[i])));
}
FLOATS(normal, (T* y, long long seed, long long offset, Acc<T> mean, Acc<T> deviation, int n), y, seed, offset, mean, deviation, n)

template <class T>
__device__ void dropout(const T* x, T* y, long long seed, long long offset, unsigned threshold, Acc<T> scale, int n) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group > (n - 1) / 4) return;
    Words words = philox(seed, offset + group);
    for (int i = 0; i < 4; ++i) {
        int at = 4 * group + i;
        if (at < n) y[at] = words.word[i] < threshold ? Acc<T>(0) : times(Acc<T>(x[at]), scale);
    }
}
// One thread an element, so that other ops can go on with it: the same words, each drawn by the four threads that share it.
template <class T>
__device__ void dropout_element(const T* x, T* y, long long seed, long long offset, unsigned threshold, Acc<T> scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Words words = philox(seed, offset + (i >> 2));
    unsigned low = i & 1 ? words.word[1] : words.word[0], high = i & 1 ? words.word[3] : words.word[2];
    unsigned word = i & 2 ? high : low;
    y[i] = word < threshold ? Acc<T>(0) : times(Acc<T>(x[i]), scale);
}
FLOATS(dropout_element, (const T* x, T* y, long long seed, long long offset, unsigned threshold, Acc<T> scale, int n), x, y, seed,
       offset, threshold, scale, n)

FLOATS(dropout, (const T* x, T* y, long long seed, long long offset, unsigned threshold, Acc<T> scale, int n), x, y, seed, offset,
       threshold, scale, n)
