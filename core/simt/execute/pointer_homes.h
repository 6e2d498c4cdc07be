// Through which pointer an instruction reaches memory, where that can only be one: an access that moves on from the memory
// that its pointer points into to somebody else's is told by it. Worked out when an instruction first comes to a second
// allocation, which kernels seldom do. Internal to core/simt.
#pragma once
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

// Whether an access of instruction `pc` that comes to `landed` has left the allocation that its pointer points into.
bool strays(const Grid& grid, uint32_t pc, const Allocation& landed);

}  // namespace lockstep::simt
