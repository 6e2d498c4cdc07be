#include "app/gui/views/timeline/timeline_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace lockstep::gui {
namespace {

constexpr float cell_top = 1;  // of a cell within its row
constexpr int32_t no_place = -1;

// Merged runs of one reason, and the issues, of one warp.
void draw_cells(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, uint32_t index, float y, bool selected) {
    const TimeAxis& axis = places.axis;
    const KernelTrace& trace = timeline.trace();
    const WarpTrack& warp = trace.warps[index];
    const float h = places.pitch - 2;
    const int64_t stop = std::min(axis.end, places.hidden_from);
    const float gap = axis.column() >= 3 ? 1.0f : 0.0f;
    const auto runs = runs_in(warp, axis.begin, stop);
    for (size_t i = 0; i < runs.size();) {
        size_t j = i + 1;
        while (j < runs.size() && runs[j].reason == runs[i].reason && runs[j].begin == runs[j - 1].end) ++j;
        const float x0 = axis.at(std::max(runs[i].begin, axis.begin)), x1 = axis.at(std::min(runs[j - 1].end, stop));
        const bool full = selected || runs[i].reason == StallReason::not_selected;
        const Faded faint(ui, full ? 1.0f : 0.66f);
        draw_state(ui, {x0, y + cell_top, x1 - x0 - gap, h}, runs[i].reason);
        i = j;
    }
    for (uint32_t i : issues_in(trace, warp, axis.begin, stop)) {
        const IssueRecord& issue = trace.issues[i];
        if (issue.folded) continue;  // the one before it has the cell
        const float x = axis.at(issue.cycle);
        ui.rect({x, y + cell_top, std::max(1.0f, axis.column() - gap), h}, data::green);
        if (!places.letters) continue;
        const char letter[] = {letter_of(timeline, issue.pc), 0};
        ui.text(x + (axis.column() - gap) / 2, y + places.pitch / 2 + 4.5f, letter,
                {.size = 12, .color = data::ink_on_light, .align = Align::center, .weight = 700, .mono = true});
    }
}

namespace {

// How much of each pixel's cycles a scheduler issued in: from running sums where a pixel is many cycles.
void paint_issued(std::span<Color> out, const Color hole, const Timeline& timeline, const TimeAxis& axis, size_t scheduler,
                  int64_t stop) {
    const double cycles_a_pixel = static_cast<double>(axis.end - axis.begin) / static_cast<double>(out.size());
    const auto color = [&](double share) { return mix(hole, data::green, std::min(1.0f, static_cast<float>(share))); };
    if (!timeline.levels.empty() && cycles_a_pixel >= static_cast<double>(timeline.levels.front().bucket)) {
        double before = issued_before(timeline, scheduler, static_cast<double>(axis.begin));
        for (size_t c = 0; c < out.size(); ++c) {
            const double moment = static_cast<double>(axis.begin) + cycles_a_pixel * static_cast<double>(c + 1);
            const double after = issued_before(timeline, scheduler, std::min(moment, static_cast<double>(stop)));
            out[c] = color((after - before) / cycles_a_pixel);
            before = after;
        }
        return;
    }
    const KernelTrace& trace = timeline.trace();
    std::vector<float> share(out.size(), 0.0f);
    const auto first = std::partition_point(trace.issues.begin(), trace.issues.end(),
                                            [&](const IssueRecord& i) { return i.cycle < axis.begin; });
    for (auto i = first; i != trace.issues.end() && i->cycle < stop; ++i)
        if (trace.warps[i->warp].scheduler == scheduler) {
            const auto at = static_cast<size_t>(static_cast<double>(i->cycle - axis.begin) / cycles_a_pixel);
            if (at < share.size()) share[at] += static_cast<float>(1 / cycles_a_pixel);
        }
    for (size_t c = 0; c < out.size(); ++c) out[c] = mix(hole, data::green, std::min(1.0f, share[c]));
}

std::vector<bool> cycles_issued(const Timeline& timeline, const TimeAxis& axis, const GroupPlace& group, int64_t stop) {
    const KernelTrace& trace = timeline.trace();
    std::vector<bool> issued(static_cast<size_t>(axis.end - axis.begin), false);
    for (const RowPlace& place : group.rows)
        for (uint32_t w : timeline.rows[place.row].warps) {
            const WarpTrack& warp = trace.warps[w];
            if (warp.end <= axis.begin || warp.begin >= stop) continue;
            for (uint32_t i : issues_in(trace, warp, axis.begin, stop))
                issued[static_cast<size_t>(trace.issues[i].cycle - axis.begin)] = true;
        }
    return issued;
}

}  // namespace

void draw_strip(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const GroupPlace& group, uint64_t version) {
    const TimeAxis& axis = places.axis;
    const Rect strip{axis.x, group.y + 5, axis.width, 6};
    const int64_t stop = std::min(axis.end, places.hidden_from);
    if (axis.column() < 4) {
        const auto width = static_cast<int>(axis.width);
        ui.picture(fmt::format("strip {}", group.scheduler), version, width, 1, strip,
                   [&](std::span<Color> out) { paint_issued(out, ui.theme->grid, timeline, axis, group.scheduler, stop); });
        return;
    }
    const std::vector<bool> issued = cycles_issued(timeline, axis, group, stop);
    for (int64_t t = axis.begin; t < stop; ++t) {
        const Rect cell{axis.at(t), strip.y, axis.column() - 1, 6};
        if (issued[static_cast<size_t>(t - axis.begin)])
            ui.rect(cell, data::green);
        else {
            ui.rect(cell, ui.theme->line);
            ui.rect({cell.x + 1, cell.y + 1, cell.w - 2, cell.h - 2}, ui.theme->panel);
        }
    }
}

// The warp that a row is labelled with: the one at the cursor; where the slot is empty there, the chosen one or the first
// that the window shows.
int named_warp(const Timeline& timeline, const TimeAxis& axis, const SlotRow& row, const Focus& focus) {
    const KernelTrace& trace = timeline.trace();
    const int64_t cycle = focus.time >= axis.begin && focus.time < axis.end ? focus.time : axis.begin;
    if (const int there = warp_at(trace, row, cycle); there >= 0) return there;
    int first = no_place;
    for (uint32_t w : row.warps) {
        if (trace.warps[w].end <= axis.begin || trace.warps[w].begin >= axis.end) continue;
        if (static_cast<int>(w) == focus.warp) return focus.warp;
        if (first == no_place) first = static_cast<int>(w);
    }
    return first;
}

// Block numbers with a bracket around the neighbouring rows that one block has.
void draw_blocks(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const GroupPlace& group,
                 const Focus& focus) {
    const KernelTrace& trace = timeline.trace();
    const float x = places.gutter;
    for (size_t i = 0; i < group.rows.size();) {
        const int warp = named_warp(timeline, places.axis, timeline.rows[group.rows[i].row], focus);
        size_t j = i + 1;
        if (warp == no_place) {
            i = j;
            continue;
        }
        const uint32_t block = trace.warps[static_cast<size_t>(warp)].block;
        for (; j < group.rows.size(); ++j) {
            const int next = named_warp(timeline, places.axis, timeline.rows[group.rows[j].row], focus);
            if (next == no_place || trace.warps[static_cast<size_t>(next)].block != block) break;
        }
        const float top = group.rows[i].y + 3, bottom = group.rows[j - 1].y + places.pitch - 3;
        // In the middle of what the scrolled rows show of it; a sliver has no room for a name.
        const float from = std::max(top, places.rows.y), to = std::min(bottom, places.rows.bottom());
        if (to - from >= 7)
            ui.text(x, (from + to) / 2 + 4, fmt::format("{}{}", block < 10000 ? "b" : "", block),
                    {.size = 12, .color = ui.theme->quiet, .mono = true, .width = 41});
        ui.rect({x + 42, top, 1, bottom - top}, ui.theme->ink3);
        ui.rect({x + 42, top, 3, 1}, ui.theme->ink3);
        ui.rect({x + 42, bottom - 1, 3, 1}, ui.theme->ink3);
        i = j;
    }
}

// A new warp moved into the slot: a bar, and where the row's label is another's its name in front of it, on a chip if the
// slot was not empty there.
void draw_arrival(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const SlotRow& row, uint32_t index,
                  float y, int named) {
    const KernelTrace& trace = timeline.trace();
    const TimeAxis& axis = places.axis;
    const WarpTrack& warp = trace.warps[index];
    const float x = axis.at(warp.begin);
    ui.rect({x - 1, y, 2, places.pitch - 1}, ui.theme->ink);
    if (named == static_cast<int>(index)) return;
    const std::string name = fmt::format("b{} w{}", warp.block, warp.warp_in_block);
    const TextStyle style{.size = 12, .color = ui.theme->ink2, .align = Align::right, .mono = true};
    const float width = ui.text_width(name, style) + 8;
    if (x - width < axis.x + 4) return;
    const int before = warp_at(trace, row, std::max(axis.begin, axis.cycle(x - width)));
    if (before >= 0 || warp_at(trace, row, warp.begin - 1) >= 0)
        ui.rect({x - width - 1, y, width, places.pitch - 1}, ui.theme->panel, 2);
    ui.text(x - 5, y + places.pitch / 2 + 4, name, style);
}

void draw_row_texture(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const GroupPlace& group,
                      uint64_t version) {
    const TimeAxis& axis = places.axis;
    const auto width = static_cast<int>(axis.width), row_height = static_cast<int>(places.pitch);
    const auto count = static_cast<int>(group.rows.size());
    if (count == 0 || width <= 0) return;
    const Color background = ui.theme->panel;
    ui.picture(fmt::format("rows {}", group.scheduler), version, width, row_height * count,
               {axis.x, group.rows.front().y, axis.width, places.pitch * static_cast<float>(count)},
               [&](std::span<Color> out) {
                   const StatePixels pixels(background);
                   std::vector<uint8_t> states(static_cast<size_t>(width));
                   for (int r = 0; r < count; ++r) {
                       dominant_states(timeline, group.rows[static_cast<size_t>(r)].row, axis.begin, axis.end, states);
                       for (int y = 0; y < row_height; ++y)
                           for (int x = 0; x < width; ++x) {
                               const uint8_t state = states[static_cast<size_t>(x)];
                               const bool edge = y < 1 || y >= row_height - 1 || state == empty_state;
                               out[static_cast<size_t>((r * row_height + y) * width + x)] =
                                   edge ? background : pixels.at(state, x, y);
                           }
                   }
               });
}

}  // namespace

