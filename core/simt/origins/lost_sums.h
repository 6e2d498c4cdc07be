// Elements that a reduction in shared memory leaves out without a word, as halving 192, 96 ... 3, 1 does with the third
// partial sum. The first block is run again, and every element that it loads is followed through registers and shared
// memory; lost are those that stand in a sum which nobody reads, and in nothing else that is stored, decides a branch or
// becomes an address. What cannot be followed counts as used.
#pragma once
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

// A warning of kind "outputs", or none. Looked for only where the block's threads are no power of two.
std::vector<Fault> lost_sums(const ptx::Program&, const LaunchConfig&, const Memory& before, const LaunchOptions& options,
                             uint64_t warp_instructions);

}  // namespace lockstep::simt
