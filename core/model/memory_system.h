// What all SMs share behind their L1: the L2 slices and the DRAM channels. A request reserves its whole way when it is
// made: each queue says when it is served, and the answer is the cycle at which the data is back at the SM. Without
// other traffic that is exactly `sent` + the spec's latency, counted from the issue of the instruction.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/cache.h"
#include "core/model/dram.h"
#include "core/model/gpu_spec.h"
#include "core/trace/kernel_trace.h"

namespace lockstep::model {

struct Served {
    double ready = 0;     // the data is back at the SM
    double accepted = 0;  // the request has left the SM: later ones may follow
    MemoryLevel level = MemoryLevel::l2;
    uint32_t hits = 0;  // sectors that L2 had
};

class MemorySystem {
  public:
    explicit MemorySystem(const GpuSpec& gpu);

    Served read(uint64_t line, uint32_t sectors, double sent);
    Served write(uint64_t line, uint32_t sectors, double sent);
    // `lanes` operations on one line, one a cycle of its slice.
    Served atomic(uint64_t line, uint32_t sectors, uint32_t lanes, double sent);

    uint64_t sectors = 0, hits = 0;  // of L2, all kinds of request
    uint64_t bytes() const { return l2_.bytes() + slice_free_.size() * sizeof slice_free_[0]; }  // beside itself
    const Dram& dram() const { return dram_; }

  private:
    // The cycle at which the line's slice takes the request.
    double enter(uint64_t line, double sent, double cycles);
    Served fetch(uint64_t line, uint32_t sectors, double sent, double begin);
    Cache::Line& line_for(uint64_t line, double& begin);

    double l2_latency_, dram_latency_, sector_cycles_;
    Spread slice_of_;
    std::vector<double> slice_free_;
    Cache l2_;
    Dram dram_;
};

}  // namespace lockstep::model
