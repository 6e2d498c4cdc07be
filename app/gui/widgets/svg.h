// What Ui draws in one frame, as a vector picture (SVG 1.1): real shapes, real text with the app's fonts by name, hatches as
// patterns, clips as clip paths, pictures as embedded PNGs. Coordinates are the pixels that the frame is drawn to. While
// UiState::svg is set, Ui's primitives draw here too.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

struct Corners {  // pixels
    float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
    auto operator<=>(const Corners&) const = default;
};

struct Lettering {    // of a text
    float size = 14;  // em, pixels
    int weight = 400;
    bool mono = false;
    float tracking = 0;  // em, between letters
    float length = 0;    // pixels that the text takes, whatever font a reader has
};

class Svg {
  public:
    Svg(float width, float height, Color background, float hatch_period);
    void set_clip(const Corners& clip);  // of what comes next

    void rect(const Corners& box, Color fill, float radius = 0);
    void frame(const Corners& middle, Color stroke, float width, float radius = 0);  // of the stroke's middle
    void polyline(std::span<const Point> points, Color color, float width, float dash = 0, float gap = 0);
    void polygon(std::span<const Point> points, Color fill);
    void circle(Point centre, float radius, Color fill);
    void ring(Point centre, float radius, Color stroke, float width);
    void hatch(const Corners& box, Color color, Hatch kind);
    void text(float x, float baseline, std::string_view text, Color color, const Lettering& lettering);
    void icon(float x, float baseline, uint32_t code, float size, Color color, const std::string& font_file);
    void image(const Corners& box, int w, int h, std::span<const Color> pixels, float opacity);

    std::string finish();                     // the whole file
    std::string finish(const Corners& part);  // a part of it, as a picture of its own

  private:
    bool shows(const Corners& box) const;  // some of it lies in the clip
    void enter_clip();                     // what follows is clipped
    float width_, height_, hatch_period_;
    Color background_;
    Corners clip_, open_;  // wanted, and of the group that is open
    std::map<Corners, size_t> clips_;
    std::map<std::pair<Hatch, Color>, size_t> patterns_;
    std::map<uint32_t, std::string> icons_;
    std::string body_;
};

// As XML has it: "a &lt; b". Bytes that no XML may hold become U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace lockstep::gui
