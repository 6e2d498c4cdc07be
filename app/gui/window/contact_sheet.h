// Many pictures on one: each made smaller, in rows, to be looked over at once.
#pragma once
#include <string>
#include <vector>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

class ContactSheet {
  public:
    explicit ContactSheet(int columns = 4, int thumb_width = 640) : columns_(columns), thumb_width_(thumb_width) {}
    // Rows from the top, `width` * `height` pixels; all pictures of one size.
    void add(const std::vector<Color>& pixels, int width, int height);
    size_t count() const { return thumbs_.size(); }
    int width() const { return columns_ * (thumb_width_ + gap) + gap; }
    int height() const;
    std::vector<Color> pixels() const;              // of the whole sheet, rows from the top
    void write_png(const std::string& file) const;  // throws Failure

  private:
    static constexpr int gap = 12;
    int columns_, thumb_width_, thumb_height_ = 0;
    std::vector<std::vector<Color>> thumbs_;
};

}  // namespace lockstep::gui
