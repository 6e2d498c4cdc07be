// L2: sectored, write-back, written sectors need no fetch. A dirty line that leaves writes its dirty sectors to DRAM.
#include "core/model/memory_system.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/model/coalescer.h"

namespace lockstep::model {
namespace {
constexpr double requests_a_slice = 64;  // sectors that wait at a slice before the SMs are held back
int64_t cycle_of(double time) {
    return static_cast<int64_t>(std::ceil(time));
}
}  // namespace

MemorySystem::MemorySystem(const GpuSpec& gpu)
    : l2_latency_(gpu.l2_latency),
      dram_latency_(gpu.dram_latency),
      sector_cycles_(32.0 * gpu.l2_slices / gpu.l2_bytes_per_cycle),
      slice_of_(gpu.l2_slices),
      slice_free_(gpu.l2_slices, 0.0),
      l2_(gpu.l2_bytes, gpu.l2_ways),
      dram_(gpu) {}

double MemorySystem::enter(uint64_t line, double sent, double cycles) {
    double& free = slice_free_[slice_of_(line)];
    const double begin = std::max(sent, free);
    free = begin + cycles;
    return begin;
}

Cache::Line& MemorySystem::line_for(uint64_t line, double& begin) {
    if (Cache::Line* found = l2_.find(line)) return *found;
    Cache::Victim victim;
    Cache::Line& fresh = l2_.insert(line, victim);
    if (victim.dirty != 0) begin = dram_.write_behind(victim.line, begin, 32u * bits_in(victim.dirty));
    return fresh;
}

Served MemorySystem::fetch(uint64_t line, uint32_t wanted, double sent, double begin) {
    Cache::Line& entry = line_for(line, begin);
    const uint32_t missing = wanted & ~uint32_t{entry.present};
    const uint32_t here = wanted & entry.present;
    Served served;
    served.ready = begin + l2_latency_;
    served.accepted = std::max(sent, begin - requests_a_slice * sector_cycles_);
    served.hits = bits_in(here);
    for (uint32_t left = here; left != 0; left &= left - 1) {
        const double arrives = static_cast<double>(entry.arrives[std::countr_zero(left)]);
        if (arrives <= served.ready) continue;
        served.ready = arrives;  // another request is already fetching it
        served.level = MemoryLevel::dram;
    }
    if (missing != 0) {
        const double channel = dram_.access(line, begin, 32u * bits_in(missing));
        const double arrives = channel + dram_latency_;
        served.ready = std::max(served.ready, arrives);
        served.level = MemoryLevel::dram;
        entry.present = static_cast<uint8_t>(entry.present | missing);
        for (uint32_t left = missing; left != 0; left &= left - 1) entry.arrives[std::countr_zero(left)] = cycle_of(arrives);
    }
    sectors += bits_in(wanted);
    hits += served.hits;
    return served;
}

Served MemorySystem::read(uint64_t line, uint32_t wanted, double sent) {
    return fetch(line, wanted, sent, enter(line, sent, bits_in(wanted) * sector_cycles_));
}

Served MemorySystem::write(uint64_t line, uint32_t written, double sent) {
    double begin = enter(line, sent, bits_in(written) * sector_cycles_);
    Cache::Line& entry = line_for(line, begin);
    Served served;
    served.hits = bits_in(written & entry.present);
    served.ready = begin + l2_latency_;
    served.accepted = std::max(sent, begin - requests_a_slice * sector_cycles_);
    for (uint32_t left = written & ~uint32_t{entry.present}; left != 0; left &= left - 1)
        entry.arrives[std::countr_zero(left)] = cycle_of(begin);
    entry.present = static_cast<uint8_t>(entry.present | written);
    entry.dirty = static_cast<uint8_t>(entry.dirty | written);
    sectors += bits_in(written);
    hits += served.hits;
    return served;
}

Served MemorySystem::atomic(uint64_t line, uint32_t touched, uint32_t lanes, double sent) {
    const double cycles = std::max<double>(lanes, bits_in(touched) * sector_cycles_);
    Served served = fetch(line, touched, sent, enter(line, sent, cycles));
    if (Cache::Line* entry = l2_.find(line)) entry->dirty = static_cast<uint8_t>(entry->dirty | touched);
    served.ready += cycles - 1;
    return served;
}

}  // namespace lockstep::model
