// The machine at the stop of a warp: its 32 lanes with the path that each is on, the instruction that it issues or waits to
// issue, what it waits for with the way of the request, the paths that have parted, and the registers at hand, lane by lane.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "app/gui/views/machine/machine_motion.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/memory/bank_data.h"
#include "app/gui/views/memory/coalesce_picture.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float lanes_top = 6;

struct WarpPlaces {
    Rect picture, code;                   // panels
    Rect body, lanes, instruction;        // of the picture
    Rect wait, stack, registers, memory;  // h 0: no room
    float pitch = 30;                     // of a lane
};

constexpr float narrow = 1180, low_code = 230;  // of the code below the picture

WarpPlaces place_warp(Ui& ui, const Rect& area, bool memory) {
    WarpPlaces p;
    p.picture = area;
    if (area.w >= narrow) {
        p.picture.w = area.w - side_width(area) - 8;
        p.code = {p.picture.right() + 8, area.y, side_width(area), area.h};
    } else if (area.h >= 760) {
        p.picture.h = area.h - low_code - 8;
        p.code = {area.x, p.picture.bottom() + 8, area.w, low_code};
    }
    p.body = ui.panel_body(p.picture, {.title = " ", .badge = Provenance::simulated, .caption = " "});
    p.pitch = p.body.w / 32;
    const float cell = std::clamp(std::min(p.pitch * 1.5f, p.body.h * 0.11f), 14.0f, 60.0f);
    p.lanes = {p.body.x, p.body.y + lanes_top, p.body.w, cell};
    float y = p.lanes.bottom() + 40;
    p.instruction = {p.body.x, y, p.body.w, p.body.h > 380 ? 58.0f : 38.0f};
    y = p.instruction.bottom() + 10;
    const float room = p.body.bottom() - y;
    const bool beside = p.body.w > 700;
    const float stack_w = beside ? std::clamp(p.body.w * 0.32f, 240.0f, 380.0f) : 0;
    const float wait_h = std::min(room, room > 460 ? 176.0f : room > 300 ? 158.0f : 150.0f);
    p.wait = {p.body.x, y, p.body.w - (beside ? stack_w + 16 : 0), wait_h};
    if (beside) p.stack = {p.wait.right() + 16, y, stack_w, wait_h};
    y += wait_h + 8;
    if (!beside && p.body.bottom() - y > 160) {  // the paths below
        p.stack = {p.body.x, y, p.body.w, 118};
        y += 126;
    }
    float left = p.body.bottom() - y;
    if (memory && left > 310) {
        const float h = std::clamp(left * 0.42f, 150.0f, 190.0f);
        p.memory = {p.body.x, p.body.bottom() - h, p.body.w, h};
        left -= h + 10;
    }
    if (left > 58) p.registers = {p.body.x, y, p.body.w, left};
    return p;
}

Rect lane_cell(const WarpPlaces& p, int lane) {
    return {p.lanes.x + p.pitch * static_cast<float>(lane), p.lanes.y, p.pitch - 3, p.lanes.h};
}

void fill_code(Ui& ui, const Rect& box, const PathCode& code) {
    if (code.hatch == Hatch::solid) return ui.rect(box, code.color);
    ui.rect(box, mix(ui.theme->panel, code.color, 0.3f));
    ui.hatch(box, code.color, code.hatch);
}

PathCode code_of_lane(const WarpNow& w, int lane) {
    return path_code(static_cast<size_t>(w.path[static_cast<size_t>(lane)]));
}

