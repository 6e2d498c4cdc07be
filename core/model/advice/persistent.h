// Persistent kernels: blocks that stay and take one piece of work after another, by a step of the whole grid
// (`i += gridDim.x * blockDim.x`) or from a counter in memory (`atomicAdd(next, 1)`). They may be launched with as many
// blocks as run at once, whatever there is to do.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/ptx/decode/program.h"

namespace lockstep::model {

struct PersistentLoop {
    bool from_counter = false;
    std::vector<uint32_t> steps;  // to the next piece: pcs, ascending; of an unrolled loop several
};
std::optional<PersistentLoop> persistent_loop(const ptx::Program& program);

// The blocks that run at once, where the grid may have as many without a change in what it computes: a persistent kernel, a
// grid along x alone.
std::optional<uint32_t> fitting_grid(const KernelRun& run);

}  // namespace lockstep::model
