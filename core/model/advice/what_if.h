// Launches with one thing idealised, by the names of `lockstep run --what-if`: the difference to the launch as it is bounds
// what a change to the kernel can gain. One row each in what_if.cpp.
#pragma once
#include <functional>
#include <span>
#include <stop_token>
#include <string_view>

#include "core/base/result.h"
#include "core/model/launch/launch.h"

namespace lockstep::model {

struct WhatIf {
    std::string_view name;   // "no-conflicts": the command line, JSON
    std::string_view words;  // "every access to shared memory took as few passes as its bytes need"
    void (*set)(Idealised&) = nullptr;
    // Instead: another grid or block that computes the same; false: the kernel or the launch has none, `unfit` says why.
    bool (*shape)(const KernelRun&, simt::LaunchConfig&) = nullptr;
    std::string_view unfit = {};
    void (*gpu)(GpuSpec&) = nullptr;  // Instead: the GPU with a figure of its own changed.
};
std::span<const WhatIf> what_ifs();
Result<WhatIf> what_if_named(std::string_view name);  // an unknown name's Diagnostic names the nearest

struct WhatIfTime {
    std::string_view name;
    int64_t cycles = 0;
    bool asked = false;  // by name, not for a finding alone
    double gain = 0;     // share of the launch's cycles that it saves; below 0 where the order of events turns against it
};
// The launch again as the what-if has it, without a trace, from `run.before`, which must be there. A Diagnostic where that
// one faults or is stopped.
Result<TimedResult> launch_with(const KernelRun& run, const WhatIf& what_if, const std::stop_token& stop = {},
                                std::function<void(double)> progress = {});
// Simulates the launch again from `run.before`, which must be there. A Diagnostic where that one faults or is stopped.
Result<WhatIfTime> simulate(const KernelRun& run, const WhatIf& what_if, const std::stop_token& stop = {},
                            std::function<void(double)> progress = {});

}  // namespace lockstep::model
