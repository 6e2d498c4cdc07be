// The executor for x86 with AVX2.
#if defined(__x86_64__)
#include <immintrin.h>

#include <cstring>
#include <optional>

#include "core/simt/check/checker_state.h"
#include "core/simt/check/faults.h"
#include "core/simt/execute/call.h"
#include "core/simt/execute/execute.h"
#include "core/simt/execute/special.h"
#include "core/simt/execute/warp_wide.h"
#include "core/simt/native/native.h"
#include "core/simt/paths/barrier.h"
#include "core/simt/paths/paths.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt")
#endif

namespace lockstep::simt::avx2 {
namespace {
using Vector512 [[gnu::vector_size(64), gnu::may_alias]] = uint64_t;
inline bool all_zero(const Vector512& v) {
    const auto* const halves = reinterpret_cast<const __m256i*>(&v);
    const __m256i either = _mm256_or_si256(halves[0], halves[1]);
    return _mm256_testz_si256(either, either);
}
// Of 16 words, or 8 of 64 bits: what stands at `from`; all ones in the lanes that are not below `limit`, as unsigned
// numbers; all ones in those that are equal. GCC compares vectors that are wider than a register one lane after the other.
template <class Lanes>
inline void take_lanes(const void* from, Lanes& to) {
    const auto* const in = static_cast<const __m256i*>(from);
    auto* const out = reinterpret_cast<__m256i*>(&to);
    out[0] = _mm256_loadu_si256(in);
    out[1] = _mm256_loadu_si256(in + 1);
}
template <class Lanes>
inline void not_below(const Lanes& a, uint32_t limit, Lanes& out) {
    static_assert(sizeof(a[0]) == 4);
    const __m256i least = _mm256_set1_epi32(static_cast<int>(limit));
    const auto* const in = reinterpret_cast<const __m256i*>(&a);
    auto* const to = reinterpret_cast<__m256i*>(&out);
    for (int k = 0; k < 2; ++k) to[k] = _mm256_cmpeq_epi32(_mm256_max_epu32(in[k], least), in[k]);
}
template <class Lanes>
inline void equal_lanes(const Lanes& a, const Lanes& b, Lanes& out) {
    const auto *const x = reinterpret_cast<const __m256i*>(&a), *const y = reinterpret_cast<const __m256i*>(&b);
    auto* const to = reinterpret_cast<__m256i*>(&out);
    for (int k = 0; k < 2; ++k) to[k] = sizeof(a[0]) == 8 ? _mm256_cmpeq_epi64(x[k], y[k]) : _mm256_cmpeq_epi32(x[k], y[k]);
}
// Whether one of the 16 words at `a`, or at `b`, is not in [begin, begin + count).
inline bool any_outside(const uint32_t* a, const uint32_t* b, uint32_t begin, uint32_t count) {
    const __m256i from = _mm256_set1_epi32(static_cast<int>(begin)), least = _mm256_set1_epi32(static_cast<int>(count));
    __m256i outside = _mm256_setzero_si256();
    for (const uint32_t* const words : {a, a + 8, b, b + 8}) {
        const __m256i at = _mm256_sub_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)), from);
        outside = _mm256_or_si256(outside, _mm256_cmpeq_epi32(_mm256_max_epu32(at, least), at));
    }
    return !_mm256_testz_si256(outside, outside);
}
inline void copy_words(void* to, const void* from) {  // 16
    const auto* const in = static_cast<const __m256i*>(from);
    auto* const out = static_cast<__m256i*>(to);
    const __m256i second = _mm256_loadu_si256(in + 1);
    _mm256_storeu_si256(out, _mm256_loadu_si256(in));
    _mm256_storeu_si256(out + 1, second);
}
inline bool blend_words(std::byte*, const std::byte*, uint32_t) {
    return false;
}
}  // namespace
}  // namespace lockstep::simt::avx2

#define LOCKSTEP_SIMD_NAME avx2
#include "core/simt/execute/execute_body.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
