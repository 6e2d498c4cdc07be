// Blocks less than a warp wide: their warps are several rows, which go to several places. Where a kernel's threads know
// their place in the grid alone (`blockIdx.x * blockDim.x + threadIdx.x`), blocks of another shape compute the same.
#pragma once
#include <optional>

#include "core/model/launch/launch.h"

namespace lockstep::model {

struct WideBlock {
    simt::Dim3 grid, block;
};
// The launch with blocks 32 threads wide, as many threads each; none: the kernel or the launch does not allow it.
std::optional<WideBlock> wide_block(const KernelRun& run);

}  // namespace lockstep::model
