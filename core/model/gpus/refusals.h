// What a real GPU, or ptxas for it, would not take of a launch that the modelled one runs.
#pragma once
#include <string>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/ptx/decode/program.h"
#include "core/simt/launch.h"

namespace lockstep::model {

// A sentence each: instructions and clusters of later generations, static shared memory, constants and parameters over the
// limits of the toolchain, and what the host has to ask for first. Sources: PTX ISA, "Target ISA Notes" and "Constant State
// Space"; CUDA Programming Guide, "Compute Capabilities" and "__global__ function parameters". The teaching GPU takes all.
std::vector<std::string> refusals(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&);

}  // namespace lockstep::model
