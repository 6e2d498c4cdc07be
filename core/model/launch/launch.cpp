// What a launch is: a Machine that runs to the end, see packed.cpp.
#include "core/model/launch/launch.h"

#include <algorithm>

#include "core/model/launch/packed.h"

namespace lockstep::model {

simt::LaunchOptions functional_options(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config) {
    const uint64_t shared = ptx::shared_bytes(program, config.dynamic_shared);
    const auto threads = static_cast<uint32_t>(config.block.count());
    simt::LaunchOptions options;
    options.independent = schedules_threads(gpu);
    options.resident_blocks =
        gpu.sms * std::max(1u, occupancy(gpu, threads, ptx::registers_on(program, gpu.compute.number), shared).blocks);
    return options;
}

TimedResult launch(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                   simt::Memory& device_memory, const TimedOptions& options) {
    return launch(gpu, program, config, device_memory, options, Pack::where_it_pays);
}

}  // namespace lockstep::model
