// ImGui's draw lists as pixels, without OpenGL: what llvmpipe would make of them, within rounding. A triangle covers the
// pixels whose middles lie in it (of a middle on an edge: the left and upper one has it), colours and texture coordinates
// run linearly over it, and what it paints is blended over what is there. Rectangles, nearly all of a frame, take a short
// way.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "app/gui/widgets/draw.h"

struct ImDrawData;

namespace lockstep::gui {

struct RasterTexture {  // one of the two is filled: pixels, or white with that coverage
    int w = 0, h = 0;
    std::vector<Color> pixels;
    std::vector<uint8_t> coverage;
    bool keeps_pixels = false;  // where it is enlarged; else its texels run into one another
};

class Raster {
  public:
    Raster(int width, int height);
    void clear(Color color);
    // `texture_of`: by the id that the draw list has; null: it is drawn plain. `threads`: that share the rows.
    void draw(const ImDrawData& data, const std::function<const RasterTexture*(uint64_t id)>& texture_of, int threads = 1);
    int width() const { return width_; }
    int height() const { return height_; }
    const std::vector<Color>& pixels() const { return pixels_; }  // rows from the top

  private:
    int width_, height_;
    std::vector<Color> pixels_;
};

}  // namespace lockstep::gui
