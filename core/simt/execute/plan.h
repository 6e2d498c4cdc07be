// A program prepared for the executor, once a launch: of each instruction just what running it needs, in one cache line,
// with variable addresses folded into the offsets and the constants where vector instructions want them.
// Internal to core/simt.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/ptx/analyse/packing.h"
#include "core/simt/warp.h"

namespace lockstep::simt {

// What the executor's loop switches on.
enum class Code : uint8_t {
    lane_wise,
    lane_wise_many,
    special_register,
    load_global,  // also generic addresses that turn out to be global
    load_shared,
    load_param,  // at a fixed offset
    load_any,    // local, constant, param at a computed offset, 1- and 2-byte and vector accesses
    store_global,
    store_shared,
    store_any,
    atomic,
    branch,
    branch_table,
    call,
    return_,
    exit,
    barrier,
    warp_barrier,
    shuffle,
    vote,
    nop,
    trap,
    special,  // by Prepared::handler, out of line: see special.h
};

// Who can tell when an instruction runs. Its own warp only: run_ahead takes it; other warps of the block too, if they race
// with it through shared memory: run_ahead takes it where AheadCosts says so.
enum class Ahead : uint8_t { own, shared, never };

struct Special;
using Handler = Fault* (*)(Special&);

struct alignas(64) Prepared {
    Code code = Code::exit;
    ptx::Space space = ptx::Space::none;
    uint8_t register_bytes = 0;  // a lane of the destination or of a store's source; 0: a predicate
    uint8_t element_bytes = 0;   // memory: in memory
    uint8_t vector = 1;          // memory: elements a lane
    bool sign_extends = false;   // memory: a load of s8, s16, s32
    bool wide_address = true;    // memory: the base register has 8 bytes, not 4
    uint8_t shape = 0;           // memory: where the loop keeps the base register's pattern, see mark_shapes; 0: nowhere
    int32_t guard = ptx::no_operand;
    uint32_t guard_flip = 0;  // all ones for @!p
    int32_t d = ptx::no_operand, a = ptx::no_operand, b = ptx::no_operand, c = ptx::no_operand;
    int32_t address = ptx::no_operand;
    uint32_t target = ptx::no_pc;
    uint32_t reconvergence = ptx::no_pc;
    Ahead ahead = Ahead::never;
    uint8_t straight = 0;  // so many instructions from here on are plain ones, and no path meets another in front of the
                           // one behind them; see mark_straight
    int64_t offset = 0;
    union {
        ptx::LaneFunction lanes = nullptr;
        Handler handler;  // of Code::special
    };
    uint32_t access_bytes() const { return uint32_t{element_bytes} * vector; }
};

constexpr uint8_t shape_slots = 4;
constexpr uint8_t shape_known = 0x80;  // in Prepared::shape: an earlier access of the same basic block has found it

struct PointerHome {         // of an instruction; both -1: its address may be made of several pointers, or of none
    int32_t parameter = -1;  // byte of the parameter block that holds the pointer, or
    int32_t variable = -1;   // index into Program::variables, whose address it is
};

struct Plan {
    const ptx::Program* program = nullptr;
    std::vector<Prepared> steps;  // one an instruction, and an exit behind the last
    std::vector<uint64_t> variables;
    bool counted_barriers = false;  // some barrier says how many threads it waits for
    bool barriers_alike = true;     // all are bar.sync of one number for the whole block: arrivals can run ahead
    std::unique_ptr<std::byte[]> storage;
    const std::byte* constants = nullptr;         // 64-byte aligned copy of Program::constants
    std::shared_ptr<const ptx::Packing> packing;  // `program` is that one's; null: registers are as decoded
    mutable std::once_flag homes_known;           // see pointer_homes.h
    mutable std::vector<PointerHome> homes;
};

std::shared_ptr<Plan> make_plan(const ptx::Program&, const std::vector<uint64_t>& variables);

// Where values are followed through registers: the program with a register for each.
inline const ptx::Program& decoded_of(const Grid& grid) {
    return grid.plan && grid.plan->packing ? *grid.plan->packing->decoded : *grid.program;
}

}  // namespace lockstep::simt
