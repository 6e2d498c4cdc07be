// The marks that all sketches share: pencil strokes, ticks, edges and words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/sketch/sketch.h"

namespace lockstep::gui {

using lessons::Verdict;

namespace {

// -1 .. 1, the same for the same numbers.
float jitter(uint32_t seed, uint32_t number) {
    uint32_t h = seed * 2654435761u + number * 40503u + 977u;
    h ^= h >> 15;
    h *= 2246822519u;
    h ^= h >> 13;
    return static_cast<float>(h & 0xffff) / 32767.5f - 1;
}

}  // namespace

ArrowStep arrow_step(const KeyPress& key) {
    switch (key.code) {
        case KeyCode::right:
            return {1, 0};
        case KeyCode::left:
            return {-1, 0};
        case KeyCode::up:
            return {0, 1};
        case KeyCode::down:
            return {0, -1};
        default:
            return {};
    }
}

std::vector<std::pair<Point, Point>> pencil_strokes(const Rect& box, uint32_t seed, float pitch) {
    std::vector<std::pair<Point, Point>> strokes;
    const Rect in{box.x + 3, box.y + 3, box.w - 6, box.h - 6};
    if (in.w < 2 || in.h < 2) return strokes;
    uint32_t number = 0;
    for (float at = pitch * 0.6f; at < in.w + in.h; at += pitch, ++number) {
        // From the left or lower edge up to the upper or right one.
        const float from = std::clamp(at + 1.2f * jitter(seed, 2 * number), 0.5f, in.w + in.h),
                    to = std::clamp(at + 1.2f * jitter(seed, 2 * number + 1), 0.5f, in.w + in.h);
        const float short_a = 0.07f * std::fabs(jitter(seed, number + 71)),
                    short_b = 0.07f * std::fabs(jitter(seed, number + 133));
        Point a = from <= in.h ? Point{in.x, in.y + from} : Point{in.x + from - in.h, in.bottom()};
        Point b = to <= in.w ? Point{in.x + to, in.y} : Point{in.right(), in.y + to - in.w};
        const float dx = b.x - a.x, dy = b.y - a.y;
        strokes.emplace_back(Point{a.x + dx * short_a, a.y + dy * short_a}, Point{b.x - dx * short_b, b.y - dy * short_b});
    }
    return strokes;
}

void draw_pencil(Ui& ui, const Rect& box, uint32_t seed, float pitch) {
    const Color lead = faded(ui.theme->ink2, 0.8f);
    for (const auto& [from, to] : pencil_strokes(box, seed, pitch)) ui.line(from, to, lead, 1.6f);
}

std::string_view word_of(Verdict verdict) {
    switch (verdict) {
        case Verdict::missed:
            return "missed";
        case Verdict::spare:
            return "spare";
        case Verdict::low:
            return "too little";
        case Verdict::high:
            return "too much";
        default:
            return "";
    }
}

void draw_word(Ui& ui, Point centre, std::string_view word, Color ink, Color ground, float size) {
    const TextStyle style{.size = size, .color = ink, .align = Align::center, .weight = 600};
    const float w = ui.text_width(word, style) + 12;
    ui.rect({centre.x - w / 2, centre.y - size * 0.75f, w, size * 1.5f}, ground, 4);
    ui.text(centre.x, centre.y + size * 0.36f, word, style);
}

void draw_verdict(Ui& ui, const Rect& box, Verdict verdict, float shown, std::string_view note) {
    const Theme& theme = *ui.theme;
    if (verdict == Verdict::none || shown <= 0) return;
    const Faded faint(ui, shown);
    const Point middle{box.x + box.w / 2, box.y + box.h * 0.55f};
    if (verdict == Verdict::agrees) {
        if (box.w < 26 || box.h < 18) return;
        if (box.w < 64 || box.h < 44) {
            ui.rect({middle.x - 9, middle.y - 9, 18, 18}, theme.panel, 4);
            return ui.icon(middle.x, middle.y + 5, Icon::check, {.size = 13, .color = theme.right, .align = Align::center});
        }
        const TextStyle style{.size = 12};
        const bool words = box.w >= 96;
        const float w = std::min(
            box.w - 8, std::max(words ? ui.text_width("you agree", style) + 36 : 26, ui.text_width(note, style) + 14));
        const bool noted = !note.empty() && ui.text_width(note, style) + 8 <= box.w - 8 && box.h >= 64;
        const float h = noted ? 42.0f : 24.0f;
        ui.rect({middle.x - w / 2, middle.y - h / 2, w, h}, theme.panel, 4);
        const float y = middle.y - h / 2 + 16;
        if (words) {
            ui.icon(middle.x - 34, y + 1, Icon::check, {.size = 12, .color = theme.right});
            ui.text(middle.x + 8, y, "you agree", {.size = 12, .color = theme.ink2, .align = Align::center});
        } else {
            ui.icon(middle.x, y + 1, Icon::check, {.size = 13, .color = theme.right, .align = Align::center});
        }
        if (noted) ui.text(middle.x, y + 18, note, {.size = 12, .color = theme.ink, .align = Align::center});
        return;
    }
    ui.frame(box, theme.wrong, 3.5f, 2);
    const std::string_view word = word_of(verdict);
    const float size = box.w >= 90 && box.h >= 60 ? 18.0f : 12.0f;
    if (ui.text_width(word, {.size = size, .weight = 600}) + 14 > box.w || box.h < 24) return;
    draw_word(ui, {middle.x, middle.y - (note.empty() ? 0 : 8)}, word, theme.wrong, theme.panel, size);
    if (!note.empty() && box.h >= 76 && ui.text_width(note, {.size = 12}) + 8 <= box.w)
        draw_word(ui, {middle.x, middle.y + 18}, note, theme.ink2, theme.panel, 12);
}

}  // namespace lockstep::gui
