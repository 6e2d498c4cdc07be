// Panels, badges, captions and legends.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "app/gui/widgets/draw.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

std::string_view name_of(Provenance provenance) {
    static constexpr std::string_view names[] = {"executed", "measured", "simulated", "derived", "executed, times derived",
                                                 ""};
    return names[static_cast<size_t>(provenance)];
}

Color color_of(Provenance provenance, const Theme& theme) {
    switch (provenance) {
        case Provenance::executed:
        case Provenance::times_derived:
            return theme.right;
        case Provenance::measured:
            return theme.dark ? data::orange : rgb(0x8A5A00);
        case Provenance::simulated:
            return theme.accent;
        case Provenance::derived:
            return theme.dark ? data::purple : rgb(0x9A3F77);
        case Provenance::none:
            break;
    }
    return theme.ink2;
}

float Ui::badge(float x, float baseline, Provenance provenance) {
    if (provenance == Provenance::none) return 0;
    const std::string_view name = name_of(provenance);
    const Color color = color_of(provenance, *theme);
    const float width = text_width(name, {.size = 12}) + 16;
    frame({x, baseline - 13, width, 18}, color, 1, 9);
    text(x + width / 2, baseline, name, {.size = 12, .color = color, .align = Align::center});
    return width;
}

void Ui::caption(float x, float baseline, float right, Provenance provenance, std::string_view sentence) {
    if (provenance != Provenance::none) x += badge(x, baseline, provenance) + 10;
    text(x, baseline, sentence, {.size = 13, .color = theme->ink2, .width = right - x});
}

// Captions: one line, or as many as it needs up to four where the panel is high enough for them.
static float caption_width(Ui& ui, const Rect& body, const PanelText& words) {
    return body.w - (words.badge == Provenance::none ? 0 : ui.text_width(name_of(words.badge), {.size = 12}) + 26);
}
static float caption_need(Ui& ui, const Rect& body, const PanelText& words, const TextStyle& style) {
    const float width = caption_width(ui, body, words), most = std::max(18.0f, std::floor(body.h / 3 / 18) * 18);
    const float wide = ui.text_width(words.caption, style);
    // One that nearly fills its line will need two when its numbers grow.
    if (wide <= width) return wide > 0.85f * width && most >= 36 ? 52 : 36;
    const float wrapped = ui.paragraph({0, 0, width, 36}, words.caption, style, 18, false);
    return std::min({wrapped, 72.0f, most}) + 16;
}
static float caption_height(Ui& ui, const Rect& area, const Rect& body, const PanelText& words, const TextStyle& style) {
    ui.push_scope("caption");
    const uint32_t id =
        ui.state->id_of(std::to_string(static_cast<int>(area.x)) + "," + std::to_string(static_cast<int>(area.y)));
    ui.pop_scope();
    UiState::CaptionRoom& room = ui.state->caption_rooms[id];
    const float need = caption_need(ui, body, words, style);
    const bool same = room.width == area.w * ui.scale && room.scene == ui.state->scene;
    room = {area.w * ui.scale, same ? std::max(room.height, need) : need, ui.state->scene};
    return room.height;
}

// As many words as whole lines hold; where some are left out, dots say so.
static std::string fitted_caption(Ui& ui, const std::string& caption, float width, float room, const TextStyle& style) {
    const auto fits = [&](const std::string& text) {
        return ui.paragraph({0, 0, width, 36}, text, style, 18, false) <= room + 1;
    };
    if (fits(caption)) return caption;
    std::vector<size_t> ends;  // of its words
    for (size_t at = caption.find(' '); at != std::string::npos; at = caption.find(' ', at + 1)) ends.push_back(at);
    const auto cut =
        std::partition_point(ends.begin(), ends.end(), [&](size_t end) { return fits(caption.substr(0, end) + " ..."); });
    return cut == ends.begin() ? caption : caption.substr(0, *std::prev(cut)) + " ...";
}

Rect Ui::panel_body(const Rect& area, const PanelText& words) {
    Rect body{area.x + 12, area.y + 42, area.w - 24, area.h - 54};
    if (words.caption.empty() || body.h < 40) return body;
    body.h = area.bottom() - caption_height(*this, area, body, words, {.size = 13, .color = theme->ink2}) - 8 - body.y;
    return body;
}

Rect Ui::panel(const Rect& area, const PanelText& words) {
    // The frame was cleared to the panel's colour.
    rect({area.x + 1, area.y + 1, area.w - 2, 29}, theme->panel2, 4);
    frame(area, theme->line, 1, 5);
    line({area.x + 1, area.y + 30}, {area.right() - 1, area.y + 30}, theme->line);
    const float right = area.right() - 34;
    float x = text(area.x + 12, area.y + 20, words.title, {.size = 14, .weight = 600, .width = right - area.x - 12});
    if (words.header_badge != Provenance::none && x + 110 < right) x += 12 + badge(x + 12, area.y + 20, words.header_badge);
    if (!words.right.empty() && right - x > 40)
        text(right, area.y + 20, words.right,
             {.size = 13, .color = theme->ink2, .align = Align::right, .width = right - x - 16});
    const Rect body = panel_body(area, words);
    if (words.caption.empty() || area.h - 54 < 40) return body;

    const TextStyle style{.size = 13, .color = theme->ink2};
    const float top = body.bottom() + 8, width = caption_width(*this, body, words), left = body.right() - width;
    if (words.badge != Provenance::none) line({area.x + 1, top}, {area.right() - 1, top}, theme->grid);
    const float middle = top + std::round((area.bottom() - top) / 2) + 4;  // of one line, however much room is kept
    const bool one_line = text_width(words.caption, style) <= width;
    badge(body.x, one_line ? middle : top + 22, words.badge);
    const Telling telling(*this);
    if (one_line) {
        text(left, middle, words.caption, style);
        mark_terms(left, middle, words.caption, style);
    } else {
        clip({body.x, top, body.w, area.bottom() - top - 2});
        const std::string fitted = fitted_caption(*this, std::string(words.caption), width, area.bottom() - top - 16, style);
        paragraph({left, top + 9, width, area.bottom() - top - 16}, fitted, style, 18);
        unclip();
    }
    return body;
}

float Ui::legend(float x, float baseline, Color color, Hatch kind, std::string_view label) {
    hatch({x, baseline - 11, 14, 13}, color, kind);
    return text(x + 20, baseline, label, {.size = 13, .color = theme->ink2}) + 24;
}

float Ui::legend_line(float x, float baseline, Color color, bool dash, std::string_view label) {
    const Point ends[] = {{x, baseline - 5}, {x + 26, baseline - 5}};
    polyline(ends, color, 2.5f, dash ? 6.0f : 0.0f, dash ? 3.0f : 0.0f);
    return text(x + 34, baseline, label, {.size = 13}) + 18;
}

void Ui::say_nothing_yet(const Rect& body, std::string_view sentence, std::string_view hint) {
    if (sentence == no_kernel_yet && !state->no_kernel_because.empty()) {
        sentence = state->no_kernel_because;
        hint = state->no_kernel_hint;
    }
    const float middle = body.y + body.h / 2, width = std::min(420.0f, body.w);
    const Rect box{body.x + (body.w - width) / 2, middle - 24, width, 40};
    const float used = paragraph(box, sentence, {.size = 14, .color = theme->ink2}, 22);
    if (!hint.empty()) paragraph({box.x, box.y + used + 4, width, 40}, hint, {.size = 13, .color = theme->quiet}, 20);
}

}  // namespace lockstep::gui
