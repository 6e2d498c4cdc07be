// The executor for any machine.
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

namespace lockstep::simt::portable {
namespace {
using Vector512 [[gnu::vector_size(64), gnu::may_alias]] = uint64_t;
inline bool all_zero(const Vector512& v) {
    return (v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]) == 0;
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
inline bool blend_words(std::byte*, const std::byte*, uint32_t) {
    return false;
}
}  // namespace
}  // namespace lockstep::simt::portable

#define LOCKSTEP_SIMD_NAME portable
#include "core/simt/execute/execute_body.h"
