// The sums of tensor_sums.h over rows of 8 columns: in f32 and 32-bit integers where every number is far from the ends of
// f32, else one by one in f64. Internal linkage, no standard library: see lanes.h.
#pragma once
#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"
#include "core/ptx/opcodes/tensor_sums.h"

namespace lockstep::ptx {
namespace {
namespace matrix {

typedef float Row __attribute__((vector_size(32), may_alias));  // 8 columns
typedef int32_t IntegerRow __attribute__((vector_size(32), may_alias));
typedef float HalfRow __attribute__((vector_size(16), may_alias));
typedef int32_t IntegerHalfRow __attribute__((vector_size(16), may_alias));
typedef double DoubleHalfRow __attribute__((vector_size(32), may_alias));
typedef int64_t LongHalfRow __attribute__((vector_size(32), may_alias));

struct SumRule {
    int step;      // products
    int fraction;  // bits kept below the largest exponent
    int result;    // bits kept of a sum behind its first
    bool half;     // sums are rounded to f16, once: up to there no bit may be lost that decides it
};

// 2^exponent of a number, with the exponents that its format has; of 0 it is 0.
inline float power_of(float x, float smallest) {
    const float power = bits<float>(bits<uint32_t>(x) & 0x7f800000u);
    return x == 0 ? 0.0f : power > smallest ? power : smallest;
}
// Of all, which are whole rows; returns whether each is 0 or within 2^-48 to 2^48. Encodings of numbers that are not
// negative compare like the numbers.
inline bool find_powers(const float* x, int count, float smallest, float* power) {
    const auto least = static_cast<int32_t>(bits<uint32_t>(smallest));
    constexpr int32_t near_zero = (127 - 48) << 23, far = (127 + 48) << 23;
    IntegerRow outside{};
    for (int i = 0; i < count; i += 8) {
        const IntegerRow encoding = *reinterpret_cast<const IntegerRow*>(x + i);
        const IntegerRow exponent = encoding & 0x7f800000;
        const IntegerRow larger = exponent > least ? exponent : IntegerRow{} + least;
        const IntegerRow p = larger & ((encoding & 0x7fffffff) != 0);
        outside |= (p > far) | ((p < near_zero) & (p != 0));
        *reinterpret_cast<IntegerRow*>(power + i) = p;
    }
    uint64_t any[4];
    __builtin_memcpy(any, &outside, sizeof any);
    return (any[0] | any[1] | any[2] | any[3]) == 0;
}

inline double cut(double x, double unit, double per_unit) {  // toward zero to a multiple; x less than 2^53 units
    return __builtin_trunc(x * per_unit) * unit;
}
// The encoding of a sum without what lies below the bits that are kept; for f16 whether that was 0 stays in the last one.
inline uint64_t shortened(uint64_t sum, const SumRule& rule) {
    const uint64_t below = (1ull << (52 - rule.result)) - 1;
    return (sum & ~below) | (rule.half && (sum & below) ? below + 1 : 0);
}
inline double power_of_two(int exponent) {
    return bits<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}
// One step of one sum. `at`: which of b's rows each product takes, null: its own. Products are a[i] * b[8 * row].
inline float sum_one(const float* a, const float* a_power, const float* b, const float* b_power, const uint8_t* at,
                     int count, float c, const SumRule& rule) {
    double top = static_cast<double>(power_of(c, 0x1p-126f));
    float plain = c;
    for (int i = 0; i < count; ++i) {
        const int row = 8 * (at ? at[i] : i);
        const double power = static_cast<double>(a_power[i]) * static_cast<double>(b_power[row]);
        top = power > top ? power : top;
        plain += a[i] * b[row];
    }
    if (!(top <= 0x1p300) || c - c != 0) return plain;
    for (int i = 0; i < count; ++i) {
        const float x = a[i], y = b[8 * (at ? at[i] : i)];
        if (x - x != 0 || y - y != 0) return plain;  // an infinity, a NaN
    }
    if (top == 0) return 0.0f;
    const int exponent = static_cast<int>(bits<uint64_t>(top) >> 52) - 1023;
    const double unit = power_of_two(exponent - rule.fraction), per_unit = power_of_two(rule.fraction - exponent);
    double sum = cut(static_cast<double>(c), unit, per_unit);
    for (int i = 0; i < count; ++i)
        sum += cut(static_cast<double>(a[i]) * static_cast<double>(b[8 * (at ? at[i] : i)]), unit, per_unit);
    const double size = sum < 0 ? -sum : sum;
    const double kept = bits<double>(shortened(bits<uint64_t>(sum), rule));
    if (size < 0x1p-126) return static_cast<float>(cut(sum, 0x1p-149, 0x1p149));
    return static_cast<float>(size >= 0x1p128 ? sum * 0x1p300 : kept);
}

inline IntegerHalfRow half_of(const IntegerRow& row, int h) {
    return h == 0 ? __builtin_shufflevector(row, row, 0, 1, 2, 3) : __builtin_shufflevector(row, row, 4, 5, 6, 7);
}

// One step of `rows` rows of sums.
template <int rows, class Of>
[[gnu::always_inline]] inline void sum_rows(Row* sum, const float* a, const float* a_power, const float* b,
                                            const float* b_power, int k, int count, const SumRule& rule, Of of) {
    const Row* const values = reinterpret_cast<const Row*>(b);
    const Row* const powers = reinterpret_cast<const Row*>(b_power);
    IntegerRow powers_seen[rows];  // see find_powers
    for (int r = 0; r < rows; ++r) powers_seen[r] = reinterpret_cast<IntegerRow>(sum[r]) & 0x7f800000;
    for (int i = 0; i < count; ++i)
        for (int r = 0; r < rows; ++r) {
            const IntegerRow power = reinterpret_cast<IntegerRow>(a_power[r * k + i] * powers[of(r, i)]);
            powers_seen[r] = power > powers_seen[r] ? power : powers_seen[r];
        }
    Row top[rows];
    for (int r = 0; r < rows; ++r) top[r] = reinterpret_cast<Row>(powers_seen[r]);
    IntegerRow outside{};
    for (int r = 0; r < rows; ++r) {
        outside |= (top[r] > 0x1p96f) | ((top[r] < 0x1p-96f) & (sum[r] != 0));
        top[r] = top[r] > 0x1p-96f ? top[r] : Row{} + 0x1p-96f;
    }
    uint64_t any[4];
    __builtin_memcpy(any, &outside, sizeof any);
    if (__builtin_expect((any[0] | any[1] | any[2] | any[3]) != 0, 0)) {
        for (int r = 0; r < rows; ++r)
            for (int column = 0; column < 8; ++column) {
                uint8_t at[64];
                for (int i = 0; i < count; ++i) at[i] = static_cast<uint8_t>(of(r, i));
                sum[r][column] =
                    sum_one(a + r * k, a_power + r * k, b + column, b_power + column, at, count, sum[r][column], rule);
            }
        return;
    }
    Row per_unit[rows];
    IntegerRow first[rows], second[rows] = {};  // each below 2^31: 16 products of less than 2^27 do not fit
    for (int r = 0; r < rows; ++r) {
        per_unit[r] = reinterpret_cast<Row>((254 << 23) - reinterpret_cast<IntegerRow>(top[r]) + (rule.fraction << 23));
        first[r] = __builtin_convertvector(sum[r] * per_unit[r], IntegerRow);
    }
    const int half = (count + 1) / 2;
    for (int i = 0; i < half; ++i)
        for (int r = 0; r < rows; ++r)
            first[r] += __builtin_convertvector(a[r * k + i] * values[of(r, i)] * per_unit[r], IntegerRow);
    for (int i = half; i < count; ++i)
        for (int r = 0; r < rows; ++r)
            second[r] += __builtin_convertvector(a[r * k + i] * values[of(r, i)] * per_unit[r], IntegerRow);
    const int64_t below = static_cast<int64_t>((1ull << (52 - rule.result)) - 1);
    for (int r = 0; r < rows; ++r) {
        HalfRow kept[2];
        for (int h = 0; h < 2; ++h) {
            const DoubleHalfRow whole = __builtin_convertvector(half_of(first[r], h), DoubleHalfRow) +
                                        __builtin_convertvector(half_of(second[r], h), DoubleHalfRow);
            LongHalfRow shorter = reinterpret_cast<LongHalfRow>(whole) & ~below;  // see shortened
            if (rule.half) shorter |= ((reinterpret_cast<LongHalfRow>(whole) & below) != 0) & (below + 1);
            kept[h] = __builtin_convertvector(reinterpret_cast<DoubleHalfRow>(shorter), HalfRow);
        }
        sum[r] = __builtin_shufflevector(kept[0], kept[1], 0, 1, 2, 3, 4, 5, 6, 7) *
                 reinterpret_cast<Row>(reinterpret_cast<IntegerRow>(top[r]) - (rule.fraction << 23));
    }
}
inline void round_to_half(Row& row) {
    for (int i = 0; i < 8; ++i) row[i] = widen(to_half(row[i]));
}

// c[block][row][column] += a[row][k] * b[column block][k][column]. `near`: find_powers held for A and B.
inline void sum_products(const float* a, const float* a_power, const float* b, const float* b_power, float* c, int m, int n,
                         int k, bool near, const SumRule& rule) {
    for (int block = 0; block < n / 8; ++block)
        for (int r = 0; r < m; r += 4) {
            Row* const out = reinterpret_cast<Row*>(c + (block * m + r) * 8);
            Row sum[4] = {out[0], out[1], out[2], out[3]};
            for (int at = 0; at < k; at += rule.step) {
                const int count = k - at < rule.step ? k - at : rule.step;
                const int from = r * k + at, rows = (block * k + at) * 8;
                if (near)
                    sum_rows<4>(sum, a + from, a_power + from, b + rows, b_power + rows, k, count, rule,
                                [](int, int i) { return i; });
                else
                    for (int e = 0; e < 32; ++e)
                        sum[e / 8][e % 8] = sum_one(a + from + e / 8 * k, a_power + from + e / 8 * k, b + rows + e % 8,
                                                    b_power + rows + e % 8, nullptr, count, sum[e / 8][e % 8], rule);
                if (rule.half)
                    for (Row& row : sum) round_to_half(row);
            }
            for (int i = 0; i < 4; ++i) out[i] = sum[i];
        }
}

// The same, where a[row][i] meets row at[row][i] of B, which has 8 columns.
inline void sum_products_sparse(const float* a, const float* a_power, const uint8_t* at, const float* b,
                                const float* b_power, float* c, int m, int k, bool near, const SumRule& rule) {
    for (int r = 0; r < m; ++r) {
        Row sum[1] = {*reinterpret_cast<Row*>(c + r * 8)};
        for (int first = 0; first < k; first += rule.step) {
            const int count = k - first < rule.step ? k - first : rule.step, from = r * k + first;
            if (near)
                sum_rows<1>(sum, a + from, a_power + from, b, b_power, k, count, rule,
                            [=](int, int i) { return static_cast<int>(at[from + i]); });
            else
                for (int e = 0; e < 8; ++e)
                    sum[0][e] = sum_one(a + from, a_power + from, b + e, b_power + e, at + from, count, sum[0][e], rule);
            if (rule.half) round_to_half(sum[0]);
        }
        *reinterpret_cast<Row*>(c + r * 8) = sum[0];
    }
}

}  // namespace matrix
}  // namespace
}  // namespace lockstep::ptx
