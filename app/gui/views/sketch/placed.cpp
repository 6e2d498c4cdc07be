// What is put into places: blocks onto SMs, turn by turn, and cards into an order.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/sketch/sketch.h"
#include "core/base/units.h"

namespace lockstep::gui {

using lessons::Sketch;
using lessons::SketchBoard;
using lessons::Verdict;

namespace {

// Two rows of cards stand below each other; in a low strip they are flatter and closer.
constexpr float card_most = 64, card_least = 26, row_gap = 46, row_gap_low = 28;
float card_height(const Rect& area) {
    return area.h >= 28 + 2 * card_most + row_gap ? card_most
                                                  : std::clamp((area.h - 34 - row_gap_low) / 2, card_least, card_most);
}

}  // namespace

Rect order_slot(const Rect& area, size_t count, size_t place) {
    const float pitch = area.w / static_cast<float>(std::max<size_t>(1, count));
    return {area.x + pitch * static_cast<float>(place) + 3, area.y + 28, pitch - 6, card_height(area)};
}

namespace {

Rect waiting_slot(const Rect& area, size_t count, size_t item) {
    Rect box = order_slot(area, count, item);
    box.y += box.h + (box.h < card_most ? row_gap_low : row_gap);
    return box;
}

size_t turns_of(const SketchBoard& board) {
    return static_cast<size_t>(std::max(1.0, board.axis.high));
}

Rect waiting_block(const Rect& area, size_t block) {
    return {area.x + 100 + 58 * static_cast<float>(block % 12), area.y + 4, 52, 32};
}

}  // namespace

Rect block_cell(const Rect& area, const SketchBoard& board, double place) {
    const size_t turns = turns_of(board), at = static_cast<size_t>(place);
    const float w = std::min(124.0f, (area.w - 100) / static_cast<float>(turns)),
                h = std::clamp((area.h - 120) / static_cast<float>(std::max(1, board.rows)), 34.0f, 120.0f);
    return {area.x + 100 + w * static_cast<float>(at % turns), area.y + 74 + h * static_cast<float>(at / turns), w - 4,
            h - 6};
}

namespace {

// Several blocks share a cell side by side.
Rect block_box(const Rect& area, const SketchBoard& board, const std::vector<double>& values, size_t block) {
    const Rect cell = block_cell(area, board, values[block]);
    int before = 0, all = 0;
    for (size_t b = 0; b < values.size(); ++b)
        if (values[b] == values[block]) ++all, before += b < block;
    const float w = cell.w / static_cast<float>(std::max(1, all));
    return {cell.x + w * static_cast<float>(before) + 2, cell.y + 3, w - 4, cell.h - 6 - (cell.h >= 56 ? 22.0f : 0.0f)};
}

void draw_block(Ui& ui, const Rect& box, size_t block, bool pencilled) {
    ui.rect(box, ui.theme->panel, 3);
    if (pencilled) draw_pencil(ui, box, 41u * static_cast<uint32_t>(block) + 2, 7);
    ui.frame(box, ui.theme->ink2, 1.3f, 3);
    const std::string name = std::to_string(block);
    const float w = ui.text_width(name, {.size = 14, .weight = 700}) + 8;
    ui.rect({box.x + box.w / 2 - w / 2, box.y + box.h / 2 - 9, w, 18}, ui.theme->panel, 3);
    ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, name, {.size = 14, .align = Align::center, .weight = 700});
}

// Below the turns: the blocks of the run on the clock, an SM a row, and how soon one follows the other.
void draw_block_runs(Ui& ui, const SketchScene& scene, const Rect& area) {
    const SketchBoard& board = scene.board;
    const auto& spans = scene.truth->spans;
    const std::vector<double>& places = scene.truth->sketch.values;
    const auto rows = static_cast<float>(std::max(1, board.rows));
    const float pitch = std::min(34.0f, (area.h - 62) / rows);
    if (spans.size() != places.size() || pitch < 18) return;
    const size_t turns = turns_of(board);
    int64_t end = 1;
    for (const lessons::SketchTruth::Span& span : spans) end = std::max(end, span.end);
    const Rect plot{area.x + 100, area.y + 28, area.w - 116, pitch * rows};
    const auto x_of = [&](int64_t cycle) { return plot.x + plot.w * static_cast<float>(cycle) / static_cast<float>(end); };
    std::string follows;
    for (size_t b = 0; b < spans.size(); ++b) {
        if (!std::isfinite(places[b])) continue;
        const size_t sm = static_cast<size_t>(places[b]) / turns, turn = static_cast<size_t>(places[b]) % turns;
        const Rect bar{x_of(spans[b].begin), plot.y + pitch * static_cast<float>(sm) + 2,
                       std::max(2.0f, x_of(spans[b].end) - x_of(spans[b].begin) - 1), pitch - 4};
        ui.rect(bar, faded(data::green, turn % 2 == 0 ? 0.75f : 0.45f), 2);
        if (turn % 2 != 0) ui.hatch(bar, faded(data::black, 0.25f), Hatch::diagonal);
        if (bar.w >= 22)
            draw_word(ui, {bar.x + bar.w / 2, bar.y + bar.h / 2}, std::to_string(b), ui.theme->ink, ui.theme->panel, 13);
        for (size_t before = 0; before < spans.size() && follows.empty() && turn == 1; ++before)
            if (places[before] + 1 == places[b])
                follows = fmt::format("block {} begins on {} {} after block {} has ended there", b, board.row_names[sm],
                                      counted(spans[b].begin - spans[before].end, "cycle"), before);
    }
    const float said = ui.text(area.x, area.y + 14, "as it ran", {.size = 14, .weight = 600});
    if (!follows.empty())
        ui.text(std::max(said + 14, plot.x), area.y + 14, follows,
                {.size = 13, .color = ui.theme->ink2, .width = plot.right() - plot.x});
    for (int sm = 0; sm < board.rows; ++sm)
        ui.text(area.x, plot.y + pitch * (static_cast<float>(sm) + 0.5f) + 5, board.row_names[static_cast<size_t>(sm)],
                {.size = 13});
    ui.line({plot.x, plot.bottom() + 2}, {plot.right(), plot.bottom() + 2}, ui.theme->line);
    ui.text(plot.x, plot.bottom() + 20, "cycle 0", {.size = 12, .color = ui.theme->ink2});
    ui.text(plot.right(), plot.bottom() + 20, with_commas(end),
            {.size = 12, .color = ui.theme->ink2, .align = Align::right});
}

void draw_blocks(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const SketchBoard& board = scene.board;
    const size_t turns = turns_of(board), cells = turns * static_cast<size_t>(board.rows);
    ui.text(area.x, area.y + 24, "blocks", {.size = 14, .weight = 600});
    for (size_t turn = 0; turn < turns; ++turn) {
        const Rect cell = block_cell(area, board, static_cast<double>(turn));
        ui.text(cell.x + cell.w / 2, cell.y - 10, fmt::format("turn {}", turn + 1),
                {.size = 12, .color = theme.ink2, .align = Align::center});
    }
    for (int sm = 0; sm < board.rows; ++sm) {
        const Rect cell = block_cell(area, board, static_cast<double>(static_cast<size_t>(sm) * turns));
        ui.text(area.x, cell.y + cell.h / 2 + 5, board.row_names[static_cast<size_t>(sm)], {.size = 14, .weight = 600});
    }
    for (size_t at = 0; at < cells; ++at) {
        const Rect cell = block_cell(area, board, static_cast<double>(at));
        ui.dashed(cell, theme.ink3, 3, 4);
        if (!scene.truth) continue;
        const Faded faint(ui, scene.shown);
        std::string held;
        for (size_t b = 0; b < board.places.size(); ++b)
            if (scene.truth->sketch.values[b] == static_cast<double>(at))
                held += (held.empty() ? "run: " : ", ") + std::to_string(b);
        if (held.empty()) continue;
        ui.rect(cell, faded(data::green, 0.3f), 3);
        if (cell.h >= 56)
            ui.text(cell.x + cell.w / 2, cell.bottom() - 7, held,
                    {.size = 12, .align = Align::center, .weight = 600, .width = cell.w - 6});
    }
    if (scene.open) {
        const Rect whole{area.x + 100, area.y, area.w - 100, area.h};
        if (const Drag drag = ui.drag("blocks", whole); drag.active) {
            if (drag.started) {
                hand.grabbed = -1;
                for (size_t b = 0; b < board.places.size(); ++b)
                    if ((std::isfinite(pencil.values[b]) ? block_box(area, board, pencil.values, b) : waiting_block(area, b))
                            .contains(drag.at))
                        hand.grabbed = static_cast<int>(b);
                for (size_t b = 0; b < board.places.size() && hand.grabbed < 0; ++b)  // a click puts the next one
                    if (!std::isfinite(pencil.values[b])) hand.grabbed = static_cast<int>(b);
            }
            if (hand.grabbed >= 0) {
                for (size_t at = 0; at < cells; ++at)
                    if (block_cell(area, board, static_cast<double>(at)).contains(drag.at))
                        pencil.values[static_cast<size_t>(hand.grabbed)] = static_cast<double>(at);
                if (!drag.ended) ui.dashed({drag.at.x - 26, drag.at.y - 16, 52, 32}, theme.accent, 4, 3);
            }
        }
    }
    for (size_t b = 0; b < board.places.size(); ++b) {
        const bool put = std::isfinite(pencil.values[b]);
        const Rect box = put ? block_box(area, board, pencil.values, b) : waiting_block(area, b);
        draw_block(ui, box, b, put);
        if (scene.open && hand.cursor == static_cast<int>(b)) ui.dashed(box, theme.accent, 4, 3);
        if (!scene.score) continue;
        const Faded faint(ui, scene.shown);
        const Verdict verdict = scene.verdict(b);
        if (verdict != Verdict::agrees) ui.frame(box, theme.wrong, 3.5f, 3);
        const std::string_view word = verdict == Verdict::agrees ? ""
                                      : verdict == Verdict::high ? "late"
                                      : verdict == Verdict::low  ? "early"
                                                                 : "missed";
        if (!word.empty() && box.w >= 44 && box.h >= 44)
            draw_word(ui, {box.x + box.w / 2, box.bottom() - 14}, word, theme.wrong, theme.panel, 12);
        if (verdict == Verdict::agrees && box.w >= 44)
            ui.icon(box.x + 12, box.y + 16, Icon::check, {.size = 12, .color = theme.right, .align = Align::center});
    }
    if (!scene.truth || cells == 0) return;
    const Faded faint(ui, scene.shown);
    const float below = block_cell(area, board, static_cast<double>(cells - 1)).bottom() + 24;
    draw_block_runs(ui, scene, {area.x, below, area.w, area.bottom() - below});
}

bool blocks_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const SketchBoard& board = scene.board;
    const auto turns = static_cast<int>(turns_of(board)), count = static_cast<int>(board.places.size());
    if (key.code == KeyCode::backspace || key.code == KeyCode::delete_) {
        pencil = lessons::unmarked(board);
        hand.cursor = -1;
        return true;
    }
    const auto sign = static_cast<int>(key.code);
    if (sign >= '0' && sign <= '9') {  // the block that moves
        if (sign - '0' < count) hand.cursor = sign - '0';
        return true;
    }
    const auto [across, up] = arrow_step(key);
    if (across == 0 && up == 0 && key.code != KeyCode::enter) return false;
    if (key.code == KeyCode::enter || hand.cursor < 0) hand.cursor = (hand.cursor + 1) % count;
    double& at = pencil.values[static_cast<size_t>(hand.cursor)];
    if (!std::isfinite(at)) return at = 0, true;
    const int turn = std::clamp(static_cast<int>(at) % turns + across, 0, turns - 1),
              sm = std::clamp(static_cast<int>(at) / turns - up, 0, board.rows - 1);
    at = sm * turns + turn;
    return true;
}