char letter_of(const Timeline& timeline, uint32_t pc) {
    const auto& program = timeline.run->program;
    if (!program || pc >= program->instructions.size() || !program->instructions[pc].opcode) return '?';
    return program->instructions[pc].opcode->letter;
}

const RowPlace* TimelinePlaces::place_of(uint16_t slot, const Timeline& timeline) const {
    for (const GroupPlace& group : groups)
        for (const RowPlace& place : group.rows)
            if (timeline.rows[place.row].slot == slot) return &place;
    return nullptr;
}

std::array<int, state_count> states_at(const Timeline& timeline, int64_t cycle) {
    std::array<int, state_count> counts{};
    for (const SlotRow& row : timeline.rows)
        if (const int w = warp_at(timeline.trace(), row, cycle); w >= 0) {
            const WarpState state = state_at(timeline.trace(), timeline.trace().warps[static_cast<size_t>(w)], cycle);
            if (state.resident) ++counts[static_cast<size_t>(state.reason())];
        }
    return counts;
}

void draw_ruler(Ui& ui, const TimelinePlaces& places, int64_t cursor) {
    const TimeAxis& axis = places.axis;
    const float baseline = places.ruler.bottom() - 4;
    ui.text(places.gutter, baseline, "cycle", {.size = 12, .color = ui.theme->quiet});
    const int64_t step = ruler_step(76 / axis.column());
    const float foot = places.area.h > 0 ? places.area.bottom() : places.rows.bottom();
    const float cursor_x = cursor >= axis.begin && cursor < axis.end ? axis.at(cursor) + axis.column() / 2 : -1e6f;
    for (int64_t t = (axis.begin + step - 1) / step * step; t < std::min(axis.end, places.hidden_from); t += step) {
        const float x = axis.at(t) + axis.column() / 2;
        ui.rect({x, places.ruler.bottom(), 1, foot - places.ruler.bottom()}, ui.theme->grid);
        if (std::abs(x - cursor_x) > 62 && x + 30 < axis.x + axis.width + places.margin_width)
            ui.text(x, baseline, with_commas(t),
                    {.size = 12, .color = ui.theme->quiet, .align = Align::center, .mono = true});
    }
}

