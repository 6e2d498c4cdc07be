// What a frame has to draw again. The screen is cut into squares, and a square's number is made of every shape that touches
// it, in order: corners, colours, texture, clipping. Squares whose number is that of the frame before show the same pixels
// already; the others are joined into boxes, and only the shapes that touch a box are drawn, within it. With software
// OpenGL pixels are what a frame costs.
#pragma once
#include <imgui.h>

#include <cstdint>
#include <map>
#include <vector>

namespace lockstep::gui {

struct PixelArea {  // from the top left; right and bottom are outside
    int left = 0, top = 0, right = 0, bottom = 0;
    bool operator==(const PixelArea&) const = default;
};

class Damage {
  public:
    // The boxes, none of which touches another; none: it is the picture of the frame before.
    std::vector<PixelArea> of(const ImDrawData& data, int width, int height);
    void forget();                     // the pixels of the frame before are gone
    void changed(uint64_t texture);    // it has other pixels now
    static constexpr int square = 32;  // pixels

  private:
    int width_ = 0, height_ = 0;
    std::vector<uint64_t> before_, now_;  // a number a square, row by row
    std::map<uint64_t, uint64_t> versions_;
};

// Of `list` what touches the boxes: its shapes once for each box, cut off at its edges. The corners stay with `list`.
struct PartOfList {
    ImVector<ImDrawIdx> indices;
    ImVector<ImDrawCmd> commands;
};
void take_part(const ImDrawList& list, const std::vector<PixelArea>& boxes, PartOfList& part);  // into an empty one

}  // namespace lockstep::gui
