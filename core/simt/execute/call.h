// Calls: each has a frame of registers (Warp::frames) and of the threads' local memory, which is a stack: the frame of a
// callee begins where its caller's ends. All lanes of a path share their frame, so where it begins is the same for all of
// them; lanes that call different functions, or at different times, get frames of their own.
//
// The stack of paths is the stack of calls too. A call leaves the calling path where it is, at the instruction behind the
// call, with all its lanes, and pushes a path for the callee above it. Lanes that return leave all paths of the callee's
// frame; when the last has gone, the caller's path is the last again and goes on. Whoever changes which path of a warp runs
// calls follow_frame (enter_frame does), and the executor's loop begins again when that moved Warp::registers.
// Internal to core/simt.
#pragma once
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

constexpr uint32_t most_depth = 16'384;              // of calls in calls
constexpr uint64_t most_stack_bytes = 512 * 1024;    // of a thread's local memory
constexpr uint64_t most_call_memory = 512ull << 20;  // of host memory for the calls of all warps that run at a time
constexpr uint64_t most_frame_bytes = 64ull << 20;   // of it for the registers of one warp's frames
constexpr uint64_t least_frame_bytes = 64ull << 10;
constexpr uint64_t most_unused_bytes = 1ull << 20;  // that frames keep for the next calls

// The lanes in `mask` of the running path call: what runs next is the callee. Requires the path's pc behind the call.
Fault* call(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask);

// The lanes in `mask` of the running path return. May put another path on top, as leave of paths.h does.
Fault* come_back(Warp& warp, uint32_t mask);

// brx.idx: where the lanes in `mask` that have the same target as the first go now, in `target`; `taken` are those. The
// others run the instruction again.
Fault* table_target(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask, uint32_t& target, uint32_t& taken);

// Points the warp's registers and local memory at the running path's frame.
void follow_frame(Warp& warp);

// Gives back the frames whose lanes have all exited, then follow_frame.
void leave_frames(Warp& warp);

// Gives back all frames: the warp begins anew.
void forget_frames(Warp& warp);

// The byte at `offset` in the local memory of the running frame, of lane `lane`: where parameters of system functions are.
std::byte* local_of(Warp& warp, uint32_t lane, uint32_t offset);

}  // namespace lockstep::simt
