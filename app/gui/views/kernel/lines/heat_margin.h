// What the run on show cost, beside the lines of the text as it stands now: after an edit a line takes its share with it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "app/gui/session.h"
#include "app/gui/views/kernel/lines/line_heat.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

class HeatMargin {
  public:
    // Left of the line numbers; where there is room, the wait has its name and what an issue wastes its number.
    static constexpr float narrow = 106, wide = 244, room_for_wide = 820;
    static float width(float room) { return room >= room_for_wide ? wide : narrow; }

    // Null: nothing is told of the cost of what is on show. Made anew when the run or the text is another one.
    const HeatMap* of(const Session& session, const Snapshot& snapshot);
    bool stale() const { return stale_; }   // the text is another one by now
    int32_t line_then(int32_t line) const;  // of the text that ran; 0: the line is a new one
    // A line's share of the time as a bar in the colour and hatch of what it waits for most, and in figures.
    void draw(Ui& ui, const HeatMap& heat, const LineHeat& line, const Rect& row) const;

  private:
    std::shared_ptr<const model::KernelRun> run_;
    std::string document_;
    HeatMap heat_;
    uint64_t version_ = 0;  // that kept_ is of
    std::vector<int32_t> kept_;
    bool stale_ = false;
};

}  // namespace lockstep::gui
