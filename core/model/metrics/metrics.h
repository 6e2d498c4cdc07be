// What the metrics are computed from: counters of some instructions, sorted by what they do. Internal to core/model; readers
// use TimedResult::metrics, metric_of() and windows.h.
#pragma once
#include <span>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/model/metrics/operations.h"

namespace lockstep::model {

struct Sums {
    InstructionCounters all;
    // Of those the ones that go to memory. An instruction with generic addresses counts as global and as shared, by what
    // it met. copies: cp.async and bulk copies that read global memory (those that write it are stores).
    InstructionCounters loads, stores, atomics, copies, local_loads, local_stores, textures, surface_loads, surface_stores;
    InstructionCounters shared_loads, shared_stores, shared_atomics;
    uint64_t conflicts = 0, load_conflicts = 0, store_conflicts = 0, atomic_conflicts = 0;  // passes over the banks
    Operations operations;
};

struct MetricLaunch {  // of a launch, or a stretch of its time
    const GpuSpec& gpu;
    const ptx::Program& program;
    const Occupancy& occupancy;
    const LaunchTotals& totals;
    double time_us = 0;
    double pipe_cycles[8] = {};  // by ptx::Unit, all sub-cores
    double l1_cycles = 0;        // of the data pipe of L1 and shared memory, all SMs
};

struct MetricFormula {
    std::string_view name, nsight, unit, summary;
    double (*by_line)(const Sums&) = nullptr;
    double (*whole)(const Sums&, const MetricLaunch&) = nullptr;  // where by_line is null
};
std::span<const MetricFormula> metric_table();

void add_to(Sums& sums, const ptx::DecodedInstruction& instruction, const InstructionCounters& counters);

// Of the instructions for which wanted(pc) holds; `counters`: one entry an instruction.
template <class Wanted>
Sums sums_of(const ptx::Program& program, std::span<const InstructionCounters> counters, const Wanted& wanted) {
    Sums sums;
    for (uint32_t pc = 0; pc < counters.size() && pc < program.instructions.size(); ++pc)
        if (wanted(pc)) add_to(sums, program.instructions[pc], counters[pc]);
    return sums;
}

struct RoofPoint;
RoofPoint roof_point(const GpuSpec&, const Sums&, const LaunchTotals&, double seconds);  // see roofline.h

// `counters` and `totals`: of the launch that gave `result`, the whole of it or some windows.
std::vector<Metric> compute_metrics(const GpuSpec&, const ptx::Program&, const TimedResult& result,
                                    std::span<const InstructionCounters> counters, const LaunchTotals& totals);

}  // namespace lockstep::model
