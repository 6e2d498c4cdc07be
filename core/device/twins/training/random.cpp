// Random numbers by counter (kernels/random.cu): Philox 4x32-10, eight counters at a time.
#include <cmath>

#include "core/device/twins/twins.h"

namespace lockstep::device::twins::LOCKSTEP_ISA {

constexpr int counters = 8;

// word[i][j]: word i of counter + j
static void philox(uint64_t seed, uint64_t counter, uint32_t (&word)[4][counters]) {
    uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
    for (uint32_t j = 0; j < counters; ++j) {
        word[0][j] = static_cast<uint32_t>(counter + j);
        word[1][j] = static_cast<uint32_t>((counter + j) >> 32);
        word[2][j] = word[3][j] = 0;
    }
    for (int round = 0; round < 10; ++round) {
        for (int j = 0; j < counters; ++j) {
            const uint64_t one = uint64_t{0xD2511F53u} * word[0][j], two = uint64_t{0xCD9E8D57u} * word[2][j];
            word[0][j] = static_cast<uint32_t>(two >> 32) ^ word[1][j] ^ key0;
            word[1][j] = static_cast<uint32_t>(two);
            word[2][j] = static_cast<uint32_t>(one >> 32) ^ word[3][j] ^ key1;
            word[3][j] = static_cast<uint32_t>(one);
        }
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
}

// use(element, word) for n elements.
template <class Use>
void each_word(ThreadPool& pool, int64_t seed, int64_t offset, int n, const Use& use) {
    constexpr int group = 4 * counters, range = 1 << 13;
    const int parts = n <= 0 ? 0 : (n - 1) / range + 1;
    pool.run(parts, [&](int part) {
        uint32_t word[4][counters];
        const int end = std::min(n, (part + 1) * range);
        for (int begin = part * range; begin < end; begin += group) {
            philox(static_cast<uint64_t>(seed), static_cast<uint64_t>(offset) + static_cast<uint64_t>(begin / 4), word);
            const int count = std::min(group, end - begin);
            for (int i = 0; i < count; ++i) use(begin + i, word[i % 4][i / 4]);
        }
    });
}

static float polynomial(float x, float a, float b, float c, float d) {
    return ((a * x + b) * x + c) * x + d;
}

static float natural_log(float x) {
    const uint32_t shifted = std::bit_cast<uint32_t>(x) - 0x3f3504f3u;
    const auto e = static_cast<float>(static_cast<int32_t>(shifted) >> 23);
    const float f = std::bit_cast<float>((shifted & 0x007fffffu) + 0x3f3504f3u) - 1.0f;
    const float s = f / (2.0f + f), z = s * s, half = 0.5f * f * f;
    const float r = z * polynomial(z, 0.24279078841f, 0.28498786688f, 0.40000972152f, 0.66666662693f);
    return e * 6.9313812256e-1f - ((half - (s * (half + r) + e * 9.0580006145e-6f)) - f);
}

static float normal_of(uint32_t word) {
    const float p = (static_cast<float>(word >> 9) + 0.5f) * 0x1p-23f, q = p - 0.5f;
    if (std::abs(q) <= 0.425f) {
        const float r = 0.180625f - q * q;
        return q * polynomial(r, 59.109374720f, 159.29113202f, 50.434271938f, 3.3871327179f) /
               polynomial(r, 67.187563600f, 78.757757664f, 17.895169469f, 1.0f);
    }
    const float r = std::sqrt(-natural_log(q < 0 ? p : 1.0f - p));
    const float z = r <= 5.0f ? polynomial(r - 1.6f, 0.17023821103f, 1.3067284816f, 2.7568153900f, 1.4234372777f) /
                                    polynomial(r - 1.6f, 0.0f, 0.12021132975f, 0.73700164250f, 1.0f)
                              : polynomial(r - 5.0f, 0.017337203997f, 0.42868294337f, 3.0812263860f, 6.6579051150f) /
                                    polynomial(r - 5.0f, 0.0f, 0.012258202635f, 0.24197894225f, 1.0f);
    return q < 0 ? -z : z;
}

template <class T>
void uniform(ThreadPool& pool, T* y, int64_t seed, int64_t offset, Acc<T> low, Acc<T> high, int n) {
    each_word(pool, seed, offset, n, [=](int i, uint32_t word) {
        y[i] = low + (high - low) * (static_cast<Acc<T>>(word >> 8) * static_cast<Acc<T>>(0x1p-24));
    });
}
template <class T>
void normal(ThreadPool& pool, T* y, int64_t seed, int64_t offset, Acc<T> mean, Acc<T> deviation, int n) {
    each_word(pool, seed, offset, n,
              [=](int i, uint32_t word) { y[i] = mean + deviation * static_cast<Acc<T>>(normal_of(word)); });
}
template <class T>
void dropout(ThreadPool& pool, const T* x, T* y, int64_t seed, int64_t offset, uint32_t threshold, Acc<T> scale, int n) {
    each_word(pool, seed, offset, n, [=](int i, uint32_t word) {
        const Acc<T> kept = Acc<T>(x[i]) * scale;
        y[i] = word < threshold ? Acc<T>(0) : kept;
    });
}

// A kernel's thread an element: the same values.
template <class T>
void dropout_element(ThreadPool& pool, const T* x, T* y, int64_t seed, int64_t offset, uint32_t threshold, Acc<T> scale,
                     int n) {
    dropout(pool, x, y, seed, offset, threshold, scale, n);
}

std::span<const Kernel> random() {
    static constexpr Kernel rows[] = {
        {"uniform", "random.cu", "y = low .. high, by counter (Philox)",
         ">y[n] seed:i64=1311768467294899695 offset:i64=4294967293 low:sum=0.5 high:sum=1.25 n", FLOATS(uniform),
         "grid(cover(n,1024),1,1,256,1)"},
        {"normal", "random.cu", "y = mean + deviation z, by counter (Philox)",
         ">y[n] seed:i64=1311768467294899695 offset:i64=4294967293 mean:sum=0.5 deviation:sum=1.25 n", FLOATS(normal),
         "grid(cover(n,1024),1,1,256,1)"},
        {"dropout",
         "random.cu",
         "y = x scale or 0, by counter (Philox); on dy: its gradient",
         "x[n] >y[n] seed:i64=42 offset:i64=7 threshold:u32=1073741824 scale:sum=1.3333 n",
         FLOATS(dropout),
         "grid(cover(n,1024),1,1,256,1)",
         Agreement::to_the_bit,
         {.counter = 3, .one_an_element = "dropout_element"}},
        {"dropout_element", "random.cu", "the same, one thread an element: what a chain of ops takes",
         "x[n] >y[n] seed:i64=42 offset:i64=7 threshold:u32=1073741824 scale:sum=1.3333 n", FLOATS(dropout_element)},
    };
    return rows;
}

}  // namespace lockstep::device::twins::LOCKSTEP_ISA
