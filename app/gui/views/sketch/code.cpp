// The source as the picture: a barrier is dragged to the gap between two lines. After the lock the pair that racecheck names
// is marked beside the code, with the gap where the barrier belongs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/kernel/source_text.h"
#include "app/gui/views/sketch/sketch.h"

namespace lockstep::gui {

using lessons::Sketch;
using lessons::Verdict;

Rect code_line(const Rect& area, size_t lines, size_t line) {
    const float pitch = std::clamp((area.h - 12) / static_cast<float>(std::max<size_t>(1, lines)), 22.0f, 46.0f);
    return {area.x, area.y + 6 + pitch * static_cast<float>(line), std::min(area.w, 720.0f), pitch};
}

namespace {

Rect gap_box(const Rect& area, size_t lines, double behind) {
    const Rect line = code_line(area, lines, static_cast<size_t>(std::max(1.0, behind)) - 1);
    const float h = std::clamp(line.h * 0.42f, 10.0f, 20.0f);
    return {line.x + 44, line.bottom() - h / 2, line.w - 56, h};
}

void draw_barrier(Ui& ui, const Rect& box, bool pencilled, std::string_view words, Color ink) {
    ui.rect(box, ui.theme->code, 3);
    if (pencilled)
        draw_pencil(ui, box, 29, 8);
    else
        ui.hatch(box, data::purple, Hatch::cross);
    ui.frame(box, ink, 2, 3);
    if (box.h >= 16) draw_word(ui, {box.x + box.w / 2, box.y + box.h / 2}, words, ink, ui.theme->code, 12);
}

void draw_code_gaps(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand&, const Rect& area) {
    const Theme& theme = *ui.theme;
    const std::vector<std::string>& lines = scene.board.cells;
    const size_t count = lines.size();
    double& put = pencil.values.front();
    const Rect first = code_line(area, count, 0), last = code_line(area, count, count - 1);
    const Rect box{area.x, area.y, first.w, last.bottom() + 6 - area.y};
    ui.rect(box, theme.code, 5);
    ui.frame(box, theme.line, 1, 5);
    if (scene.open)
        if (const Drag drag = ui.drag("code", box); drag.active)
            put =
                std::clamp<double>(std::round((drag.at.y - first.y) / first.h), scene.board.axis.low, scene.board.axis.high);
    const lessons::SketchTruth* const truth = scene.truth;
    const auto marked = [&](size_t i) -> const std::string* {  // a line of the pair, and what it does
        if (truth == nullptr || truth->spans.empty() || truth->notes.size() < 2) return nullptr;
        const auto number = static_cast<int64_t>(i) + 1;
        return number == truth->spans.front().begin ? &truth->notes[0]
               : number == truth->spans.front().end ? &truth->notes[1]
                                                    : nullptr;
    };
    for (size_t i = 0; i < count; ++i) {
        const Rect row = code_line(area, count, i);
        const float y = row.y + row.h / 2 + 5;
        ui.text(row.x + 32, y, std::to_string(i + 1),
                {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
        float right = row.right() - 10;
        if (const std::string* does = marked(i)) {
            const Faded faint(ui, scene.shown);
            const float w = ui.text_width(*does, {.size = 12, .weight = 600}) + 14;
            ui.rect({right - w, y - 15, w, 21}, theme.selected, 3);
            ui.text(right - w + 7, y, *does, {.size = 12, .weight = 600});
            right -= w + 8;
        }
        draw_code(ui, row.x + 46, y, lines[i], 14, right - row.x - 48);
    }
    if (truth != nullptr && !truth->spans.empty()) {
        const Faded faint(ui, scene.shown);
        if (scene.verdict(0) != Verdict::agrees)
            draw_barrier(ui, gap_box(area, count, static_cast<double>(truth->spans.front().begin)), false, "here",
                         theme.right);
    }
    if (std::isfinite(put)) {
        const bool good = truth != nullptr && scene.verdict(0) == Verdict::agrees, bad = truth != nullptr && !good;
        draw_barrier(ui, gap_box(area, count, put), true,
                     good  ? "yours: it belongs here"
                     : bad ? scene.verdict(0) == Verdict::low ? "yours: too early" : "yours: too late"
                           : "__syncthreads();",
                     good  ? theme.right
                     : bad ? theme.wrong
                           : theme.ink);
    } else if (scene.open) {
        const std::string_view says = "click into the code, or drag: the barrier snaps to a gap";
        if (box.bottom() + 20 <= area.bottom() + 8)
            ui.text(area.x + 2, box.bottom() + 18, says, {.size = 13, .color = theme.quiet, .width = area.w - 4});
    }
}

bool code_key(const SketchScene& scene, Sketch& pencil, SketchHand&, const KeyPress& key) {
    double& put = pencil.values.front();
    if (key.code == KeyCode::backspace || key.code == KeyCode::delete_) return put = lessons::nothing_put, true;
    const int up = arrow_step(key).up;
    if (up == 0) return false;
    const lessons::SketchAxis& axis = scene.board.axis;
    put = std::isfinite(put) ? std::clamp(put - up, axis.low, axis.high) : std::round((axis.low + axis.high) / 2);
    return true;
}

}  // namespace

SketchPicture barrier_picture() {
    return {.kind = "barrier",
            .draw = draw_code_gaps,
            .key = code_key,
            .high = true,
            .follows = [](const lessons::SketchBoard&, const Sketch&,
                          double put) { return fmt::format("it stands behind line {:.0f}", put); },
            .bare = true};
}

}  // namespace lockstep::gui
