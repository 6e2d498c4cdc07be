// The memory that a warp sees before one of its instructions, by the replay that history.h does for registers: its block's
// shared memory, the device memory, and what the instruction is about to touch. `beside`: as WarpHistory says.
#pragma once
#include "core/simt/history/history.h"

namespace lockstep::simt {

struct AccessAt {  // of the instruction; nothing: it touches no memory
    bool any = false, is_store = false, is_atomic = false;
    bool faults = false;                  // it stops the kernel; no addresses then
    ptx::Space space = ptx::Space::none;  // resolved, never generic
    uint32_t bytes = 0;                   // of a lane, vector included
    uint32_t lanes = 0;                   // that did the work
    uint64_t addresses[warp_size] = {};   // of those lanes; shared: offset in the block
};

struct MemoryAt {
    std::vector<std::byte> shared;
    Memory global;
    AccessAt access;
};

// Before the warp's instruction number `step`; beyond its last instruction: as the warp left it, without an access. A warp
// that the launch does not have gives an empty MemoryAt.
MemoryAt memory_at(const ptx::Program&, const LaunchConfig&, const Memory& before, uint32_t block, uint32_t warp,
                   uint64_t step, bool beside = false);
// Of a block as it stands, which stays as it is: a copy takes the warp's next step to see what that touches. Of blocks of a
// cluster no access is known.
MemoryAt memory_of(const Block& block, uint32_t warp);
// The block's shared memory alone.
std::vector<std::byte> shared_at(const ptx::Program&, const LaunchConfig&, const Memory& before, uint32_t block,
                                 uint32_t warp, uint64_t step, bool beside = false);

}  // namespace lockstep::simt
