// Cells that are painted: the sectors of one request below its lanes, the lanes of a mask, words stacked on their banks.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/views/memory/coalesce_picture.h"
#include "app/gui/views/sketch/sketch.h"
#include "core/base/units.h"

namespace lockstep::gui {

using lessons::Sketch;
using lessons::Verdict;

// Where things stand.

SectorPlaces::SectorPlaces(const Rect& area, size_t sectors, bool ghost_row) {
    const auto lines = static_cast<float>((sectors + 3) / 4);
    line_gap = lines > 2 ? 12.0f : 24.0f;
    pitch = (area.w - line_gap * (lines - 1)) / (lines * 4);
    lane_pitch = pitch / 8 >= 11 ? std::min(pitch / 8, 24.0f) : std::min(17.0f, area.w / 34);
    x = area.x;
    lanes_y = area.y + 24;
    const float below = 24.0f + (ghost_row ? 62.0f : 0.0f);
    const float rest = area.h - 24 - 24 - 22 - below;
    const float strokes = std::clamp(rest * 0.42f, 24.0f, 110.0f);
    words_y = lanes_y + 24 + strokes;
    sectors_y = words_y + 22;
    sector_h = std::clamp(rest - strokes, 40.0f, 150.0f);
    ghost_y = sectors_y + sector_h + 24 + 26;
}
Rect SectorPlaces::lane(int lane) const {
    return {x + lane_pitch * static_cast<float>(lane), lanes_y, lane_pitch - 1, 24};
}
Rect SectorPlaces::sector(size_t sector) const {
    const auto s = static_cast<float>(sector);
    return {x + s * pitch + std::floor(s / 4) * line_gap, sectors_y, pitch - (pitch > 60 ? 4.0f : 2.0f), sector_h};
}
Rect SectorPlaces::word(size_t word) const {
    const Rect in = sector(word / 8);
    const float w = in.w / 8;
    return {in.x + w * static_cast<float>(word % 8), words_y, w, 20};
}
Rect SectorPlaces::ghost(size_t sector_) const {
    const Rect box = sector(sector_);
    return {box.x, ghost_y, box.w, 30};
}
std::optional<lessons::SketchTruth> moved_request(const lessons::SketchTruth& truth, int first_word) {
    if (truth.words.size() != 32) return std::nullopt;
    for (size_t lane = 0; lane < 32; ++lane)
        if (truth.words[lane] < 0 || truth.words[lane] != truth.words[0] + static_cast<int>(lane)) return std::nullopt;
    lessons::SketchTruth moved = truth;
    const auto count = static_cast<int>(truth.sketch.values.size());
    if (first_word < 0 || first_word + 32 > count * 8) return std::nullopt;
    std::fill(moved.sketch.values.begin(), moved.sketch.values.end(), 0);
    for (int lane = 0; lane < 32; ++lane) {
        moved.words[static_cast<size_t>(lane)] = first_word + lane;
        moved.sketch.values[static_cast<size_t>(first_word + lane) / 8] += 1;
    }
    moved.figure = 0;
    for (size_t s = 0; s < moved.sketch.values.size(); ++s) {
        double& used = moved.sketch.values[s];
        moved.notes[s] = used > 0 ? fmt::format("{:.0f} of 8 used", used) : std::string();
        moved.figure += used = used > 0 ? 1 : 0;
    }
    return moved;
}

Rect lane_cell(const Rect& area, int lane) {
    const float pitch = std::min(44.0f, (area.w - 18) / 32);
    return {area.x + pitch * static_cast<float>(lane) + 6 * static_cast<float>(lane / 8), area.y + 28, pitch - 2,
            std::clamp(area.h - 120, 36.0f, 120.0f)};
}
Rect bank_column(const Rect& area, int bank) {
    const float pitch = (area.w - 40) / 32;
    return {area.x + 36 + pitch * static_cast<float>(bank), area.y + 24, pitch - 2, area.h - 62};
}

namespace {

// Whether the pointer came through the box since the last frame: a fast hand leaves no cell out.
bool crossed(const Drag& drag, const Rect& box) {
    const float from = drag.started ? drag.at.x : drag.at.x - drag.delta.x;
    return std::max(from, drag.at.x) >= box.x && std::min(from, drag.at.x) < box.right() && drag.at.y >= box.y &&
           drag.at.y < box.bottom();
}

// Dragging paints what the first cell was not.
template <class Box>
void paint_cells(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& whole, Box&& box) {
    if (!scene.open) return;
    const Drag drag = ui.drag("cells", whole);
    if (!drag.active) return;
    for (size_t i = 0; i < pencil.values.size(); ++i) {
        if (!crossed(drag, box(i))) continue;
        if (drag.started) hand.paint = pencil.values[i] > 0 ? 0 : 1;
        pencil.values[i] = hand.paint;
        hand.cursor = -1;
    }
}

bool paint_key(const SketchScene&, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const int count = static_cast<int>(pencil.values.size());
    if (count == 0) return false;
    const auto sign = static_cast<int>(key.code);
    if (sign >= '0' && sign <= '9') {
        const auto at = static_cast<size_t>(sign - '0');
        if (at < pencil.values.size()) pencil.values[at] = pencil.values[at] > 0 ? 0 : 1;
        return true;
    }
    if (key.code == KeyCode::backspace || key.code == KeyCode::delete_) {
        std::fill(pencil.values.begin(), pencil.values.end(), 0);
        return true;
    }
    if (key.code == KeyCode::left || key.code == KeyCode::right) {
        const int way = key.code == KeyCode::left ? -1 : 1;
        hand.cursor = hand.cursor < 0 ? 0 : std::clamp(hand.cursor + way, 0, count - 1);
        if (key.shift) pencil.values[static_cast<size_t>(hand.cursor)] = 1;
        return true;
    }
    if (key.code == KeyCode::enter && hand.cursor >= 0) {
        double& at = pencil.values[static_cast<size_t>(hand.cursor)];
        at = at > 0 ? 0 : 1;
        return true;
    }
    return false;
}

void draw_strokes_to_words(Ui& ui, const SketchScene& scene, const SectorPlaces& at, int picked) {
    const Theme& theme = *ui.theme;
    const auto top = [&](int lane) { return Point{at.lane(lane).x + at.lane(lane).w / 2, at.lane(lane).bottom()}; };
    const auto foot = [&](int word) {
        const Rect box = at.word(static_cast<size_t>(word));
        return Point{box.x + box.w / 2, box.y};
    };
    for (int lane = 0; lane < 32 && static_cast<size_t>(lane) < scene.board.ghost_words.size(); ++lane)
        if (const int word = scene.board.ghost_words[static_cast<size_t>(lane)]; word >= 0) {
            const Point line[] = {top(lane), foot(word)};
            ui.polyline(line, theme.ink3, 1, 2, 4);
        }
    if (scene.truth) {
        const Faded faint(ui, scene.shown);
        for (int lane = 0; lane < 32 && static_cast<size_t>(lane) < scene.truth->words.size(); ++lane)
            if (const int word = scene.truth->words[static_cast<size_t>(lane)]; word >= 0)
                ui.line(top(lane), foot(word), sector_color(static_cast<uint64_t>(word) / 8, theme),
                        lane == picked ? 2.5f : 1.3f);
    }
    if (scene.board.lane_word < 0 || static_cast<size_t>(scene.board.lane_word) >= scene.board.places.size() * 8) return;
    const Point from = top(0), to = foot(static_cast<int>(scene.board.lane_word));
    ui.line(from, to, theme.ink, 2.2f);
    ui.arrow_head(to, Way::down, theme.ink, 6);
    const std::string says = "lane 0 reads " + word_name(scene.board, scene.board.first_word + scene.board.lane_word);
    const float w = ui.text_width(says, {.size = 13, .weight = 600}) + 20, y = (from.y + to.y) / 2;
    const Rect box{std::max(from.x, to.x) + 16, y - 13, w, 26};
    if (to.y - from.y < 34) return;
    ui.rect(box, theme.panel, 4);
    ui.frame(box, theme.ink, 1.3f, 4);
    ui.text(box.x + 10, y + 5, says, {.size = 13, .weight = 600});
}

void draw_words(Ui& ui, const SketchScene& scene, const SectorPlaces& at) {
    const Theme& theme = *ui.theme;
    std::vector<int> used(scene.board.places.size() * 8, 0);
    if (scene.truth)
        for (const int word : scene.truth->words)
            if (word >= 0 && static_cast<size_t>(word) < used.size()) used[static_cast<size_t>(word)] = 1;
    for (size_t word = 0; word < used.size(); ++word) {
        const Rect box = at.word(word);
        if (box.w >= 4) ui.frame(box, theme.line);
        if (scene.truth && scene.truth->sketch.values[word / 8] > 0) {
            const Faded faint(ui, scene.shown);
            const Rect in{box.x, box.y, std::max(1.0f, box.w - 1), box.h};
            if (used[word]) {
                ui.rect(in, sector_color(word / 8, theme));
            } else {
                ui.rect(in, faded(data::vermillion, 0.25f));
                if (box.w >= 4) ui.line({in.x + 1, in.bottom() - 1}, {in.right() - 1, in.y + 1}, data::vermillion, 1.3f);
            }
        }
        const bool first = word % 8 == 0, last = word % 8 == 7;
        const std::string number = std::to_string(scene.board.first_word + static_cast<int64_t>(word));
        const float w = ui.text_width(number, {.size = 12, .mono = true});
        if ((!first && !last) || w > box.w + (first ? 0 : 0) || box.w < w) continue;
        const Color ink =
            scene.truth && used[word] && scene.shown > 0.5f ? text_on(sector_color(word / 8, theme)) : theme.ink2;
        ui.text(box.x + box.w / 2, box.y + 15, number, {.size = 12, .color = ink, .align = Align::center, .mono = true});
    }
}

// After the reveal: the request can be dragged along its words, and the picture above follows.
void play_with_request(Ui& ui, const SketchScene& scene, const SectorPlaces& at, SketchHand& hand, const Rect& area,
                       float y) {
    const Theme& theme = *ui.theme;
    const int begins = scene.truth->words[0];
    if (hand.found.empty()) hand.found.assign(most_shift + 1, -1);
    if (begins <= most_shift) hand.found[static_cast<size_t>(begins)] = static_cast<int>(scene.truth->figure);
    if (!scene.board.ghost_words.empty() && scene.board.ghost_words[0] == 0)
        hand.found[0] = static_cast<int>(std::count(scene.board.ghost.values.begin(), scene.board.ghost.values.end(), 1.0));
    const int now = hand.shift < 0 ? begins : hand.shift;
    const float end = ui.text(area.x, y + 14, "Try: drag the request", {.size = 15, .color = theme.accent, .weight = 700});
    ui.text(end + 14, y + 14, "its 128 bytes move along the words; strokes and sectors follow",
            {.size = 13, .color = theme.ink2, .width = area.right() - end - 20});
    const Rect first = at.word(static_cast<size_t>(now)), last = at.word(static_cast<size_t>(now) + 31);
    const Rect bar{first.x, y + 24, last.right() - first.x, 26};
    ui.line({area.x, bar.y + 13}, {area.right(), bar.y + 13}, theme.ink3);
    ui.rect(bar, theme.selected, 4);
    ui.frame(bar, theme.accent, 1.6f, 4);
    ui.rect({bar.x, bar.y - 3, 12, 32}, theme.accent, 3);
    const std::string says =
        fmt::format("{} ... {}: {} sectors", word_name(scene.board, scene.board.first_word + now),
                    word_name(scene.board, scene.board.first_word + now + 31), hand.found[static_cast<size_t>(now)]);
    if (ui.text_width(says, {.size = 13, .weight = 600}) + 40 < bar.w && hand.found[static_cast<size_t>(now)] >= 0)
        ui.text(bar.x + bar.w / 2, bar.y + 18, says, {.size = 13, .align = Align::center, .weight = 600});
    if (const Drag drag = ui.drag("request", {bar.x - 8, bar.y - 6, bar.w + 16, bar.h + 12}); drag.active) {
        const float word = at.word(1).x - at.word(0).x;
        if (drag.started) hand.grabbed = now;
        const int wanted = hand.grabbed + static_cast<int>(std::lround((drag.at.x - drag.from.x) / word));
        hand.shift = std::clamp(wanted, 0, most_shift);
        if (const auto moved = moved_request(*scene.truth, hand.shift))
            hand.found[static_cast<size_t>(hand.shift)] = static_cast<int>(moved->figure);
    }
    // What was found so far, by the word that it begins at.
    const float cell = std::min(64.0f, (area.w - 180) / (most_shift + 1)), top = bar.bottom() + 22;
    if (top + 12 > area.bottom()) return;
    ui.text(area.x, top + 4, "sectors, by first word", {.size = 13, .weight = 600});
    for (int shift = 0; shift <= most_shift; ++shift) {
        const int sectors = hand.found[static_cast<size_t>(shift)];
        const float x = area.x + 180 + cell * static_cast<float>(shift);
        ui.text(x, top + 4, fmt::format("{}:", shift), {.size = 13, .color = theme.ink2});
        ui.text(x + 20, top + 4, sectors < 0 ? "?" : std::to_string(sectors),
                {.size = 15, .color = sectors < 0 ? theme.quiet : theme.ink, .weight = 700});
    }
}

void draw_sectors(Ui& ui, const SketchScene& asked, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    // What is on show: the run's request, or where it was dragged to for play.
    SketchScene scene = asked;
    std::optional<lessons::SketchTruth> moved;
    if (asked.truth && hand.shift >= 0 && hand.shift != asked.truth->words[0])
        moved = moved_request(*asked.truth, hand.shift);
    if (moved) scene.truth = &*moved, scene.score = nullptr;
    const size_t count = scene.board.places.size();
    const bool has_ghost = !scene.board.ghost.values.empty() && area.h >= 280;
    const SectorPlaces at(area, count, has_ghost);
    const Rect first = at.sector(0), last = at.sector(count - 1);
    paint_cells(ui, scene, pencil, hand,
                {first.x, at.words_y, last.right() - first.x, at.sectors_y + at.sector_h - at.words_y}, [&](size_t i) {
                    const Rect box = at.sector(i);
                    return Rect{box.x - 2, at.words_y, at.pitch, box.bottom() - at.words_y};
                });
    const float title = ui.text(area.x, area.y + 14, "32 lanes of the warp", {.size = 14, .weight = 600});
    ui.text(title + 14, area.y + 14, "each reads one word of 4 bytes", {.size = 13, .color = theme.ink2});
    int picked = -1;
    for (int lane = 0; lane < 32; ++lane) {
        const Rect box = at.lane(lane);
        if (ui.hovered(box)) picked = lane;
        Color fill = data::lanes;
        if (scene.truth && scene.truth->words[static_cast<size_t>(lane)] >= 0)
            fill = mix(data::lanes,
                       sector_color(static_cast<uint64_t>(scene.truth->words[static_cast<size_t>(lane)]) / 8, theme),
                       scene.shown);
        ui.rect(box, fill);
        if (lane % 8 == 0 || lane % 8 == 7)
            if (const std::string number = std::to_string(lane); ui.text_width(number, {.size = 12, .weight = 600}) <= box.w)
                ui.text(box.x + box.w / 2, box.y + 17, number,
                        {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600});
    }
    draw_strokes_to_words(ui, scene, at, picked);
    draw_words(ui, scene, at);
    for (size_t i = 0; i < count; ++i) {
        const Rect box = at.sector(i);
        const bool put = i < pencil.values.size() && pencil.values[i] > 0;
        ui.rect(box, theme.panel2);
        if (scene.truth && scene.truth->sketch.values[i] > 0) {
            const Faded faint(ui, scene.shown);
            ui.rect(box, faded(sector_color(i, theme), 0.28f));
        }
        ui.frame(box, theme.line);
        if (put) draw_pencil(ui, box, static_cast<uint32_t>(i) * 31 + 5, at.pitch < 60 ? 6.0f : 8.0f);
        const std::string name = at.pitch >= 84 ? scene.board.places[i].name : std::to_string(i);
        const float w = ui.text_width(name, {.size = 12, .weight = 600}) + 10;
        ui.rect({box.x + 4, box.y + 4, w, 18}, theme.panel, 3);
        ui.text(box.x + 9, box.y + 17, name, {.size = 12, .weight = 600});
        if (scene.score)
            draw_verdict(ui, box, scene.verdict(i), scene.shown, i < scene.truth->notes.size() ? scene.truth->notes[i] : "");
        if (scene.open && (ui.hovered(box) || hand.cursor == static_cast<int>(i))) ui.dashed(box, theme.accent, 5, 3);
    }
    for (size_t line = 0; line * 4 < count; ++line) {
        const Rect a = at.sector(line * 4), b = at.sector(std::min(count - 1, line * 4 + 3));
        const Rect whole{a.x - 4, at.words_y - 4, b.right() - a.x + 8, a.bottom() - at.words_y + 8};
        ui.frame(whole, theme.ink3, 1.4f, 5);
        const int64_t word = scene.board.first_word + static_cast<int64_t>(line) * 32;
        const std::string full = fmt::format("128-byte line {}: {} ... {}", line, word_name(scene.board, word),
                                             word_name(scene.board, word + 31)),
                          brief = fmt::format("line {}", line);
        const TextStyle style{.size = 12, .color = theme.ink2, .align = Align::center};
        ui.text(whole.x + whole.w / 2, whole.bottom() + 16, ui.text_width(full, style) + 8 <= whole.w ? full : brief, style);
    }
    const float below = (has_ghost ? at.ghost(0).bottom() : first.bottom() + 28) + 14;
    if (asked.truth && below + 56 < area.bottom() && moved_request(*asked.truth, 0))
        play_with_request(ui, asked, at, hand, area, below);
    if (!has_ghost) return;
    ui.text(area.x, at.ghost_y - 8, fmt::format("Ghost: what {} fetched", scene.board.ghost_name),
            {.size = 13, .color = theme.ink2, .weight = 600});
    for (size_t i = 0; i < count; ++i) {
        const Rect box = at.ghost(i);
        const bool fetched = i < scene.board.ghost.values.size() && scene.board.ghost.values[i] > 0;
        ui.dashed(box, theme.ink3);
        const TextStyle style{.size = 12, .color = fetched ? theme.ink2 : theme.quiet, .align = Align::center};
        for (const std::string_view words : {fetched ? "fetched" : "not fetched", fetched ? "yes" : "no"})
            if (ui.text_width(words, style) + 8 <= box.w) {
                ui.text(box.x + box.w / 2, box.y + 20, words, style);
                break;
            }
    }
}

// Lanes.

void draw_lanes(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const Rect first = lane_cell(area, 0), last = lane_cell(area, 31);
    paint_cells(ui, scene, pencil, hand, {first.x, first.y, last.right() - first.x, first.h}, [&](size_t i) {
        const Rect box = lane_cell(area, static_cast<int>(i));
        return Rect{box.x, box.y, box.w + 2, box.h};
    });
    ui.text(area.x, area.y + 14,
            scene.board.line > 0 ? fmt::format("The 32 lanes at line {}", scene.board.line) : "The 32 lanes",
            {.size = 14, .weight = 600});
    // All cells have their numbers inside, or, where the widest does not fit, every fourth has it below.
    const bool inside = ui.text_width("31", {.size = 12, .weight = 600}) + 4 <= first.w;
    const float below = inside ? 0.0f : 14.0f;
    for (int lane = 0; lane < 32; ++lane) {
        const auto i = static_cast<size_t>(lane);
        const Rect box = lane_cell(area, lane);
        ui.rect(box, theme.panel2);
        const bool on = scene.truth && scene.truth->sketch.values[i] > 0;
        if (on) {
            const Faded faint(ui, scene.shown);
            ui.rect(box, data::green);
        }
        ui.frame(box, theme.line);
        if (i < pencil.values.size() && pencil.values[i] > 0) draw_pencil(ui, box, 7u * static_cast<uint32_t>(lane) + 3, 6);
        const std::string number = std::to_string(lane);
        const float w = ui.text_width(number, {.size = 12, .weight = 600});
        if (inside) {
            ui.rect({box.x + box.w / 2 - w / 2 - 2, box.y + 3, w + 4, 16}, theme.panel, 3);
            ui.text(box.x + box.w / 2, box.y + 15, number, {.size = 12, .align = Align::center, .weight = 600});
        } else if (lane % 4 == 0 || lane == 31) {
            ui.text(box.x + box.w / 2, box.bottom() + 14, number,
                    {.size = 12, .color = theme.ink2, .align = Align::center, .weight = 600});
        }
        if (scene.score && scene.verdict(i) != Verdict::none) {
            const Faded faint(ui, scene.shown);
            if (scene.verdict(i) != Verdict::agrees) ui.frame(box, theme.wrong, 3.5f);
        }
        if (scene.open && (ui.hovered(box) || hand.cursor == lane)) ui.dashed(box, theme.accent, 5, 3);
    }
    if (!scene.score) return;
    // Runs of lanes that say the same share one word below.
    const Faded faint(ui, scene.shown);
    float free_from = 0;
    for (int lane = 0; lane < 32;) {
        int end = lane;
        while (end + 1 < 32 && scene.verdict(static_cast<size_t>(end + 1)) == scene.verdict(static_cast<size_t>(lane)))
            ++end;
        const Verdict verdict = scene.verdict(static_cast<size_t>(lane));
        const Rect a = lane_cell(area, lane), b = lane_cell(area, end);
        if (verdict != Verdict::none) {
            const bool good = verdict == Verdict::agrees;
            const std::string word =
                good ? fmt::format("agree {}", end - lane + 1) : fmt::format("{} {}", word_of(verdict), end - lane + 1);
            const float w = ui.text_width(word, {.size = 12, .weight = 600}) + 12, x = std::max(a.x, free_from);
            const float y = a.bottom() + below + 6;
            ui.line({a.x, y}, {b.right(), y}, good ? theme.right : theme.wrong, 2);
            if (x + w <= area.right() && (x <= b.right() || x == a.x)) {
                ui.text(x, y + 18, word, {.size = 12, .color = good ? theme.right : theme.wrong, .weight = 600});
                free_from = x + w;
            }
        }
        lane = end + 1;
    }
}

// Banks: a column each, as high as the words that it has to hand out one after the other.

// One word has to be seen beside 32: heights go by the logarithm.
float height_of(const Rect& column, double words) {
    return column.h * static_cast<float>(std::log2(1 + words) / std::log2(33.0));
}
double words_at(const Rect& column, float y) {
    const double share = static_cast<double>((column.bottom() - y) / column.h);
    return std::clamp(std::round(std::exp2(share * std::log2(33.0)) - 1), 0.0, 32.0);
}

void draw_banks(Ui& ui, const SketchScene& scene, Sketch& pencil, SketchHand& hand, const Rect& area) {
    const Theme& theme = *ui.theme;
    const Rect first = bank_column(area, 0), last = bank_column(area, 31);
    const Rect chart{first.x, first.y, last.right() - first.x, first.h};
    ui.text(area.x, area.y + 12, "Different words that each bank has to hand out, one a pass", {.size = 14, .weight = 600});
    if (scene.open)
        if (const Drag drag = ui.drag("banks", {chart.x, chart.y - 6, chart.w, chart.h + 28}); drag.active)
            for (int bank = 0; bank < 32; ++bank)
                if (const Rect column = bank_column(area, bank); crossed(drag, {column.x, drag.at.y - 1, column.w + 2, 2})) {
                    const auto i = static_cast<size_t>(bank);
                    const double put = drag.at.y > column.bottom() + 2 ? 0 : std::max(1.0, words_at(column, drag.at.y));
                    pencil.values[i] = drag.started && pencil.values[i] == put ? 0 : put;
                    hand.cursor = bank;
                }
    float free_above = chart.bottom() + 14;  // labels stand apart
    for (const int words : {1, 2, 4, 8, 16, 32}) {
        const float y = chart.bottom() - height_of(chart, words);
        ui.line({chart.x, y}, {chart.right(), y}, theme.grid);
        if (y > free_above - 14) continue;
        free_above = y;
        ui.text(chart.x - 8, y + 4, std::to_string(words),
                {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
    }
    ui.line({chart.x, chart.bottom()}, {chart.right(), chart.bottom()}, theme.ink3, 1.4f);
    for (int bank = 0; bank < 32; ++bank) {
        const auto i = static_cast<size_t>(bank);
        const Rect column = bank_column(area, bank);
        const auto part = [&](double words) {
            const float h = height_of(column, words);
            return Rect{column.x, column.bottom() - h, column.w, h};
        };
        if (scene.truth) {
            const Faded faint(ui, scene.shown);
            const Rect is = part(scene.truth->sketch.values[i]);
            ui.rect(is, data::sky);
            if (is.w >= 16 && scene.truth->sketch.values[i] > 0)
                ui.text(is.x + is.w / 2, is.y + 15, fmt::format("{:.0f}", scene.truth->sketch.values[i]),
                        {.size = 12, .color = text_on(data::sky), .align = Align::center, .weight = 700});
        }
        if (i < scene.board.ghost.values.size() && scene.board.ghost.values[i] > 0)
            ui.dashed(part(scene.board.ghost.values[i]), theme.ink3, 3, 3);
        if (i < pencil.values.size() && pencil.values[i] > 0) {
            const Rect mine = part(pencil.values[i]);
            if (mine.h > 8) draw_pencil(ui, mine, 13u * static_cast<uint32_t>(bank) + 1, 7);
            ui.frame({mine.x, mine.y, mine.w, std::max(3.0f, mine.h)}, theme.ink2, 1.6f);
        }
        if (scene.score && scene.verdict(i) != Verdict::none && scene.verdict(i) != Verdict::agrees) {
            const Faded faint(ui, scene.shown);
            const double high = std::max(pencil.values[i], scene.truth->sketch.values[i]);
            const Rect box = part(high);
            ui.frame({box.x - 1, box.y - 2, box.w + 2, std::max(6.0f, box.h + 2)}, theme.wrong, 3.5f);
        }
        if (bank % 4 == 0 || bank == 31)
            ui.text(column.x + column.w / 2, column.bottom() + 16, std::to_string(bank),
                    {.size = 12, .color = theme.ink2, .align = Align::center});
        if (scene.open && (ui.hovered(column) || hand.cursor == bank)) ui.dashed(column, theme.accent, 4, 4);
    }
    ui.text(chart.x, chart.bottom() + 34, "bank", {.size = 12, .color = theme.ink2});
    if (scene.open)
        ui.text(chart.right(), chart.bottom() + 34, "drag sideways to draw many at one height; below the line takes away",
                {.size = 12, .color = theme.quiet, .align = Align::right, .width = chart.w - 60});
}

bool banks_key(const SketchScene&, Sketch& pencil, SketchHand& hand, const KeyPress& key) {
    const int way = key.code == KeyCode::left || key.code == KeyCode::down ? -1 : 1;
    if (key.code == KeyCode::backspace || key.code == KeyCode::delete_) {
        std::fill(pencil.values.begin(), pencil.values.end(), 0);
        return true;
    }
    if (key.code == KeyCode::left || key.code == KeyCode::right) {
        const int before = hand.cursor;
        hand.cursor = hand.cursor < 0 ? 0 : std::clamp(hand.cursor + way, 0, 31);
        if (key.shift && before >= 0)
            pencil.values[static_cast<size_t>(hand.cursor)] = pencil.values[static_cast<size_t>(before)];
        return true;
    }
    if (key.code == KeyCode::up || key.code == KeyCode::down) {
        hand.cursor = std::max(0, hand.cursor);
        double& at = pencil.values[static_cast<size_t>(hand.cursor)];
        at = std::clamp(at + way * (key.shift ? 8 : 1), 0.0, 32.0);
        return true;
    }
    return false;
}

}  // namespace

SketchPicture sectors_picture() {
    return {"sectors", draw_sectors, paint_key, true, [](const lessons::SketchBoard&, const Sketch&, double put) {
                return fmt::format("{:.0f} x 32 B = {} B would move", put, lessons::amount_text(32 * put));
            }};
}
SketchPicture lanes_picture() {
    return {"lanes", draw_lanes, paint_key, false, [](const lessons::SketchBoard&, const Sketch&, double put) {
                return fmt::format("{:.0f} of the 32 stay dark", 32 - put);
            }};
}
SketchPicture banks_picture() {
    return {"banks", draw_banks, banks_key, true, [](const lessons::SketchBoard&, const Sketch& pencil, double) {
                const auto busy = std::count_if(pencil.values.begin(), pencil.values.end(), [](double v) { return v > 0; });
                return fmt::format("{} at work", counted(busy, "bank"));
            }};
}

}  // namespace lockstep::gui
