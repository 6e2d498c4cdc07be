// Traces as short text, one event a line, for golden files and for reading in a terminal.
#pragma once
#include <string>

#include "core/trace/kernel_trace.h"
#include "core/trace/trace.h"

namespace lockstep {

// "track 0 host", "span 0 10..20 matmul", "counter 1 15 3.5", "arrow 0 -> 1".
std::string format_text(const Trace& trace);

// "block 3 sm 1 slot 0 0..120"; for each warp its slot and scheduler and, in order of time, "12 issue pc 4 lanes 32" and
// "13..40 long_scoreboard pc 5 <- pc 4". At most `warps` warps.
std::string format_text(const KernelTrace& trace, size_t warps = SIZE_MAX);

}  // namespace lockstep
