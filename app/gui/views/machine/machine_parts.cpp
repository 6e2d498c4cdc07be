// What several stops of the machine share: the panel, the time strip, the followed request, and moving the clock.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/machine/machine_view.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"

namespace lockstep::gui {

uint32_t focused_warp(const MachineFrame& frame) {
    if (frame.scene == nullptr) return UINT32_MAX;
    const KernelTrace& trace = frame.scene->trace();
    const auto wanted = static_cast<size_t>(std::max(0, frame.focus.warp));
    const auto resident = [&](const WarpTrack& w) { return w.begin <= frame.cycle() && frame.cycle() < w.end; };
    if (frame.focus.warp >= 0 && wanted < trace.warps.size()) return static_cast<uint32_t>(wanted);
    for (size_t w = 0; w < trace.warps.size(); ++w)
        if (resident(trace.warps[w])) return static_cast<uint32_t>(w);
    return trace.warps.empty() ? UINT32_MAX : 0;
}

uint32_t focused_sub_core(const MachineFrame& frame) {
    const uint32_t warp = focused_warp(frame);
    return warp == UINT32_MAX ? 0 : frame.scene->trace().warps[warp].scheduler;
}

Rect machine_panel(const MachineFrame& frame, const Rect& area, Stop stop, std::string_view right) {
    const StopRow& row = row_of(stop);
    const std::string title = row.label(frame), own = row.sentence(frame);
    const bool faulted = frame.scene != nullptr && own == fault_sentence(*frame.scene, frame.cycle());
    const std::string sentence = frame.told.empty() || faulted ? own : frame.told;  // what ended the launch stays
    return frame.ui.panel(area, {.title = title, .right = right, .badge = Provenance::simulated, .caption = sentence});
}

void go_to(const MachineFrame& frame, double cycle) {
    if (frame.scene == nullptr) return;
    const double last = std::max(0.0, static_cast<double>(frame.scene->trace().cycles) - 1);
    frame.session.machine.clock = std::clamp(cycle, 0.0, last);
    set_clock(frame.session, frame.focus, frame.scene->trace(), static_cast<int64_t>(frame.session.machine.clock));
}

double speed_at(double zoom) {
    const std::span<const StopRow> rows = stop_rows();
    const auto at = [](const StopRow& row) { return static_cast<double>(row.stop); };
    if (zoom <= at(rows.front())) return rows.front().speed;
    for (size_t i = 1; i < rows.size(); ++i) {
        if (zoom > at(rows[i])) continue;
        const double share = (zoom - at(rows[i - 1])) / (at(rows[i]) - at(rows[i - 1]));
        const double power = std::log10(rows[i - 1].speed) * (1 - share) + std::log10(rows[i].speed) * share;
        return std::pow(10.0, std::round(power));
    }
    return rows.back().speed;
}

void zoom_to(Session& session, Stop stop) {
    session.machine.wanted = static_cast<double>(stop);
}

void letter_box(Ui& ui, const Rect& box, char letter, Color fill) {
    ui.rect(box, fill);
    const char text[] = {letter, 0};
    if (letter != 0 && box.w >= 9 && box.h >= 12)
        ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, text,
                {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 700, .mono = true});
}

namespace {

// One rate over time as bars from the axis up: the past at full colour, what is to come fainter.
void draw_rate(Ui& ui, const MachineScene& scene, const Rect& r, double cycles, double clock, double Rates::*rate,
               double most, Color color, bool line) {
    const auto n = static_cast<int>(std::clamp(r.w / 2, 1.0f, 700.0f));
    Point before{};
    for (int k = 0; k < n; ++k) {
        const double begin = cycles * k / n, end = cycles * (k + 1) / n;
        const Rates mean = rates_in(scene, static_cast<int64_t>(begin),
                                    std::max(static_cast<int64_t>(end), static_cast<int64_t>(begin) + 1));
        const auto h = static_cast<float>(std::clamp(mean.*rate / most, 0.0, 1.0)) * r.h;
        const float x0 = r.x + r.w * static_cast<float>(k) / static_cast<float>(n),
                    x1 = r.x + r.w * static_cast<float>(k + 1) / static_cast<float>(n);
        const Color shade = faded(color, begin <= clock ? 1.0f : 0.38f);
        const Point here{x1, r.bottom() - h};
        if (line) {
            if (k > 0)
                ui.line(before, {x0, before.y}, shade, 1.5f), ui.line({x0, before.y}, {x0, here.y}, shade, 1.5f),
                    ui.line({x0, here.y}, here, shade, 1.5f);
        } else if (h > 0.25f) {
            ui.rect({x0, r.bottom() - h, x1 - x0, h}, shade);
        }
        before = here;
    }
}

}  // namespace

