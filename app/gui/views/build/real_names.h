// Where the names of real chips stand in the plot of designs: beside their squares, and where others crowd those, in the
// nearest free room, with a line that leads to it.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct NamedPoint {
    Point at;         // the middle of a square
    float width = 0;  // of its name
};
struct NamePlace {
    Rect label;
    bool led = false;  // by a line from the square to `to`, on the label's edge
    Point to;
};
inline constexpr float real_square = 12, name_height = 15;

// Nothing where the plot has no room left for a name. No name lies on another, on a square or on `taken`.
std::vector<std::optional<NamePlace>> places_of_names(std::span<const NamedPoint> points, std::span<const Rect> taken,
                                                      const Rect& plot);

}  // namespace lockstep::gui
