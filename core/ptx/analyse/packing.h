// The program with its registers packed: PTX gives nearly every value a register of its own, and most of them are dead most
// of the time. Here registers whose values never meet share a place, so that a warp takes a quarter of the host's memory.
//
//   fma.rn.f32 %f7, %f5, %f6, %f4;      %f4 to %f6 are read here for the last time: %f7 and what comes behind it lie in
//   ld.shared.f32 %f8, [%r9+64];        their places
//
// What is live is so for each thread on its own, and each lane has its own bytes of a place: a lane that has not yet come
// to where a register dies keeps it, whatever other lanes write. That holds as long as a place keeps one width (32 lanes of
// 4 bytes cut it up in another way than 32 of 8, or 32 bits), and for registers that no lane reads of another one: those
// that a shuffle, a vote or a matrix product takes keep places of their own.
//
// A dead register cannot be looked at any more. So only launches run this way that nobody looks into, and what needs a
// register's old value (the words of a fault, a warp that may spin) has the launch run again as it was decoded.
#pragma once
#include <memory>

#include "core/ptx/decode/program.h"

namespace lockstep::ptx {

struct Packing {
    struct Place {
        int32_t offset = 0;      // in the warp's registers
        uint8_t lane_bytes = 0;  // 0: a predicate
    };
    const Program* decoded = nullptr;  // the program as it was: whoever follows values through registers does it there
    Program program;                   // what runs: `decoded` with other offsets, and without the registers' names
    std::vector<Place> places;
    size_t words = 0;            // of a pc in `live`
    std::vector<uint64_t> live;  // a bit for each place: it holds what is read later, in front of the instruction

    bool is_live(uint32_t pc, size_t place) const {
        return pc < program.instructions.size() && (live[pc * words + place / 64] >> place % 64 & 1) != 0;
    }
};

// Null where it cannot be told: of programs with functions, or too many registers; and where old values count: of those that
// print or launch, whose warps may wait for one another in loops, or that shuffle, as what a shuffle takes from a lane that
// is not there is followed from register to register. `program` has to stay.
std::shared_ptr<const Packing> pack_registers(const Program& program);

}  // namespace lockstep::ptx
