// Outputs that a kernel fills in part on purpose: what it is told to leave, and what it cannot know before it runs.
#pragma once
#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::scene {

// Whether the elements from `first` on were left because a number among the arguments says so: n, or n * m.
bool is_told_to_stop_at(const ptx::Program& program, const simt::LaunchConfig& config, uint64_t first);

// Whether the places that the kernel writes to in a buffer, or in any, come from data: from memory, an atomic, another
// lane's value. So it is where elements that pass a test are put one behind the other.
bool places_come_from_data(const ptx::Program& program, const simt::LaunchConfig& config, uint64_t buffer);

}  // namespace lockstep::scene
