// Values that a kernel cannot have meant, found by running it again functionally: an integer that was divided by zero, and
// bytes of shared memory that are used under two names at a time. Nothing is run where a program has neither.
#pragma once
#include <vector>

#include "core/simt/launch.h"

namespace lockstep::simt {

// Warnings of kind "outputs". `warp_instructions`: that the launch took; a long one is not run again.
std::vector<Fault> odd_values(const ptx::Program&, const LaunchConfig&, const Memory& before, const LaunchOptions& options,
                              uint64_t warp_instructions);

}  // namespace lockstep::simt
