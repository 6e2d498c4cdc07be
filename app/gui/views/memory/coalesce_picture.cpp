#include "app/gui/views/memory/coalesce_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/model/memory/coalescer.h"

namespace lockstep::gui {

namespace {

constexpr float inset = 4;  // of the sectors in their line's box

Color wasted(const Theme& theme) {
    return mix(theme.panel, data::vermillion, theme.dark ? 0.16f : 0.10f);
}

// The line (index into facts.lines), sector and word that the lane's first byte lies in.
struct SectorPlace {
    size_t line = 0;
    uint32_t sector = 0, word = 0;
    uint64_t sector_index = 0;
};
SectorPlace place_of(const Pattern& pattern, const RequestFacts& facts, int lane) {
    const uint64_t address = pattern.address[static_cast<size_t>(lane)];
    const auto found = std::lower_bound(facts.lines.begin(), facts.lines.end(), address / model::line_bytes,
                                        [](const TouchedLine& line, uint64_t number) { return line.line < number; });
    SectorPlace place;
    place.line = static_cast<size_t>(found - facts.lines.begin());
    place.sector = static_cast<uint32_t>(address % model::line_bytes / model::sector_bytes);
    place.word = static_cast<uint32_t>(address % model::line_bytes / 4);
    place.sector_index = address / model::sector_bytes;
    return place;
}

}  // namespace

Color sector_color(uint64_t index, const Theme& theme) {
    if (theme.dark) return index % 2 == 0 ? rgb(0x2377B5) : rgb(0x7CC3EE);
    return index % 2 == 0 ? rgb(0x005A92) : rgb(0x2E86BE);
}

CoalescePicture::CoalescePicture(const Rect& area, size_t lines, bool ghost)
    : area_(area), ghost_(ghost), lines_(std::max<size_t>(1, lines)) {
    lane_pitch_ = std::clamp(std::floor(area.w / 32), 8.0f, 24.0f);
    const auto count = static_cast<float>(lines_);
    const float whole = lane_pitch_ * 32;
    const float gap = lines_ > 16 ? 1.0f : lines_ > 4 ? 2.0f : 4.0f;
    line_pitch_ = std::min(whole / 2, whole / count);
    line_w_ = line_pitch_ - gap;
    const float border = line_w_ > 60 ? inset : 1.0f;
    sector_pitch_ = (line_w_ - border) / 4;
    word_pitch_ = (sector_pitch_ - (line_w_ > 150 ? 6.0f : 2.0f)) / 8;
    // Lanes, room for the lines between, words, two rows of labels, the ghost.
    const bool low = area.h < 150;
    if (low) counts_down_ = 18, lines_down_ = 32;
    const float below = !low ? 44 + (ghost ? 30.0f : 0.0f) : ghost ? 60.0f : 36.0f;
    word_h_ = area.h > 190 ? 28.0f : 20.0f;
    words_y_ = area.y + std::max(lane_pitch_ + (low ? 22.0f : 24.0f), std::min(area.h - below - word_h_, 112.0f));
    ghost_y_ = words_y_ + word_h_ + (low ? 44.0f : 58.0f);
}

Rect CoalescePicture::line_box(size_t line) const {
    return {area_.x + line_pitch_ * static_cast<float>(line), words_y_ - 6, line_w_, word_h_ + 12};
}

Rect CoalescePicture::sector_box(size_t line, uint32_t sector) const {
    const float border = line_w_ > 60 ? inset : 1.0f;
    const float w = words() ? word_pitch_ * 8 - 1 : std::max(1.0f, sector_pitch_ - (sector_pitch_ > 8 ? 2.0f : 1.0f));
    return {area_.x + line_pitch_ * static_cast<float>(line) + border + sector_pitch_ * static_cast<float>(sector), words_y_,
            w, word_h_};
}

Rect CoalescePicture::word_box(size_t line, uint32_t word) const {
    const Rect sector = sector_box(line, word / 8);
    return {sector.x + word_pitch_ * static_cast<float>(word % 8), words_y_, word_pitch_ - 1, word_h_};
}

int CoalescePicture::lane_at(Point point) const {
    for (int lane = 0; lane < 32; ++lane)
        if (Rect{lane_x(lane), area_.y, lane_pitch_, lane_pitch_}.contains(point)) return lane;
    return -1;
}

void CoalescePicture::draw(Ui& ui, const Pattern& pattern, const RequestFacts& facts, int picked, bool hidden) const {
    if (!hidden) {
        draw_lines(ui, facts);
        const auto wire = [&](int lane, bool strong) {
            const SectorPlace place = place_of(pattern, facts, lane);
            if (place.line >= facts.lines.size()) return;
            Rect to = sector_box(place.line, place.sector);
            if (words()) {
                to = word_box(place.line, place.word);
                to.w = to.w + word_pitch_ * static_cast<float>((std::min(pattern.bytes, 32u) - 1) / 4);
            }
            const Rect from = lane_box(lane);
            ui.line({from.x + from.w / 2, from.bottom()}, {to.x + to.w / 2, to.y},
                    strong ? ui.theme->ink : faded(sector_color(place.sector_index, *ui.theme), 0.6f), strong ? 2.0f : 1.5f);
            if (strong) ui.outline(to);
        };
        for (int lane = 0; lane < 32; ++lane)
            if ((pattern.lanes >> lane & 1) != 0 && lane != picked) wire(lane, false);
        if (picked >= 0 && (pattern.lanes >> picked & 1) != 0) wire(picked, true);
        draw_labels(ui, facts);
    }
    draw_lanes(ui, pattern, picked, hidden);
}

void CoalescePicture::draw_lanes(Ui& ui, const Pattern& pattern, int picked, bool hidden) const {
    const Theme& theme = *ui.theme;
    for (int lane = 0; lane < 32; ++lane) {
        const Rect box = lane_box(lane);
        const bool on = (pattern.lanes >> lane & 1) != 0;
        const uint64_t sector = pattern.address[static_cast<size_t>(lane)] / model::sector_bytes;
        const Color fill = hidden ? data::lanes : sector_color(sector, theme);
        if (on)
            ui.rect(box, fill, lane_pitch_ >= 20 ? 2.0f : 0.0f);
        else
            ui.frame(box, theme.ink3);
        if (lane_pitch_ >= 20)
            ui.text(box.x + box.w / 2, box.y + 15.5f, std::to_string(lane),
                    {.size = 12, .color = on ? text_on(fill) : theme.quiet, .align = Align::center, .mono = true});
        if (!on) ui.line({box.x + 3, box.bottom() - 3}, {box.right() - 3, box.y + 3}, theme.ink3);
        if (lane == picked) ui.outline(box, -1);
    }
}

void CoalescePicture::draw_lines(Ui& ui, const RequestFacts& facts) const {
    const Theme& theme = *ui.theme;
    for (size_t i = 0; i < facts.lines.size(); ++i) {
        const TouchedLine& line = facts.lines[i];
        const Rect box = line_box(i);
        ui.rect(box, theme.panel2, box.w > 60 ? 3.0f : 0.0f);
        ui.frame(box, theme.ink3, 1, box.w > 60 ? 3.0f : 0.0f);
        for (uint32_t s = 0; s < 4; ++s) {
            const Rect sector = sector_box(i, s);
            const bool fetched = line.sectors >> s & 1;
            const Color used = sector_color(line.line * 4 + s, theme);
            if (!words()) {
                if (!fetched) continue;
                // The used share from the bottom, what is wasted above it.
                const float share = static_cast<float>(line.used(s)) / model::sector_bytes;
                const float full = std::round(sector.h * share);
                ui.rect(sector, wasted(theme));
                if (share < 1)
                    ui.line({sector.x, sector.bottom() - full}, {sector.right(), sector.y}, data::vermillion, 1.2f);
                ui.rect({sector.x, sector.bottom() - full, sector.w, full}, used);
                continue;
            }
            for (uint32_t w = s * 8; w < s * 8 + 8; ++w) {
                const Rect word = word_box(i, w);
                if (line.uses_word(w)) {
                    ui.rect(word, used);
                } else if (fetched) {
                    ui.rect(word, wasted(theme));
                    ui.line({word.x + 1, word.bottom() - 1}, {word.right() - 1, word.y + 1}, data::vermillion, 1.3f);
                } else {
                    ui.frame(word, theme.grid);
                }
            }
        }
    }
}

void CoalescePicture::draw_labels(Ui& ui, const RequestFacts& facts) const {
    const Theme& theme = *ui.theme;
    const float base = words_y_ + word_h_ + counts_down_;
    const TextStyle style{.size = 12, .color = theme.ink2, .align = Align::center};
    uint32_t number = 0;
    bool bare = false;  // a count without "of 8"
    for (size_t i = 0; i < facts.lines.size(); ++i)
        for (uint32_t s = 0; s < 4; ++s) {
            if (!(facts.lines[i].sectors >> s & 1)) continue;
            const uint32_t used = facts.lines[i].used(s);
            const std::string count = used % 4 == 0 ? fmt::format("{} of 8", used / 4) : fmt::format("{} of 32 B", used);
            const std::string full = fmt::format("sector {}: {}", number++, count);
            const Rect box = sector_box(i, s);
            for (const std::string& label : {full, count, std::to_string(used / 4)})
                if (ui.text_width(label, style) + 4 <= sector_pitch_ &&
                    (label != std::to_string(used / 4) || used % 4 == 0)) {
                    ui.text(box.x + box.w / 2, base, label, style);
                    bare = bare || label == std::to_string(used / 4);
                    break;
                }
        }
    // Brackets with the lines' addresses; where these do not fit, one bracket with the first and the last.
    const float y = words_y_ + word_h_ + lines_down_;
    const TextStyle mono{.size = 12, .color = theme.ink2, .align = Align::center, .mono = true};
    const auto bracket = [&](float left, float right, const std::string& label) {
        const float half = ui.text_width(label, mono) / 2 + 8, middle = (left + right) / 2;
        if (middle - half > left + 2) {
            ui.line({left, y - 11}, {left, y - 4}, theme.ink3);
            ui.line({left, y - 4}, {middle - half, y - 4}, theme.ink3);
            ui.line({middle + half, y - 4}, {right, y - 4}, theme.ink3);
            ui.line({right, y - 11}, {right, y - 4}, theme.ink3);
        }
        ui.text(middle, y, label, mono);
    };
    if (facts.lines.empty()) return;
    const auto address = [](const TouchedLine& line) { return fmt::format("0x{:X}", line.line * model::line_bytes); };
    const std::string first = "128-B line " + address(facts.lines.front());
    if (ui.text_width(first, mono) + 12 <= line_w_) {
        for (size_t i = 0; i < facts.lines.size(); ++i)
            bracket(line_box(i).x, line_box(i).right(), "128-B line " + address(facts.lines[i]));
    } else if (ui.text_width(address(facts.lines.back()), mono) + 8 <= line_w_) {
        for (size_t i = 0; i < facts.lines.size(); ++i) bracket(line_box(i).x, line_box(i).right(), address(facts.lines[i]));
    } else {
        const bool gaps = facts.lines.back().line - facts.lines.front().line + 1 != facts.lines.size();
        const std::string lines = fmt::format("{}{} lines", bare ? "words used of 8 in each sector of " : "",
                                              facts.lines.size()),
                          ends = fmt::format(", {} to {}", address(facts.lines.front()), address(facts.lines.back()));
        const float left = line_box(0).x, right = line_box(facts.lines.size() - 1).right();
        std::string label = fmt::format("{} lines", facts.lines.size());  // the longest that there is room for
        if (ui.text_width(lines, mono) + 20 <= right - left) label = lines;
        for (const std::string& words : {lines + " of 128 B", lines + ends, lines + " of 128 B" + ends,
                                         lines + " of 128 B" + ends + (gaps ? ", others between" : ""),
                                         lines + " of 128 B" + ends + (gaps ? "; those between are not touched" : "")})
            if (ui.text_width(words, mono) + 20 <= right - left) label = words;
        bracket(left, right, label);
    }
}

void CoalescePicture::draw_ghost(Ui& ui, const RequestFacts& ghost, std::string_view name) const {
    const Theme& theme = *ui.theme;
    const TextStyle style{.size = 12, .color = theme.ink2};
    const float whole = lane_pitch_ * 32;
    // As many of its lines as leave room for its name, which says when that is not all.
    const auto label_of = [&](size_t shown) {
        return fmt::format("ghost: {}, {}", name,
                           shown == ghost.lines.size() ? std::string("pinned")
                                                       : fmt::format("{} of its {} lines", shown, ghost.lines.size()));
    };
    const auto room_beside = [&](size_t shown) { return area_.x + whole - line_box(shown - 1).right() - 12; };
    size_t shown = std::min(ghost.lines.size(), static_cast<size_t>(std::max(1.0f, whole / line_pitch_)));
    if (shown == 0) return;
    while (shown > 1 && room_beside(shown) < ui.text_width(label_of(shown), style)) --shown;
    for (size_t i = 0; i < shown; ++i)
        for (uint32_t s = 0; s < 4; ++s) {
            if (!(ghost.lines[i].sectors >> s & 1)) continue;
            if (!words()) {
                Rect box = sector_box(i, s);
                ui.frame({box.x, ghost_y_, box.w, 12}, theme.ink3);
                continue;
            }
            for (uint32_t w = s * 8; w < s * 8 + 8; ++w)
                if (ghost.lines[i].uses_word(w)) {
                    const Rect box = word_box(i, w);
                    ui.frame({box.x, ghost_y_, box.w, 12}, theme.ink3);
                }
        }
    const float right = line_box(shown - 1).right() + 2, room = room_beside(shown);
    ui.dashed({area_.x - 2, ghost_y_ - 4, right - area_.x + 2, 20}, theme.ink3);
    const uint32_t waste = ghost.moved - ghost.used;
    const std::string left = label_of(shown);
    const std::string facts =
        fmt::format("{} in {}, {}", counted(ghost.sectors, "sector"), counted(ghost.lines.size(), "line"),
                    waste == 0 ? std::string("nothing wasted") : fmt::format("{} B wasted", waste));
    ui.text(right + 10, ghost_y_ + 11, left, {.size = 12, .color = theme.ink2, .width = room});
    if (room > ui.text_width(left, style) + ui.text_width(facts, style) + 24)
        ui.text(area_.x + whole, ghost_y_ + 11, facts, {.size = 12, .color = theme.ink2, .align = Align::right});
}

}  // namespace lockstep::gui
