// racecheck and initcheck: who touched which byte when, and which bytes were ever written. The executor and the handlers
// tell of every access and of everything that orders threads; all of it is nothing while Grid::checker is null.
#pragma once
#include <vector>

#include "core/simt/warp.h"

namespace lockstep::simt {

enum class AccessKind : uint8_t { read, write, atomic };

struct Checker {
    bool racecheck = false, initcheck = false;
    std::vector<Fault> reports;
};

// The lanes in `lanes` accessed `bytes` bytes each. Addresses: global as they are; shared: offset in the block; local:
// offset in the thread's local memory.
void note_access(const Warp& warp, uint32_t pc, ptx::Space space, const uint64_t* addresses, uint32_t lanes, uint32_t bytes,
                 AccessKind kind);
// The lanes of a warp met (bar.warp.sync, a shuffle, vote or match with .sync).
void note_warp_barrier(const Warp& warp, uint32_t lanes);
// All warps that wait at barrier `number` of the block are about to go on.
void note_barrier(const Block& block, uint32_t number);

}  // namespace lockstep::simt
