// The executor for x86 with AVX-512.
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
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl"))), \
                             apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl")
#endif

namespace lockstep::simt::avx512 {
namespace {
using Vector512 [[gnu::vector_size(64), gnu::may_alias]] = uint64_t;
inline bool all_zero(const Vector512& v) {
    const auto& whole = reinterpret_cast<const __m512i&>(v);
    return _mm512_test_epi64_mask(whole, whole) == 0;
}
// Of 16 words, or 8 of 64 bits: what stands at `from`; all ones in the lanes that are not below `limit`, as unsigned
// numbers; all ones in those that are equal.
template <class Lanes>
inline void take_lanes(const void* from, Lanes& to) {
    std::memcpy(&to, from, sizeof to);
}
template <class Lanes>
inline void not_below(const Lanes& a, uint32_t limit, Lanes& out) {
    out = reinterpret_cast<Lanes>(a >= limit);
}
template <class Lanes>
inline void equal_lanes(const Lanes& a, const Lanes& b, Lanes& out) {
    out = reinterpret_cast<Lanes>(a == b);
}
// Whether one of the 16 words at `a`, or at `b`, is not in [begin, begin + count).
inline bool any_outside(const uint32_t* a, const uint32_t* b, uint32_t begin, uint32_t count) {
    using Words [[gnu::vector_size(64), gnu::may_alias]] = uint32_t;
    Words first, second;
    take_lanes(a, first);
    take_lanes(b, second);
    const auto outside = (first - begin >= count) | (second - begin >= count);
    return !all_zero(reinterpret_cast<const Vector512&>(outside));
}
inline void copy_words(void* to, const void* from) {  // 16
    std::memcpy(to, from, 64);
}
// The 32-bit words of `s` into the lanes of `mask`; false: not by this instruction set.
inline bool blend_words(std::byte* d, const std::byte* s, uint32_t mask) {
    for (uint32_t h = 0; h < 2; ++h) {
        const __m512i from = _mm512_loadu_si512(s + h * 64), to = _mm512_loadu_si512(d + h * 64);
        _mm512_storeu_si512(d + h * 64, _mm512_mask_blend_epi32(static_cast<__mmask16>(mask >> h * 16), to, from));
    }
    return true;
}
}  // namespace
}  // namespace lockstep::simt::avx512

#define LOCKSTEP_SIMD_NAME avx512
#include "core/simt/execute/execute_body.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif
