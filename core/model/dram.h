// DRAM channels, each a queue with a rate: a request waits until its channel is free and then takes bytes / rate cycles.
// Times are in cycles of the boost clock, fractions kept; the fixed latency is the caller's.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/cache.h"
#include "core/model/doubling_windows.h"
#include "core/model/gpu_spec.h"
#include "core/model/launch.h"

namespace lockstep::model {

class Dram {
  public:
    Dram() = default;
    explicit Dram(const GpuSpec& gpu);

    // The cycle at which the request gets its channel, not before `now`.
    double access(uint64_t line, double now, uint32_t bytes);
    // A write that nobody waits for: takes the channel's time, and says when its queue has room for it.
    double write_behind(uint64_t line, double now, uint32_t bytes);

    uint64_t bytes_read = 0, bytes_written = 0;
    DoublingWindows<CycleTotals> windows;  // the same by the cycle in which a channel takes the request
    double bytes_per_cycle() const { return rate_ * static_cast<double>(free_.size()); }

  private:
    double rate_ = 1;  // bytes a cycle of one channel
    Spread spread_;
    std::vector<double> free_;
};

}  // namespace lockstep::model
