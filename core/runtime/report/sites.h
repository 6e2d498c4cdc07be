// From addresses to lines. The program's process notes from which addresses calls came; behind the run the other process
// reads its debug information, by addr2line (of binutils or LLVM) where that is there.
#pragma once
#include "core/runtime/report/report.h"

namespace lockstep::runtime {

// Gives every site its file and line, and every sentence of the report those in it. A call belongs to the first line, from
// inside to outside, that is neither a compiler's stand-in for a kernel nor in a header of the system or of CUDA. Where no
// line is found it stays unknown. Afterwards the report has no places.
void resolve_sites(Report& report);

bool is_of_system(const std::string& file);  // a header of the system, of CUDA or of ours

}  // namespace lockstep::runtime
