// The little pictures on the lessons' cards: ornaments, a row of marks each, in a field of 84 x 52. A mark is a rectangle,
// circle or line, once or in a grid of copies.
#include <algorithm>
#include <span>

#include "app/gui/views/home/home.h"

namespace lockstep::gui {

namespace {

enum class Tint : uint8_t { sky, green, orange, yellow, purple, red, ink, quiet, line };
enum class Shape : uint8_t { box, faint, outline, hatched, dotted, crossed, disc, stroke };

struct Mark {
    Shape shape;
    Tint tint;
    float x, y, w, h;  // of a disc: centre, radius; of a stroke: from (x, y) by (w, h)
    int columns = 1, rows = 1;
    float right = 0, down = 0;  // from copy to copy
    float slant = 0;            // each row begins so much further right
};
struct Thumb {
    std::string_view lesson;
    std::vector<Mark> marks;
};

const std::vector<Thumb>& thumbs() {
    using enum Shape;
    using enum Tint;
    static const std::vector<Thumb> rows = {
        {"A01", {{hatched, orange, 10, 10, 15, 15, 1, 2, 0, 17}, {box, sky, 34, 10, 5, 5, 6, 5, 7, 7}}},
        {"A02",
         {{box, sky, 10, 8, 3.5f, 10, 4, 1, 4.5f},
          {faint, sky, 32, 8, 3.5f, 10, 4, 1, 4.5f},
          {box, sky, 54, 8, 3.5f, 10, 4, 1, 4.5f},
          {outline, quiet, 14, 30, 24, 14, 2, 1, 32},
          {stroke, quiet, 18, 20, 6, 8},
          {stroke, quiet, 40, 20, 14, 8},
          {stroke, quiet, 62, 20, 0, 8}}},
        {"A03", {{hatched, orange, 8, 9, 28, 9}, {box, green, 38, 21, 12, 9}, {dotted, yellow, 52, 33, 24, 9}}},
        {"A04", {{box, line, 12, 9, 7, 7, 8, 4, 8, 9}, {box, green, 12, 9, 7, 7, 2, 4, 32, 9, 8}}},
        {"A05", {{hatched, orange, 10, 8, 64, 7, 1, 4, 0, 9}, {box, green, 10, 8, 12, 7, 1, 4, 0, 9, 16}}},
        {"A06",
         {{box, sky, 10, 12, 7, 10, 4, 1, 16},
          {outline, quiet, 18, 12, 7, 10, 4, 1, 16},
          {outline, quiet, 10, 30, 7, 10, 4, 1, 16},
          {hatched, orange, 18, 30, 7, 10, 4, 1, 16}}},
        {"A07",
         {{box, sky, 37, 7, 10, 8}, {box, sky, 29, 17, 26, 8}, {faint, sky, 19, 27, 46, 8}, {faint, sky, 8, 37, 68, 8}}},
        {"A08",
         {{box, ink, 10, 8, 6.5f, 7, 8, 1, 8.2f},
          {stroke, sky, 13, 16, 0, 16, 8, 1, 8.2f},
          {faint, sky, 10, 33, 14.7f, 10, 2, 1, 32.8f},
          {box, sky, 26.4f, 33, 14.7f, 10, 2, 1, 32.8f}}},
        {"A09",
         {{outline, quiet, 26, 10, 32, 32},
          {box, sky, 30, 14, 5, 5, 4, 2, 6.5f, 6.5f},
          {dotted, yellow, 30, 28, 5, 10, 4, 1, 6.5f},
          {stroke, purple, 8, 26, 68, 0}}},
        {"A10",
         {{outline, quiet, 10, 10, 7, 8, 8, 4, 8, 8.5f},
          {hatched, orange, 10, 10, 7, 33.5f},
          {box, sky, 18, 10, 7, 8},
          {box, sky, 42, 18.5f, 7, 8}}},
        {"A11",
         {{stroke, ink, 10, 42, 30, -28},
          {stroke, ink, 40, 14, 34, 0},
          {disc, sky, 28, 34, 4, 0},
          {disc, green, 58, 22, 4, 0}}},
        {"A12",
         {{box, sky, 10, 40, 7, 4},
          {box, sky, 19, 36, 7, 8},
          {box, sky, 28, 31, 7, 13},
          {box, sky, 37, 26, 7, 18},
          {box, green, 46, 19, 7, 25},
          {box, green, 55, 14, 7, 30},
          {box, green, 64, 9, 7, 35}}},
        {"A13",
         {{box, sky, 12, 16, 6, 6, 4, 4, 7, 7},
          {hatched, orange, 44, 9, 6, 6, 4, 1, 7},
          {box, green, 44, 16, 6, 6, 4, 4, 7, 7}}},
        {"A14",
         {{hatched, orange, 8, 10, 20, 8, 2, 1, 24},
          {box, green, 30, 22, 20, 8, 2, 1, 24},
          {dotted, yellow, 52, 34, 22, 8}}},
        {"A15",
         {{outline, quiet, 8, 34, 9, 9},
          {outline, quiet, 21, 29, 11, 14},
          {box, sky, 36, 23, 11, 20},
          {box, sky, 51, 16, 11, 27},
          {box, green, 66, 8, 11, 35}}},
        {"A16",
         {{disc, ink, 16, 12, 4, 0},
          {disc, quiet, 40, 24, 4, 0},
          {disc, quiet, 24, 38, 4, 0},
          {disc, quiet, 66, 14, 4, 0},
          {disc, red, 66, 40, 4, 0},
          {stroke, quiet, 16, 12, 24, 12},
          {stroke, quiet, 40, 24, 26, -10},
          {stroke, quiet, 40, 24, -16, 14},
          {stroke, quiet, 40, 24, 26, 16}}},
        {"B01",
         {{stroke, ink, 10, 42, 66, -33},
          {disc, sky, 14, 43, 2.5f, 0, 3, 1, 22, 0},
          {disc, sky, 26, 28, 2.5f, 0},
          {disc, sky, 48, 26, 2.5f, 0},
          {disc, sky, 66, 10, 2.5f, 0}}},
        {"B02",
         {{stroke, quiet, 16, 14, 26, 12},
          {stroke, quiet, 16, 38, 26, -12},
          {stroke, quiet, 42, 26, 26, 0},
          {disc, sky, 16, 14, 6, 0},
          {disc, sky, 16, 38, 6, 0},
          {disc, green, 42, 26, 6, 0},
          {disc, ink, 68, 26, 6, 0}}},
        {"B03",
         {{outline, ink, 30, 14, 24, 24},
          {stroke, green, 8, 21, 20, 0},
          {stroke, green, 56, 21, 20, 0},
          {stroke, sky, 8, 32, 20, 0},
          {stroke, sky, 56, 32, 20, 0}}},
        {"B04",
         {{box, sky, 8, 9, 5, 5, 3, 5, 6, 6},
          {hatched, orange, 32, 15, 5, 5, 4, 3, 6, 6},
          {box, green, 62, 9, 5, 5, 3, 5, 6, 6}}},
        {"B05",
         {{box, line, 14, 6, 7, 7, 5, 5, 8, 8},
          {box, sky, 22, 14, 7, 7, 2, 2, 8, 8},
          {outline, ink, 21, 13, 17, 17},
          {box, green, 64, 22, 8, 8},
          {stroke, quiet, 40, 22, 20, 4}}},
        {"B06",
         {{box, line, 22, 5, 6, 6, 6, 6, 7, 7},
          {box, sky, 22, 5, 6, 6, 1, 6, 0, 7, 7},
          {faint, sky, 22, 12, 6, 6, 1, 5, 0, 7, 7},
          {faint, sky, 22, 19, 6, 6, 1, 4, 0, 7, 7}}},
        {"B07",
         {{box, line, 28, 6, 34, 8, 1, 2, 0, 22},
          {box, sky, 28, 17, 34, 8},
          {box, green, 28, 39, 34, 8},
          {stroke, ink, 20, 48, 0, -44}}},
        {"B08",
         {{box, sky, 12, 7, 8, 38},
          {box, sky, 25, 14, 8, 24},
          {box, yellow, 38, 21, 8, 10},
          {box, green, 51, 14, 8, 24},
          {box, green, 64, 7, 8, 38}}},
        {"B09",
         {{stroke, ink, 10, 10, 14, 24},
          {stroke, ink, 24, 34, 16, 8},
          {stroke, ink, 40, 42, 16, -8},
          {stroke, ink, 56, 34, 16, -24},
          {disc, sky, 24, 34, 4, 0},
          {disc, red, 68, 16, 4, 0}}},
        {"B10", {{box, sky, 10, 30, 10, 10}, {box, sky, 26, 24, 16, 16}, {hatched, orange, 48, 10, 26, 30}}},
        {"B11",
         {{box, sky, 8, 12, 10, 8, 4, 1, 17}, {box, green, 19, 28, 5, 10, 4, 1, 17}, {outline, quiet, 8, 28, 68, 10}}},
        {"B12",
         {{box, sky, 8, 9, 3.5f, 8, 16, 1, 4.3f},
          {box, green, 8, 22, 3.5f, 8, 8, 1, 4.3f},
          {hatched, orange, 8, 35, 3.5f, 8, 4, 1, 4.3f}}},
        {"C01",
         {{box, sky, 10, 8, 12, 12, 4, 1, 18},
          {stroke, quiet, 16, 22, 26, 12},
          {stroke, quiet, 34, 22, 8, 12},
          {stroke, quiet, 52, 22, -10, 12},
          {stroke, quiet, 70, 22, -28, 12},
          {box, green, 30, 35, 24, 9}}},
        {"C02",
         {{stroke, quiet, 32, 10, 20, 0},
          {stroke, quiet, 52, 10, 9, 16},
          {stroke, quiet, 61, 26, -9, 16},
          {stroke, quiet, 52, 42, -20, 0},
          {stroke, quiet, 32, 42, -9, -16},
          {stroke, quiet, 23, 26, 9, -16},
          {disc, sky, 32, 10, 5, 0, 2, 1, 20},
          {disc, sky, 52, 42, 5, 0},
          {disc, green, 32, 42, 5, 0},
          {disc, sky, 61, 26, 5, 0},
          {disc, sky, 23, 26, 5, 0}}},
        {"C03",
         {{outline, quiet, 10, 8, 64, 36},
          {stroke, ink, 16, 14, 6, 5},
          {stroke, ink, 16, 24, 6, -5},
          {stroke, ink, 25, 25, 10, 0},
          {box, sky, 17, 31, 9, 7, 4, 1, 13}}},
        {"C04",
         {{box, sky, 12, 8, 12, 4.5f, 2, 6, 17, 6},
          {box, sky, 46, 26, 12, 4.5f, 1, 3, 0, 6},
          {box, sky, 63, 8, 12, 4.5f, 1, 6, 0, 6},
          {outline, red, 46, 8, 12, 17}}},
        {"C05",
         {{box, sky, 10, 12, 13, 28},
          {hatched, orange, 25, 12, 13, 28},
          {stroke, ink, 46, 26, 8, 0},
          {stroke, ink, 50, 22, 0, 8},
          {box, green, 60, 12, 14, 28}}},
        {"C06", {{box, sky, 9, 8, 8, 8, 2, 4, 9, 10, 9}, {hatched, green, 63, 8, 8, 8, 2, 3, 9, 10, -9}}},
        {"C07",
         {{box, sky, 10, 10, 15, 9, 2, 1, 34},
          {hatched, orange, 27, 10, 15, 9, 2, 1, 34},
          {stroke, quiet, 17, 22, 0, 8, 4, 1, 17},
          {outline, quiet, 10, 33, 15, 9, 4, 1, 17}}},
        {"C08",
         {{box, sky, 14, 7, 11, 38},
          {crossed, purple, 14, 7, 11, 19},
          {box, sky, 30, 25, 11, 20},
          {crossed, purple, 30, 25, 11, 10},
          {box, sky, 46, 32, 11, 13},
          {crossed, purple, 46, 32, 11, 6},
          {box, sky, 62, 40, 11, 5}}},
        {"C09",
         {{outline, quiet, 14, 9, 16, 16, 3, 2, 19, 18},
          {box, sky, 17, 12, 10, 10},
          {box, green, 36, 12, 10, 10},
          {hatched, orange, 17, 30, 10, 10}}},
        {"C10",
         {{box, sky, 10, 9, 8, 8, 3, 3, 9, 9},
          {box, green, 42, 9, 8, 8, 1, 3, 0, 9},
          {hatched, orange, 54, 9, 8, 8, 2, 1, 9},
          {dotted, yellow, 54, 27, 8, 8, 2, 1, 9},
          {stroke, quiet, 10, 42, 64, 0}}},
        {"C11",
         {{stroke, sky, 10, 40, 26, -24},
          {stroke, sky, 36, 16, 0, 24},
          {stroke, green, 48, 40, 12, -28},
          {stroke, green, 60, 12, 12, 28},
          {stroke, quiet, 8, 42, 68, 0}}},
        {"C12",
         {{outline, quiet, 10, 8, 14, 36, 4, 1, 17}, {box, sky, 12, 11, 10, 4, 4, 4, 17, 8}, {box, red, 46, 27, 10, 4}}},
    };
    return rows;
}

Color color_of(const Theme& t, Tint tint) {
    switch (tint) {
        case Tint::sky:
            return data::sky;
        case Tint::green:
            return data::green;
        case Tint::orange:
            return data::orange;
        case Tint::yellow:
            return data::yellow;
        case Tint::purple:
            return data::purple;
        case Tint::red:
            return data::vermillion;
        case Tint::ink:
            return t.ink2;
        case Tint::quiet:
            return t.ink3;
        case Tint::line:
            return t.line;
    }
    return t.ink2;
}

void draw_mark(Ui& ui, const Mark& mark, float x, float y) {
    const Color color = color_of(*ui.theme, mark.tint);
    const Rect box{x, y, mark.w, mark.h};
    switch (mark.shape) {
        case Shape::box:
            return ui.rect(box, color);
        case Shape::faint:
            return ui.rect(box, faded(color, 0.55f));
        case Shape::outline:
            return ui.frame(box, color, 1.2f);
        case Shape::hatched:
            return ui.hatch(box, color, Hatch::diagonal);
        case Shape::dotted:
            return ui.hatch(box, color, Hatch::dots);
        case Shape::crossed:
            return ui.hatch(box, color, Hatch::cross);
        case Shape::disc:
            return ui.circle({x, y}, mark.w, color);
        case Shape::stroke:
            return ui.line({x, y}, {x + mark.w, y + mark.h}, color, 1.6f);
    }
}

}  // namespace

void draw_thumb(Ui& ui, std::string_view lesson, const Rect& area) {
    static const std::vector<Mark> of_ones_own = {{Shape::outline, Tint::quiet, 20, 10, 44, 32},
                                                  {Shape::stroke, Tint::ink, 28, 20, 28, 0, 1, 3, 0, 6}};
    const std::vector<Mark>* marks = &of_ones_own;
    for (const Thumb& thumb : thumbs())
        if (thumb.lesson == lesson) marks = &thumb.marks;
    const float x0 = area.x + (area.w - 84) / 2, y0 = area.y + (area.h - 52) / 2;
    for (const Mark& mark : *marks)
        for (int row = 0; row < mark.rows; ++row)
            for (int column = 0; column < mark.columns; ++column)
                draw_mark(ui, mark,
                          x0 + mark.x + mark.right * static_cast<float>(column) + mark.slant * static_cast<float>(row),
                          y0 + mark.y + mark.down * static_cast<float>(row));
}

}  // namespace lockstep::gui