void draw_lane_row(const MachineFrame& frame, const WarpPlaces& p, const WarpNow& w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const int picked = picked_lane(frame, w);
    static constexpr std::string_view words[] = {"works", "off: its predicate is false", "waits: its path does not run",
                                                 "has ended, or there is no thread"};
    const float flash = lights_of(frame).flash(frame.clock, static_cast<double>(frame.cycle()));
    for (int lane = 0; lane < 32; ++lane) {
        const Rect cell = lane_cell(p, lane);
        const PathCode code = code_of_lane(w, lane);
        const LaneMark mark = w.marks[static_cast<size_t>(lane)];
        if (mark == LaneMark::works) {
            fill_code(ui, cell, code);
        } else if (mark == LaneMark::gone) {
            ui.rect(cell, t.grid);
            ui.line({cell.x + 4, cell.y + 4}, {cell.right() - 4, cell.bottom() - 4}, t.ink3, 1.5f);
            ui.line({cell.right() - 4, cell.y + 4}, {cell.x + 4, cell.bottom() - 4}, t.ink3, 1.5f);
        } else {
            ui.hatch(cell, faded(code.color, 0.55f), Hatch::dots);
            mark == LaneMark::guarded ? ui.frame(cell, code.color, 1.5f) : ui.dashed(cell, code.color, 4, 3);
        }
        if (mark == LaneMark::works && cell.h >= 24) {  // what the warp does, at the lane's foot
            const Rect foot{cell.x, cell.bottom() - cell.h * 0.3f, cell.w, cell.h * 0.3f};
            ui.rect(foot, t.panel);
            if (w.state.issue != nullptr)
                ui.rect({foot.x, foot.y + 2, foot.w, foot.h - 2}, lit(data::green, flash, t));
            else
                draw_state(ui, {foot.x, foot.y + 2, foot.w, foot.h - 2}, w.state.reason());
        }
        if (lane == picked) ui.outline(cell, -2);
        if (p.pitch >= 22 || lane % 8 == 0 || lane == 31)
            ui.text(cell.x + cell.w / 2, p.lanes.bottom() + 15, std::to_string(lane),
                    {.size = 12,
                     .color = lane == picked ? t.ink : t.quiet,
                     .align = Align::center,
                     .weight = lane == picked ? 700 : 400,
                     .mono = true});
        if (frame.still) continue;
        if (ui.hovered(cell)) ui.tooltip(fmt::format("lane {}: {}", lane, words[static_cast<size_t>(mark)]));
        if (!ui.clicked(cell)) continue;
        if (lane == frame.focus.lane) zoom_to(frame.session, Stop::lane);
        frame.focus.lane = lane;
    }
    float x = p.lanes.x;
    const float base = p.lanes.bottom() + 33;
    const auto say = [&](const std::string& sentence, auto&& draw) {
        if (x + 24 + ui.text_width(sentence, {.size = 12}) > p.lanes.right()) return;
        draw(Rect{x, base - 10, 16, 11});
        x = ui.text(x + 22, base, sentence, {.size = 12, .color = t.ink2}) + 18;
    };
    std::array<bool, 16> said{};
    for (int lane = 0; lane < 32; ++lane) {
        if (w.marks[static_cast<size_t>(lane)] != LaneMark::works) continue;
        const auto path = static_cast<size_t>(w.path[static_cast<size_t>(lane)]) % 16;
        if (said[path]) continue;
        said[path] = true;
        const int count = lanes_in(w.works);
        say(count == 32 ? "all 32 lanes are on" : fmt::format("{} are on", lanes_text(w.works)),
            [&](const Rect& box) { fill_code(ui, box, path_code(path)); });
    }
    const auto count = [&](LaneMark mark) { return std::count(w.marks.begin(), w.marks.end(), mark); };
    if (count(LaneMark::guarded) > 0)
        say(fmt::format("{} off by the predicate", count(LaneMark::guarded)), [&](const Rect& box) {
            ui.hatch(box, faded(data::lanes, 0.55f), Hatch::dots);
            ui.frame(box, data::lanes, 1.5f);
        });
    if (count(LaneMark::waits) > 0)
        say(fmt::format("{} wait for the other path", count(LaneMark::waits)), [&](const Rect& box) {
            const auto first = std::find(w.marks.begin(), w.marks.end(), LaneMark::waits) - w.marks.begin();
            const Color color = code_of_lane(w, static_cast<int>(first)).color;
            ui.hatch(box, faded(color, 0.55f), Hatch::dots);
            ui.dashed(box, color, 4, 3);
        });
    if (count(LaneMark::gone) > 0)
        say(fmt::format("{} have ended", count(LaneMark::gone)), [&](const Rect& box) {
            ui.rect(box, t.grid);
            ui.line({box.x + 3, box.y + 1}, {box.right() - 3, box.bottom() - 1}, t.ink3);
            ui.line({box.right() - 3, box.y + 1}, {box.x + 3, box.bottom() - 1}, t.ink3);
        });
    say("click a lane, twice: look into it", [&](const Rect& box) {
        ui.outline({box.x + 2, box.y + 1, box.w - 4, box.h - 2});
    });
}