// Order.

void draw_card(Ui& ui, const Rect& box, std::string_view name, uint32_t seed, bool pencilled) {
    ui.rect(box, ui.theme->panel2, 4);
    if (pencilled) draw_pencil(ui, box, seed, 9);
    ui.frame(box, ui.theme->ink2, 1.3f, 4);
    const TextStyle style{.size = 13, .weight = 600};
    const float h = ui.paragraph({0, 0, box.w - 16, 60}, name, style, 17, false),
                w = std::min(box.w - 8, ui.text_width(name, style) + 12);
    ui.rect({box.x + (box.w - w) / 2, box.y + (box.h - h) / 2 - 2, w, h + 4}, ui.theme->panel2, 3);
    if (h < 20)
        ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, name, {.size = 13, .align = Align::center, .weight = 600});
    else
        ui.paragraph({box.x + 8, box.y + (box.h - h) / 2, box.w - 16, 60}, name, style, 17);
}

void put_into(Sketch& pencil, size_t item, size_t place) {
    for (size_t i = 0; i < pencil.values.size(); ++i)
        if (i != item && pencil.values[i] == static_cast<double>(place))
            pencil.values[i] = pencil.values[item];  // they change places
    pencil.values[item] = static_cast<double>(place);
}

void draw_order(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const size_t count = scene.board.places.size();
    ui.text(area.x, area.y + 16, "Your order, the first at the left", {.size = 14, .weight = 600});
    for (size_t p = 0; p < count; ++p) {
        const Rect slot = order_slot(area, count, p);
        ui.dashed(slot, theme.ink3);
        ui.text(slot.x + slot.w / 2, slot.y + slot.h / 2 + 5, std::to_string(p + 1),
                {.size = 14, .color = theme.quiet, .align = Align::center});
    }
    const auto box_of = [&](size_t i) {
        return std::isfinite(pencil.values[i]) ? order_slot(area, count, static_cast<size_t>(pencil.values[i]))
                                               : waiting_slot(area, count, i);
    };
    if (scene.open)
        if (const Drag drag = ui.drag("cards", {area.x, area.y + 20, area.w, card_most + row_gap + 72}); drag.active) {
            if (drag.started) {
                hand.grabbed = -1;
                for (size_t i = 0; i < count; ++i)
                    if (box_of(i).contains(drag.at)) hand.grabbed = static_cast<int>(i);
                if (hand.grabbed >= 0 &&
                    !std::isfinite(pencil.values[static_cast<size_t>(hand.grabbed)]))  // a click puts it
                    for (size_t p = 0; p < count; ++p)
                        if (std::find(pencil.values.begin(), pencil.values.end(), static_cast<double>(p)) ==
                            pencil.values.end()) {
                            pencil.values[static_cast<size_t>(hand.grabbed)] = static_cast<double>(p);
                            break;
                        }
            } else if (hand.grabbed >= 0) {
                for (size_t p = 0; p < count; ++p)
                    if (order_slot(area, count, p).contains(drag.at)) put_into(pencil, static_cast<size_t>(hand.grabbed), p);
            }
        }
    const Rect truth_row = waiting_slot(area, count, 0);
    bool waits = false;
    for (size_t i = 0; i < count; ++i) {
        const bool put = std::isfinite(pencil.values[i]);
        waits = waits || !put;
        if (!put && scene.truth) continue;  // the run's order lies there
        const Rect box = box_of(i);
        draw_card(ui, box, scene.board.places[i].name, 53u * static_cast<uint32_t>(i) + 4, put);
        if (scene.open && hand.cursor == static_cast<int>(i)) ui.dashed(box, theme.accent, 4, 3);
        if (!scene.score || !put) continue;
        const Faded faint(ui, scene.shown);
        const bool good = scene.verdict(i) == Verdict::agrees;
        ui.frame(box, good ? theme.right : theme.wrong, good ? 2.0f : 3.5f, 4);
        const Rect is = waiting_slot(area, count, static_cast<size_t>(scene.truth->sketch.values[i]));
        const Point line[] = {{box.x + box.w / 2, box.bottom() + 1}, {is.x + is.w / 2, is.y - 1}};
        ui.polyline(line, good ? theme.right : theme.wrong, 2, good ? 0.0f : 6.0f, good ? 0.0f : 4.0f);
    }
    if (scene.open && waits) ui.text(area.x, truth_row.y - 12, "Still to be placed", {.size = 13, .color = theme.ink2});
    if (!scene.truth) return;
    const Faded faint(ui, scene.shown);
    for (size_t i = 0; i < count; ++i) {
        const Rect is = waiting_slot(area, count, static_cast<size_t>(scene.truth->sketch.values[i]));
        draw_card(ui, is, scene.board.places[i].name, 0, false);
        ui.frame(is, data::green, 2, 4);
        if (is.bottom() + 22 > area.bottom()) continue;
        ui.text(is.x + is.w / 2, is.bottom() + 18, scene.truth->notes[i],
                {.size = 12, .color = theme.ink2, .align = Align::center, .width = is.w});
    }
    if (truth_row.bottom() + 44 > area.bottom()) return;
    ui.text(area.x, truth_row.bottom() + 40, "Below: the run's order", {.size = 13, .color = theme.ink2});
}

bool order_key(const SketchScene& scene, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const int count = static_cast<int>(scene.board.places.size());
    if (key.code == KeyCode::backspace || key.code == KeyCode::delete_) {
        pencil = lessons::unmarked(scene.board);
        hand.cursor = -1;
        return true;
    }
    const auto sign = static_cast<int>(key.code);
    if (key.code == KeyCode::left || key.code == KeyCode::right) {
        hand.cursor = hand.cursor < 0 ? 0 : std::clamp(hand.cursor + (key.code == KeyCode::left ? -1 : 1), 0, count - 1);
        return true;
    }
    if (sign >= '1' && sign <= '9' && sign - '1' < count) {  // the place of the card that the arrows are at
        hand.cursor = std::max(0, hand.cursor);
        put_into(pencil, static_cast<size_t>(hand.cursor), static_cast<size_t>(sign - '1'));
        return true;
    }
    return sign >= '0' && sign <= '9';
}

}  // namespace

SketchPicture blocks_picture() {
    return {"blocks", draw_blocks, blocks_key, true};
}
SketchPicture order_picture() {
    return {"order", draw_order, order_key};
}

}  // namespace lockstep::gui
