// The plain way to memory, one lane at a time: every space, every width, every check. The executor's fast paths fall back
// to it, and it alone reports faults. Internal to core/simt.
#pragma once
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

struct Access {                           // of one warp instruction
    ptx::Space space = ptx::Space::none;  // resolved, by the first lane that takes part
    alignas(64) uint64_t addresses[warp_size] = {};
    std::byte* pointers[warp_size] = {};  // of lanes that take part, once resolved
};

// Fills `space` and `addresses`; true when all lanes are in `space`.
bool locate(const Warp& warp, const Prepared& p, uint32_t mask, Access& access);

// The address that one lane accesses: of shared memory an offset in the block (or an address of shared::cluster), of local
// memory an offset in the thread's. Sets `space`, which is never generic.
uint64_t lane_access(const Warp& warp, const Prepared& p, uint32_t lane, ptx::Space& space);

// The same and `pointers`; the fault of the first lane that may not, or null.
Fault* resolve(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, bool is_store, bool is_atomic, Access& access);

Fault* load_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access);
Fault* store_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access);
Fault* atomic_by_lane(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, Access& access);

// For Grid::watch, before the access: which global memory the lanes are going to touch. See apart/touch_watch.h.
void watch_access(const Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

// Points the window of instruction `pc` at the allocation that holds `address`; false when there is none.
bool refill(Grid& grid, uint32_t pc, uint64_t address, bool is_store);

inline std::byte* operand(const Warp& warp, int32_t offset) {
    if (offset >= 0) return warp.registers + offset;
    return const_cast<std::byte*>(warp.block->grid->plan->constants) + ~offset;  // sources only: never written
}
inline const uint32_t* words(const Warp& warp, int32_t offset) {
    return reinterpret_cast<const uint32_t*>(operand(warp, offset));
}

// Low `bytes` bytes of values[lane] into the lanes of `mask`.
void write_lanes(std::byte* d, uint32_t bytes, const uint64_t* values, uint32_t mask);

}  // namespace lockstep::simt