void draw_instruction(const MachineFrame& frame, const Rect& r, const WarpNow& w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const bool issues = w.state.issue != nullptr;
    const float flash = issues ? lights_of(frame).flash(frame.clock, static_cast<double>(frame.cycle())) : 0;
    ui.rect(r, issues ? faded(data::green, 0.16f + 0.3f * flash) : t.panel2, 4);
    ui.frame(r, issues ? data::green : t.line, 1, 4);
    if (w.instruction == nullptr) {
        const std::string text = w.track == nullptr || w.state.resident ? "no instruction"
                                 : frame.cycle() < w.track->begin
                                     ? fmt::format("it starts at cycle {}", with_commas(w.track->begin))
                                     : fmt::format("it ended at cycle {}", with_commas(w.track->end));
        ui.text(r.x + 12, r.y + 24, text, {.size = 14, .color = t.ink2});
        return;
    }
    const bool low = r.h < 50;
    const float base = low ? r.y + 24 : r.y + 23;
    const Rect box{r.x + 8, base - 14, 20, 18};
    if (issues)
        letter_box(ui, box, letter_of(*frame.scene->timeline, w.pc), lit(data::green, flash, t));
    else
        draw_state(ui, box, w.state.reason());
    const std::string now =
        issues ? w.state.issue->folded ? "goes with the one before" : "issues in this cycle" : "waits to issue";
    const float begin = ui.text(r.right() - 12, base, now,
                                {.size = 13, .color = issues ? t.right : t.ink2, .align = Align::right, .weight = 600});
    ui.text(box.right() + 10, base, short_text(*frame.scene->run->program, w.pc),
            {.size = 14, .weight = 700, .mono = true, .width = begin - box.right() - 26});
    if (low) return;
    std::string does;
    if (w.instruction->opcode != nullptr)
        does = fmt::format("{}, on the {}", w.instruction->opcode->summary, pipe_name(*w.instruction));
    const float does_at =
        ui.text(r.right() - 12, r.y + 45, does, {.size = 13, .color = t.ink2, .align = Align::right, .width = r.w * 0.55f});
    const int32_t line = line_of_pc(*frame.scene->run->program, w.pc);
    if (line <= 0) return;
    const std::string code = source_line(frame, line);
    const float x = ui.text(r.x + 38, r.y + 45, fmt::format("line {}", line), {.size = 12, .color = t.quiet}) + 12;
    if (does_at - x > 60) ui.text(x, r.y + 45, code, {.size = 13, .color = t.ink2, .mono = true, .width = does_at - x - 16});
}

// The stations as boxes, and the request between them.
void draw_way(const MachineFrame& frame, const Rect& r, const RequestRecord& request) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const Stations stations = stations_of(*frame.scene->machine, request);
    const WayWords words = way_words(frame, request, stations, frame.clock);
    const WayPlace place = way_of(stations, request, frame.clock);
    const float box_w = std::clamp(r.w * 0.16f, 74.0f, 116.0f), gap = (r.w - 4 * box_w) / 3;
    const auto box_x = [&](size_t k) { return r.x + (box_w + gap) * static_cast<float>(k); };
    const float out = r.y + r.h * 0.32f, home = r.y + r.h * 0.72f;
    const bool near = request.level == MemoryLevel::l1, far = request.channel != RequestRecord::none;
    const size_t farthest = near ? 1 : far && request.kind != RequestKind::store ? 3 : 2;
    for (size_t k = 0; k < 4; ++k) {
        const Rect box{box_x(k), r.y, box_w, r.h};
        const bool used = k <= farthest;
        ui.rect(box, t.panel2, 5);
        ui.frame(box, words.word[k].empty() ? t.line : t.ink3, 1, 5);
        ui.text(box.x + box_w / 2, r.y + r.h / 2 - 4, words.name[k],
                {.size = 14, .color = used ? t.ink : t.quiet, .align = Align::center, .weight = 600});
        ui.text(box.x + box_w / 2, r.y + r.h / 2 + 14, used ? words.word[k] : "not asked",
                {.size = 12, .color = used ? t.ink2 : t.quiet, .align = Align::center});
        if (k == 3) continue;
        const float x0 = box.right() + 2, x1 = box_x(k + 1) - 2;
        const bool went = k < farthest && place.at >= static_cast<double>(k) + 1e-9;
        const bool all = place.back || place.at >= static_cast<double>(k + 1);
        ui.line({x0, out}, {x1 - 5, out}, k < farthest && (went || all) ? t.ink : t.ink3, 1.5f);
        ui.arrow_head({x1, out}, Way::right, k < farthest && (went || all) ? t.ink : t.ink3, 5);
        const bool came = k < farthest && place.back && place.at <= static_cast<double>(k + 1);
        if (request.kind == RequestKind::store) continue;
        ui.line({x0 + 5, home}, {x1, home}, came ? t.ink : t.ink3, 1.5f);
        ui.arrow_head({x0, home}, Way::left, came ? t.ink : t.ink3, 5);
    }
    // Between two boxes it is on the line; at one it stands at its door.
    const auto k = static_cast<size_t>(std::min(place.at, 2.999999));
    const double share = place.at - static_cast<double>(k);
    Point dot{box_x(k) + box_w + gap * static_cast<float>(share), place.back ? home : out};
    if (share < 1e-9 && k > 0 && !place.back) dot.x = box_x(k);
    const bool there = frame.clock >= static_cast<double>(stations.end());
    if (there && request.kind != RequestKind::store) dot.x = box_x(0) + box_w - 8;
    if (!there || request.kind == RequestKind::store) {
        const Color color = request.kind == RequestKind::store    ? data::yellow
                            : request.kind == RequestKind::atomic ? data::purple
                                                                  : data::sky;
        if (place.back) {
            ui.circle(dot, 5.5f, t.panel);
            ui.ring(dot, 5.5f, color, 2);
        } else {
            ui.circle(dot, 5.5f, color);
            if (place.waits) ui.ring(dot, 8.5f, color, 1.5f);
        }
    }
}

