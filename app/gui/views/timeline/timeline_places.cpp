// Where the parts of the warp timeline stand in its panel, and its legend: states with their share of the window, and
// the letters of the instructions. In a low panel the legend scrolls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/timeline/timeline_view.h"

namespace lockstep::gui {
namespace {

constexpr float gutter_width = 76, margin_width = 108;

std::vector<StallReason> legend_states(const WindowSums& sums) {
    std::vector<StallReason> states = {StallReason::selected};
    for (size_t s = 1; s < state_count; ++s)
        if (sums.states[s] > 0) states.push_back(static_cast<StallReason>(s));
    return states;
}

std::string_view label_of(StallReason state, bool brief) {
    return brief ? code_of(state).brief : row_of(state).label;
}

// Columns of the legend: as many as their widest entries allow.
std::vector<float> legend_columns(const Ui& ui, const WindowSums& sums, float width, bool brief) {
    std::vector<float> widths;
    for (const StallReason state : legend_states(sums))
        widths.push_back(28 + ui.text_width(label_of(state, brief), {.size = 13}) + 8 +
                         ui.text_width("00.0 %", {.size = 13}) + 18);
    widths.push_back(160);  // empty slot
    for (size_t columns = std::min<size_t>(6, widths.size()); columns > 1; --columns) {
        std::vector<float> most(columns, 0);
        float sum = 0;
        for (size_t i = 0; i < widths.size(); ++i) most[i % columns] = std::max(most[i % columns], widths[i]);
        for (const float w : most) sum += w;
        if (sum > width + 18) continue;
        if (columns < widths.size())  // spread over the width
            for (float& w : most) w += (width - sum) / static_cast<float>(columns);
        return most;
    }
    return {width};
}

float states_height(const Ui& ui, const WindowSums& sums, float width, bool brief) {
    const size_t columns = legend_columns(ui, sums, width, brief).size();
    const size_t states = legend_states(sums).size() + 1;
    return static_cast<float>((states + columns - 1) / columns) * 22;
}

// In a low panel that its rows fill, the legend scrolls: it gets a row or two, and never nothing; short names, where the
// full ones would take more rows. Else it says the letters of the instructions too.
float legend_height(const Ui& ui, const WindowSums& sums, const Rect& body, float rows, TimelinePlaces& places) {
    const float states = states_height(ui, sums, body.w, false), brief = states_height(ui, sums, body.w, true);
    const bool roomy = rows + 16 + 88 + states + 28 <= body.h - 22;
    places.low = body.h <= 352 && !roomy;
    places.brief = places.low && brief < states;
    if (places.low) return std::min((places.brief ? brief : states) + 7, body.h > 240 ? 51.0f : 28.0f);
    return states + (body.h > 420 || roomy ? 28 : 6);
}

// How much of `room` the rows take: all of them, or as many as are whole before the first scroll.
float whole_rows(const TimelinePlaces& places, float room) {
    if (places.content <= room) return places.content;
    float y = 0, fits = room;
    for (const GroupPlace& group : places.groups) {
        y += group_head;
        for (size_t row = 0; row < group.rows.size(); ++row)
            if ((y += places.pitch) <= room) fits = y;
        y += group_gap;
    }
    return fits;
}

}  // namespace

std::string letters_in(const Timeline& timeline, int64_t begin, int64_t end) {
    std::string letters;
    const KernelTrace& trace = timeline.trace();
    auto issue = std::partition_point(trace.issues.begin(), trace.issues.end(),
                                      [&](const IssueRecord& i) { return i.cycle < begin; });
    for (; issue != trace.issues.end() && issue->cycle < end; ++issue)
        if (const char letter = letter_of(timeline, issue->pc); !issue->folded && letters.find(letter) == std::string::npos)
            letters += letter;
    return letters;
}

std::string percent(int64_t part, int64_t whole) {
    return fmt::format("{:.1f} %", whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0.0);
}

float axis_width(float body_width) {
    return std::max(40.0f, body_width - gutter_width - (body_width >= 620 ? margin_width : 0));
}

TimelinePlaces place_timeline(const Ui& ui, const Timeline& timeline, const WindowSums& sums, const Session& session,
                              const Rect& body, int64_t hidden) {
    const float width = axis_width(body.w), margin = body.w - gutter_width - width;
    TimelinePlaces places;
    places.gutter = body.x;
    places.axis = {session.sm.cycles_begin, session.sm.cycles_end, body.x + gutter_width, width};
    places.margin = places.axis.x + width + 8;
    places.margin_width = margin > 0 ? margin - 8 : 0;
    places.hidden_from = hidden;
    places.ruler = {body.x, body.y, body.w, 22};

    size_t rows = 0;
    for (size_t r = 0; r < timeline.rows.size(); ++r) {
        const SlotRow& row = timeline.rows[r];
        const bool lives = std::any_of(row.warps.begin(), row.warps.end(), [&](uint32_t w) {
            const WarpTrack& warp = timeline.trace().warps[w];
            return warp.end > session.sm.cycles_begin && warp.begin < std::min(session.sm.cycles_end, hidden);
        });
        if (!lives) continue;
        if (places.groups.empty() || places.groups.back().scheduler != row.scheduler)
            places.groups.push_back({row.scheduler, 0, {}});
        places.groups.back().rows.push_back({r, 0});
        ++rows;
    }
    const float heads = static_cast<float>(places.groups.size()) * (group_head + group_gap);
    const float room = body.h - 22;
    const float legend = legend_height(ui, sums, body, heads + 16 * static_cast<float>(rows), places);
    const float least_rows = std::min(heads + 14 * static_cast<float>(rows), 0.55f * room);
    float area = std::clamp(room - legend - 16 - (heads + 20 * static_cast<float>(rows)), 88.0f,
                            std::clamp(24 * static_cast<float>(rows), 88.0f, 300.0f));
    if (room - legend - 16 - area < least_rows || room < 240)
        area = std::clamp(room - legend - 16 - least_rows, 0.0f, 100.0f);
    if (area < 48) area = 0;
    const float rows_room = room - legend - (area > 0 ? area + 16 : 0);
    places.pitch = rows == 0 ? 16 : std::clamp(std::floor((rows_room - heads) / static_cast<float>(rows)), 14.0f, 30.0f);
    places.content = heads + places.pitch * static_cast<float>(rows);
    places.rows = {body.x, body.y + 22, body.w + 10, whole_rows(places, rows_room)};
    if (area > 0) places.area = {places.axis.x, places.rows.bottom() + 12, width, area};
    if (legend > 0) places.legend = {body.x, body.bottom() - legend, body.w, legend};
    if (area > 0 && rows > 0) {  // few warps leave room
        const float top = places.area.bottom() + 14, room_left = body.bottom() - legend - 8 - top;
        if (list_fits(room_left)) places.list = {body.x, top, body.w, room_left};
    }
    return places;
}

namespace {

// Which letter stands for what, of those in view; `r.y`: the baseline.
void draw_letters(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const Rect& r) {
    float x = r.x;
    const std::string seen = letters_in(timeline, places.axis.begin, std::min(places.axis.end, places.hidden_from));
    for (const auto& [letter, group] : timeline.letters) {
        if (seen.find(letter) == std::string::npos) continue;
        const char text[] = {letter, 0};
        if (x + 12 + ui.text_width(group, {.size = 12}) > r.right()) break;
        ui.text(x, r.y, text, {.size = 12, .color = ui.theme->right, .weight = 700, .mono = true});
        x = ui.text(x + 12, r.y, group, {.size = 12, .color = ui.theme->ink2}) + (places.low ? 10.0f : 16.0f);
    }
}

}  // namespace

void draw_legend(Ui& ui, const Timeline& timeline, const WindowSums& sums, const TimelinePlaces& places) {
    const Theme& theme = *ui.theme;
    const Rect& r = places.legend;
    const bool open = places.hidden_from != INT64_MAX;
    ui.line({r.x - 11, r.y}, {r.right() + 11, r.y}, theme.grid);
    const std::vector<float> widths = legend_columns(ui, sums, r.w, places.brief);
    const size_t columns = widths.size();
    size_t i = 0;
    const Rect view{r.x, r.y + 1, r.w + 10, r.h - 1};
    const float content = states_height(ui, sums, r.w, places.brief) + 6;
    const float up = places.low ? ui.scroll("legend", view, content) : 0;
    if (places.low) ui.clip(view);
    float last_end = r.x;
    const auto entry = [&](std::string_view label, int64_t value, auto&& swatch) {
        float x = r.x;
        for (size_t c = 0; c < i % columns; ++c) x += widths[c];
        const float y = r.y + 20 + 22 * static_cast<float>(i / columns) - up;
        swatch(Rect{x, y - 11, 20, 14});
        const std::string share = open ? std::string{} : percent(value, std::max<int64_t>(1, sums.slot_cycles));
        const float end =
            ui.text(x + 28, y, label, {.size = 13, .width = widths[i % columns] - 36 - ui.text_width(share, {.size = 13})});
        last_end = ui.text(end + 8, y, share, {.size = 13, .color = theme.ink2});
        ++i;
    };
    for (const StallReason state : legend_states(sums))
        entry(label_of(state, places.brief), sums.states[static_cast<size_t>(state)], [&](const Rect& box) {
            const Faded faint(ui, code_of(state).hollow || state == StallReason::selected ? 1.0f : 0.75f);
            draw_state(ui, box, state);
        });
    entry("empty slot", sums.slot_cycles > 0 ? sums.empty() : 1, [&](const Rect& box) { ui.frame(box, theme.line); });
    const float y = r.y + 20 + 22 * static_cast<float>((i + columns - 1) / columns) - 1;
    if (places.low) {  // beside the last states
        const float x = last_end + 22;
        if (i % columns != 0 && places.letters && !places.texture && places.hidden_from > places.axis.begin)
            draw_letters(ui, timeline, places, {x, y - 22 - up, r.right() - x, 22});
        ui.unclip();
        return;
    }
    if (y > r.bottom() || places.hidden_from <= places.axis.begin) return;
    if (!places.letters || places.texture) {
        ui.text(r.x, y, "closer up (W, or the wheel) every instruction has its letter",
                {.size = 12, .color = theme.quiet, .width = r.w});
        return;
    }
    draw_letters(ui, timeline, places, {r.x, y, r.w, 22});
}
}  // namespace lockstep::gui
