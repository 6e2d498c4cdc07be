// What a line's variables and registers hold at the play head, in one lane of the focused warp. A variable's name is known
// where source and PTX leave no doubt (variable_names.h); of the line that ran last what has no name goes by its register.
#pragma once
#include <string>
#include <vector>

#include "app/gui/session.h"

namespace lockstep::gui {

struct LineValue {
    int32_t line = 0;
    std::string text;   // "mean = -0.0135"; several: "i = 3, v = 0.5"; "lane 5 is off here"
    std::string from;   // where each comes from, for whoever asks: "v: %f3, written by issue 12"
    bool last = false;  // the line ran last
};

// Made anew only when the warp, the moment or the lane is another one.
class LineValues {
  public:
    // By line. Empty: the warp has not been looked into, or nothing was executed yet.
    const std::vector<LineValue>& at(const KernelState& kernel, int lane, std::string_view document);

  private:
    std::shared_ptr<const model::KernelRun> run_;
    std::shared_ptr<const simt::WarpHistory> history_;
    std::shared_ptr<const std::vector<simt::LaneValues>> lanes_;
    int64_t step_ = -1;
    int lane_ = -1;
    std::vector<std::string> names_;  // by instruction
    std::vector<LineValue> values_;
};
// "warp 0 of block 0, lane 3, after issue 27".
std::string moment_of(const KernelState& kernel, int lane);

}  // namespace lockstep::gui