void draw_waiting(const MachineFrame& frame, const Rect& r, const WarpNow& w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    std::string sentence = !w.state.resident          ? "It is not on the SM in this cycle."
                           : w.state.issue != nullptr ? "It waits for nothing: it issues."
                           : w.wait                   ? w.wait->sentence
                                                      : "It waits.";
    if (w.wait) {
        const Rect box{r.x, r.y + 3, 16, 13};
        draw_state(ui, box, w.state.reason());
        ui.text(r.x + 24, r.y + 14, sentence, {.size = 14, .weight = 600, .width = r.w - 24});
    } else {
        ui.text(r.x, r.y + 14, sentence, {.size = 14, .color = t.ink2, .width = r.w});
    }
    const MachineTrace* machine = frame.scene->machine;
    int64_t shown = w.awaited;
    if (machine != nullptr && shown < 0 && w.state.resident) {  // the last one that it sent, while that is under way
        for (const uint32_t i : requests_at(*frame.scene, frame.clock)) {
            const RequestRecord& q = machine->requests[i];
            if (q.issue >= 0 && frame.scene->trace().issues[static_cast<size_t>(q.issue)].warp == w.warp) shown = i;
        }
    }
    if (shown < 0 || machine == nullptr) {
        if (!w.wait) return;
        const int64_t all = std::max<int64_t>(1, w.wait->end - w.wait->begin),
                      over = std::clamp<int64_t>(frame.cycle() - w.wait->begin, 0, all);
        const Rect bar{r.x, r.y + 28, r.w, 12};
        ui.rect(bar, t.grid, 2);
        draw_state(ui, {bar.x, bar.y, bar.w * static_cast<float>(over) / static_cast<float>(all), bar.h}, w.state.reason());
        ui.text(bar.x, bar.bottom() + 17, fmt::format("{} of {}", with_commas(over), counted(all, "cycle")),
                {.size = 13, .weight = 600});
        ui.paragraph({r.x, bar.bottom() + 28, r.w, 40}, row_of(w.state.reason()).explanation, {.size = 13, .color = t.ink2},
                     18);
        return;
    }
    const RequestRecord& q = machine->requests[static_cast<size_t>(shown)];
    const Stations stations = stations_of(*machine, q);
    const float way_h = std::min(58.0f, r.h - 92);
    const Rect way{r.x, r.y + 28, r.w, way_h};
    if (way_h >= 38) draw_way(frame, way, q);
    if (!frame.still && way_h >= 38) {
        if (ui.hovered(way)) ui.tooltip(request_text(*frame.scene, q) + "\nclick to follow it");
        if (ui.clicked(way)) frame.session.machine.followed = shown;
    }
    const Rect bar{r.x, r.y + 28 + std::max(0.0f, way_h) + 12, r.w, 12};
    const auto all = static_cast<float>(std::max<uint32_t>(1, q.ready));
    const auto over =
        static_cast<float>(std::clamp(frame.clock - static_cast<double>(q.begin), 0.0, static_cast<double>(q.ready)));
    ui.rect(bar, t.grid);
    draw_state(ui, {bar.x, bar.y, bar.w * over / all, bar.h}, StallReason::long_scoreboard);
    for (const Station s : {Station::sm_queue, Station::slice_queue, Station::channel_queue}) {  // what of it is waiting
        if (stations.cycles(s) <= 0) continue;
        const float x = bar.x + bar.w * static_cast<float>(stations.at[static_cast<size_t>(s)] - q.begin) / all;
        ui.rect({x, bar.bottom() + 2, std::max(1.0f, bar.w * static_cast<float>(stations.cycles(s)) / all), 3},
                data::vermillion);
    }
    ui.rect({bar.x + bar.w * over / all - 1, bar.y - 3, 2, bar.h + 6}, t.ink);
    const int64_t queues =
        stations.cycles(Station::sm_queue) + stations.cycles(Station::slice_queue) + stations.cycles(Station::channel_queue);
    const float end = ui.text(bar.x, bar.bottom() + 21,
                              fmt::format("{} of {}", with_commas(static_cast<int64_t>(over)), counted(q.ready, "cycle")),
                              {.size = 14, .weight = 700});
    ui.text(bar.right(), bar.bottom() + 21,
            queues > 0 ? fmt::format("{} in queues (red), {} on its way", with_commas(queues), with_commas(q.ready - queues))
                       : "no queue on the way",
            {.size = 12, .color = t.ink2, .align = Align::right, .width = bar.right() - end - 16});
    if (w.awaited < 0 && bar.bottom() + 40 < r.bottom())
        ui.text(bar.x, bar.bottom() + 40, "this request of its is under way meanwhile",
                {.size = 12, .color = t.quiet, .width = r.w});
}

