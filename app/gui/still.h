// A picture of one run of a kernel, without a window and without the app's worker: for notebooks and whoever else has a
// KernelRun. What the pictures of a warp need (its history, its registers) is worked out here.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/model/launch/launch.h"

namespace lockstep::model {
struct Verdict;  // core/model/advice/verdict.h
}

namespace lockstep::gui {

struct StillOptions {
    std::string view = "warps";      // of views.cpp, or a workspace: "sm", "memory", "machine"
    int width = 1160, height = 760;  // pixels
    double scale = 1;                // of text, 0.75 .. 2.5
    std::string theme = "dark";      // dark, light, high-contrast, print
    int64_t cycle = -1;              // where the clock stands; -1: where the picture opens
    int32_t warp = -1;               // index into KernelTrace::warps; -1: where the picture opens
    std::string label;               // what the run is called
};

// Throws Failure on a view, a theme or a size that there is not. One at a time: ImGui has one context.
std::string png_of(const std::shared_ptr<const model::KernelRun>& run, const std::shared_ptr<const model::Verdict>& verdict,
                   const StillOptions& options);
// What the picture says, as text.
std::string words_of(const std::shared_ptr<const model::KernelRun>& run,
                     const std::shared_ptr<const model::Verdict>& verdict, const StillOptions& options);
// Names and titles of what can be shown.
std::vector<std::pair<std::string, std::string>> stills();

}  // namespace lockstep::gui
