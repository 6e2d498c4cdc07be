// Why a wait cannot end, as far as it can be told: a loop whose condition the compiler has read once, a lock that nobody
// gives back, blocks that cannot start. Internal to core/simt.
#pragma once
#include "core/simt/warp.h"

namespace lockstep::simt {

struct Cause {
    std::string words;   // behind a fault's message: "; lane 0 of warp 0 ..."; "" where nothing is known
    std::string advice;  // of Fault::advice
};

Cause cause_of_waits(const Block& block, const FindBlock& find);

// Of a loop that reads nothing, at whose instruction `pc` lanes of the warp stand: what was read in front of it.
Cause cause_of_endless_loop(const Warp& warp, uint32_t pc);

// Of a warp that goes round without a change and stands at `pc`: what the loop's condition compares.
Cause cause_of_condition(const Warp& warp, uint32_t pc);
// Of a loop that goes round and round and closes with the branch at `branch`: what its condition compares, and whether that
// changes. Runs the warp on for some rounds.
Cause cause_of_runaway(Warp& warp, uint32_t branch, uint32_t lane);

}  // namespace lockstep::simt