// The paths of the warp: the running one on top.
struct PathRow {
    size_t number = 0;
    uint32_t mask = 0;
    std::string name, where;
    bool runs = false;
};
std::vector<PathRow> path_rows(const MachineFrame& frame, const WarpNow& w) {
    std::vector<PathRow> rows;
    if (w.now == nullptr) return rows;
    const auto& stack = w.now->stack;
    for (size_t i = stack.size(); i-- > 0;) {
        PathRow row;
        row.number = w.now->number(i);
        row.mask = stack[i].mask & ~w.now->exited;
        row.runs = i + 1 == stack.size();
        row.name = lanes_text(row.mask);
        const int32_t line = line_of_pc(*frame.scene->run->program, row.runs ? w.pc : stack[i].pc);
        const std::string_view does = w.state.issue != nullptr ? "runs" : "stands at";
        row.where = row.runs   ? line > 0 ? fmt::format("{} line {}", does, line) : "runs"
                    : line > 0 ? fmt::format("waits at line {}", line)
                               : "waits";
        rows.push_back(std::move(row));
    }
    return rows;
}

void draw_paths(const MachineFrame& frame, const Rect& r, const WarpNow& w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.text(r.x, r.y + 14, "paths of the warp", {.size = 13, .weight = 600});
    const std::vector<PathRow> rows = path_rows(frame, w);
    if (rows.empty()) {
        ui.paragraph({r.x, r.y + 24, r.w, 40},
                     w.fetching         ? "Its history is being fetched ..."
                     : w.state.resident ? "They are not known in this cycle."
                                        : "It is not here.",
                     {.size = 12, .color = t.quiet}, 17);
        return;
    }
    ui.text(r.right(), r.y + 14, rows.size() == 1 ? "all go together" : fmt::format("{} deep", rows.size()),
            {.size = 12, .color = t.ink2, .align = Align::right});
    float y = r.y + 24;
    for (const PathRow& row : rows) {
        const Rect box{r.x, y, r.w, 40};
        if (box.bottom() > r.bottom() + 1) break;
        ui.rect(box, row.runs ? t.panel2 : t.panel, 3);
        ui.frame(box, row.runs ? t.ink3 : t.line, 1, 3);
        ui.text(box.x + 10, box.y + 15, row.name, {.size = 12, .weight = row.runs ? 600 : 400, .width = r.w * 0.55f});
        ui.text(box.right() - 8, box.y + 15, row.where, {.size = 12, .color = t.ink2, .align = Align::right});
        const float pitch = (r.w - 20) / 32;
        for (int lane = 0; lane < 32; ++lane) {
            const Rect cell{box.x + 10 + pitch * static_cast<float>(lane), box.y + 22, pitch - 1, 11};
            if ((row.mask >> lane & 1) != 0)
                fill_code(ui, cell, path_code(row.number));
            else
                ui.rect(cell, t.grid);
        }
        y += 46;
    }
}

std::string tight_number(const LaneRow& row, uint64_t bits) {  // in four letters, or none
    std::string text = number_text(bits, row.type);
    if (text.size() <= 4) return text;
    const double value = number_of(bits, row.type);
    if (!std::isfinite(value) || std::fabs(value) >= 1000) return "";
    text = fmt::format("{:.1f}", value);
    if (text.size() <= 4 && std::fabs(value) >= 0.05) return text;
    return "";
}

