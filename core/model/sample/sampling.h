// What a sampled launch tells of itself: how much of it ran cycle by cycle, what stands for the rest, and how far off the
// sum may be. Plain data, in TimedResult::sampling.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::model {

struct TimedResult;  // launch.h

// A stretch that did not run cycle by cycle: at the pace that was measured in front of it.
struct Gap {
    int64_t at = 0;             // cycle of the machine, which it does not count
    int64_t cycles = 0;         // that it stands for
    uint64_t blocks = 0;        // that never started; 0: rounds of a loop were left out
    uint64_t rounds = 0;        // of each warp's loop, in all blocks that ran just then
    uint64_t instructions = 0;  // warp instructions left out
    double error = 0;           // estimated, as a share of `cycles`
};

struct Sampling {
    uint64_t blocks = 0, timed_blocks = 0;  // of the launch; that ran on the machine
    uint64_t blocks_at_once = 0;            // a wave: as many as the GPU holds
    int64_t timed_cycles = 0;               // that ran one by one
    int64_t shown_cycles = 0;               // of those in front of the first gap: what trace, windows and checkpoints are of
    uint64_t timed_instructions = 0;        // warp instructions
    uint64_t looked_at = 0;                 // blocks that ran functionally, to see what blocks do
    std::vector<Gap> gaps;
    double error = 0;         // estimated, as a share of all cycles
    bool blocks_only = true;  // no rounds were left out: what the timed blocks wrote is right
};

// The cycles that a trace and a replay show: of a sampled launch those in front of its first gap, else all.
int64_t shown_cycles(const TimedResult&);

// Full sentences: what was timed, what stands for the rest; and how the estimate of the error was got.
std::string words_of(const Sampling&);
std::string short_words_of(const Sampling&);  // both in one sentence
std::string error_words_of(const Sampling&);

}  // namespace lockstep::model
