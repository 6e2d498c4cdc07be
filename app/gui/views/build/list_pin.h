// One row of a list that scrolls does not go out of sight, as that of the kit which limits: where it would, it stands at
// that edge, and the other rows pass beneath it. The list itself is moved by nobody but the learner.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct ListPlace {  // of a row in the list
    std::string_view field;
    float y = 0, h = 0;  // from the top of the list
};

struct PinnedRow {
    Rect at;             // where it is drawn instead of in the list
    bool below = false;  // its own place lies below what is in sight: it stands at the lower edge
};

class ListPin {
  public:
    // The row at the edge; nothing: each row stands where it is. Nothing changes below the pointer: as long as that is where
    // a row stands at the edge, or is to stand, all stays as it was. Of `view` counts what the panel's own page shows of it.
    // `field`: of the row to keep in sight, empty: none. `offset`: the list, which is called `list`, is scrolled so
    // far. It scrolls only for the row that has the keyboard, where that would lie beneath the one at the edge.
    std::optional<PinnedRow> place(Ui& ui, std::string_view field, std::span<const ListPlace> rows, const Rect& view,
                                   float offset, std::string_view list = "rows");
    const std::string& field() const { return field_; }  // of the row at the edge, or that would be; empty: none

  private:
    std::string field_;
};

}  // namespace lockstep::gui
