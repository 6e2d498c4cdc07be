// Colours and fonts. A colour is ImGui's 32-bit ABGR; hex() reads "RRGGBB". Sizes are those of the layout at 100 %;
// Ui multiplies by the text scale. Quiet text keeps 4.5:1 on a panel; `ink3` is for lines and dots only, never for text.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace lockstep::gui {

using Color = uint32_t;

constexpr Color rgb(uint32_t rrggbb, uint32_t alpha = 255) {
    return (alpha << 24) | ((rrggbb & 0xFF) << 16) | (rrggbb & 0xFF00) | (rrggbb >> 16);
}
Color mix(Color from, Color to, float share);  // per channel, 0 from .. 1 to
Color faded(Color color, float opacity);       // alpha times opacity
float contrast(Color a, Color b);              // WCAG ratio, 1..21, alpha ignored

// The data palette (Okabe-Ito), the same in every theme.
namespace data {
constexpr Color orange = rgb(0xE69F00), sky = rgb(0x56B4E9), green = rgb(0x009E73), yellow = rgb(0xF0E442),
                blue = rgb(0x0072B2), vermillion = rgb(0xD55E00), purple = rgb(0xCC79A7), grey = rgb(0x999999),
                dark_orange = rgb(0xB36B00), lanes = rgb(0xA9B2BF), ink_on_light = rgb(0x04140E), white = rgb(0xFFFFFF),
                black = rgb(0x000000);
}
Color text_on(Color fill);  // near-black or white, whichever reads better

struct Theme {
    std::string_view name;  // "dark", "light", "high-contrast", "print"
    bool dark = true;
    Color background, panel, panel2, line, grid;
    Color ink, ink2, ink3;    // text, second text, lines only
    Color quiet;              // text that steps back, 4.5:1
    Color accent, on_accent;  // and text on it
    Color selection;          // the inner of the double outline
    Color selected;           // fill of the selected row
    Color code;               // background of code boxes
    Color keyword;            // in source text
    Color wrong, right;       // vermillion and green as text
};
const Theme& theme_named(std::string_view name);  // throws Failure with the known names
const Theme& next_theme(const Theme& theme);

struct Fonts;  // fonts.h; views use Ui::text
}  // namespace lockstep::gui
