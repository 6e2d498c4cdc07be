// Timed launches of any size: the machine runs the launch from its first block to its last and leaves out the middle of
// what repeats. Read in this order:
//
//   evidence   what the program's text forbids: control flow by data, atomics on global memory, clusters ...
//   work       what blocks do: some of them, run functionally; what a round of their loop is
//   rounds     leaves out rounds of a loop in all blocks that run, by counting their addresses and counters on
//   sample     the launch: waves of blocks until their pace is steady, a gap, the last waves; sums and error
//
// The machine is the real one with all its SMs, so every block that runs has its neighbours' traffic. What is left out is
// whole waves of blocks, or as many rounds of every warp: behind a gap all stands as it stood in front of it.
#pragma once
#include <string>

#include "core/model/launch/launch.h"
#include "core/model/sample/sampling.h"

namespace lockstep::model {

struct SampleOptions {
    // The timed blocks alone run, on the memory itself, which then holds what they wrote: see Sampling::blocks_only. A fault
    // is told as the part that ran had it.
    bool time_only = false;
    uint32_t threads = 1;  // for the functional run of all blocks
    // Warp instructions of four waves from which on rounds of their loop are left out too; never, unless that is asked for:
    // it is less sure than leaving out blocks, as blocks that share an SM go on at paces that change.
    uint64_t rounds_from = UINT64_MAX;
};

struct SampledResult {
    TimedResult timed;  // `sampling` is null where the whole launch ran
    std::string why;    // it did: one sentence; "": it was sampled
};

// Runs the launch sampled, or whole where it cannot be sampled. Requires check_launch to have passed. The cycles depend on
// the launch alone: not on time_only and not on threads.
SampledResult sampled_launch(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory&,
                             const TimedOptions&, const SampleOptions&);

// Whether the launch is so long that it is sampled unasked: a block of it, times its blocks, has this many warp
// instructions, which take the machine the better part of a minute.
constexpr uint64_t sampled_from = 200'000'000, rounds_left_out_from = 6'000'000;
bool is_long(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, const simt::Memory&,
             uint64_t from = sampled_from);

}  // namespace lockstep::model