void draw_register_rows(const MachineFrame& frame, const Rect& r, const WarpNow& w) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const int lane = picked_lane(frame, w);
    const KeptLanes::Values values = frame.kept != nullptr ? frame.kept->at(w.step) : nullptr;
    ui.text(r.x, r.y + 14, "registers, lane by lane", {.size = 13, .weight = 600});
    if (!values || !w.state.resident) {
        ui.text(r.right(), r.y + 14,
                !w.state.resident                     ? "the warp holds none now"
                : frame.scene->run->before != nullptr ? "values are being fetched ..."
                                                      : "this run keeps no values",
                {.size = 12, .color = t.quiet, .align = Align::right});
        return;
    }
    const float pitch = 26, name_w = r.w > 900 ? 200.0f : r.w > 500 ? 112.0f : 60.0f, value_w = r.w > 700 ? 128.0f : 92.0f;
    const auto most = static_cast<size_t>(std::max(1.0f, (r.h - 26) / pitch));
    const std::vector<LaneRow> rows = lane_rows(frame, w, w.instruction, *values, lane, std::min<size_t>(most, 20));
    ui.text(r.right(), r.y + 14, fmt::format("lane {}", lane), {.size = 12, .align = Align::right, .weight = 600});
    ui.text(r.right() - value_w - 6, r.y + 14, "as the instruction finds them; > reads, * writes",
            {.size = 12, .color = t.quiet, .align = Align::right, .width = r.w - value_w - 190});
    const float first = r.x + name_w, cell_w = (r.w - name_w - value_w) / 32;
    const Lights lights = lights_of(frame);
    float y = r.y + 24;
    for (const LaneRow& row : rows) {
        const bool pending = row.ready > frame.cycle();
        const Rect line{r.x - 4, y, r.w + 8, pitch - 2};
        if (row.read || row.written) ui.rect(line, t.panel2, 3);
        if (row.ready > 0 && !row.unwritten) draw_glow(ui, line, lights.glow(frame.clock, static_cast<double>(row.ready)));
        const char mark[] = {row.read ? '>' : row.written ? '*' : ' ', 0};
        ui.text(r.x, y + 16, mark, {.size = 12, .color = row.written ? t.right : t.accent, .weight = 700, .mono = true});
        const float end =
            ui.text(r.x + 12, y + 16, row.name,
                    {.size = 12, .weight = row.read || row.written ? 700 : 400, .mono = true, .width = name_w - 16});
        if (name_w - (end - r.x) > 70)
            ui.text(std::max(end + 8, r.x + 60), y + 16, row.holds,
                    {.size = 12, .color = t.quiet, .width = first - 10 - std::max(end + 8, r.x + 60)});
        double low = INFINITY, high = -INFINITY;
        bool fits = cell_w >= 31;
        std::array<std::string, 32> texts;
        for (size_t k = 0; k < 32; ++k) {
            const double v = row.type == ptx::Type::b64 ? static_cast<double>(row.values->bits[k])
                                                        : number_of(row.values->bits[k], row.type);
            if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
            texts[k] = fits ? tight_number(row, row.values->bits[k]) : "";
            fits = fits && !texts[k].empty();
        }
        for (int k = 0; k < 32; ++k) {
            const Rect cell{first + cell_w * static_cast<float>(k), y + 2, cell_w - 1.5f, pitch - 6};
            const uint64_t bits = row.values->bits[k];
            const double v = row.type == ptx::Type::b64 ? static_cast<double>(bits) : number_of(bits, row.type);
            if (row.unwritten) {
                ui.dashed(cell, t.ink3, 3, 3);
            } else if (pending) {
                draw_state(ui, cell, row.waits);
            } else if (w.marks[static_cast<size_t>(k)] == LaneMark::gone) {
                ui.rect(cell, t.grid);
            } else if (!std::isfinite(v)) {
                ui.hatch(cell, data::vermillion, Hatch::cross);
            } else {
                const Color color = sequential(high > low ? static_cast<float>((v - low) / (high - low)) : 0.4f, t);
                ui.rect(cell, color);
                if (fits)
                    ui.text(cell.x + cell.w / 2, y + 16, texts[static_cast<size_t>(k)],
                            {.size = 12, .color = text_on(color), .align = Align::center, .mono = true});
            }
            if (k == lane) ui.outline(cell, -1);
            if (frame.still) continue;
            if (ui.hovered(cell))
                ui.tooltip(fmt::format(
                    "lane {}: {} = {}", k, row.name,
                    pending ? fmt::format("ready at cycle {}", with_commas(row.ready)) : number_text(bits, row.type)));
            if (ui.clicked(cell)) frame.focus.lane = k;
        }
        ui.text(r.right(), y + 16,
                row.unwritten ? std::string("not written yet")
                : pending     ? fmt::format("at {}", with_commas(row.ready))
                              : row.value,
                {.size = 12, .color = pending ? t.ink2 : t.ink, .align = Align::right, .mono = true, .width = value_w - 8});
        y += pitch;
    }
}

const simt::WarpAccess* access_of(const MachineFrame& frame, const WarpNow& w) {
    if (w.now == nullptr) return nullptr;
    const auto& accesses = frame.snapshot.kernel.history->accesses;
    const auto at = std::lower_bound(accesses.begin(), accesses.end(), static_cast<uint64_t>(w.step),
                                     [](const simt::WarpAccess& a, uint64_t step) { return a.step < step; });
    return at != accesses.end() && at->step == static_cast<uint64_t>(w.step) ? &*at : nullptr;
}

}  // namespace

