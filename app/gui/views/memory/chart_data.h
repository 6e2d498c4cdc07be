// The memory chart (D5) as data: which links stand in which gap between its five boxes, and the sentence below it.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/model/metrics/windows.h"

namespace lockstep::gui {

// One row of a memory space: what the lanes ask for, and what L1 handles for it.
struct ChartRow {
    std::string_view label;      // "load"
    model::Link asked, handled;  // handled: in whole sectors; of shared memory the same as asked
    bool to_kernel = true;       // the way the data flow: loads to the left
    bool to_shared = false;      // cp.async and bulk copies: past the kernel, into shared memory
    uint64_t passes = 0;         // of shared memory, over all requests; 0: not counted
    double passes_each() const {
        return asked.requests == 0 ? 0 : static_cast<double>(passes) / static_cast<double>(asked.requests);
    }
};
struct ChartSpace {
    std::string_view name;  // "Global"
    std::vector<ChartRow> rows;
    bool used() const;
    uint64_t bytes() const;  // asked for
};
struct Chart {
    int64_t begin = 0, end = 0;      // cycles
    std::vector<ChartSpace> spaces;  // Global, Local, Shared, and Texture where there are such
    model::Link from_l2, to_l2, dram_read, dram_write;
    uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;
    uint64_t unasked = 0;  // bytes of the sectors that the request which moved them had no use for, over all requests
    uint32_t l1_bytes = 0, shared_bytes = 0;
    double dram_percent() const { return dram_read.percent_of_peak + dram_write.percent_of_peak; }
};
Chart chart_of(const model::MemoryTraffic& traffic);
Chart chart_of(const model::KernelRun& run);
Chart chart_of(const model::KernelRun& run, int64_t begin, int64_t end);  // of the cycles, in whole windows

// What shared memory may take of the memory that it has in common with L1, in bytes, rising; empty: they are apart.
struct CarveOut {
    std::vector<uint32_t> sizes;
    size_t at = 0;         // the size that the run had
    bool by_hand = false;  // somebody chose it; else the least that holds the blocks that fit
    size_t nearest(double bytes) const;
};
CarveOut carve_out_of(const model::KernelRun& run, uint32_t shared_bytes);
// The run's GPU with so many bytes for shared memory: less L1, and no more blocks than that holds, but one at least. Bytes
// below 0: as the GPU's row has it.
model::GpuSpec with_carve_out(const model::KernelRun& run, int64_t bytes);

// "The lanes ask for 8 MiB, yet ...": from the chart's own numbers.
std::string sentence_of(const Chart& chart);

// Layout units: 0 bytes 0, more by the logarithm, at most 16.
float thickness_of(uint64_t bytes);

}  // namespace lockstep::gui
