// What a launch is, from first to last: a Machine that runs to the end.
#include "core/model/launch/launch.h"

#include <algorithm>
#include <cassert>

#include "core/model/launch/machine.h"

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
    const bool real = options.ideal == Idealised{};
    assert((real || options.checkpoint_bytes == 0) && "a replay would not know what was ideal");
    const GpuSpec changed = real ? GpuSpec{} : idealised(gpu, options.ideal);
    Machine machine(real ? gpu : changed, program, config, device_memory, options);
    machine.run_until(never);
    return machine.finish();
}

}  // namespace lockstep::model
