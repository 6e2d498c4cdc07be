// Where a launch spins that does not end: the widest loop that closes again and again while the warp runs on a little.
#include <algorithm>
#include <vector>

#include "core/simt/async/async_work.h"
#include "core/simt/check/faults.h"
#include "core/simt/paths/causes.h"

namespace lockstep::simt {

Fault runaway_fault(Warp& warp, uint64_t executed) {
    const uint64_t sample = std::min<uint64_t>(20'000, executed);  // instructions watched
    const ptx::Program& program = *warp.block->grid->program;
    const auto lane = static_cast<uint32_t>(__builtin_ctz(~warp.exited | 0x80000000u));  // the last may leave while watched
    std::vector<uint32_t> seen(program.instructions.size() + 1);
    std::vector<uint32_t> closed(seen.size());  // backward jumps, by the branch
    for (uint64_t i = 0; i < sample && !warp.done && !warp.at_barrier; ++i) {
        const WarpEvent event = step(warp);
        if (event.kind == WarpEvent::Kind::fault) break;
        ++seen[event.pc];
        const bool backward = event.instruction && event.kind == WarpEvent::Kind::branch && event.executed &&
                              event.instruction->target <= event.pc;
        if (backward) ++closed[event.pc];
    }
    auto spot = static_cast<uint32_t>(std::max_element(seen.begin(), seen.end()) - seen.begin());
    uint32_t widest = 0;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        if (closed[pc] < 2) continue;
        const uint32_t width = pc - program.instructions[pc].target + 1;
        if (width > widest) {
            widest = width;
            spot = pc;
        }
    }
    if (const Fault* fault = stack_deadlock(warp)) return *fault;
    const std::string waits = mbarrier_wait_of(warp);
    const Cause cause = widest && waits.empty() ? cause_of_runaway(warp, spot, lane) : Cause{};
    Fault* const fault = make_fault(warp, spot, lane, "runaway",
                                    "the kernel still ran after " + std::to_string(executed) + " warp instructions; it " +
                                        (widest ? "spun on " : "was on ") + place_of(program, spot) + waits + cause.words);
    fault->advice = cause.advice;
    return *fault;
}

}  // namespace lockstep::simt
