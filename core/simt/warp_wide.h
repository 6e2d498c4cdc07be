// Instructions that look across lanes or warps, and the rare ones: what the executor calls out of line.
// Internal to core/simt.
#pragma once
#include "core/simt/access.h"

namespace lockstep::simt {

void special_register(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);
Fault* shuffle(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);
Fault* vote(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

// The warp's lanes in `mask`, of its running path `active`, reach a barrier. Sets `released` when nobody has to wait.
Fault* arrive(Warp& warp, uint32_t pc, uint32_t active, uint32_t mask, bool& released);

// Splits the running entry `top` (a copy of the stack's last) at a branch that the lanes `taken` take.
//
// Divergence is a stack over immediate post-dominators. The running entry becomes the reconvergence entry; the taken side
// is pushed, then the side that falls through: so the latter runs first, as the `if` side does before the `else` side in
// the published pictures. A side that begins at the reconvergence point is not pushed (its lanes are already there), and
// an entry that would only wait to be popped is dropped: so a loop never grows the stack. A branch without a
// reconvergence point replaces its entry by the two sides.
void diverge(Warp& warp, uint32_t target, uint32_t reconvergence, StackEntry& top, uint32_t taken);

// The lanes in `mask` leave for good, from every path. True when that released a barrier that others wait at.
bool leave(Warp& warp, uint32_t mask);

}  // namespace lockstep::simt
