// Where the address of a wrong access came from, in words: which pointer, which index, how the index came to be, and what
// most likely mends it. Worked out when the fault happens, from the program and the registers of the lane. Internal to
// core/simt.
#pragma once
#include <string>

#include "core/simt/execute/plan.h"

namespace lockstep::simt {

struct Provenance {
    std::string reason;      // goes on behind "invalid global write of 4 bytes"; "": nothing is known beyond the address
    std::string advice;      // full sentences, or ""
    std::string allocation;  // that the pointer points into, or the shared variable
    uint64_t offset = 0;     // of the address from its beginning; wraps below it
};

struct WrongAccess {
    ptx::Space space = ptx::Space::global;  // resolved; shared and local addresses are offsets
    uint64_t address = 0;
    uint32_t bytes = 0;
    bool is_store = false;
};

// Requires that `lane` of `warp` is in front of instruction `pc`, whose access is wrong.
Provenance provenance_of(const Warp& warp, uint32_t pc, uint32_t lane, const WrongAccess& access);

// Of an address that is not a multiple of the access's bytes.
Provenance provenance_of_misaligned(const Warp& warp, uint32_t pc, uint32_t lane, const WrongAccess& access);

}  // namespace lockstep::simt
