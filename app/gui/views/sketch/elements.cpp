// The elements of a matrix, to be painted: those that hold one value. The first row says its values from the beginning, all
// say theirs once they are told.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/sketch/sketch.h"

namespace lockstep::gui {

using lessons::Sketch;
using lessons::Verdict;

namespace {

constexpr float names_wide = 66, head_high = 44;

int columns_of(const lessons::SketchBoard& board) {
    return std::max(1, static_cast<int>(board.places.size()) / std::max(1, board.rows));
}

}  // namespace

Rect element_cell(const Rect& area, const lessons::SketchBoard& board, size_t place) {
    const int columns = columns_of(board);
    const float w = std::clamp((area.w - names_wide - 8) / static_cast<float>(columns), 14.0f, 64.0f),
                h = std::clamp((area.h - head_high - 8) / static_cast<float>(std::max(1, board.rows)), 17.0f, 34.0f);
    const auto at = static_cast<int>(place);
    return {area.x + names_wide + w * static_cast<float>(at % columns),
            area.y + head_high + h * static_cast<float>(at / columns), w - 2, h - 2};
}

namespace {

void draw_names(Ui& ui, const SketchScene& scene, const Rect& area) {
    const Theme& theme = *ui.theme;
    const auto columns = static_cast<size_t>(columns_of(scene.board));
    ui.text(area.x, area.y + 14,
            fmt::format("{}, {} x {}: a number is the lane that holds the element; row 0 is told", scene.board.array,
                        scene.board.rows, columns),
            {.size = 14, .weight = 600, .width = area.w});
    for (size_t column = 0; column < columns; ++column) {
        const Rect cell = element_cell(area, scene.board, column);
        ui.text(cell.x + cell.w / 2, cell.y - 6, std::to_string(column),
                {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
    }
    for (int row = 0; row < scene.board.rows; ++row) {
        const Rect cell = element_cell(area, scene.board, static_cast<size_t>(row) * columns);
        ui.text(cell.x - 8, cell.y + cell.h / 2 + 4.5f, fmt::format("row {}", row),
                {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
    }
}

// Beside a row that has something to say: one word for all its cells of a kind.
void draw_row_words(Ui& ui, const SketchScene& scene, const Rect& area) {
    const auto columns = static_cast<size_t>(columns_of(scene.board));
    for (size_t row = 0; row < static_cast<size_t>(scene.board.rows); ++row) {
        std::string words;
        bool good = true;
        std::string whose;
        size_t agree = 0, missed = 0, spare = 0;
        for (size_t i = row * columns; i < (row + 1) * columns; ++i) {
            agree += scene.verdict(i) == Verdict::agrees;
            missed += scene.verdict(i) == Verdict::missed;
            if (scene.verdict(i) != Verdict::spare) continue;
            ++spare;
            if (whose.find(scene.truth->notes[i]) == std::string::npos)
                whose += (whose.empty() ? "" : ", ") + scene.truth->notes[i];
        }
        const auto add = [&](const std::string& more) { words += (words.empty() ? "" : "; ") + more; };
        if (agree > 0) add(fmt::format("you agree on {}", agree));
        if (missed > 0) add(fmt::format("missed {}", missed)), good = false;
        if (spare > 0) add(fmt::format("spare: {} stands there", whose)), good = false;
        if (words.empty()) continue;
        const Rect last = element_cell(area, scene.board, (row + 1) * columns - 1);
        if (last.right() + 130 > area.right()) continue;
        ui.text(last.right() + 14, last.y + last.h / 2 + 4.5f, words,
                {.size = 12,
                 .color = good ? ui.theme->right : ui.theme->wrong,
                 .weight = 600,
                 .width = area.right() - last.right() - 16});
    }
}

void draw_elements(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const size_t count = scene.board.places.size();
    const Rect first = element_cell(area, scene.board, 0), last = element_cell(area, scene.board, count - 1);
    if (scene.open)
        if (const Drag drag =
                ui.drag("elements", {first.x, first.y, last.right() - first.x + 2, last.bottom() - first.y + 2});
            drag.active)
            for (size_t i = 0; i < count; ++i) {
                const Rect cell = element_cell(area, scene.board, i);
                if (!Rect{cell.x, cell.y, cell.w + 2, cell.h + 2}.contains(drag.at)) continue;
                if (drag.started) hand.paint = pencil.values[i] > 0 ? 0 : 1;
                pencil.values[i] = hand.paint;
                hand.cursor = -1;
            }
    draw_names(ui, scene, area);
    for (size_t i = 0; i < count; ++i) {
        const Rect cell = element_cell(area, scene.board, i);
        const bool put = i < pencil.values.size() && pencil.values[i] > 0,
                   is = scene.truth != nullptr && scene.truth->sketch.values[i] > 0;
        ui.rect(cell, theme.panel2);
        if (is) {
            const Faded faint(ui, scene.shown);
            ui.rect(cell, faded(data::green, 0.45f));
        }
        ui.frame(cell, theme.line);
        if (put) draw_pencil(ui, cell, static_cast<uint32_t>(i) * 19 + 3, 6);
        const std::string& known = i < scene.board.cells.size() ? scene.board.cells[i] : std::string();
        const std::string says = scene.truth && i < scene.truth->notes.size() ? scene.truth->notes[i] : known;
        const TextStyle style{.size = 12, .align = Align::center, .weight = is ? 700 : 400, .mono = true};
        if (!says.empty() && cell.h >= 13 && ui.text_width(says, style) + 2 <= cell.w) {
            const Faded faint(ui, scene.truth && known.empty() ? scene.shown : 1.0f);
            if (put) {
                const float w = ui.text_width(says, style) + 4;
                ui.rect({cell.x + cell.w / 2 - w / 2, cell.y + cell.h / 2 - 7, w, 14}, theme.panel, 2);
            }
            ui.text(cell.x + cell.w / 2, cell.y + cell.h / 2 + 4.5f, says, style);
        }
        if (scene.open && (ui.hovered(cell) || hand.cursor == static_cast<int>(i))) ui.dashed(cell, theme.accent, 4, 3);
    }
    if (!scene.score) return;
    const Faded faint(ui, scene.shown);
    for (size_t i = 0; i < count; ++i)  // behind all cells, so that no neighbour covers a part of an edge
        if (const Verdict verdict = scene.verdict(i); verdict != Verdict::none)
            ui.frame(element_cell(area, scene.board, i), verdict == Verdict::agrees ? theme.right : theme.wrong,
                     verdict == Verdict::agrees ? 2.0f : 3.0f);
    draw_row_words(ui, scene, area);
}

bool elements_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const auto count = static_cast<int>(pencil.values.size());
    if (count == 0) return false;
    if (key.code == KeyCode::backspace || key.code == KeyCode::delete_) {
        std::fill(pencil.values.begin(), pencil.values.end(), 0);
        return true;
    }
    if (key.code == KeyCode::enter && hand.cursor >= 0) {
        double& at = pencil.values[static_cast<size_t>(hand.cursor)];
        at = at > 0 ? 0 : 1;
        return true;
    }
    const auto [across, up] = arrow_step(key);
    if (across == 0 && up == 0) return false;
    const int to = hand.cursor + across - up * columns_of(scene.board);
    hand.cursor = hand.cursor < 0 ? 0 : to < 0 || to >= count ? hand.cursor : to;
    return true;
}

}  // namespace

SketchPicture elements_picture() {
    return {
        .kind = "elements",
        .draw = draw_elements,
        .key = elements_key,
        .high = true,
        .follows = [](const lessons::SketchBoard& board, const Sketch&,
                      double put) { return fmt::format("of {}", std::max(board.places.size(), static_cast<size_t>(put))); },
        .bare = true};
}

}  // namespace lockstep::gui
