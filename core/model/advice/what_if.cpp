#include "core/model/advice/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/nearest.h"
#include "core/model/advice/persistent.h"
#include "core/model/advice/wide_block.h"
#include "core/model/memory/memory_system.h"

namespace lockstep::model {
namespace {
constexpr WhatIf what_if_rows[] = {
    {"coalesced", "every request to global memory took as few sectors as its bytes fill",
     [](Idealised& ideal) { ideal.coalesced = true; }},
    {"no-conflicts", "every access to shared memory took as few passes as its bytes need",
     [](Idealised& ideal) { ideal.no_conflicts = true; }},
    {"l2-hits", "L2 had everything", [](Idealised& ideal) { ideal.l2_hits = true; }},
    {"fp32", "FP64 were as fast as FP32", [](Idealised& ideal) { ideal.fp32 = true; }},
    {"spread-atomics", "no two atomics met at one word", [](Idealised& ideal) { ideal.spread_atomics = true; }},
    {"no-local", "accesses to local memory cost an issue slot alone", [](Idealised& ideal) { ideal.free_local = true; }},
    {"fast-math", "special functions and conversions were as fast as FP32",
     [](Idealised& ideal) { ideal.fast_math = true; }},
    {"short-division", "divisions, remainders and roots were one instruction each",
     [](Idealised& ideal) { ideal.short_division = true; }},
    {"all-warps", "registers and shared memory kept no block out", [](Idealised& ideal) { ideal.all_warps = true; }},
    {"no-latency", "memory answered in a cycle, at the bandwidth that it has",
     [](Idealised& ideal) { ideal.no_latency = true; }},
    {"one-constant", "all lanes of a warp named one constant", [](Idealised& ideal) { ideal.one_constant = true; }},
    {"short-functions", "sinf, powf and their like were as short as __sinf and __powf",
     [](Idealised& ideal) { ideal.short_functions = true; }},
    {"fetched", "all instructions were in the nearest cache", [](Idealised& ideal) { ideal.fetched = true; }},
    {"fitting-grid", "a persistent kernel had as many blocks as run at once", nullptr,
     [](const KernelRun& run, simt::LaunchConfig& config) {
         const std::optional<uint32_t> blocks = fitting_grid(run);
         if (blocks) config.grid.x = *blocks;
         return blocks.has_value();
     },
     "fitting-grid is of persistent kernels: no loop here steps by gridDim.x or takes its work from a counter, in a grid "
     "along x alone"},
    {"wide-block", "blocks were 32 threads wide and as much less high", nullptr,
     [](const KernelRun& run, simt::LaunchConfig& config) {
         const std::optional<WideBlock> wide = wide_block(run);
         if (wide) config.grid = wide->grid, config.block = wide->block;
         return wide.has_value();
     },
     "wide-block is of narrow blocks whose threads know their place in the grid alone, as blockIdx.x * blockDim.x + "
     "threadIdx.x"},
    {"instant-starts", "each block started as soon as an SM had room for it", nullptr, nullptr, "",
     [](GpuSpec& gpu) { gpu.blocks_per_cycle.value = 1024; }},
};
}  // namespace

std::span<const WhatIf> what_ifs() {
    return what_if_rows;
}

Result<WhatIf> what_if_named(std::string_view name) {
    std::vector<std::string> names;
    for (const WhatIf& row : what_if_rows) {
        if (row.name == name) return row;
        names.emplace_back(row.name);
    }
    return Diagnostic{fmt::format("unknown what-if '{}'{}", name, did_you_mean(std::string(name), names))};
}

Result<TimedResult> launch_with(const KernelRun& run, const WhatIf& what_if, const std::stop_token& stop,
                                std::function<void(double)> progress) {
    if (run.before == nullptr) return Diagnostic{"the memory that the launch began with was not kept"};
    simt::Memory memory = *run.before;
    TimedOptions options;
    simt::LaunchConfig config = run.config;
    if (what_if.shape != nullptr) {
        if (!what_if.shape(run, config)) return Diagnostic{std::string(what_if.unfit)};
    } else if (what_if.set != nullptr) {
        what_if.set(options.ideal);
    }
    GpuSpec gpu = run.gpu;
    if (what_if.gpu != nullptr) what_if.gpu(gpu);
    options.trace = false;
    options.independent = run.result.independent;
    options.scheduler = run.result.scheduler;
    options.synccheck = run.result.synccheck;
    options.stop = stop;
    options.progress = std::move(progress);
    if (run.result.max_instructions != 0) options.max_instructions = run.result.max_instructions;
    L2State l2;
    if (run.l2 != nullptr) {
        l2 = *run.l2;
        options.l2 = &l2;
    }
    TimedResult ideal = launch(gpu, *run.program, config, memory, options);
    if (ideal.fault) return Diagnostic{"with " + std::string(what_if.name) + ": " + render(*ideal.fault)};
    if (ideal.stopped) return Diagnostic{"stopped"};
    return ideal;
}

Result<WhatIfTime> simulate(const KernelRun& run, const WhatIf& what_if, const std::stop_token& stop,
                            std::function<void(double)> progress) {
    const Result<TimedResult> launched = launch_with(run, what_if, stop, std::move(progress));
    if (!launched) return launched.error();
    const TimedResult& ideal = launched.value();
    const auto real = static_cast<double>(run.result.cycles);
    return WhatIfTime{what_if.name, ideal.cycles, false, real > 0 ? (real - static_cast<double>(ideal.cycles)) / real : 0};
}

}  // namespace lockstep::model
