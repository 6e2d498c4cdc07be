// Instructions that look across the lanes of a warp, and the rare ones: what the executor calls out of line.
// Internal to core/simt.
#pragma once
#include "core/simt/memory/access.h"

namespace lockstep::simt {

void special_register(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

// May return must_wait, see paths.h.
Fault* shuffle(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);
Fault* vote(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

// What they do, once all that take part are here.
void shuffle_lanes(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);
void vote_lanes(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

}  // namespace lockstep::simt
