// Two runs beside each other as plain data: what tells them apart, the difference in cycles, and their metrics.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/views/timeline/state_code.h"
#include "core/model/launch/launch.h"

namespace lockstep::gui {

// Names of the two, made of what differs: "1 block an SM" and "8 blocks an SM"; "A" and "B" when nothing does.
struct RunNames {
    std::string a, b;
};
// "SM 0 of 80; the last block ends on SM 78": whose warps are drawn.
std::string sm_of(const model::KernelRun& run);
RunNames names_of(const model::KernelRun& a, const model::KernelRun& b);

struct CompareRow {
    std::string label, unit;
    double a = 0, b = 0;
    std::string a_text, b_text, change;  // change: "-31 %", "+12.3 points", "" when nothing can be said
    std::optional<StallReason> state;    // of a share of the warps' cycles: its colour and hatch
    bool chain = false;                  // of the warps of a scheduler, from those it can hold to those selected
};
// The main metrics, the warps of a scheduler, then the share of each state that either run has, both in the tables' order.
std::vector<CompareRow> compare_rows(const model::KernelRun& a, const model::KernelRun& b);

// A metric's name as it is read: "achieved occupancy", "IPC", "DRAM bytes".
std::string metric_words(std::string_view name);

// "1.8 times as fast", "1.2 times as long": B's time over A's, by cycles, and where the clocks differ by time. "": they take
// equally long, or one was stopped.
std::string factor_of(const model::KernelRun& a, const model::KernelRun& b);
// "B takes 1,234 cycles, 567 fewer than A (-31 %): 1.46 times as fast. Both have the same kernel and GPU." On other clocks
// than A's it adds the times.
std::string difference_of(const model::KernelRun& a, const model::KernelRun& b);

}  // namespace lockstep::gui
