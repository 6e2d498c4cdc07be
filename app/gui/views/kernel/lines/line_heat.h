// What the lines of a text cost in a timed run: the share of the warps' time that went by in front of a line's instructions,
// what they waited for most, and how well a request or an issue was used there.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/model/launch/launch.h"

namespace lockstep::gui {

struct LineHeat {
    double share = 0;                          // 0..1 of all resident warps' cycles, those of issues included
    StallReason wait = StallReason::selected;  // what most of it is
    double wait_share = 0;                     // of the line's time
    uint64_t issues = 0;                       // warp instructions
    double lanes = 0;                          // that were on, an issue
    double sectors = 0, needed = 0;            // of a request to global memory; needed: as many as its bytes fill
    bool wasteful() const { return sectors > 1.5 * needed && sectors >= 2; }
};

struct HeatMap {
    std::vector<LineHeat> lines;  // by line - 1
    double hottest = 0;           // the largest share
    double elsewhere = 0;         // share of instructions that are of no line here: of headers, of the launch itself
    double by_state[static_cast<size_t>(StallReason::count)] = {};
    bool timed() const { return hottest > 0; }
};

// By the lines of the document of this name, of PTX by those of its text.
HeatMap heat_of(const model::KernelRun& run, std::string_view document);
const LineHeat* heat_at(const HeatMap& heat, int32_t line);  // null: it costs nothing
// "31.5 % of the time, mostly long scoreboard (28.1 %)"; "32 sectors a request where 4 suffice"; several sentences.
std::string sentence_of(const LineHeat& heat);

}  // namespace lockstep::gui
