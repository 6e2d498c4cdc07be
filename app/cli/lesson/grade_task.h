// The part of `lockstep grade` that runs in a child process; main() serves it.
#pragma once
#include "core/system/system.h"

namespace lockstep::cli {

extern const system::ChildTask grade_task;

}  // namespace lockstep::cli
