// For the timed driver: a warp's instructions that only the warp itself can see, run in one go, to be issued one by one
// later, each in its cycle.
#pragma once
#include <array>

#include "core/simt/warp.h"

namespace lockstep::simt {

// One instruction that ran ahead: which, and for a load from shared memory the passes over the banks.
struct AheadStep {
    uint32_t pc : 23;
    uint32_t some : 1;  // for some of the lanes only
    uint32_t passes : 8;
};
constexpr uint32_t most_ahead_pc = 1u << 23;
struct AheadSteps {  // apart, so that reading one after the other touches little of the host's cache
    static constexpr uint32_t most = 48;
    std::array<AheadStep, most> step{};
    std::array<uint32_t, most> lanes{};  // for which it ran, where `some` says so
};

// Runs the next instructions of a warp as long as nobody but the warp can tell when they run, and
// writes down what each did; all were run by the path that was active before. They are lane-wise arithmetic, loads from
// shared memory (weak ones), and branches that do not split. Returns how many; 0: only step() can go on.
// `passes` counts the passes of a shared access: offsets of 32 lanes, mask, bytes a lane.
using CountPasses = uint32_t (*)(const uint64_t* offsets, uint32_t mask, uint32_t bytes);
uint32_t run_ahead(Warp& warp, AheadSteps& steps, CountPasses passes);

// What the lanes `lanes` ask of the nanosleep at `pc`: the longest of them, in nanoseconds, at most a millisecond.
uint32_t longest_sleep(const Warp& warp, uint32_t pc, uint32_t lanes);

}  // namespace lockstep::simt
