// The energy of a timed launch: what it did, counted, times what one such thing takes by published figures. An estimate.
#pragma once
#include <string_view>
#include <vector>

#include "core/model/gpus/area.h"
#include "core/model/gpus/process.h"
#include "core/model/launch/launch.h"

namespace lockstep::model {

struct EnergyRow {
    std::string_view name;  // "FP32 multiply-add"
    double count = 0;
    std::string_view unit;  // "lanes": lane operations; "bytes"
    double pj = 0;          // of one, in this process
    double joules = 0;
    std::string_view source;
    std::string_view field = {};  // of the GPU, on which the part that takes it hangs: "fp32_lanes"; empty: all parts
};

struct LaunchEnergy {
    const Process* process = nullptr;
    std::vector<EnergyRow> rows;
    double joules = 0;
    double watts = 0;  // over the launch's time
};

// `process`: null takes that of the GPU's generation.
LaunchEnergy energy_of(const GpuSpec&, const ptx::Program&, const TimedResult&, const Process* process = nullptr);

// Joules of each row of the area: what its part did, and its share of the static power by its ground. They sum to `joules`.
std::vector<double> joules_by_part(const LaunchEnergy&, const AreaEstimate&);

// The same of what is known by rates only, in watts: FP32 multiply-adds and bytes of DRAM a second, these by way of L2 and
// L1 in loads of four bytes a lane.
double watts_at(const GpuSpec&, double multiply_adds, double dram_bytes, const Process* process = nullptr);

}  // namespace lockstep::model
