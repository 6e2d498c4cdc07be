// A KernelTrace as a table for spreadsheets and scripts: one row an issue or a wait, warp after warp, in order of time.
#pragma once
#include <functional>
#include <iosfwd>
#include <string>

#include "core/trace/kernel_trace.h"
#include "core/trace/trace.h"

namespace lockstep {

// A header row names the columns and their units; cells that do not apply are empty. `name_of` gives an instruction's text.
void write_csv(const KernelTrace& trace, std::ostream& out, const std::function<std::string(uint32_t pc)>& name_of = {});

// A timeline: one row a span; times in the trace's own unit.
void write_csv(const Trace& trace, std::ostream& out);

}  // namespace lockstep
