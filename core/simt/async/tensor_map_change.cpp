// tensormap.replace changes one field of a tensor map in place; tensormap.cp_fenceproxy copies a whole one from shared to
// global memory. What a field may be is in tensor_map.cpp; where operands are, in ptx/decoder_bulk.cpp.
#include <cstring>

#include "core/ptx/decode/views_async.h"
#include "core/simt/async/listed.h"
#include "core/simt/async/tensor_map.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/matrix/matrix.h"

namespace lockstep::simt {

namespace {

using ptx::Space;

constexpr uint32_t map_bytes = 128;

struct MapPlace {
    Space space = Space::global;
    uint64_t address = 0;  // shared: offset in the block
    std::byte* bytes = nullptr;
};

Fault* map_at(Special& s, const Listed& list, uint32_t entry, uint32_t lane, bool is_store, MapPlace& place) {
    const uint64_t address = list.address(entry, lane);
    const bool generic = list.space(entry) == Space::generic;
    const Touch touch{map_bytes, 64, is_store};
    place.address = address;
    place.space = list.space(entry) == Space::shared || (generic && address - ptx::shared_window < ptx::cluster_window_bytes)
                      ? Space::shared
                      : Space::global;
    if (place.space == Space::global) return global_at(s, lane, address, touch, place.bytes);
    SharedPlace shared;
    if (Fault* bad = shared_at(s, lane, list.space(entry), address, touch, shared, place.bytes)) return bad;
    if (shared.block != s.warp.block)
        return make_fault(s.warp, s.pc, lane, "memcheck", "this tensor map is not in the block's own shared memory",
                          address);
    place.address = shared.offset;
    return nullptr;
}

void tell(Special& s, uint32_t lane, const MapPlace& place, AccessKind kind) {
    uint64_t addresses[warp_size] = {};
    addresses[lane] = place.address;
    note_access(s.warp, s.pc, place.space, addresses, 1u << lane, map_bytes, kind);
}

// For the timing model: the map that was written, as one access of 16 bytes a lane.
void show_store(Special& s, const MapPlace& place) {
    s.access.space = place.space;
    for (uint32_t i = 0; i < map_bytes / 16; ++i) s.access.addresses[i] = place.address + 16 * i;
    s.is_memory = s.is_store = true;
    s.lanes = (1u << map_bytes / 16) - 1;
    s.bytes = 16;
}

}  // namespace

Fault* run_tensor_map(Special& s) {
    const ptx::TensorMapView view = ptx::as_tensor_map(s.instruction());
    const Listed list(s);
    MapPlace to, from;
    if (view.operation == ptx::TensorMapOperation::copy) {
        if (Fault* bad = whole_warp(s)) return bad;
        for (uint32_t lane = 0; lane < warp_size; ++lane) {  // all lanes name the same
            if (lane && list.address(0, lane) == list.address(0, 0) && list.address(2, lane) == list.address(2, 0)) continue;
            if (Fault* bad = map_at(s, list, 2, lane, false, from)) return bad;
            if (Fault* bad = map_at(s, list, 0, lane, true, to)) return bad;
            std::memcpy(to.bytes, from.bytes, map_bytes);
            tell(s, lane, from, AccessKind::read);
            tell(s, lane, to, AccessKind::write);
        }
        show_store(s, to);
        return nullptr;
    }
    for (uint32_t rest = s.mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (Fault* bad = map_at(s, list, 0, lane, true, to)) return bad;
        const uint64_t value = view.is_wide() ? list.wide(2, lane) : list.word(2, lane);
        const std::string problem = replace_in_tensor_map(to.bytes, view.field, view.dimension, value);
        if (!problem.empty()) return make_fault(s.warp, s.pc, lane, "memcheck", problem, to.address);
        tell(s, lane, to, AccessKind::write);
    }
    show_store(s, to);
    return nullptr;
}

}  // namespace lockstep::simt
