// Traces as JSON in the "trace event" format, which ui.perfetto.dev and chrome://tracing open. Written event by event, so
// a trace of millions of issues needs no memory of its own.
#pragma once
#include <functional>
#include <iosfwd>
#include <string>

#include "core/trace/kernel_trace.h"
#include "core/trace/trace.h"

namespace lockstep {

// A top-level track becomes a process, the tracks below it its threads. Times in ns; of a Trace whose time_unit is
// anything else, one unit is shown as one microsecond.
void write_perfetto(const Trace& trace, std::ostream& out);

// Three processes: the warp slots of the traced SM, with every issue, every wait and an arrow from what is waited for to the
// instruction that waited; how many warps are in which state, as counters; and the blocks of all SMs. On every track the
// events are in order of time and lie within one another or apart. One cycle is shown as one microsecond. `name_of` gives an
// instruction's text; without it, instructions are called by their number.
void write_perfetto(const KernelTrace& trace, const std::string& kernel, std::ostream& out,
                    const std::function<std::string(uint32_t pc)>& name_of = {});

}  // namespace lockstep
