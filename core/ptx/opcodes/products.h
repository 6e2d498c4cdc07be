// Products of matrices that are spread over the registers of a warp: what the spellings in forms/matrix.h share. Internal
// linkage, no standard library: see lanes.h.
//
// All fragments but those of m8n8k4.f16 are made of blocks of 8 rows of 4 words: lane 4 r + c of a register holds word c of
// row r; a word holds neighbours along k, the lowest in its low bits. A: register = row block + row blocks * k block. B,
// by columns: register = k block + k blocks * column block. C and D: blocks of 8 x 8, lane 4 r + c holds columns 2 c and
// 2 c + 1 of row r, in two registers (one of f16x2): register = (row block + row blocks * column block) * 2 + column % 2.
// So the fragments of wmma, which the ISA leaves open, are those of mma side by side.
//
// Sums of floats: as the tensor cores of a generation form them, see tensor_sums.h. f64: fused multiply-adds in the order of
// k.
#pragma once
#include <cfenv>

#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"
#include "core/ptx/opcodes/matrix_group.h"
#include "core/ptx/opcodes/sums.h"

namespace lockstep::ptx {
namespace {
namespace matrix {

constexpr int most_a = 16 * 64, most_b = 8 * 128, most_c = 16 * 16;  // elements

// --- elements: what they are in a word, and as floats -------------------------------------------------------------

struct F16 {
    static constexpr int bits = 16;
    static constexpr float smallest = 0x1p-14f;  // normal number
    static float value(uint32_t word, int i) { return widen(Half{static_cast<uint16_t>(word >> 16 * i)}); }
};
struct BF16 {
    static constexpr int bits = 16;
    static constexpr float smallest = 0x1p-126f;
    static float value(uint32_t word, int i) { return widen(Brain{static_cast<uint16_t>(word >> 16 * i)}); }
};
struct TF32 {  // the low 13 bits are not read
    static constexpr int bits = 32;
    static constexpr float smallest = 0x1p-126f;
    static float value(uint32_t word, int) { return ptx::bits<float>(word & 0xffffe000u); }
};
struct E4M3 {  // no infinity; all ones is NaN
    static constexpr int bits = 8;
    static constexpr float smallest = 0x1p-6f;
    static float value(uint32_t word, int i) {
        const uint32_t byte = word >> 8 * i & 255u, magnitude = byte & 127u;
        const float finite = ptx::bits<float>(magnitude << 20) * 0x1p120f;
        const uint32_t u = magnitude == 127u ? 0x7fffffffu : ptx::bits<uint32_t>(finite);
        return ptx::bits<float>(u | (byte & 128u) << 24);
    }
};
struct E5M2 {  // the high byte of an f16
    static constexpr int bits = 8;
    static constexpr float smallest = 0x1p-14f;
    static float value(uint32_t word, int i) { return widen(Half{static_cast<uint16_t>((word >> 8 * i & 255u) << 8)}); }
};
struct S8 {
    static constexpr int bits = 8;
    static constexpr float smallest = 0;
    static float value(uint32_t word, int i) { return static_cast<float>(static_cast<int8_t>(word >> 8 * i)); }
};
struct U8 {
    static constexpr int bits = 8;
    static constexpr float smallest = 0;
    static float value(uint32_t word, int i) { return static_cast<float>(static_cast<int>(word >> 8 * i & 255u)); }
};
struct S4 {
    static constexpr int bits = 4;
    static constexpr float smallest = 0;
    static float value(uint32_t word, int i) { return static_cast<float>(static_cast<int32_t>(word << (28 - 4 * i)) >> 28); }
};
struct U4 {
    static constexpr int bits = 4;
    static constexpr float smallest = 0;
    static float value(uint32_t word, int i) { return static_cast<float>(static_cast<int>(word >> 4 * i & 15u)); }
};

template <class T>
void unpack(const uint32_t* words, int count, float* out) {
    constexpr int in_word = 32 / T::bits;
    LOCKSTEP_LANES_INDEPENDENT
    for (int w = 0; w < count; ++w)
        for (int i = 0; i < in_word; ++i) out[w * in_word + i] = T::value(words[w], i);
}

// --- accumulators: registers of blocks of 8 x 8 to floats and back ------------------------------------------------

struct F32 {
    static constexpr int registers = 2;  // a block
    static void begin(const std::byte* const* s, int blocks, float* c) {
        for (int b = 0; b < blocks; ++b) {
            const auto* even = reinterpret_cast<const float*>(s[2 * b]);
            const auto* odd = reinterpret_cast<const float*>(s[2 * b + 1]);
            for (int lane = 0; lane < 32; ++lane) {
                c[64 * b + 2 * lane] = even[lane];
                c[64 * b + 2 * lane + 1] = odd[lane];
            }
        }
    }
    static void end(const float* c, int blocks, std::byte* const* d, const std::byte* const*) {
        for (int b = 0; b < blocks; ++b) {
            auto* even = reinterpret_cast<float*>(d[2 * b]);
            auto* odd = reinterpret_cast<float*>(d[2 * b + 1]);
            for (int lane = 0; lane < 32; ++lane) {
                even[lane] = canonical(c[64 * b + 2 * lane]);
                odd[lane] = canonical(c[64 * b + 2 * lane + 1]);
            }
        }
    }
};
struct HalfSums {  // sums in f32, rounded once to f16
    static constexpr int registers = 1;
    static void begin(const std::byte* const* s, int blocks, float* c) {
        for (int b = 0; b < blocks; ++b) {
            const auto* both = reinterpret_cast<const Half*>(s[b]);
            for (int i = 0; i < 64; ++i) c[64 * b + i] = widen(both[i]);
        }
    }
    static void end(const float* c, int blocks, std::byte* const* d, const std::byte* const*) {
        for (int b = 0; b < blocks; ++b) {
            auto* both = reinterpret_cast<Half*>(d[b]);
            for (int i = 0; i < 64; ++i) both[i] = to_half(c[64 * b + i]);
        }
    }
};
inline int32_t clamped(int64_t wide) {
    return static_cast<int32_t>(wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : wide);
}
// Integers: the sum of at most 128 products of bytes is below 2^24, so it is exact in f32; c is added to it as an integer.
template <bool finite>
struct Integers {
    static constexpr int registers = 2;
    static void begin(const std::byte* const*, int blocks, float* c) {
        for (int i = 0; i < 64 * blocks; ++i) c[i] = 0;
    }
    static void end(const float* c, int blocks, std::byte* const* d, const std::byte* const* s) {
        alignas(64) int32_t addends[most_c / 32][32];  // all read before anything is written
        for (int r = 0; r < 2 * blocks; ++r) __builtin_memcpy(addends[r], s[r], sizeof addends[r]);
        for (int r = 0; r < 2 * blocks; ++r) {
            const int32_t* const addend = addends[r];
            auto* out = reinterpret_cast<int32_t*>(d[r]);
            for (int lane = 0; lane < 32; ++lane) {
                const auto sum = static_cast<int32_t>(c[64 * (r / 2) + 2 * lane + r % 2]);
                if constexpr (finite)
                    out[lane] = clamped(static_cast<int64_t>(sum) + addend[lane]);
                else
                    out[lane] = static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(addend[lane]));
            }
        }
    }
};
using S32 = Integers<false>;
using S32Finite = Integers<true>;

// --- the product --------------------------------------------------------------------------------------------------

struct Product {
    int m, n, k;  // k of A as it is stored: half of B's where A is sparse
    int bits;     // of an element
    int width;    // k of B over k of A: 1, sparse 2
    void (*a)(const uint32_t* words, int count, float* out);
    void (*b)(const uint32_t* words, int count, float* out);
    void (*begin)(const std::byte* const* s, int blocks, float* c);
    void (*end)(const float* c, int blocks, std::byte* const* d, const std::byte* const* s);
    int c_registers;         // of a block
    float a_least, b_least;  // the smallest normal numbers of A's and B's elements; 0: integers
    bool half;               // D is f16
    int most_step;           // k in one step
};

// Registers of blocks of 8 x 4 words, to rows of `words` words.
template <class Word>
inline void gather(const std::byte* const* s, int row_blocks, int word_blocks, int row_step, int word_step, Word* out) {
    const int words = 4 * word_blocks;
    for (int w = 0; w < word_blocks; ++w)
        for (int r = 0; r < row_blocks; ++r) {
            const auto* from = reinterpret_cast<const Word*>(s[r * row_step + w * word_step]);
            for (int i = 0; i < 8; ++i) __builtin_memcpy(out + (8 * r + i) * words + 4 * w, from + 4 * i, 4 * sizeof(Word));
        }
}

// c[block][row][column] += a[row][k] * b[column block][k][column], exactly: of integers.
inline void accumulate(const float* a, const float* b, float* c, int m, int n, int k) {
    for (int block = 0; block < n / 8; ++block) {
        const Row* const rows = reinterpret_cast<const Row*>(b + block * k * 8);
        for (int r = 0; r < m; r += 4) {
            Row* const sum = reinterpret_cast<Row*>(c + (block * m + r) * 8);
            const float* const x = a + r * k;
            Row s0 = sum[0], s1 = sum[1], s2 = sum[2], s3 = sum[3];
            for (int i = 0; i < k; ++i) {
                s0 += x[i] * rows[i];
                s1 += x[k + i] * rows[i];
                s2 += x[2 * k + i] * rows[i];
                s3 += x[3 * k + i] * rows[i];
            }
            sum[0] = s0, sum[1] = s1, sum[2] = s2, sum[3] = s3;
        }
    }
}

// The same, where a[row][i] meets row at[row][i] of B, which has 8 columns.
inline void accumulate_sparse(const float* a, const uint8_t* at, const float* b, float* c, int m, int k) {
    const Row* const rows = reinterpret_cast<const Row*>(b);
    for (int r = 0; r < m; ++r) {
        Row* const sum = reinterpret_cast<Row*>(c + r * 8);
        Row s = *sum;
        for (int i = 0; i < k; ++i) s += a[r * k + i] * rows[at[r * k + i]];
        *sum = s;
    }
}

// From column after column, `k` long, to blocks of 8 columns.
inline void turn(const float* columns, int n, int k, float* out) {
    for (int block = 0; block < n / 8; ++block)
        for (int i = 0; i < k; ++i)
            for (int j = 0; j < 8; ++j) out[(block * k + i) * 8 + j] = columns[(block * 8 + j) * k + i];
}

// Sparse A: of every 4 neighbours along k 2 are there (of 8 of 4 bits, 2 pairs of neighbours; of 2 of tf32, 1), and 4 bits
// of metadata say which: two indices, the lower in the low bits. In a group of four lanes 4 g + t those of rows g and
// g + 8 are held by one lane (`selector` says which), two (selector 0: the first two), or all four. Elements of 16 bits
// and more: a lane has 16 bits of row g below 16 bits of row g + 8, the next lane those of the next four groups. Smaller
// elements: a lane has 32 bits of row g, the next those of row g + 8, the two behind it those of the next eight groups.
inline void find_elements(int m, int k, int bits, const uint32_t* metadata, uint32_t selector, uint8_t* at) {
    const int in_group = bits == 4 ? 4 : bits == 32 ? 1 : 2, groups = k / in_group;
    for (int row = 0; row < m; ++row)
        for (int q = 0; q < groups; ++q) {
            const int quad = 4 * (row % 8), half = row / 8;
            int lane, shift;
            if (bits >= 16) {
                lane = groups == 4 ? static_cast<int>(selector & 3) : static_cast<int>(selector & 1) * 2 + q / 4;
                shift = 16 * half + 4 * (q % 4);
            } else {
                lane = groups == 8 ? static_cast<int>(selector & 1) * 2 + half : q / 8 * 2 + half;
                shift = 4 * (q % 8);
            }
            const uint32_t two = metadata[quad + lane] >> shift & 15u;
            const int first = static_cast<int>(two & 3u), second = static_cast<int>(two >> 2);
            uint8_t* const out = at + row * k + q * in_group;
            if (in_group == 1) {
                out[0] = static_cast<uint8_t>(2 * q + first / 2);
            } else if (in_group == 2) {
                out[0] = static_cast<uint8_t>(4 * q + first);
                out[1] = static_cast<uint8_t>(4 * q + second);
            } else {
                out[0] = static_cast<uint8_t>(8 * q + 2 * first), out[1] = static_cast<uint8_t>(out[0] + 1);
                out[2] = static_cast<uint8_t>(8 * q + 2 * second), out[3] = static_cast<uint8_t>(out[2] + 1);
            }
        }
}

// How a product is summed: the powers of two of A's and B's elements, and the rule of its types.
struct Summing {
    const float *a, *b, *a_power, *b_power;
    const uint8_t* at;  // sparse: see find_elements
    bool near;
    SumRule rule;
};
inline SumRule rule_of(const TensorSums& sums, int bits, bool half) {
    return {sums.step_bits / bits, bits == 8 ? sums.fp8_fraction : sums.fraction,
            bits == 8 && !half ? sums.fp8_fraction : 23, half};
}
inline void sum_all(const Summing& s, float* c, int m, int n, int k) {
    if (s.at)
        sum_products_sparse(s.a, s.a_power, s.at, s.b, s.b_power, c, m, k, s.near, s.rule);
    else
        sum_products(s.a, s.a_power, s.b, s.b_power, c, m, n, k, s.near, s.rule);
}

// Of mma with fp8 where it is turned into f16: the k of each lower half of a word first, then those of the upper halves.
template <class T>
void halves_first(T* rows, int count, int k) {
    T row[64];
    for (int r = 0; r < count; ++r) {
        __builtin_memcpy(row, rows + r * k, static_cast<size_t>(k) * sizeof(T));
        for (int i = 0; i < k; ++i) rows[r * k + (i & 2) * (k / 4) + i / 4 * 2 + i % 2] = row[i];
    }
}

[[gnu::noinline]] void multiply(const Product& p, std::byte* const* d, const std::byte* const* s) {
    alignas(64) uint32_t words[256];
    alignas(64) float a[most_a], columns[most_b], b[most_b], c[most_c];
    const TensorSums& sums = tensor_sums[3];
    const int row_blocks = p.m / 8, column_blocks = p.n / 8, blocks = row_blocks * column_blocks;
    const int a_blocks = p.k * p.bits / 128, b_blocks = a_blocks * p.width;
    gather(s, row_blocks, a_blocks, 1, row_blocks, words);
    p.a(words, p.m * a_blocks * 4, a);
    s += row_blocks * a_blocks;
    gather(s, column_blocks, b_blocks, b_blocks, 1, words);
    p.b(words, p.n * b_blocks * 4, columns);
    s += column_blocks * b_blocks;
    const bool integers = p.a_least == 0, as_halves = !integers && p.bits == 8 && sums.fp8_as_halves;
    uint8_t at[most_a];
    if (p.width == 2) {
        const std::byte* const* const last = s + blocks * p.c_registers;
        find_elements(p.m, p.k, p.bits, reinterpret_cast<const uint32_t*>(last[0]),
                      *reinterpret_cast<const uint32_t*>(last[1]), at);
    }
    if (as_halves) {
        halves_first(a, p.m, p.k);
        p.width == 2 ? halves_first(at, p.m, p.k) : halves_first(columns, p.n, p.k);
    }
    turn(columns, p.n, p.k * p.width, b);
    p.begin(s, blocks, c);
    if (integers && p.width == 1) accumulate(a, b, c, p.m, p.n, p.k);
    if (integers && p.width == 2) accumulate_sparse(a, at, b, c, p.m, p.k);
    if (!integers) {
        alignas(64) float a_power[most_a], b_power[most_b], addend[most_c];
        const float least_normal = 0x1p-14f;  // of f16
        const bool a_near = find_powers(a, p.m * p.k, as_halves ? least_normal : p.a_least, a_power);
        const bool b_near = find_powers(b, p.n * p.k * p.width, as_halves ? least_normal : p.b_least, b_power);
        Summing how{a, b, a_power, b_power, p.width == 2 ? at : nullptr, a_near && b_near, rule_of(sums, p.bits, p.half)};
        how.rule.step = how.rule.step < p.most_step ? how.rule.step : p.most_step;
        if (as_halves) {
            how.rule = rule_of(sums, 16, p.half);
            how.rule.step = how.rule.step < p.k / 2 ? how.rule.step : p.k / 2;
            __builtin_memcpy(addend, c, sizeof c);
            __builtin_memset(c, 0, sizeof c);
        }
        sum_all(how, c, p.m, p.n, p.k);
        if (as_halves)
            for (int i = 0; i < 64 * blocks; ++i) c[i] += addend[i];
    }
    p.end(c, blocks, d, s);
}

template <int M, int N, int K>
struct Shape {
    static constexpr int m = M, n = N, k = K;
    static constexpr int most_step = N == 16 && K == 8 ? 4 : 64;  // wmma of tf32 goes in products of k = 4
};
template <class S, int width, class A, class B, class C, class D>
constexpr Product product = {S::m,     S::n,   S::k / width, A::bits,     width,       unpack<A>,         unpack<B>,
                             C::begin, D::end, C::registers, A::smallest, B::smallest, D::registers == 1, S::most_step};

template <class S, class A, class B, class C, class D>
void dense(std::byte* const* d, const std::byte* const* s) {
    multiply(product<S, 1, A, B, C, D>, d, s);
}
template <class S, class A, class B, class C, class D>
void sparse(std::byte* const* d, const std::byte* const* s) {
    multiply(product<S, 2, A, B, C, D>, d, s);
}

// --- products of bits, of f64, and of m8n8k4.f16 ------------------------------------------------------------------

enum class Bits { both, differ };

template <Bits bits>
inline int count_bits(const uint32_t* a, const uint32_t* b, int words) {
    int count = 0;
    for (int w = 0; w < words; ++w) count += __builtin_popcount(bits == Bits::both ? a[w] & b[w] : a[w] ^ b[w]);
    return count;
}
template <int m, int k, Bits bits>
void count_matches(std::byte* const* d, const std::byte* const* s) {
    constexpr int words = k / 32, row_blocks = m / 8, blocks = words / 4;
    uint32_t a[m * words], b[8 * words];
    gather(s, row_blocks, blocks, 1, row_blocks, a);
    gather(s + row_blocks * blocks, 1, blocks, blocks, 1, b);
    s += (row_blocks + 1) * blocks;
    uint32_t c[2 * row_blocks][32];  // all read before anything is written
    for (int r = 0; r < 2 * row_blocks; ++r) __builtin_memcpy(c[r], s[r], sizeof c[r]);
    for (int r = 0; r < 2 * row_blocks; ++r)
        for (int lane = 0; lane < 32; ++lane) {
            const int row = 8 * (r / 2) + lane / 4, column = lane % 4 * 2 + r % 2;
            reinterpret_cast<uint32_t*>(d[r])[lane] =
                c[r][lane] + static_cast<uint32_t>(count_bits<bits>(a + row * words, b + column * words, words));
        }
}

template <int m, int k>
[[gnu::noinline]] void doubles(std::byte* const* d, const std::byte* const* s) {
    constexpr int row_blocks = m / 8, blocks = k / 4;
    double a[m * k], b[8 * k];
    gather(s, row_blocks, blocks, 1, row_blocks, a);
    gather(s + row_blocks * blocks, 1, blocks, blocks, 1, b);
    s += (row_blocks + 1) * blocks;
    double c[2 * row_blocks][32];
    for (int r = 0; r < 2 * row_blocks; ++r) __builtin_memcpy(c[r], s[r], sizeof c[r]);
    for (int r = 0; r < 2 * row_blocks; ++r)
        for (int lane = 0; lane < 32; ++lane) {
            const double* const x = a + (8 * (r / 2) + lane / 4) * k;
            const double* const y = b + (lane % 4 * 2 + r % 2) * k;
            double sum = c[r][lane];
            for (int i = 0; i < k; ++i) sum = __builtin_fma(x[i], y[i], sum);
            reinterpret_cast<double*>(d[r])[lane] = canonical(sum);
        }
}

// The same with a rounding of the processor's own; nothing of the product may move out of it.
template <int m, int k, int mode>
void rounded_doubles(std::byte* const* d, const std::byte* const* s) {
    const int before = std::fegetround();
    std::fesetround(mode);
    __asm__ volatile("" ::: "memory");
    doubles<m, k>(d, s);
    __asm__ volatile("" ::: "memory");
    std::fesetround(before);
}

// Four products of 8 x 4 by 4 x 8, one by lanes 4 q to 4 q + 3 together with lanes 16 + 4 q to 16 + 4 q + 3.
// `by_columns`: bit 0 of A, bit 1 of B: a lane holds a part of a column instead of a row.
template <int by_columns, bool c_half, bool d_half>
void quads(std::byte* const* d, const std::byte* const* s) {
    constexpr bool a_columns = by_columns & 1, b_columns = by_columns & 2;
    const auto half_at = [](const std::byte* const* from, int lane, int i) {
        return widen(reinterpret_cast<const Half*>(from[i / 2])[2 * lane + i % 2]);
    };
    const TensorSums& sums = tensor_sums[3];
    float out[32][8];
    for (int lane = 0; lane < 32; ++lane) {
        const int quad = lane / 4 % 4 * 4;
        const auto home = [=](int index) { return quad + index % 4 + index / 4 * 16; };  // of row or column `index`
        for (int i = 0; i < 8; ++i) {
            // f16: a row a lane; f32: two rows and two columns by turns
            const int upper = lane / 16 * 4, in_quad = lane % 4;
            const auto place = [=](bool half, int& row, int& column) {
                row = upper + (half ? in_quad : (in_quad & 1) + (i & 2));
                column = half ? i : (i & 4) + (in_quad & 2) + (i & 1);
            };
            int row, column, c_row, c_column;
            place(d_half, row, column);
            place(c_half, c_row, c_column);
            // where C's element of this row and column is, when C and D are laid out differently
            int c_lane = lane, c_i = i;
            if (c_half && !d_half) c_lane = home(row), c_i = column;
            float sum = c_half ? half_at(s + 4, c_lane, c_i) : reinterpret_cast<const float*>(s[4 + c_i])[c_lane];
            float a[4], b[32], a_power[4], b_power[32];  // b: one of 8 columns
            for (int k = 0; k < 4; ++k) {
                a[k] = a_columns ? half_at(s, quad + row / 4 * 16 + k, row % 4) : half_at(s, home(row), k);
                b[8 * k] =
                    b_columns ? half_at(s + 2, home(column), k) : half_at(s + 2, quad + column / 4 * 16 + k, column % 4);
                a_power[k] = power_of(a[k], F16::smallest), b_power[8 * k] = power_of(b[8 * k], F16::smallest);
            }
            const float p[4] = {a[0] * b[0], a[1] * b[8], a[2] * b[16], a[3] * b[24]};
            out[lane][i] = !sums.quads_by_lanes ? sum_one(a, a_power, b, b_power, nullptr, 4, sum, rule_of(sums, 16, d_half))
                           : d_half             ? sum + (p[0] + p[1]) + (p[2] + p[3])
                                                : sum + (p[0] + p[1] + p[2] + p[3]);
        }
    }
    for (int lane = 0; lane < 32; ++lane)
        for (int i = 0; i < 8; ++i) {
            if constexpr (d_half)
                reinterpret_cast<Half*>(d[i / 2])[2 * lane + i % 2] = to_half(out[lane][i]);
            else
                reinterpret_cast<float*>(d[i])[lane] = canonical(out[lane][i]);
        }
}

// movmatrix: an 8 x 8 tile of 16 bits, two columns a lane.
inline void transpose(std::byte* const* d, const std::byte* const* s) {
    const auto* const in = reinterpret_cast<const uint16_t*>(s[0]);
    uint16_t out[64];
    for (int i = 0; i < 64; ++i) out[i % 8 * 8 + i / 8] = in[i];
    __builtin_memcpy(d[0], out, sizeof out);
}

// --- a warp's 16 rows of the product of a warpgroup: see matrix_group.h --------------------------------------------

struct GroupProduct {
    int bits;
    void (*a)(const uint32_t* words, int count, float* out);
    void (*b)(const uint32_t* words, int count, float* out);
    void (*begin)(const std::byte* const* s, int blocks, float* c);
    void (*end)(const float* c, int blocks, std::byte* const* d, const std::byte* const* s);
    int c_registers;
    float a_least, b_least;
    bool half;
};

[[gnu::noinline]] void multiply_group(const GroupProduct& p, std::byte* const* d, const std::byte* const* s) {
    constexpr int words = group_words, most_k = 32;
    alignas(64) float a[16 * most_k], columns[16 * most_k], b[16 * most_k], c[128];
    alignas(64) float a_power[16 * most_k], b_power[16 * most_k];
    uint8_t at[16 * most_k];
    const int k = words * 32 / p.bits;
    const auto& group = *reinterpret_cast<const MatrixGroup*>(s[2]);
    const int width = group.metadata ? 2 : 1;  // k of B over that of A
    if (group.metadata) find_elements(16, k, p.bits, group.metadata, group.selector, at);
    p.a(reinterpret_cast<const uint32_t*>(s[0]), 16 * words, a);
    if (group.negated)
        for (int i = 0; i < 16 * k; ++i) a[i] = -a[i];
    const bool integers = p.a_least == 0;
    const bool near = !integers && find_powers(a, 16 * k, p.a_least, a_power);
    Summing how{a, b, a_power, b_power, group.metadata ? at : nullptr, near, rule_of(tensor_sums[3], p.bits, p.half)};
    for (int block = 0; block < static_cast<int>(group.n) / 8; ++block) {
        p.b(reinterpret_cast<const uint32_t*>(s[1]) + 8 * words * width * block, 8 * words * width, columns);
        turn(columns, 8, k * width, b);
        const int first = 2 * block * p.c_registers;
        p.begin(s + 3 + first, 2, c);
        if (integers) {
            group.metadata ? accumulate_sparse(a, at, b, c, 16, k) : accumulate(a, b, c, 16, 8, k);
        } else {
            how.near = find_powers(b, 8 * k * width, p.b_least, b_power) && near;
            sum_all(how, c, 16, 8, k);
        }
        p.end(c, 2, d + first, s + 3 + first);
    }
}

template <class A, class B, class C>
constexpr GroupProduct group_product = {A::bits,      unpack<A>,   unpack<B>,   C::begin,         C::end,
                                        C::registers, A::smallest, B::smallest, C::registers == 1};

template <class A, class B, class C>
void group(std::byte* const* d, const std::byte* const* s) {
    multiply_group(group_product<A, B, C>, d, s);
}
inline void group_bits(std::byte* const* d, const std::byte* const* s) {
    const auto* const a = reinterpret_cast<const uint32_t*>(s[0]);
    const auto* const b = reinterpret_cast<const uint32_t*>(s[1]);
    const int registers = static_cast<int>(reinterpret_cast<const MatrixGroup*>(s[2])->n) / 2;
    for (int r = 0; r < registers; ++r)
        for (int lane = 0; lane < 32; ++lane) {
            const int row = r / 2 % 2 * 8 + lane / 4, column = r / 4 * 8 + lane % 4 * 2 + r % 2;
            reinterpret_cast<uint32_t*>(d[r])[lane] =
                reinterpret_cast<const uint32_t*>(s[3 + r])[lane] +
                static_cast<uint32_t>(count_bits<Bits::both>(a + row * 8, b + column * 8, 8));
        }
}

}  // namespace matrix
}  // namespace
}  // namespace lockstep::ptx
