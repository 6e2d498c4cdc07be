// What a real GPU, or ptxas for it, would not take of a launch that the modelled one runs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/ptx/decode/program.h"
#include "core/simt/launch.h"

namespace lockstep::model {

// A sentence each: instructions and clusters of later generations, static shared memory, constants and parameters over the
// limits of the toolchain, and what the host has to ask for first. Sources: PTX ISA, "Target ISA Notes" and "Constant State
// Space"; CUDA Programming Guide, "Compute Capabilities" and "__global__ function parameters". The teaching GPU and those of
// one's own take all.
std::vector<std::string> refusals(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&);

// Why the modelled GPU cannot run the kernel: it has none of the lanes that an instruction needs.
std::optional<std::string> missing_part(const GpuSpec&, const ptx::Program&);

}  // namespace lockstep::model
