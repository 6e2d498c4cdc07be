#include "core/trace/stall_reason.h"

#include <array>

namespace lockstep {
namespace {

#define NSIGHT(name) "smsp__average_warps_issue_stalled_" name "_per_issue_active.ratio"
// Names: Nsight Compute's warp state list. Explanations: ours.
constexpr std::array<StallRow, static_cast<size_t>(StallReason::count)> rows = {{
    {StallReason::selected, "selected", "issued", NSIGHT("selected"),
     "The scheduler picked this warp and issued its instruction."},
    {StallReason::not_selected, "not_selected", "eligible, not selected", NSIGHT("not_selected"),
     "The warp could have issued, but its scheduler picked another one: nothing is lost."},
    {StallReason::long_scoreboard, "long_scoreboard", "long scoreboard", NSIGHT("long_scoreboard"),
     "The warp needs a value that is still on its way from global or local memory."},
    {StallReason::short_scoreboard, "short_scoreboard", "short scoreboard", NSIGHT("short_scoreboard"),
     "The warp needs a value that is still on its way from shared memory, a shuffle or the special function unit."},
    {StallReason::barrier, "barrier", "barrier", NSIGHT("barrier"),
     "The warp waits at a barrier for the other warps of its block."},
    {StallReason::wait, "wait", "wait", NSIGHT("wait"),
     "The warp waits for the fixed latency of an instruction of its own."},
    {StallReason::math_pipe_throttle, "math_pipe_throttle", "math pipe throttle", NSIGHT("math_pipe_throttle"),
     "The arithmetic unit that the instruction needs is still taken by an earlier one."},
    {StallReason::lg_throttle, "lg_throttle", "LG throttle", NSIGHT("lg_throttle"),
     "The queue for local and global memory instructions is full."},
    {StallReason::mio_throttle, "mio_throttle", "MIO throttle", NSIGHT("mio_throttle"),
     "The queue for shared memory, shuffles and special functions is full."},
    {StallReason::branch_resolving, "branch_resolving", "branch resolving", NSIGHT("branch_resolving"),
     "The warp waits until its branch target is known."},
    {StallReason::no_instruction, "no_instruction", "no instruction", NSIGHT("no_instruction"),
     "The warp's next instruction has not been fetched yet."},
    {StallReason::imc_miss, "imc_miss", "IMC miss", NSIGHT("imc_miss"),
     "The constant that an instruction names is not in the nearest constant cache."},
    {StallReason::dispatch_stall, "dispatch_stall", "dispatch stall", NSIGHT("dispatch_stall"),
     "The dispatcher holds the instruction back: the register file is still read for an earlier one."},
    {StallReason::drain, "drain", "drain", NSIGHT("drain"), "The warp has finished, but its stores have not left yet."},
    {StallReason::membar, "membar", "memory barrier", NSIGHT("membar"), "The warp waits at a memory fence."},
    {StallReason::sleeping, "sleeping", "sleeping", NSIGHT("sleeping"), "The warp asked to sleep."},
}};
#undef NSIGHT

}  // namespace

std::span<const StallRow> stall_reasons() {
    return rows;
}
const StallRow& row_of(StallReason reason) {
    return rows[static_cast<size_t>(reason)];
}

}  // namespace lockstep
