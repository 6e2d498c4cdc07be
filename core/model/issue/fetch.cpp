// Instruction fetch: each sub-core has a small cache of instructions (L0), the SM a larger one (L1), and behind that is L2.
// A sub-core that comes to a line asks for the lines behind it too, so straight code streams in and waits only where it
// begins, where a branch goes to code that is not there, and where the body of a loop does not fit. The ports never
// conflict, and L2 always has the code: the upload of the kernel has put it there.
#include "core/model/issue/sm.h"

namespace lockstep::model {

// The cycle at which a line that L0 asks for at `now` is there.
int64_t Sm::line_from_l1(uint32_t line, int64_t now) {
    if (const int64_t* arrives = code_.find(line)) return std::max(*arrives, now + gpu_.l1_code_latency);
    const int64_t arrives = now + std::max<int64_t>(gpu_.l2_latency, gpu_.l1_code_latency);
    code_.put(line, arrives);
    return arrives;
}

int64_t Sm::fetch(SubCore& core, uint32_t pc, int64_t now) {
    if (state_.memory->ideal().fetched) return now;
    const uint32_t line = pc >> state_.code_shift, last = last_pc_ >> state_.code_shift;
    const int64_t* const here = core.code.find(line);
    const int64_t arrives = here != nullptr ? *here : line_from_l1(line, now);
    const uint32_t ahead = gpu_.code_prefetch;
    if (here == nullptr) core.code.put(line, arrives);
    // What follows a line that was here has been asked for already, but for the last of it.
    for (uint32_t k = here == nullptr ? 1 : ahead; k <= ahead && line + k <= last; ++k)
        if (core.code.find(line + k) == nullptr) core.code.put(line + k, line_from_l1(line + k, now) + k);
    return arrives;
}

}  // namespace lockstep::model
