// What D1 says in words: captions, titles, why an SM is empty.
#pragma once
#include <string>
#include <utility>

#include "app/gui/views/sm/warp_facts.h"
#include "app/gui/views/timeline/timeline_data.h"

namespace lockstep::gui {

// "266 of 432 issue slots used, 0.62 per scheduler and cycle. At 4,870 12 of 32 warps wait for global memory."
// `cut`: the numbers are of a part of the window, the trace keeps no more.
std::string caption_of(const Timeline& timeline, const WindowSums& sums, const Focus& focus, int64_t hidden_from, bool whole,
                       bool cut);
// The cycles that the numbers are of: those in view, or all; of a trace that was cut, those of them that it has in full.
std::pair<int64_t, int64_t> span_of(int64_t begin, int64_t end, const Timeline& timeline);
// "32 warp slots": those with a warp in the window, whose cycles the shares are of.
std::string slots_of(const WindowSums& sums);
// "427 of the 432 cycles from its issue to its value": of a stall for the value of an instruction that took longer.
std::string length_of(const StallRun& stall, const Wait& wait);
// Blocks ran, none of them on the SM that was traced.
bool idle_sm(const Snapshot& snapshot);
std::string nothing_of(const Snapshot& snapshot);
// "SM 0 had its last block until 1,393; SM 3 still runs.": of cycles in which the traced SM holds no block.
std::string idle_text(const KernelTrace& trace, int64_t begin, int64_t end);

}  // namespace lockstep::gui
