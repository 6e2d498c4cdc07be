// What `lockstep run FILE.{cu,ptx}` was told, and what of it is looked at before anything is compiled. Internal to app/cli.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/api/checkers.h"
#include "core/device/kernels/kernel_library.h"
#include "core/model/launch/launch.h"

namespace lockstep::cli {

struct KernelAsked {
    std::string file, kernel, grid, block, gpu = "v100", check = "memcheck,synccheck", json, trace, trace_cycles;
    uint32_t trace_sm = 0;
    std::string cluster, order = "round_robin", scheduler, registers, metrics, what_if;
    std::vector<std::string> arguments, symbols;
    device::CompileOptions compiler;
    uint64_t seed = 1;
    uint32_t shared = 0;
    bool functional = false, energy = false;
    std::string native = "off";                             // functional runs: whether native code may run what runs often
    bool sample = false, whole = false, time_only = false;  // sampled: asked for, forbidden; without all outputs
    uint32_t threads = 0;                                   // 0: one a core
    uint64_t max_instructions = 1'000'000'000;
};

using api::choose_checkers, api::is_strict, api::order_named, api::what_ifs_asked;
std::optional<model::SchedulerPolicy> scheduler_of(const std::string& name);  // none: the GPU's own
// "100000-120000": from the first cycle up to, not including, the second.
std::pair<int64_t, int64_t> parse_cycles(const std::string& text);
// Throws Failure where a file would be read and written.
void keep_files_apart(const KernelAsked& asked);

int run_kernel(const KernelAsked& asked);  // its exit status

}  // namespace lockstep::cli
