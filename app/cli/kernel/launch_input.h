// A kernel and its launch as `lockstep run` and `lockstep sweep` were told: compiled, its arguments in memory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/kernel/run_options.h"
#include "core/ptx/ptx.h"
#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::cli {

struct LaunchInput {
    model::GpuSpec gpu;
    std::shared_ptr<const ptx::Program> program;
    std::string source, kernel;  // its CUDA text, where there is one; its name as the user calls it
    simt::LaunchConfig config;
    scene::BoundArguments bound;
    std::vector<std::string> refusals;
    int64_t trace_begin = 0, trace_end = 0;
};

// The kernel of the file, compiled if it is CUDA. `input.gpu` says for which generation.
void read_kernel(const KernelAsked& options, LaunchInput& input);
// Its grid, its arguments and its symbols, into `memory`; whether the GPU takes the launch is not looked at.
void bind_launch(const KernelAsked& options, LaunchInput& input, simt::Memory& memory);

}  // namespace lockstep::cli
