// Why a resident warp did not issue in a cycle, in Nsight Compute's words. Exactly one reason a warp and cycle.
// `selected` is the state of a warp that did issue. One row a reason in stall_reason.cpp.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace lockstep {

enum class StallReason : uint8_t {
    selected,            // it issued
    not_selected,        // eligible, but the scheduler picked another warp
    long_scoreboard,     // waits for global, local or texture memory
    short_scoreboard,    // waits for shared memory, a shuffle or the special function unit
    barrier,             // waits for its siblings at a barrier
    wait,                // fixed latency of its own previous instruction
    math_pipe_throttle,  // the unit that it needs is busy
    lg_throttle,         // the local/global memory queue is full
    mio_throttle,        // the memory input/output queue is full
    branch_resolving,    // a branch target is being computed
    no_instruction,      // the next instruction is not fetched yet
    imc_miss,            // a constant that the instruction names is not in the nearest constant cache
    dispatch_stall,      // the dispatcher holds the instruction back
    drain,               // finished, but its stores are still on the way
    membar,              // waits at a memory fence
    sleeping,            // nanosleep
    count
};

struct StallRow {
    StallReason reason;
    std::string_view name;         // "long_scoreboard": JSON, tests
    std::string_view label;        // "long scoreboard": legends
    std::string_view nsight;       // "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"
    std::string_view explanation;  // one sentence for a learner
};

std::span<const StallRow> stall_reasons();  // in the enum's order
const StallRow& row_of(StallReason reason);

}  // namespace lockstep
