// How a warp state looks and what it is called: one row a StallReason, a colour and a second code (hatch or hollow).
#pragma once
#include <array>
#include <string_view>

#include "app/gui/widgets/draw.h"
#include "core/trace/stall_reason.h"

namespace lockstep::gui {

constexpr size_t state_count = static_cast<size_t>(StallReason::count);

struct StateCode {
    StallReason reason;
    Color color;
    Hatch hatch;
    float opacity;           // of the fill: a fixed wait is light grey
    bool hollow;             // drawn as an outline
    std::string_view brief;  // "long": what the state is called, shortened for narrow columns
    std::string_view doing;  // "wait for global memory": "7 of 32 warps ..."
};

const StateCode& code_of(StallReason reason);

// One cell or one merged run in the state's colour and hatch.
void draw_state(Ui& ui, const Rect& rect, StallReason reason);

// The same for one pixel of a texture: the hatch's pattern at (x, y) over `background`.
Color state_pixel(StallReason reason, int x, int y, Color background);

// state_pixel for many pixels: its patterns repeat every 24 x 12. `strength`: how much of it covers the background.
class StatePixels {
  public:
    explicit StatePixels(Color background, float strength = 1);
    Color at(size_t state, int x, int y) const { return colors_[state][on_[state][y % 12][x % 24]]; }

  private:
    std::array<std::array<Color, 2>, state_count> colors_;
    std::array<std::array<std::array<bool, 24>, 12>, state_count> on_;
};

}  // namespace lockstep::gui
