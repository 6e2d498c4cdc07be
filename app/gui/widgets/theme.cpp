// Four themes. Contrast of every text colour on `panel` and `panel2` is tested (tests/gui/widgets/theme_test.cpp): ink 7:1,
// ink2 and quiet 4.5:1.
#include "app/gui/widgets/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/diagnostic.h"

namespace lockstep::gui {

namespace {

const std::array<Theme, 4> themes = {{
    {.name = "dark",
     .dark = true,
     .background = rgb(0x121418),
     .panel = rgb(0x1A1D23),
     .panel2 = rgb(0x22262E),
     .line = rgb(0x343A46),
     .grid = rgb(0x262B34),
     .ink = rgb(0xE8EAED),
     .ink2 = rgb(0x9BA3AF),
     .ink3 = rgb(0x656D7A),
     .quiet = rgb(0x8B94A2),
     .accent = rgb(0x56B4E9),
     .on_accent = rgb(0x0D1A24),
     .selection = rgb(0xFFFFFF),
     .selected = rgb(0x2B3A48),
     .code = rgb(0x16191E),
     .keyword = rgb(0xD6A3C2),
     .wrong = rgb(0xF0813A),
     .right = rgb(0x2BBF93)},
    {.name = "light",
     .dark = false,
     .background = rgb(0xEEF0F3),
     .panel = rgb(0xFFFFFF),
     .panel2 = rgb(0xF5F6F8),
     .line = rgb(0xCFD4DC),
     .grid = rgb(0xE5E8EC),
     .ink = rgb(0x1A1D21),
     .ink2 = rgb(0x565E6A),
     .ink3 = rgb(0x8A929E),
     .quiet = rgb(0x565E6A),
     .accent = rgb(0x0072B2),
     .on_accent = rgb(0xFFFFFF),
     .selection = rgb(0xFFFFFF),
     .selected = rgb(0xDCEBF7),
     .code = rgb(0xF5F6F8),
     .keyword = rgb(0x8F2F6B),
     .wrong = rgb(0xB34700),
     .right = rgb(0x007A57)},
    {.name = "high-contrast",
     .dark = true,
     .background = rgb(0x000000),
     .panel = rgb(0x000000),
     .panel2 = rgb(0x0B0D10),
     .line = rgb(0x9AA3B0),
     .grid = rgb(0x3A414D),
     .ink = rgb(0xFFFFFF),
     .ink2 = rgb(0xE3E7ED),
     .ink3 = rgb(0xC2C9D3),
     .quiet = rgb(0xD5DAE2),
     .accent = rgb(0x7CCBFF),
     .on_accent = rgb(0x000000),
     .selection = rgb(0xFFFFFF),
     .selected = rgb(0x163A57),
     .code = rgb(0x000000),
     .keyword = rgb(0xFFC2E6),
     .wrong = rgb(0xFF9A57),
     .right = rgb(0x4BE3B4)},
    {.name = "print",
     .dark = false,
     .background = rgb(0xFFFFFF),
     .panel = rgb(0xFFFFFF),
     .panel2 = rgb(0xFFFFFF),
     .line = rgb(0x8A8A8A),
     .grid = rgb(0xDDDDDD),
     .ink = rgb(0x000000),
     .ink2 = rgb(0x333333),
     .ink3 = rgb(0x777777),
     .quiet = rgb(0x444444),
     .accent = rgb(0x005A8C),
     .on_accent = rgb(0xFFFFFF),
     .selection = rgb(0xFFFFFF),
     .selected = rgb(0xE6E6E6),
     .code = rgb(0xFFFFFF),
     .keyword = rgb(0x6B1F50),
     .wrong = rgb(0x9A3D00),
     .right = rgb(0x00624A)},
}};

float channel(Color color, int shift) {
    return static_cast<float>((color >> shift) & 0xFF);
}

float luminance(Color color) {
    const auto linear = [](float c) {
        c /= 255;
        return c <= 0.03928f ? c / 12.92f : std::pow((c + 0.055f) / 1.055f, 2.4f);
    };
    return 0.2126f * linear(channel(color, 0)) + 0.7152f * linear(channel(color, 8)) + 0.0722f * linear(channel(color, 16));
}

}  // namespace

Color mix(Color from, Color to, float share) {
    share = std::clamp(share, 0.0f, 1.0f);
    Color out = 0;
    for (int shift = 0; shift < 32; shift += 8) {
        const float value = channel(from, shift) + (channel(to, shift) - channel(from, shift)) * share;
        out |= static_cast<Color>(value + 0.5f) << shift;
    }
    return out;
}

Color faded(Color color, float opacity) {
    const auto alpha = static_cast<Color>(channel(color, 24) * std::clamp(opacity, 0.0f, 1.0f) + 0.5f);
    return (color & 0x00FFFFFF) | (alpha << 24);
}

float contrast(Color a, Color b) {
    const float x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05f) / (std::min(x, y) + 0.05f);
}

Color text_on(Color fill) {
    return contrast(fill, data::ink_on_light) >= contrast(fill, data::white) ? data::ink_on_light : data::white;
}

const Theme& theme_named(std::string_view name) {
    for (const Theme& theme : themes)
        if (theme.name == name) return theme;
    throw Failure("unknown theme '" + std::string(name) + "', known are dark, light, high-contrast and print");
}

const Theme& next_theme(const Theme& theme) {
    for (size_t i = 0; i < themes.size(); ++i)
        if (themes[i].name == theme.name) return themes[(i + 1) % themes.size()];
    return themes[0];
}

}  // namespace lockstep::gui
