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