void draw_banks(Ui& ui, const Rect& r, const BankFacts& facts) {
    const float pitch = r.w / 32, rows = std::max(1.0f, std::floor((r.h - 16) / 14));
    for (uint32_t bank = 0; bank < 32; ++bank) {
        const float x = r.x + pitch * static_cast<float>(bank);
        for (uint32_t k = 0; k < static_cast<uint32_t>(rows); ++k)
            ui.rect({x, r.y + 14 * static_cast<float>(k), std::max(1.0f, pitch - 2), 12},
                    k < facts.distinct[bank] ? data::yellow : ui.theme->grid);
        if (bank % 8 == 0 || bank == 31)
            ui.text(x + pitch / 2, r.y + 14 * rows + 13, std::to_string(bank),
                    {.size = 12, .color = ui.theme->quiet, .align = Align::center, .mono = true});
    }
}

namespace {

void draw_access(const MachineFrame& frame, const Rect& r, const simt::WarpAccess& access) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const Pattern pattern = pattern_of(access);
    const std::string_view verb = access.is_atomic ? "changes" : access.is_store ? "writes" : "reads";
    if (access.space == ptx::Space::shared) {
        const BankFacts facts = bank_facts(pattern, access.is_atomic);
        ui.text(r.x, r.y + 14, "32 banks of shared memory", {.size = 13, .weight = 600});
        ui.text(r.right(), r.y + 14,
                fmt::format("it {} {} in {}", verb, counted(facts.words.size(), "word"),
                            counted(facts.passes.size(), "pass", "passes")),
                {.size = 12, .color = t.ink2, .align = Align::right});
        draw_banks(ui, {r.x, r.y + 24, r.w, r.h - 28}, facts);
        return;
    }
    const RequestFacts facts = facts_of(pattern);
    ui.text(r.x, r.y + 14, "lines of 128 bytes that it touches", {.size = 13, .weight = 600});
    ui.text(r.right(), r.y + 14,
            fmt::format("it {} {} in {}: {} moved, {:.0f} % used", verb, bytes_text(facts.used),
                        counted(facts.sectors, "sector"), bytes_text(facts.moved), 100 * facts.efficiency()),
            {.size = 12, .color = t.ink2, .align = Align::right, .width = r.w - 240});
    const auto lines = std::min<size_t>(facts.lines.size(), static_cast<size_t>(std::max(1.0f, (r.h - 26) / 20)));
    const float label = 118, pitch = (r.w - label) / 32;
    for (size_t i = 0; i < lines; ++i) {
        const float y = r.y + 24 + 20 * static_cast<float>(i);
        ui.text(r.x, y + 13,
                i + 1 == lines && lines < facts.lines.size() ? fmt::format("{} more lines", facts.lines.size() - i)
                                                             : fmt::format("{:#x}", facts.lines[i].line * 128),
                {.size = 12, .color = t.quiet, .mono = true, .width = label - 8});
        for (uint32_t word = 0; word < 32; ++word) {
            const Rect cell{r.x + label + pitch * static_cast<float>(word) + 0.5f * static_cast<float>(word / 8), y + 1,
                            pitch - (word % 8 == 7 ? 4.0f : 1.5f), 15};
            const bool fetched = (facts.lines[i].sectors >> (word / 8) & 1) != 0, used = facts.lines[i].uses_word(word);
            ui.rect(cell, used ? sector_color(facts.lines[i].line * 4 + word / 8, t) : t.grid);
            if (fetched && !used) ui.hatch(cell, t.ink3, Hatch::diagonal);
        }
    }
}

bool warp_is_kept(const MachineFrame& frame) {
    return frame.scene != nullptr && frame.scene->timeline->kept(frame.cycle());
}

}  // namespace

std::string warp_label(const MachineFrame& frame) {
    const uint32_t w = focused_warp(frame);
    return w == UINT32_MAX ? "warp" : fmt::format("warp {}", frame.scene->trace().warps[w].warp_in_block);
}
std::string warp_detail(const MachineFrame&) {
    return "32 lanes";
}

float needs_warp(const MachineFrame& frame, const Rect& room) {
    if (frame.scene == nullptr) return 0;
    const bool beside = room.w >= narrow ? room.w - side_width(room) - 32 > 700 : room.w - 24 > 700;
    // Lanes, instruction, wait, paths, registers, the lines or banks of an access, and the code where it is not beside.
    const float height =
        102 + 106 + 68 + 184 + (beside ? 0.0f : 126.0f) + 150 + 160 + (room.w >= narrow ? 0.0f : low_code + 8);
    return room.w >= narrow ? 0 : height;
}