void draw_time_strip(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.rect(area, t.panel, 4);
    ui.frame(area, t.line, 1, 4);
    if (frame.scene == nullptr || frame.scene->rates.empty()) return;
    const MachineScene& scene = *frame.scene;
    const auto cycles = static_cast<double>(std::max<int64_t>(1, scene.trace().cycles));
    const float gutter = area.w > 500 ? 148 : 20;
    const Rect plot{area.x + gutter, area.y + 12, area.w - gutter - 14, area.h - 36};
    const Rect issue{plot.x, plot.y, plot.w, plot.h * 0.46f},
        memory{plot.x, plot.y + plot.h * 0.54f, plot.w, plot.h * 0.46f};
    draw_rate(ui, scene, issue, cycles, frame.clock, &Rates::issue, 1, data::green, false);
    draw_rate(ui, scene, memory, cycles, frame.clock, &Rates::dram, 1, data::blue, false);
    draw_rate(ui, scene, memory, cycles, frame.clock, &Rates::l2, 1, data::sky, true);
    for (const Rect& r : {issue, memory}) ui.line({r.x, r.bottom()}, {r.right(), r.bottom()}, t.line);
    const Rates now = rates_in(scene, frame.cycle(), frame.cycle() + 1);
    if (gutter > 100) {
        float y = area.y + 24;
        ui.text(area.x + 12, y, "issue rate", {.size = 12, .color = t.ink2});
        const float end = ui.text(area.x + 12, y + 20, fmt::format("{:.2f}", now.issue), {.size = 16, .weight = 700});
        ui.text(end + 6, y + 20, "a scheduler", {.size = 12, .color = t.quiet});
        y = memory.y + 8;
        ui.text(area.x + 12, y, fmt::format("memory rate, {} of peak", "%"), {.size = 12, .color = t.ink2});
        ui.rect({area.x + 12, y + 12, 10, 2}, data::sky);
        ui.text(area.x + 28, y + 18, scene.has_l2() ? "L2" : "crossbar", {.size = 12, .color = t.ink2});
        ui.text(area.x + 116, y + 18, fmt::format("{:.0f} %", 100 * now.l2),
                {.size = 12, .align = Align::right, .weight = 700});
        if (y + 40 < area.bottom() + 4) {
            ui.rect({area.x + 12, y + 27, 10, 8}, data::blue);
            ui.text(area.x + 28, y + 35, name_of(scene.run->gpu.dram_kind.value), {.size = 12, .color = t.ink2});
            ui.text(area.x + 116, y + 35, fmt::format("{:.0f} %", 100 * now.dram),
                    {.size = 12, .align = Align::right, .weight = 700});
        }
    }
    const auto place = [&](double cycle) { return plot.x + plot.w * static_cast<float>(cycle / cycles); };
    const int64_t step = ruler_step(cycles * 130 / std::max(1.0f, plot.w));
    const float cursor = place(frame.clock);
    const std::string now_text = with_commas(frame.cycle());
    const float half = ui.text_width(now_text, {.size = 12, .mono = true}) / 2 + 8;
    for (int64_t at = 0; at < static_cast<int64_t>(cycles); at += step) {
        const float x = place(static_cast<double>(at));
        const std::string text = with_commas(at);
        const float w = ui.text_width(text, {.size = 12, .mono = true});
        if (x + w / 2 > plot.right() + 10 || (x + w / 2 > cursor - half - 4 && x - w / 2 < cursor + half + 4)) continue;
        ui.text(x, area.bottom() - 9, text, {.size = 12, .color = t.quiet, .align = Align::center, .mono = true});
    }
    // Waves: where the first block of each begins.
    for (int64_t wave = 1; wave * scene.at_once < static_cast<int64_t>(scene.begins.size()) && wave < 40; ++wave) {
        const float x = place(static_cast<double>(scene.begins[static_cast<size_t>(wave * scene.at_once)]));
        const Point points[] = {{x, plot.y}, {x, plot.bottom()}};
        ui.polyline(points, t.ink3, 1, 3, 3);
    }
    const KernelTrace& trace = scene.trace();
    if (trace.truncated)  // beyond it the run is replayed
        ui.rect(
            {place(static_cast<double>(trace.kept_from)), plot.bottom() + 2,
             std::max(2.0f, place(static_cast<double>(trace.kept_until)) - place(static_cast<double>(trace.kept_from))), 2},
            t.ink2);
    if (frame.session.machine.loop_to > frame.session.machine.loop_from) {
        const float from = place(static_cast<double>(frame.session.machine.loop_from)),
                    to = place(static_cast<double>(frame.session.machine.loop_to));
        ui.frame({from, plot.y - 4, std::max(3.0f, to - from), plot.h + 8}, t.accent, 1.5f);
    }
    ui.cursor_line(cursor, plot.y - 6, plot.bottom() + 4);
    const Rect tag{std::clamp(cursor - half, area.x + 2, area.right() - 2 * half - 2), area.bottom() - 22, 2 * half, 17};
    ui.rect(tag, t.ink, 3);
    ui.text(tag.x + tag.w / 2, tag.bottom() - 4, now_text,
            {.size = 12, .color = t.panel, .align = Align::center, .weight = 700, .mono = true});
    if (frame.still) return;
    const Drag drag = ui.drag("machine time", {plot.x, area.y, plot.w, area.h});
    if (drag.active) go_to(frame, static_cast<double>((drag.at.x - plot.x) / plot.w) * cycles);
}

