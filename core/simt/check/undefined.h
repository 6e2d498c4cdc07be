// Values that nobody gave: a shuffle that reads from a lane which is not among those that shuffle. Such a value is told of
// when it is used: stored, added to memory, branched on or taken for an address; a lane that throws it away is right.
// Internal to core/simt.
#pragma once
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

// A shuffle by the lanes `mask`, before its results are written: lane k takes what lane from[k] has, where bit k of `valid`
// is set, else its own.
void note_shuffle(Warp& warp, uint32_t pc, uint32_t mask, const int* from, uint32_t valid);

// While SpinWatch::undefined holds: what the instruction at `pc`, which the lanes `mask` have run, does to such values.
void follow_undefined(Warp& warp, uint32_t pc, uint32_t mask);

}  // namespace lockstep::simt
