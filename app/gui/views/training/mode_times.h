// One program in several modes (eager, graph, fused): when the host calls and when the GPU works in the last step of each,
// on one clock that begins with the step, and what a step takes in calls, kernels and bytes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lockstep::scene {
struct TapeRun;
}

namespace lockstep::gui {

struct Snapshot;

struct ModeSpan {
    std::string name, phase;
    double begin = 0, end = 0;
};
struct ModeTimes {
    std::string mode;                      // "eager"; of several programs in one mode the program, "mlp whole"
    std::string program;                   // its file, without folder and ending
    std::vector<ModeSpan> calls, kernels;  // of the host; of the GPU
    double calls_us = 0, kernels_us = 0, step_us = 0;
    double bytes = -1;          // that the launches read and write; -1: not counted
    double forward_cycles = 0;  // of the forward pass's kernels
    double loss = 0;
    bool replayed = false;
    int launches() const { return static_cast<int>(kernels.size()); }
    double idle_us() const { return step_us > kernels_us ? step_us - kernels_us : 0; }  // of the GPU
};
ModeTimes mode_times(const scene::TapeRun& run);
// Of the program on show and of those that stand beside it, eager first, fused last.
std::vector<ModeTimes> modes_shown(const Snapshot& snapshot);

// Whether these are several programs, which differ in their work, and not one in its modes.
bool of_programs(const std::vector<ModeTimes>& modes);
std::string modes_title(const std::vector<ModeTimes>& modes);  // of one program in its modes, or of several programs
std::string modes_headline(const std::vector<ModeTimes>& modes);
std::string modes_difference(const std::vector<ModeTimes>& modes);
std::string modes_caption(const std::vector<ModeTimes>& modes);
std::string mode_words(const ModeTimes& mode);

}  // namespace lockstep::gui