static void draw_warp_name(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const RowPlace& place, int warp,
                           bool selected) {
    const Theme& theme = *ui.theme;
    if (selected) {
        ui.rect({places.gutter + 47, place.y, 27, places.pitch - 1}, theme.selected);
        ui.frame({places.gutter + 47, place.y, 27, places.pitch - 1}, theme.accent, 1);
    }
    ui.text(places.axis.x - 6, place.y + places.pitch / 2 + 4,
            fmt::format("w{}", timeline.trace().warps[static_cast<size_t>(warp)].warp_in_block),
            {.size = 12,
             .color = selected ? theme.ink : theme.ink2,
             .align = Align::right,
             .weight = selected ? 700 : 400,
             .mono = true});
}

static void draw_warps(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const RowPlace& place,
                       const Focus& focus, int named) {
    const TimeAxis& axis = places.axis;
    const SlotRow& row = timeline.rows[place.row];
    for (uint32_t w : row.warps) {
        const WarpTrack& warp = timeline.trace().warps[w];
        if (warp.end <= axis.begin || warp.begin >= axis.end) continue;
        draw_cells(ui, timeline, places, w, place.y, static_cast<int32_t>(w) == focus.warp);
        if (warp.begin > axis.begin && warp.begin < places.hidden_from)
            draw_arrival(ui, timeline, places, row, w, place.y, named);
    }
}

