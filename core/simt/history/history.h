// One warp's whole run, instruction by instruction, by functional replay (rerun.h) from the memory that the launch began
// with. This is what the divergence view (D2), the memory pictures (D3, D4), the register watch and stepping backwards read.
#pragma once
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "core/simt/warp.h"

namespace lockstep::simt {

inline constexpr uint64_t other_warps_limit = 100'000'000;  // instructions of a block's other warps, run to record one

struct WarpStep {
    uint32_t pc = 0;
    uint32_t active = 0;            // lanes of the running path
    uint32_t executed = 0;          // lanes that did the work
    uint32_t exited = 0;            // lanes gone before this instruction
    std::vector<StackEntry> stack;  // before the instruction; the last entry runs
    uint64_t numbers = 0;           // of the paths in the stack, 4 bits each from the bottom; see number_paths

    // A path keeps its number for as long as it lives. 0: the bottom. Of two that part, the one that holds their lowest lane
    // has an even number, the other an odd one. Where none was given, the place in the stack.
    size_t number(size_t place) const {
        const size_t given = place < 16 ? numbers >> (4 * place) & 15 : 0;
        return given > 0 ? given : place;
    }
};

struct WarpAccess {     // what one instruction of the history touched
    uint64_t step = 0;  // of the history
    uint32_t pc = 0;
    uint32_t lanes = 0;                   // that did the work
    uint32_t bytes = 0;                   // of a lane, vector included
    ptx::Space space = ptx::Space::none;  // resolved, never generic
    bool is_store = false, is_atomic = false;
    uint64_t addresses[warp_size] = {};  // of those lanes; shared: offset in the block
};

struct WarpHistory {
    static constexpr size_t most_accesses = 20'000;  // about 6 MB
    static constexpr uint64_t most_steps = 100'000;
    uint32_t block = 0;
    uint32_t warp_in_block = 0;
    bool beside = false;               // the block waits for others of the grid: it ran beside them
    std::vector<WarpStep> steps;       // at most `limit`
    std::vector<WarpAccess> accesses;  // by step: the first `most_accesses`, without parameters and constants
    bool truncated = false;
    bool stopped = false;  // by the token: the rest is missing
    std::optional<Fault> fault;
    std::vector<uint64_t> replayed;  // of each step: its number in the replay; empty: its own number
    uint64_t in_replay(uint64_t step) const {
        return replayed.empty() ? step : step < replayed.size() ? replayed[step] : replayed.back() + 1;
    }
};

// Gives the paths of all steps their numbers, the lowest that no other path in the stack has.
void number_paths(WarpHistory& history);

WarpHistory record_warp(const ptx::Program&, const LaunchConfig&, const Memory& before, uint32_t block, uint32_t warp,
                        uint64_t limit = WarpHistory::most_steps, const std::stop_token& stop = {});

// Makes the history that of another run of the same warp, the timed one, whose instructions are `pcs`, from its first on.
// Where a warp waits in a loop, for an mbarrier or another warp's word, it goes round more often or less often there: such
// turns are repeated or left out. A run that took another path leaves the history as it is.
void follow(WarpHistory& history, std::span<const uint32_t> pcs);

// The value that one register has in 32 lanes before the warp's instruction number `step` of the replay, `beside` other
// blocks or not: as WarpHistory says.
struct LaneValues {
    ptx::Register reg;
    uint64_t bits[32] = {};  // little-endian bits of the lane's value; a predicate is 0 or 1
};
// Those of a warp as it stands: the registers of the running path's function.
std::vector<LaneValues> lane_values(const Warp& warp);
std::vector<LaneValues> registers_at(const ptx::Program&, const LaunchConfig&, const Memory& before, uint32_t block,
                                     uint32_t warp, uint64_t step, bool beside = false);

}  // namespace lockstep::simt
