// What a kernel asks of the system: printf, malloc and free, and what a failed assert says. Internal to core/simt.
#pragma once
#include <string>

#include "core/simt/warp.h"

namespace lockstep::simt {

constexpr uint64_t most_printed = uint64_t{1} << 20;  // bytes a launch; the size of CUDA's own buffer

// "assertion `x > 0` failed" of the call of __assertfail at `pc`, for one of its lanes.
std::string assert_text(Warp& warp, uint32_t pc, uint32_t lane);

// A call of CUDA's runtime on the device by one lane: its result, and how many bytes that has.
Fault* run_device_call(Warp& warp, uint32_t pc, uint32_t lane, uint64_t& result, uint32_t& bytes);

}  // namespace lockstep::simt
