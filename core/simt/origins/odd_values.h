// Values that a kernel cannot have meant, found by running it again functionally: an integer that was divided by zero, bytes
// of shared memory that are used under two names at a time, and an index that leads from one __shared__ array into the next.
// Nothing is run where a program has none of them.
#pragma once
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

// Warnings of kind "outputs". `warp_instructions`: that the launch took; a long one is not run again.
std::vector<Fault> odd_values(const ptx::Program&, const LaunchConfig&, const Memory& before, const LaunchOptions& options,
                              uint64_t warp_instructions);

}  // namespace lockstep::simt
