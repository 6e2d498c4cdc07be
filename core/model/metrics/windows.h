// What happened when: the counters of a launch cut into windows of equal length, all SMs together. The run keeps at most
// `most_windows` of them and doubles their length whenever it outgrows them, so memory is bounded whatever the cycles.
// Metrics of a stretch of time are those of the whole launch, computed from the windows that it touches.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/model/launch/launch.h"

namespace lockstep::model {

// Bytes over one link of the memory chart (D5), in one direction.
struct Link {
    std::string_view name;  // "global_load", "l1_from_l2", "dram_write": one row a link in windows.cpp
    uint64_t requests = 0;
    uint64_t bytes = 0;
    double percent_of_peak = 0;  // of what the GPU's row allows in these cycles
};

// begin and end: cycles, the wanted ones snapped outwards to whole windows. All SMs.
struct MemoryTraffic {
    int64_t begin = 0, end = 0;
    std::vector<Link> links;
    uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;
    uint32_t l1_bytes = 0, shared_bytes = 0;  // how this launch splits the SRAM of an SM
    const Link* link(std::string_view name) const;
};
MemoryTraffic traffic_between(const KernelRun& run, int64_t begin, int64_t end);
MemoryTraffic traffic_of(const KernelRun& run);  // the whole launch

struct WindowMetrics {
    int64_t begin = 0, end = 0;
    std::vector<Metric> metrics;  // same rows and order as TimedResult::metrics
};
WindowMetrics metrics_between(const KernelRun& run, int64_t begin, int64_t end);

}  // namespace lockstep::model
