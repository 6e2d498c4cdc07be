// The executor for any machine.
#include <cstring>
#include <optional>

#include "core/simt/barrier.h"
#include "core/simt/call.h"
#include "core/simt/checker_state.h"
#include "core/simt/execute.h"
#include "core/simt/faults.h"
#include "core/simt/paths.h"
#include "core/simt/special.h"
#include "core/simt/warp_wide.h"

namespace lockstep::simt::portable {
namespace {
using Vector512 [[gnu::vector_size(64), gnu::may_alias]] = uint64_t;
inline bool all_zero(const Vector512& v) {
    return (v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]) == 0;
}
inline bool blend_words(std::byte*, const std::byte*, uint32_t) {
    return false;
}
}  // namespace
}  // namespace lockstep::simt::portable

#define LOCKSTEP_SIMD_NAME portable
#include "core/simt/execute_body.h"