void draw_group(Ui& ui, const Timeline& timeline, const WindowSums& sums, const TimelinePlaces& places,
                const GroupPlace& group, const Focus& focus, uint64_t version) {
    const Theme& theme = *ui.theme;
    const TimeAxis& axis = places.axis;
    const int64_t cycles = std::max<int64_t>(1, sums.end - sums.begin);
    ui.text(places.gutter, group.y + 12, fmt::format("sched {}", group.scheduler), {.size = 12, .weight = 600});
    draw_strip(ui, timeline, places, group, version);
    const bool open = places.hidden_from != INT64_MAX;
    if (places.margin_width > 0 && !open && group.scheduler < sums.issued.size()) {
        const auto issued = sums.issued[group.scheduler];
        const float x = ui.text(places.margin, group.y + 12, "issue ", {.size = 12, .color = theme.ink2});
        ui.text(x, group.y + 12, fmt::format("{:.2f}/cycle", static_cast<double>(issued) / static_cast<double>(cycles)),
                {.size = 12, .weight = 600});
        ui.text(places.margin, group.y + 30, fmt::format("{} holes", with_commas(cycles - sums.busy[group.scheduler])),
                {.size = 12, .color = theme.ink2, .width = places.margin_width});
    }
    draw_blocks(ui, timeline, places, group, focus);
    if (places.texture) draw_row_texture(ui, timeline, places, group, version);
    for (const RowPlace& place : group.rows) {
        const int named = named_warp(timeline, axis, timeline.rows[place.row], focus);
        if (named >= 0) draw_warp_name(ui, timeline, places, place, named, named == focus.warp);
        if (!places.texture) draw_warps(ui, timeline, places, place, focus, named);
    }
}

namespace {

void draw_area_axis(Ui& ui, const TimelinePlaces& places, float most) {
    const Rect& area = places.area;
    for (const auto& [share, down] : {std::pair(1.0f, 9.0f), {0.5f, 4.0f}, {0.0f, 0.0f}}) {
        const auto value = static_cast<int64_t>(std::lround(most * share));
        if (static_cast<float>(value) != most * share) continue;
        ui.text(places.axis.x - 6, area.bottom() - area.h * share + down, with_commas(value),
                {.size = 12, .color = ui.theme->quiet, .align = Align::right, .mono = true});
    }
    ui.text(places.gutter, area.y + area.h / 2 + 4, "warps", {.size = 12, .color = ui.theme->quiet});
}

// How many warps are in each state, on top of each other, in each column of pixels.
void paint_area(std::span<Color> out, const Theme& theme, const Timeline& timeline, const TimeAxis& axis, int width,
                int height, float most) {
    const auto means = mean_states(timeline, axis.begin, axis.end, static_cast<size_t>(width));
    const StatePixels pixels(theme.panel, 0.85f);
    for (int x = 0; x < width; ++x) {
        float below = 0;
        size_t state = 0;
        for (int up = 0; up < height; ++up) {
            const float level = (static_cast<float>(up) + 0.5f) / static_cast<float>(height) * most;
            while (state < state_count && below + means[static_cast<size_t>(x)][state] <= level)
                below += means[static_cast<size_t>(x)][state++];
            const int y = height - 1 - up;
            out[static_cast<size_t>(y * width + x)] = state == state_count ? theme.panel : pixels.at(state, x, y);
        }
    }
}

}  // namespace

