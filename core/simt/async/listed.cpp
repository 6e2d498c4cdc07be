// Where the addresses of asynchronous instructions lead, and the faults of those that lead nowhere.
#include "core/simt/async/listed.h"

#include "core/simt/check/faults.h"

namespace lockstep::simt {

namespace {

Fault* misaligned(const Special& s, uint32_t lane, ptx::Space space, uint64_t address, const Touch& touch) {
    return make_fault(s.warp, s.pc, lane, "memcheck",
                      "misaligned " + std::string(ptx::name_of(space)) +
                          (touch.is_atomic  ? " atomic"
                           : touch.is_store ? " write"
                                            : " read") +
                          " of " + std::to_string(touch.bytes) + " bytes, the address is not a multiple of " +
                          std::to_string(touch.align),
                      address);
}

}  // namespace

Fault* shared_at(const Special& s, uint32_t lane, ptx::Space space, uint64_t address, const Touch& touch, SharedPlace& place,
                 std::byte*& pointer) {
    if (space == ptx::Space::generic) {
        if (address - ptx::shared_window >= ptx::cluster_window_bytes)
            return make_fault(s.warp, s.pc, lane, "memcheck", "this generic address does not point to shared memory",
                              address);
        address -= ptx::shared_window;
    }
    place = shared_place(*s.warp.block, address);
    if (!place.block) {
        const uint64_t rank = (address >> 24) - 1;
        if (rank < ptx::most_cluster_blocks)
            return make_fault(s.warp, s.pc, lane, "memcheck",
                              "an address in the shared memory of block " + std::to_string(rank) +
                                  " of the cluster, which has " + std::to_string(cluster_size(*s.warp.block->grid)) +
                                  " blocks",
                              address);
        return access_fault(s.warp, s.pc, lane, ptx::Space::shared, address, touch.bytes, touch.is_store, touch.is_atomic);
    }
    pointer = shared_pointer(place, touch.bytes);
    if (!pointer)
        return access_fault(s.warp, s.pc, lane, ptx::Space::shared, place.offset, touch.bytes, touch.is_store,
                            touch.is_atomic);
    if (place.offset % touch.align) return misaligned(s, lane, ptx::Space::shared, place.offset, touch);
    return nullptr;
}

Fault* global_at(const Special& s, uint32_t lane, uint64_t address, const Touch& touch, std::byte*& pointer) {
    Grid& grid = *s.warp.block->grid;
    MemoryWindow& window = grid.windows[s.pc];
    const auto inside = [&] {
        return window.version == grid.memory->version() && touch.bytes <= window.bytes &&
               address - window.begin <= window.bytes - touch.bytes;
    };
    if (!inside()) {
        const bool found = refill(grid, s.pc, address, touch.is_store);
        if (!found || !inside())
            return access_fault(s.warp, s.pc, lane, ptx::Space::global, address, touch.bytes, touch.is_store,
                                touch.is_atomic);
    }
    pointer = window.data + (address - window.begin);
    if (address % touch.align) return misaligned(s, lane, ptx::Space::global, address, touch);
    return nullptr;
}

}  // namespace lockstep::simt
