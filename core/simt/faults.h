// Faults as sentences. Internal to core/simt.
#pragma once
#include <string>

#include "core/simt/plan.h"

namespace lockstep::simt {

// A fault of `warp` at `pc`, with kernel, lines, block and thread filled in. Valid until the next one on this thread.
Fault* make_fault(const Warp& warp, uint32_t pc, uint32_t lane, std::string kind, std::string message, uint64_t address = 0);

// Why lane `lane` may not access `bytes` bytes at `address` of `space` (never generic).
Fault* access_fault(const Warp& warp, uint32_t pc, uint32_t lane, ptx::Space space, uint64_t address, uint32_t bytes,
                    bool is_store, bool is_atomic);

// Of a trap instruction.
Fault* trap_fault(const Warp& warp, uint32_t pc, uint32_t mask);

Dim3 thread_index(const Warp& warp, uint32_t lane);

// "saxpy.cu:7", "line 31 of the PTX" where the source line is unknown.
std::string place_of(const ptx::Program& program, uint32_t pc);

}  // namespace lockstep::simt
