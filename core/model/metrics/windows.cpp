// One row a link of the memory chart: what crosses it, and how much could.
#include "core/model/metrics/windows.h"

#include <algorithm>
#include <optional>

#include "core/model/issue/ticks.h"
#include "core/model/memory/coalescer.h"
#include "core/model/metrics/metrics.h"

namespace lockstep::model {
namespace {

using Counters = InstructionCounters;
struct Whole {
    const Sums& sums;
    const LaunchTotals& totals;
    const GpuSpec& gpu;
};
struct Crossed {
    uint64_t requests = 0, bytes = 0;
    std::optional<double> taken{};  // what it takes of the peak, in bytes, where that is not the bytes
};
struct LinkRow {
    std::string_view name;
    Crossed (*crossed)(const Whole&);
    double (*bytes_a_cycle)(const Whole&);  // at most, the whole GPU
};

double l1_peak(const Whole& w) {
    return w.gpu.l1_bytes_per_cycle * w.gpu.sms;
}
double shared_peak(const Whole& w) {
    return double{shared_banks * bank_bytes} * w.gpu.sms;
}
double l2_peak(const Whole& w) {
    return w.gpu.l2_bytes_per_cycle;
}
double dram_peak(const Whole& w) {
    return w.totals.dram_bytes_per_cycle;
}

// What the lanes ask for, between the kernel and its memory spaces.
template <Counters Sums::*... kind>
Crossed asked(const Whole& w) {
    return {((w.sums.*kind).requests + ...), ((w.sums.*kind).bytes + ...)};
}
template <Counters Sums::*kind>
Crossed shared(const Whole& w) {
    const Counters& c = w.sums.*kind;
    return {c.shared_requests, c.shared_bytes, static_cast<double>(c.shared_passes * shared_banks * bank_bytes)};
}
// The sectors that L1 handles for it.
template <Counters Sums::*... kind>
Crossed sectors(const Whole& w) {
    return {((w.sums.*kind).requests + ...), ((w.sums.*kind).sectors + ...) * sector_bytes};
}
// Sectors that reach L2; one is one request. They count when they issue; the peak is shared out when slices take them.
template <uint64_t CycleTotals::*ticks, Counters Sums::*... kind>
Crossed beyond(const Whole& w) {
    const uint64_t count = ((w.sums.*kind).l2_sectors + ...);
    const double of_slices = static_cast<double>(w.totals.*ticks) / (ticks_a_cycle * std::max<double>(1, w.gpu.l2_slices));
    return {count, count * sector_bytes, of_slices * w.gpu.l2_bytes_per_cycle};
}

constexpr LinkRow link_rows[] = {
    {"global_load", asked<&Sums::loads>, l1_peak},
    {"global_store", asked<&Sums::stores>, l1_peak},
    {"global_atomic", asked<&Sums::atomics>, l1_peak},
    {"global_copy", asked<&Sums::copies>, l1_peak},  // cp.async and bulk copies into shared memory
    {"local_load", asked<&Sums::local_loads>, l1_peak},
    {"local_store", asked<&Sums::local_stores>, l1_peak},
    {"texture", asked<&Sums::textures, &Sums::surface_loads>, l1_peak},  // what the texture units read
    {"surface", asked<&Sums::surface_stores>, l1_peak},
    {"shared_load", shared<&Sums::shared_loads>, shared_peak},
    {"shared_store", shared<&Sums::shared_stores>, shared_peak},
    {"shared_atomic", shared<&Sums::shared_atomics>, shared_peak},
    {"l1_global_load", sectors<&Sums::loads>, l1_peak},
    {"l1_global_store", sectors<&Sums::stores>, l1_peak},
    {"l1_global_atomic", sectors<&Sums::atomics>, l1_peak},
    {"l1_global_copy", sectors<&Sums::copies>, l1_peak},
    {"l1_local_load", sectors<&Sums::local_loads>, l1_peak},
    {"l1_local_store", sectors<&Sums::local_stores>, l1_peak},
    {"l1_texture", sectors<&Sums::textures, &Sums::surface_loads>, l1_peak},
    {"l1_surface", sectors<&Sums::surface_stores>, l1_peak},
    {"l1_from_l2",
     beyond<&CycleTotals::l2_reads, &Sums::loads, &Sums::copies, &Sums::local_loads, &Sums::textures, &Sums::surface_loads>,
     l2_peak},
    {"l1_to_l2", beyond<&CycleTotals::l2_writes, &Sums::stores, &Sums::atomics, &Sums::local_stores, &Sums::surface_stores>,
     l2_peak},
    {"dram_read",
     [](const Whole& w) {
         return Crossed{w.totals.dram_read / sector_bytes, w.totals.dram_read};
     },
     dram_peak},
    {"dram_write",
     [](const Whole& w) {
         return Crossed{w.totals.dram_written / sector_bytes, w.totals.dram_written};
     },
     dram_peak},
};

struct Stretch {
    int64_t begin = 0, end = 0;
    std::vector<Counters> counters;
    LaunchTotals totals;
};

// The windows that [begin, end) touches, added up; at least one.
Stretch stretch_of(const KernelRun& run, int64_t begin, int64_t end) {
    const TimedResult& result = run.result;
    const Windows& windows = result.windows;
    if (windows.totals.empty()) return {0, result.cycles, result.instructions, result.totals};
    const auto last = static_cast<int64_t>(windows.totals.size()) - 1;
    const int64_t first_window = std::clamp<int64_t>(std::max<int64_t>(0, begin) / windows.length, 0, last);
    const int64_t last_window = std::clamp<int64_t>((std::max<int64_t>(1, end) - 1) / windows.length, first_window, last);
    Stretch stretch;
    stretch.begin = first_window * windows.length;
    stretch.end = std::min(std::max(result.cycles, stretch.begin), (last_window + 1) * windows.length);
    stretch.counters.resize(windows.instructions);
    stretch.totals = result.totals;
    static_cast<CycleTotals&>(stretch.totals) = {};
    stretch.totals.cycles = stretch.end - stretch.begin;
    stretch.totals.warp_cycles = 0;
    for (int64_t w = first_window; w <= last_window; ++w) {
        stretch.totals += windows.totals[static_cast<size_t>(w)];
        windows.counters.add_to(stretch.counters, static_cast<size_t>(w));
    }
    for (const Counters& counters : stretch.counters)
        for (const uint64_t cycles : counters.stalls) stretch.totals.warp_cycles += static_cast<int64_t>(cycles);
    return stretch;
}

MemoryTraffic traffic_in(const KernelRun& run, const Stretch& stretch) {
    const Sums sums = sums_of(*run.program, stretch.counters, [](uint32_t) { return true; });
    const Whole whole{sums, stretch.totals, run.gpu};
    MemoryTraffic traffic;
    traffic.begin = stretch.begin;
    traffic.end = stretch.end;
    const auto cycles = static_cast<double>(stretch.totals.cycles);
    for (const LinkRow& row : link_rows) {
        const Crossed crossed = row.crossed(whole);
        const double most = cycles * row.bytes_a_cycle(whole);
        const double taken = crossed.taken.value_or(static_cast<double>(crossed.bytes));
        traffic.links.push_back({row.name, crossed.requests, crossed.bytes, most > 0 ? 100 * taken / most : 0});
    }
    traffic.l1_sectors = sums.all.l1_sectors;
    traffic.l1_hits = sums.all.l1_hits;
    traffic.l2_sectors = sums.all.l2_sectors;
    traffic.l2_hits = sums.all.l2_hits;
    traffic.l1_bytes = stretch.totals.l1_bytes;
    const bool one_memory = run.gpu.shared_carveouts.value[1] != 0;
    traffic.shared_bytes = one_memory ? run.gpu.l1_bytes - std::min<uint32_t>(run.gpu.l1_bytes, traffic.l1_bytes)
                                      : uint32_t{run.gpu.shared_per_sm};
    return traffic;
}

}  // namespace

const Link* MemoryTraffic::link(std::string_view name) const {
    for (const Link& each : links)
        if (each.name == name) return &each;
    return nullptr;
}

MemoryTraffic traffic_between(const KernelRun& run, int64_t begin, int64_t end) {
    return traffic_in(run, stretch_of(run, begin, end));
}

MemoryTraffic traffic_of(const KernelRun& run) {
    return traffic_in(run, {0, run.result.cycles, run.result.instructions, run.result.totals});
}

WindowMetrics metrics_between(const KernelRun& run, int64_t begin, int64_t end) {
    const Stretch stretch = stretch_of(run, begin, end);
    return {stretch.begin, stretch.end,
            compute_metrics(run.gpu, *run.program, run.result, stretch.counters, stretch.totals)};
}

}  // namespace lockstep::model