void draw_machine_warp(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const WarpNow w = warp_now(frame);
    const simt::WarpAccess* access = frame.scene == nullptr ? nullptr : access_of(frame, w);
    const WarpPlaces p = place_warp(ui, area, access != nullptr && access->lanes != 0);
    std::string right;
    if (w.track != nullptr && !is_hidden(frame, w))
        right = fmt::format("block {}, {} of 32 lanes on", with_commas(w.track->block), lanes_in(w.works));
    const Rect body = machine_panel(frame, p.picture, Stop::warp, right);
    if (frame.scene == nullptr) return ui.say_nothing_yet(body, "No kernel has run yet.");
    if (p.code.w > 0) frame.show("code", p.code);
    if (w.track == nullptr) return ui.say_nothing_yet(body, "No warp is chosen.");
    if (!warp_is_kept(frame))
        return ui.say_nothing_yet(body, fmt::format("Cycle {} is not kept in full.", with_commas(frame.cycle())),
                                  "It is being replayed.");
    if (is_hidden(frame, w)) return ui.say_nothing_yet(body, "Hidden until you lock an answer.");
    draw_lane_row(frame, p, w);
    draw_instruction(frame, p.instruction, w);
    if (p.wait.h > 90) draw_waiting(frame, p.wait, w);
    if (p.stack.w > 0 && p.stack.h > 90) draw_paths(frame, p.stack, w);
    if (p.registers.h > 0) draw_register_rows(frame, p.registers, w);
    if (p.memory.h > 0) draw_access(frame, p.memory, *access);
}

Rect inside_warp(const MachineFrame& frame, const Rect& area) {
    const WarpNow w = warp_now(frame);
    return lane_cell(place_warp(frame.ui, area, false), picked_lane(frame, w));
}

std::string warp_sentence(const MachineFrame& frame) {
    const WarpNow w = warp_now(frame);
    if (frame.scene == nullptr || w.track == nullptr || !warp_is_kept(frame) || is_hidden(frame, w)) return "";
    if (!w.state.resident) return "This warp is not on the SM in this cycle.";
    if (w.state.issue != nullptr)
        return fmt::format("{} of its 32 lanes do {} in this cycle.",
                           lanes_in(w.works) == 32 ? "All" : std::to_string(lanes_in(w.works)),
                           operation_of(*frame.scene->run->program, w.pc));
    if (w.wait && w.awaited >= 0)
        return fmt::format("This warp can do nothing before cycle {}.", with_commas(w.state.stall->end));
    return fmt::format("This warp waits until cycle {}: {}.", with_commas(w.state.stall->end),
                       row_of(w.state.reason()).label);
}

std::string warp_described(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "no kernel has run yet\n";
    const WarpNow w = warp_now(frame);
    if (w.track == nullptr) return "no warp is chosen\n";
    if (!warp_is_kept(frame)) return "this cycle is not kept in full\n";
    if (is_hidden(frame, w)) return "hidden until an answer is locked\n";
    std::string text = fmt::format("cycle {}, warp {} of block {}: {} of 32 lanes on ({})\n", with_commas(frame.cycle()),
                                   w.track->warp_in_block, w.track->block, lanes_in(w.works), lanes_text(w.works));
    if (w.instruction != nullptr) {
        text += fmt::format("{} {}\n", w.state.issue != nullptr ? "issues" : "waits to issue",
                            short_text(*frame.scene->run->program, w.pc));
        if (w.instruction->opcode != nullptr) text += fmt::format("{}\n", w.instruction->opcode->summary);
    }
    if (w.wait) text += w.wait->sentence + "\n";
    if (w.awaited >= 0) {
        const RequestRecord& q = frame.scene->machine->requests[static_cast<size_t>(w.awaited)];
        text +=
            fmt::format("{}; {} of {}\n", request_text(*frame.scene, q),
                        with_commas(std::clamp<int64_t>(frame.cycle() - q.begin, 0, q.ready)), counted(q.ready, "cycle"));
    }
    for (const PathRow& row : path_rows(frame, w)) text += fmt::format("path: {}, {}\n", row.name, row.where);
    const KeptLanes::Values values = frame.kept != nullptr ? frame.kept->at(w.step) : nullptr;
    if (!values || !w.state.resident) return text;
    const int lane = picked_lane(frame, w);
    for (const LaneRow& row : lane_rows(frame, w, w.instruction, *values, lane, 12))
        text += fmt::format("{}{} ({}): lane {} {}\n", row.name,
                            row.read      ? " read"
                            : row.written ? " written"
                                          : "",
                            row.holds, lane,
                            row.unwritten               ? "not written yet"
                            : row.ready > frame.cycle() ? "on its way"
                                                        : row.value);
    return text;
}

}  // namespace lockstep::gui
