// What a launch is, from first to last: a Machine that runs to the end; and when it runs with packed registers.
#include "core/model/launch/packed.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "core/model/launch/machine.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/memory/kept.h"

namespace lockstep::model {
namespace {

constexpr uint64_t registers_in_cache = uint64_t{1} << 20;  // less of them is not worth the packing

struct Packed {
    std::shared_ptr<const ptx::Packing> packing;  // null: the launch runs as it was decoded
    simt::Kept kept;
};

Packed packed(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config, simt::Memory& memory,
              const TimedOptions& options, Pack pack) {
    const bool looked_into = options.trace || options.machine || options.checkpoint_bytes != 0 || options.racecheck ||
                             options.initcheck || options.l2 != nullptr;
    if (pack == Pack::nowhere || looked_into) return {};
    const Occupancy fits =
        occupancy(gpu, static_cast<uint32_t>(config.block.count()), ptx::registers_on(program, gpu.compute.number),
                  ptx::shared_bytes(program, config.dynamic_shared), options.most_blocks_per_sm);
    const uint64_t blocks = std::min(config.grid.count(), uint64_t{gpu.sms} * std::max(1u, fits.blocks));
    const uint64_t warps = blocks * fits.warps_per_block;
    if (pack == Pack::where_it_pays && warps * program.register_bytes < registers_in_cache) return {};
    Packed packed{ptx::pack_registers(program), {}};
    if (!packed.packing) return {};
    const uint64_t saved = warps * (program.register_bytes - packed.packing->program.register_bytes);
    if (pack == Pack::where_it_pays && saved < registers_in_cache / 2 + program.ptx.size()) return {};
    simt::Grid grid = simt::make_grid(program, config, memory);
    simt::find_written(grid);
    if (!packed.kept.keep(grid)) return {};
    if (pack == Pack::where_it_pays && saved < packed.kept.bytes() + program.ptx.size()) return {};
    return packed;
}

}  // namespace

bool is_packed(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config, simt::Memory& memory,
               const TimedOptions& options, Pack pack) {
    return packed(gpu, program, config, memory, options, pack).packing != nullptr;
}

TimedResult launch(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                   simt::Memory& device_memory, const TimedOptions& options, Pack pack) {
    const bool real = options.ideal == Idealised{};
    assert((real || options.checkpoint_bytes == 0) && "a replay would not know what was ideal");
    const GpuSpec changed = real ? GpuSpec{} : idealised(gpu, options.ideal);
    const GpuSpec& runs_on = real ? gpu : changed;
    if (const Packed it = packed(runs_on, program, config, device_memory, options, pack); it.packing) {
        Machine machine(runs_on, program, config, device_memory, options, it.packing);
        machine.run_until(never);
        if (machine.is_quiet()) return machine.finish();
        it.kept.put_back(device_memory);
    }
    Machine machine(runs_on, program, config, device_memory, options);
    machine.run_until(never);
    return machine.finish();
}

}  // namespace lockstep::model
