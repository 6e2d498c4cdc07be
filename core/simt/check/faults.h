// Faults as sentences. Internal to core/simt.
#pragma once
#include <string>

#include "core/simt/execute/plan.h"

namespace lockstep::simt {

std::string hex(uint64_t value);         // "0x7f00"
std::string bytes_text(uint64_t n);      // "1 byte", "8 bytes"
std::string triple(const Dim3& extent);  // "(1,0,0)"

// A fault of `warp` at `pc`, with kernel, lines, block and thread filled in. Valid until the next one on this thread.
Fault* make_fault(const Warp& warp, uint32_t pc, uint32_t lane, std::string kind, std::string message, uint64_t address = 0);

// Why lane `lane` may not access `bytes` bytes at `address` of `space` (never generic).
Fault* access_fault(const Warp& warp, uint32_t pc, uint32_t lane, ptx::Space space, uint64_t address, uint32_t bytes,
                    bool is_store, bool is_atomic);

// Of a warp none of whose paths can go on, each of which waits for others: who waits for whom.
Fault* deadlock_of(const Warp& warp);

// On a warp with a stack, when lanes of it spin for others that wait for them below on the stack: found to be that by
// running copies with independent threads. Null for all else.
Fault* stack_deadlock(const Warp& warp);

// Of a trap instruction.
Fault* trap_fault(Warp& warp, uint32_t pc, uint32_t mask);

// The place of an instruction: its CUDA line, or that of the PTX where the former is unknown (line 0).
void locate_fault(const ptx::Program& program, uint32_t pc, std::string& file, int32_t& line, int32_t& ptx_line);

// The shared variable that holds the offset, which becomes one in the variable; "" where there is none.
std::string shared_variable_at(const Block& block, uint64_t& offset);
// "tile" for _ZZ6matmulPKfE4tile; what is not mangled stays.
std::string readable_variable(const std::string& name);

Dim3 thread_index(const Warp& warp, uint32_t lane);

// "saxpy.cu:7", "line 31 of the PTX" where the source line is unknown.
std::string place_of(const ptx::Program& program, uint32_t pc);

}  // namespace lockstep::simt
