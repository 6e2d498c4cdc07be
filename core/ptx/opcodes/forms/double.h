// The spellings of f64 operations, each with what it does in one lane. Directed rounding is the processor's own: the mode
// changes around the loop over the lanes, and nothing of the loop may move out of it.
// Included by opcodes.cpp alone, after forms/float.h.
#pragma once
#include <cfenv>

#include "core/ptx/opcodes/arithmetic.h"
#include "core/ptx/opcodes/lanes.h"

namespace lockstep::ptx {
namespace {

inline f64 fused(f64 a, f64 b, f64 c) {
    return __builtin_fma(a, b, c);
}

template <int mode, class F>
void run_rounded(std::byte* d, const std::byte* a, const std::byte* b, const std::byte* c) {
    const int before = std::fegetround();
    std::fesetround(mode);
    __asm__ volatile("" ::: "memory");
    run<F>(d, a, b, c);
    __asm__ volatile("" ::: "memory");
    std::fesetround(before);
}
template <int mode, class F>
constexpr LaneFunction rounded(F) {
    return &run_rounded<mode, F>;
}
#define ROUNDINGS(nearest, f)                                                                                   \
    {nearest ".f64", lanes(f)}, {".rz.f64", rounded<FE_TOWARDZERO>(f)}, {".rm.f64", rounded<FE_DOWNWARD>(f)}, { \
        ".rp.f64", rounded<FE_UPWARD>(f)                                                                        \
    }
constexpr auto sum_f64 = [](f64 a, f64 b) { return canonical(a + b, b, a); };
constexpr auto difference_f64 = [](f64 a, f64 b) { return canonical(a - b, b, a); };
constexpr auto product_f64 = [](f64 a, f64 b) { return canonical(a * b, b, a); };
constexpr auto quotient_f64 = [](f64 a, f64 b) { return canonical(a / b, b, a); };
constexpr auto fused_f64 = [](f64 a, f64 b, f64 c) { return b != b ? quiet(b) : canonical(fused(a, b, c), c, a); };
constexpr auto reciprocal_f64 = [](f64 a) { return canonical(1.0 / a, a); };
constexpr auto root_f64 = [](f64 a) { return canonical(__builtin_sqrt(a), a); };
constexpr Form add_f64[] = {ROUNDINGS("{.rn}", sum_f64)};
constexpr Form sub_f64[] = {ROUNDINGS("{.rn}", difference_f64)};
constexpr Form mul_f64[] = {ROUNDINGS("{.rn}", product_f64)};
constexpr Form div_f64[] = {ROUNDINGS(".rn", quotient_f64)};
constexpr Form fma_f64[] = {ROUNDINGS(".rn", fused_f64)};
constexpr Form sqrt_f64[] = {ROUNDINGS(".rn", root_f64)};

// The gross approximations see and give the upper 32 bits alone, subnormals as zeros.
inline f64 flush(f64 x) {
    const u64 u = bits<u64>(x);
    return bits<f64>((u & 0x7ff0000000000000ull) ? u : u & 0x8000000000000000ull);
}
inline f64 upper(f64 x) {
    return flush(bits<f64>(bits<u64>(x) & 0xffffffff00000000ull));
}
inline f64 rounded_upper(f64 x) {
    const f64 r = bits<f64>((bits<u64>(x) + (x - x == 0 ? 0x80000000ull : 0ull)) & 0xffffffff00000000ull);
    return canonical(flush(x != x ? x : r));
}
constexpr Form rcp_f64[] = {ROUNDINGS(".rn", reciprocal_f64),
                            {".approx.ftz.f64", lanes([](f64 a) { return rounded_upper(1.0 / upper(a)); })}};
constexpr Form rsqrt_f64[] = {
    {".approx.f64", lanes([](f64 a) { return canonical(1.0 / __builtin_sqrt(a)); })},
    {".approx.ftz.f64", lanes([](f64 a) { return rounded_upper(1.0 / __builtin_sqrt(upper(a))); })}};
constexpr Form neg_f64[] = {
    {".f64", lanes([](f64 a) { return a != a ? quiet(a) : bits<f64>(bits<u64>(a) ^ 0x8000000000000000ull); })}};
constexpr Form abs_f64[] = {{".f64", lanes([](f64 a) { return a != a ? quiet(a) : absolute(a); })}};
constexpr Form min_f64[] = {{".f64", lanes([](f64 a, f64 b) { return canonical(least<u64>(a, b), a); })}};
constexpr Form max_f64[] = {{".f64", lanes([](f64 a, f64 b) { return canonical(greatest<u64>(a, b), a); })}};
#undef ROUNDINGS

}  // namespace
}  // namespace lockstep::ptx
