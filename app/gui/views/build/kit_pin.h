// The row of the kit that limits does not go out of sight: where the list is scrolled so that it would, it stands at that
// edge, and the other rows pass beneath it. The list itself is moved by nobody but the learner.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct KitPlace {  // of a row in the list
    std::string_view field;
    float y = 0, h = 0;  // from the top of the list
};

class KitPin {
  public:
    // Where the row at the edge is drawn instead of in the list; nothing: each row stands where it is. Nothing changes below
    // the pointer: as long as that is where a row stands at the edge, or is to stand, all stays as it was.
    // `limits`: field of the row that limits, empty: none does. `offset`: the list, which is called `list`, is scrolled so
    // far. It scrolls only for the row that has the keyboard, where that would lie beneath the one at the edge.
    std::optional<Rect> place(Ui& ui, std::string_view limits, std::span<const KitPlace> rows, const Rect& view,
                              float offset, std::string_view list = "rows");
    const std::string& field() const { return field_; }  // of the row at the edge, or that would be; empty: none

  private:
    std::string field_;
};

}  // namespace lockstep::gui
