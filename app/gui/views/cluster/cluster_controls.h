// The controls over the Cluster workspace's pictures: chips and numbers with - and +, laid out from left to right in as many
// lines as they need. Made twice a frame: once to measure, once to draw.
#pragma once
#include <string>
#include <string_view>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// Below this height a picture of many ranks shows what is needed alone: half a panel of a small window.
inline constexpr float low_body = 330;

void draw_hidden_place(Ui& ui, const Rect& place);  // where a picture will stand once an answer is locked

class ControlRow {
  public:
    static constexpr float line = 32;

    ControlRow(Ui& ui, const Rect& body, bool draw) : ui_(ui), body_(body), x_(body.x), y_(body.y), draw_(draw) {}
    // True: it was pressed.
    bool chip(std::string_view label, bool on, bool able = true);
    // "ranks  - 4 +": how many steps it was moved: by clicks, the wheel, dragging the number, or Enter on - or +.
    int number(std::string_view label, const std::string& value, std::string_view tip = {});
    void words(std::string_view text, bool strong = false);
    void gap(float width) { x_ += width; }
    float x() const { return x_; }
    float y() const { return y_; }
    void place(float width);  // room for so much: in the next line where this one is full
    void advance(float width) { x_ += width; }
    float height() const { return y_ + line - body_.y; }
    bool drawing() const { return draw_; }

  private:
    Ui& ui_;
    Rect body_;
    float x_, y_;
    bool draw_;
};

}  // namespace lockstep::gui
