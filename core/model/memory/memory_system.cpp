// L2: sectored, write-back, written sectors need no fetch. A dirty line that leaves writes its dirty sectors to DRAM.
#include "core/model/memory/memory_system.h"

#include <algorithm>
#include <bit>

#include "core/model/memory/coalescer.h"

namespace lockstep::model {
namespace {
constexpr Ticks requests_a_slice = 64;  // sectors that wait at a slice before the SMs are held back
}

MemorySystem::MemorySystem(const GpuSpec& gpu)
    : l2_latency_(ticks_of(int64_t{gpu.l2_latency})),
      dram_latency_(ticks_of(int64_t{gpu.dram_latency})),
      far_(gpu.l2_far_latency > gpu.l2_latency ? ticks_of(int64_t{gpu.l2_far_latency}) - l2_latency_ : 0),
      sector_ticks_(ticks_of(32.0 * gpu.l2_slices / gpu.l2_bytes_per_cycle)),
      slices_(std::max<uint32_t>(1, gpu.l2_slices)),
      slice_of_(slices_),
      slice_(slices_),
      l2_(gpu.l2_bytes, gpu.l2_ways),
      dram_(gpu) {}

Ticks MemorySystem::enter(uint64_t line, Ticks since, Ticks sent, Ticks takes, Ticks early) {
    return std::max(sent, slice_[slice_of_(line)].take(since, takes, early));
}

Cache::Line& MemorySystem::line_for(uint64_t line, Ticks since, Ticks& begin, Served& served, uint32_t& used_since) {
    if (Cache::Line* found = l2_.find(line, &used_since)) return *found;
    Cache::Victim victim;
    Cache::Line& fresh = l2_.insert(line, victim);
    if (victim.dirty != 0) {
        served.dram_written = 32u * bits_in(victim.dirty);
        begin = dram_.write_behind(victim.line, since, begin, served.dram_written);
    }
    return fresh;
}

Ticks MemorySystem::across(Cache::Line& entry, uint32_t half, uint32_t used_since, bool keeps_copy) {
    if (far_ == 0 || half_of_line(entry.line) == half) return 0;
    const auto copy = static_cast<uint8_t>(1u << half);
    const bool here = (entry.copies & copy) != 0 && used_since < l2_.ways() / 2;
    if (keeps_copy) entry.copies = static_cast<uint8_t>(entry.copies | copy);
    return here ? 0 : far_;
}

Served MemorySystem::fetch(uint64_t line, uint32_t wanted, Ticks since, Ticks sent, Ticks begin, uint32_t half,
                           bool keeps_copy, Ticks early) {
    Served served;
    uint32_t used_since = 0;
    Cache::Line& entry = line_for(line, since, begin, served, used_since);
    const uint32_t missing = wanted & ~uint32_t{entry.present};
    const uint32_t here = wanted & entry.present;
    const Ticks far = across(entry, half, used_since, keeps_copy);
    served.ready = begin + l2_latency_ + (here == 0 ? 0 : far);
    served.accepted = std::max(sent, begin - requests_a_slice * sector_ticks_);
    served.hits = bits_in(here);
    if (here != 0) {
        const int64_t now = served.ready >> tick_bits;
        if (const int64_t when = entry.here(here, now); when > now) {  // another request is already fetching it
            served.ready = std::max(served.ready, ticks_of(when));
            served.level = MemoryLevel::dram;
        }
    }
    if (missing != 0) {
        served.dram_read = 32u * bits_in(missing);
        const Ticks sends = dram_.access(line, since, begin, served.dram_read, early), arrives = sends + dram_latency_;
        served.accepted = std::max(served.accepted, sends - requests_a_slice * sector_ticks_);
        served.ready = std::max(served.ready, arrives);
        served.level = MemoryLevel::dram;
        entry.arrive(missing, cycle_of(arrives));
    }
    sectors += bits_in(wanted);
    hits += served.hits;
    return served;
}

Served MemorySystem::read(uint64_t line, uint32_t wanted, Ticks since, Ticks sent, uint32_t half, Ticks early) {
    const Ticks begin = enter(line, since, sent, bits_in(wanted) * sector_ticks_, early);
    return fetch(line, wanted, since, sent, begin, half, true, early);
}

Served MemorySystem::write(uint64_t line, uint32_t written, Ticks since, Ticks sent, uint32_t half) {
    Ticks begin = enter(line, since, sent, bits_in(written) * sector_ticks_);
    Served served;
    uint32_t used_since = 0;
    Cache::Line& entry = line_for(line, since, begin, served, used_since);
    served.hits = bits_in(written);  // as L2 counts them: nothing is fetched for a store (NVIDIA's developer forum)
    served.ready = begin + l2_latency_ + across(entry, half, l2_.ways(), false);
    served.accepted = std::max(sent, begin - requests_a_slice * sector_ticks_);
    if (const uint32_t fresh = written & ~uint32_t{entry.present}; fresh != 0) entry.arrive(fresh, cycle_of(begin));
    entry.dirty = static_cast<uint8_t>(entry.dirty | written);
    entry.copies = 0;  // of the other half are void
    sectors += bits_in(written);
    hits += served.hits;
    return served;
}

Served MemorySystem::atomic(uint64_t line, uint32_t touched, uint32_t operations, Ticks since, Ticks sent, uint32_t half) {
    const Ticks takes = std::max(ticks_of(int64_t{operations}), bits_in(touched) * sector_ticks_);
    Served served = fetch(line, touched, since, sent, enter(line, since, sent, takes), half, false);
    if (Cache::Line* entry = l2_.find(line)) {
        entry->dirty = static_cast<uint8_t>(entry->dirty | touched);
        entry->copies = 0;
    }
    served.ready += takes - std::min(takes, ticks_a_cycle);
    return served;
}

}  // namespace lockstep::model
