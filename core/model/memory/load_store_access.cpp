// Which way a memory instruction goes: by its kind and the space that the executor resolved it to.
#include <algorithm>

#include "core/model/memory/load_store.h"

namespace lockstep::model {

MemoryCost LoadStore::access(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& timing, uint32_t early) {
    MemoryCost cost = routed(s, now, event, timing, early);
    cost.bytes = bits_in(event.executed) * event.bytes;
    if (event.is_atomic && event.addresses != nullptr) cost.atomic_words = distinct_words(event.addresses, event.executed);
    return cost;
}

MemoryCost LoadStore::routed(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& timing, uint32_t early) {
    if (timing.route == Route::shuffle) return shuffle(s, now);
    if (event.executed == 0 || event.addresses == nullptr) {  // every lane is guarded off
        MemoryCost cost;
        cost.ready = now + (timing.route == Route::constant ? int64_t{timing.latency} : 1);
        return cost;
    }
    const ptx::Kind kind = event.instruction != nullptr ? event.instruction->kind : ptx::Kind::nop;
    const Access access = event.is_atomic ? Access::atomic : event.is_store ? Access::store : Access::load;
    const uint64_t asked = uint64_t{bits_in(event.executed)} * event.bytes;
    const auto count_as = [&](Flow load, Flow store, Flow atomic) {
        counters_.add(access == Access::load ? load : access == Access::store ? store : atomic, asked);
    };
    switch (event.space) {
        case ptx::Space::shared:
            count_as(Flow::shared_load, Flow::shared_store, Flow::shared_atomic);
            return shared(s, now, access, event.addresses, event.executed, event.bytes, timing.atomic);
        case ptx::Space::global:
        case ptx::Space::local:
            break;
        default:
            return constant(now, event.addresses, event.executed, event.bytes, event.space != ptx::Space::constant,
                            std::max<int64_t>(0, timing.latency - constant_latency_));
    }
    if (kind == ptx::Kind::bulk_copy && event.sectors != nullptr) return bulk(s, now, event.is_store, *event.sectors);
    if (kind == ptx::Kind::texture) {
        if (event.sectors != nullptr) return texture(s, now, *event.sectors, bits_in(event.executed), event.bytes);
        uint64_t first[32];
        uint32_t lanes = 0;
        for (uint32_t left = event.executed; left != 0; left &= left - 1)
            first[lanes++] = event.addresses[std::countr_zero(left)] / sector_bytes * sector_bytes;
        return texture(s, now, {first, lanes}, lanes, event.bytes);
    }
    if (ideal_.free_local && event.space == ptx::Space::local) {
        MemoryCost cost;
        cost.ready = cost.done = now + 1;
        return cost;
    }
    Way way;
    way.cache = timing.cache;
    way.local = event.space == ptx::Space::local;
    way.to_shared = kind == ptx::Kind::async_copy;
    way.early = early;
    way.atomic = timing.atomic;
    way.fence = timing.fence;
    if (way.to_shared)
        counters_.add(Flow::async_copy, asked);
    else if (kind == ptx::Kind::surface)
        count_as(Flow::texture, Flow::surface_store, Flow::global_atomic);
    else if (way.local)
        count_as(Flow::local_load, Flow::local_store, Flow::local_store);
    else
        count_as(Flow::global_load, Flow::global_store, Flow::global_atomic);
    const MemoryCost cost = global(s, now, access, event.addresses, event.executed, event.bytes, way);
    if (timing.acquires) forget_l1();
    return cost;
}

}  // namespace lockstep::model