void bring_home(const MachineFrame& frame) {
    MachineLook& look = frame.session.machine;
    const RequestRecord& r = frame.scene->machine->requests[static_cast<size_t>(look.followed)];
    if (frame.clock < static_cast<double>(r.begin)) go_to(frame, static_cast<double>(r.begin));
    look.follow = true;
    frame.session.playing = true;
}

void draw_followed(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    ui.rect(area, t.panel, 4);
    ui.frame(area, t.line, 1, 4);
    if (frame.scene == nullptr || frame.scene->machine == nullptr) return;
    const MachineTrace& machine = *frame.scene->machine;
    const int64_t followed = frame.session.machine.followed;
    ui.text(area.x + 12, area.y + 21, "Followed request", {.size = 14, .weight = 600});
    float x = area.x + 12;
    const float controls = area.bottom() - 34;
    const auto follow_next = [&] {
        const int64_t next = request_to_follow(*frame.scene, frame.cycle());
        frame.session.machine.followed = next;
        if (next >= 0) go_to(frame, static_cast<double>(machine.requests[static_cast<size_t>(next)].begin));
    };
    if (followed < 0 || followed >= static_cast<int64_t>(machine.requests.size())) {
        ui.paragraph({area.x + 12, area.y + 32, area.w - 24, 40},
                     "Click a request on its way, or a warp that waits, to see what comes home for it.",
                     {.size = 13, .color = t.ink2}, 19);
        if (ui.chip(x, controls, "follow the next one") && !frame.still) follow_next();
        return;
    }
    const RequestRecord& r = machine.requests[static_cast<size_t>(followed)];
    const Stations stations = stations_of(machine, r);
    ui.text(area.right() - 12, area.y + 21,
            r.channel != RequestRecord::none ? fmt::format("SM {}, slice {}, channel {}", r.sm, r.slice, r.channel)
                                             : fmt::format("SM {}, slice {}", r.sm, r.slice),
            {.size = 13, .color = t.ink2, .align = Align::right});
    const auto all = static_cast<float>(std::max<uint32_t>(1, r.ready));
    const Rect bar{area.x + 12, area.y + 46, area.w - 24, 16};
    static constexpr Color colors[] = {data::orange, data::blue,   data::grey, data::orange,
                                       data::sky,    data::orange, data::blue, data::grey};
    float label_end = 0;
    for (size_t s = 0; s < Stations::count; ++s) {
        const auto station = static_cast<Station>(s);
        const int64_t cycles = stations.cycles(station);
        if (cycles <= 0) continue;
        const float from = bar.x + bar.w * static_cast<float>(stations.at[s] - r.begin) / all,
                    w = std::max(1.0f, bar.w * static_cast<float>(cycles) / all);
        const bool waits =
            station == Station::sm_queue || station == Station::slice_queue || station == Station::channel_queue;
        const float opacity = frame.clock >= static_cast<double>(stations.at[s + 1]) ? 1.0f
                              : frame.clock >= static_cast<double>(stations.at[s])   ? 0.8f
                                                                                     : 0.38f;
        const Rect part{from, bar.y, std::max(1.0f, w - 1), bar.h};
        ui.rect(part, faded(colors[s], waits ? 0.3f * opacity : opacity));
        if (waits) ui.hatch(part, faded(colors[s], opacity), Hatch::diagonal);
        const std::string number = with_commas(cycles);
        const float number_w = ui.text_width(number, {.size = 12, .mono = true});
        if (w > number_w + 4)
            ui.text(from + w / 2, bar.bottom() + 14, number, {.size = 12, .align = Align::center, .mono = true});
        const std::string_view name = waits ? "queue" : name_of(station);
        const float name_w = ui.text_width(name, {.size = 12});
        const float name_x = std::max(from + w / 2 - name_w / 2, bar.x);
        if (name_x > label_end && w > number_w) {
            ui.text(name_x, bar.y - 5, name, {.size = 12, .color = t.ink2});
            label_end = name_x + name_w + 6;
        }
        if (!frame.still && ui.hovered(part)) ui.tooltip(fmt::format("{}: {} cycles", name_of(station), number));
    }
    const auto so_far =
        static_cast<int64_t>(std::clamp(frame.clock - static_cast<double>(r.begin), 0.0, static_cast<double>(r.ready)));
    ui.rect({bar.x + bar.w * static_cast<float>(so_far) / all - 1, bar.y - 2, 2, bar.h + 4}, t.ink);
    const int64_t queues =
        stations.cycles(Station::sm_queue) + stations.cycles(Station::slice_queue) + stations.cycles(Station::channel_queue);
    if (controls - bar.bottom() > 34) {
        const float end = ui.text(bar.x, bar.bottom() + 34, with_commas(so_far), {.size = 16, .weight = 700, .mono = true});
        ui.text(end + 6, bar.bottom() + 34, fmt::format("of {}", counted(r.ready, "cycle")), {.size = 13, .color = t.ink2});
        ui.text(bar.right(), bar.bottom() + 34,
                fmt::format("{} without traffic, {} in queues", with_commas(r.ready - queues), with_commas(queues)),
                {.size = 12, .color = t.quiet, .align = Align::right});
    }
    if (frame.still) return;
    if (frame.cycle() < r.end() && ui.chip(x, controls, "bring it home")) bring_home(frame);
    if (r.issue >= 0 && ui.chip(x, controls, "its warp")) {
        const IssueRecord& issue = frame.scene->trace().issues[static_cast<size_t>(r.issue)];
        focus_on(frame.session, frame.focus, *frame.scene->timeline, issue.warp, frame.cycle());
        zoom_to(frame.session, Stop::sm);
    }
    if (ui.chip(x, controls, "begin")) go_to(frame, static_cast<double>(r.begin));
    if (x + ui.chip_width("next request") < area.right() && ui.chip(x, controls, "next request")) follow_next();
    if (x + ui.chip_width("let go") < area.right() && ui.chip(x, controls, "let go")) frame.session.machine.followed = -1;
}

}  // namespace lockstep::gui