void draw_area(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, uint64_t version) {
    const TimeAxis& axis = places.axis;
    const Rect& area = places.area;
    const float most = static_cast<float>(std::max<size_t>(timeline.rows.size(), 1));
    if (places.hidden_from <= axis.begin) return;
    draw_area_axis(ui, places, most);
    if (axis.column() < 6) {
        const auto width = static_cast<int>(axis.width), height = static_cast<int>(area.h);
        ui.picture("area", version, width, height, area,
                   [&](std::span<Color> out) { paint_area(out, *ui.theme, timeline, axis, width, height, most); });
        return;
    }
    const int64_t stop = std::min(axis.end, places.hidden_from);
    const auto means = mean_states(timeline, axis.begin, axis.end, static_cast<size_t>(axis.end - axis.begin));
    const Faded faint(ui, 0.75f);
    for (int64_t t = axis.begin; t < stop; ++t) {
        float y = area.bottom();
        for (size_t s = 0; s < state_count; ++s) {
            const float h = means[static_cast<size_t>(t - axis.begin)][s] * area.h / most;
            if (h < 0.3f) continue;
            y -= h;
            const Rect part{axis.at(t), y, axis.column(), h};
            if (s == static_cast<size_t>(StallReason::not_selected))
                ui.rect(part, faded(data::sky, 0.6f));
            else
                draw_state(ui, part, static_cast<StallReason>(s));
        }
    }
}

// The line from a wait's end to the instruction that it waits for.
static void draw_way_to_cause(Ui& ui, const TimelinePlaces& places, const RowPlace& place, const RowPlace& from,
                              int64_t cycle, float end) {
    const TimeAxis& axis = places.axis;
    const float y = place.y, x = std::clamp(axis.at(cycle) + axis.column() / 2, axis.x, axis.x + axis.width);
    const float lane = y - places.pitch / 2 + 2;
    const bool own = &from == &place, down = own || from.y > y;
    const float tip = own ? y - 1 : down ? from.y : from.y + places.pitch - 1;
    const Point path[] = {
        {end, y + places.pitch / 2}, {end + 4, y + places.pitch / 2}, {end + 4, lane}, {x, lane}, {x, tip}};
    ui.halo_line(path);
    if (cycle >= axis.begin)
        ui.arrow_head({x, tip + (down ? 2.0f : -2.0f)}, down ? Way::down : Way::up, ui.theme->selection, 4);
}

// What the wait is for, in it: beside the cursor if it fits, under the wait where that is too short.
static void draw_wait_chip(Ui& ui, const TimelinePlaces& places, const std::string& words, float cursor, float begin,
                           float end, float y) {
    const TimeAxis& axis = places.axis;
    const float width = ui.text_width(words, {.size = 13}) + 20;
    const float tall = std::min(20.0f, places.pitch);  // within its rows: no letter of another is cut
    Rect chip{begin + 20, y + (places.pitch - 1 - tall) / 2, width, tall};
    if (chip.x < cursor && chip.right() > cursor && end - cursor > width + 24) chip.x = cursor + 12;
    if (end - chip.x < width + 6) {
        chip.x = std::clamp(begin, axis.x, std::max(axis.x, axis.x + axis.width - width));
        chip.y += places.pitch;
        if (chip.bottom() > places.rows.bottom()) chip.y = y - tall - 1;
    }
    ui.rect(chip, ui.theme->panel, 4);
    ui.frame(chip, ui.theme->ink, 1, 4);
    ui.text(chip.x + 10, chip.y + tall / 2 + 4.5f, words, {.size = 13});
}

