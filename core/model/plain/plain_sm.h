// The model of a streaming multiprocessor as the drawing has it, to be read before the fast one. Every cycle it looks at
// every warp, asks why that warp cannot issue, lets each scheduler choose, and takes the chosen instruction through the
// stages, a function each. Nothing is skipped, kept in advance or run ahead.
//
//   plain_launch -> PlainSm::tick -> start_blocks, then of each sub-core:
//     state_of (fetched? decode, scoreboard, pipe) -> choose -> issue:
//       execute -> read_operands | access_memory -> write_back -> fold -> fetch -> find_wait
//
// Sm (issue/sm.h) is the fast form of the same rules. Both use the same tables of timing and the same memory side, and their
// cycles and reasons have to be the same: tests/model/plain_sm_test.cpp.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "core/model/launch/launch.h"

namespace lockstep::model {

struct PlainCycle {  // what a warp did in one cycle
    StallReason reason = StallReason::selected;
    uint32_t pc = 0;     // the instruction that issued, or that waits
    int64_t cause = -1;  // the number of the issue on this SM that it waits for; -1: it waits for none
    bool operator==(const PlainCycle&) const = default;
};
struct PlainTrack {  // the life of one warp
    uint32_t block = 0, warp_in_block = 0, slot = 0;
    int64_t begin = 0;
    std::vector<PlainCycle> cycles = {};  // one entry a cycle, the first one for cycle `begin`
};
struct PlainResult {
    int64_t cycles = 0;
    std::optional<simt::Fault> fault;
    std::vector<PlainTrack> warps;    // of SM TimedOptions::traced_sm, in the order in which they began
    std::vector<IssueRecord> issues;  // of that SM; the place of an issue is its number
    // By pc: the cycles that warps of all SMs spent in each state in front of that instruction.
    std::vector<std::array<uint64_t, static_cast<size_t>(StallReason::count)>> states;
};

// The same launch as model::launch(). Of the options it knows those that change what happens, and `traced_sm`. It takes no
// clusters, and a kernel whose warps spin for ever has to be bounded by `max_instructions`.
PlainResult plain_launch(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory& device_memory,
                         const TimedOptions& = {});

}  // namespace lockstep::model
