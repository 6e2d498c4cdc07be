// What the metrics are computed from, beside the counters an instruction. Internal to core/model; readers use
// TimedResult::metrics and metric_of().
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/launch.h"

namespace lockstep::model {

struct LaunchTotals {
    int64_t cycles = 0;
    int64_t active_cycles = 0;     // SMs with a resident block, summed over SMs
    int64_t scheduler_cycles = 0;  // sub-cores with a resident warp, summed
    int64_t issue_cycles = 0;      // of those in which they issued
    int64_t warp_cycles = 0;       // resident warps, summed over cycles
    uint64_t blocks = 0;
    uint32_t blocks_per_sm = 1;
    uint64_t dram_read = 0, dram_written = 0;
    double dram_bytes_per_cycle = 1;
};

std::vector<Metric> compute_metrics(const GpuSpec&, const ptx::Program&, const TimedResult&, const LaunchTotals&);

}  // namespace lockstep::model