// When a wait ends that goes on beyond the window, in the margin.
static void draw_ready(Ui& ui, const TimelinePlaces& places, float y, int64_t ready) {
    if (places.margin_width <= 0 || places.hidden_from != INT64_MAX) return;
    ui.rect({places.margin - 2, y - 1, places.margin_width + 2, places.pitch + 2}, ui.theme->panel);  // over the holes
    ui.text(places.margin, y + places.pitch / 2 + 4, fmt::format("ready {}", with_commas(ready)),
            {.size = 12, .weight = 600, .width = places.margin_width});
}

void draw_wait(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, const Focus& focus) {
    const KernelTrace& trace = timeline.trace();
    const TimeAxis& axis = places.axis;
    if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return;
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focus.warp)];
    const RowPlace* place = places.place_of(warp.slot, timeline);
    const WarpState state = state_at(trace, warp, focus.time);
    if (!place || !state.resident || focus.time >= places.hidden_from) return;
    const float y = place->y, h = places.pitch - 2;
    if (state.issue) {
        if (focus.time >= axis.begin && focus.time < axis.end)
            ui.outline({axis.at(focus.time), y + cell_top, std::max(2.0f, axis.column() - 1), h});
        return;
    }
    const int64_t stop = std::min({state.stall->end, axis.end, places.hidden_from});
    const float x0 = axis.at(std::max(state.stall->begin, axis.begin)), x1 = axis.at(stop);
    if (x1 <= axis.x || x0 >= axis.x + axis.width) return;
    ui.outline({x0, y + cell_top, std::max(2.0f, x1 - x0 - 1), h});
    const Wait wait = wait_of(timeline, static_cast<uint32_t>(focus.warp), *state.stall);
    if (state.stall->end > axis.end) draw_ready(ui, places, y, state.stall->end);
    const RowPlace* from = wait.cause && wait.cause->warp < trace.warps.size()
                               ? places.place_of(trace.warps[wait.cause->warp].slot, timeline)
                               : nullptr;
    if (from) draw_way_to_cause(ui, places, *place, *from, wait.cause->cycle, x1);
    if (!wait.chip.empty() && places.hidden_from == INT64_MAX)
        draw_wait_chip(ui, places, wait.chip, axis.at(focus.time) + axis.column() / 2, x0, x1, y);
}

// The states that any warp is in, those of most warps first; what issues stands in front.
template <class Counts>
static std::vector<size_t> by_count(const Counts& counts) {
    std::vector<size_t> order;
    for (size_t s = 1; s < state_count; ++s)
        if (counts[s] > 0) order.push_back(s);
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
    order.insert(order.begin(), 0);
    return order;
}

void draw_counts(Ui& ui, const Timeline& timeline, const TimelinePlaces& places, int64_t cycle) {
    if (places.margin_width < 90 || cycle >= places.hidden_from) return;
    const Theme& theme = *ui.theme;
    const auto counts = states_at(timeline, cycle);
    const std::vector<size_t> order = by_count(counts);
    int all = 0, shown = 0;
    for (size_t s = 0; s < state_count; ++s) all += counts[s];
    const float x = places.margin;
    float y = places.area.y + 12;
    ui.text(x, y, fmt::format("at {}", with_commas(cycle)), {.size = 12, .color = theme.quiet});
    const auto room = static_cast<size_t>(std::max(0.0f, (places.area.h - 22) / 15));
    y += 16;
    for (size_t i = 0; i < order.size() && i < room; ++i, y += 15) {
        const bool rest = i > 0 && i + 1 == room && i + 1 < order.size();  // the last line sums up what has no room
        const int value = rest ? all - shown : counts[order[i]];
        shown += value;
        if (!rest) draw_state(ui, {x, y - 10, 10, 12}, static_cast<StallReason>(order[i]));
        ui.text(x + 32, y, std::to_string(value), {.size = 12, .align = Align::right, .mono = true});
        std::string alone = room == 1 && order.size() > 1 ? fmt::format("issued, of {}", all) : std::string();
        if (ui.text_width(alone, {.size = 12}) > places.margin_width - 38) alone = fmt::format("of {}", all);
        ui.text(x + 38, y,
                rest             ? "other"
                : !alone.empty() ? alone
                                 : code_of(static_cast<StallReason>(order[i])).brief,
                {.size = 12, .color = theme.ink2, .width = places.margin_width - 38});
    }
}

}  // namespace lockstep::gui
