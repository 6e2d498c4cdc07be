// One warp's whole run, instruction by instruction, by functional replay from the memory that the launch began with.
// This is what the divergence view (D2), the register watch and stepping backwards read.
#pragma once
#include <memory>
#include <vector>

#include "core/simt/warp.h"

namespace lockstep::simt {

struct WarpStep {
    uint32_t pc = 0;
    uint32_t active = 0;            // lanes of the running path
    uint32_t executed = 0;          // lanes that did the work
    uint32_t exited = 0;            // lanes gone before this instruction
    std::vector<StackEntry> stack;  // before the instruction; the last entry runs
};

struct WarpHistory {
    uint32_t block = 0;
    uint32_t warp_in_block = 0;
    std::vector<WarpStep> steps;  // at most `limit`
    bool truncated = false;
    std::optional<Fault> fault;
};

WarpHistory record_warp(const ptx::Program&, const LaunchConfig&, const Memory& before, uint32_t block, uint32_t warp,
                        uint64_t limit = 100'000);

// The value that one register has in 32 lanes before the warp's instruction number `step`.
struct LaneValues {
    ptx::Register reg;
    uint64_t bits[32] = {};  // little-endian bits of the lane's value; a predicate is 0 or 1
};
// Those of a warp as it stands: the registers of the running path's function.
std::vector<LaneValues> lane_values(const Warp& warp);
std::vector<LaneValues> registers_at(const ptx::Program&, const LaunchConfig&, const Memory& before, uint32_t block,
                                     uint32_t warp, uint64_t step);

}  // namespace lockstep::simt
