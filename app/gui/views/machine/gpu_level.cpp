// The machine at the stop of a GPU: host and block queue, SMs as tiles with their blocks and what their schedulers issue,
// the crossbar with the requests on their way, the slices of L2 and the channels of memory with their queues.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/machine/gpu_places.h"
#include "app/gui/views/machine/machine_motion.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr float legend_height = 26, least_strip = 118, most_strip = 156;
constexpr float wide_enough = 1100, least_tiles = 400;
constexpr double too_fast = 3000;        // cycles a second, for single requests
constexpr double smooth = slowest_blur;  // frames a second over which fast time is averaged

struct Split {
    Rect picture, strip, followed;
};
Split split(const Rect& area) {
    Split s{area, {}, {}};
    if (area.h < 480) return s;
    const bool wide = area.w >= wide_enough;
    if (!wide && area.h >= least_tiles + 2 * least_strip + 16) {  // one below the other
        s.picture.h = area.h - 2 * (least_strip + 8);
        s.strip = {area.x, s.picture.bottom() + 8, area.w, least_strip};
        s.followed = {area.x, s.strip.bottom() + 8, area.w, least_strip};
        return s;
    }
    const float h = std::clamp(area.h * 0.19f, least_strip, most_strip);
    s.picture.h = area.h - h - 8;
    const float beside = wide ? std::min(486.0f, area.w * 0.31f) : 0;
    s.strip = {area.x, area.bottom() - h, area.w - (beside > 0 ? beside + 8 : 0), h};
    if (beside > 0) s.followed = {area.right() - beside, area.bottom() - h, beside, h};
    return s;
}

// A filled box with a thin edge, as two quads: there are hundreds of them.
void edged(Ui& ui, const Rect& r, Color fill, Color edge) {
    const float thick = std::max(1.0f, std::round(ui.scale)) / ui.scale;
    ui.rect(r, edge);
    ui.rect({r.x + thick, r.y + thick, r.w - 2 * thick, r.h - 2 * thick}, fill);
}

// How full a stretch of cycles before now was, of a scheduler; and what it issued last in it.
struct TileIssues {
    float share[16] = {};
    char letter[16] = {};
    bool known = false;
};
TileIssues issues_now(const MachineFrame& frame, uint32_t sm, int64_t window) {
    TileIssues now;
    const MachineScene& scene = *frame.scene;
    const int64_t end = frame.cycle() + 1, begin = std::max<int64_t>(0, end - window);
    now.known = issues_kept(scene, frame.cycle());
    if (!now.known) return now;
    for (const TileIssue& issue : issues_of_sm(scene, sm, begin, end)) {
        now.share[issue.scheduler] += 1.0f / static_cast<float>(window);
        now.letter[issue.scheduler] = letter_of(*scene.timeline, issue.pc);
    }
    return now;
}

void draw_blocks(Ui& ui, const MachineScene& scene, const Rect& box, const TileState& state) {
    const auto slots = static_cast<int>(state.resident.size());
    int columns =
        std::max(1, static_cast<int>(std::ceil(std::sqrt(static_cast<float>(slots) * box.w / std::max(1.0f, box.h)))));
    columns = std::min(columns, slots);
    const int rows = (slots + columns - 1) / columns;
    const float pitch = std::min({box.w / static_cast<float>(columns), box.h / static_cast<float>(rows), 40.0f});
    const float size = std::max(1.0f, pitch - (pitch > 5 ? 2.0f : 0.5f));
    for (int i = 0; i < slots; ++i) {
        const Rect cell{box.right() - pitch * static_cast<float>(columns - i % columns),
                        box.y + pitch * static_cast<float>(i / columns), size, size};
        const uint32_t block = state.resident[static_cast<size_t>(i)];
        if (block == TileState::nobody)
            ui.rect(cell, ui.theme->grid);
        else
            fill_wave(ui, cell, block / scene.at_once);
    }
}

void draw_issue_bars(Ui& ui, const MachineScene& scene, const Rect& box, const TileIssues& now, bool letters, Color fill) {
    const uint32_t n = std::max(1u, scene.trace().schedulers);
    const float pitch = box.w / static_cast<float>(n), w = std::max(1.0f, pitch - (pitch > 6 ? 2.0f : 0.5f));
    for (uint32_t s = 0; s < n && s < 16; ++s) {
        const Rect bar{box.x + pitch * static_cast<float>(s), box.y, w, box.h};
        ui.rect(bar, ui.theme->dark ? rgb(0x101216) : ui.theme->grid);
        if (!now.known) {
            ui.hatch(bar, ui.theme->ink3, Hatch::dots);
            continue;
        }
        const float share = std::min(1.0f, now.share[s]);
        if (share <= 0) continue;
        if (letters)
            letter_box(ui, bar, now.letter[s], fill);
        else
            ui.rect({bar.x, bar.bottom() - bar.h * share, bar.w, bar.h * share}, fill);
    }
}

void draw_tile(const MachineFrame& frame, const GpuPlaces& places, uint32_t sm, int64_t window, float flash) {
    Ui& ui = frame.ui;
    const MachineScene& scene = *frame.scene;
    const Rect& tile = places.tile[sm];
    const TileState state = blocks_on(scene, sm, frame.cycle());
    const bool busy =
        std::any_of(state.resident.begin(), state.resident.end(), [](uint32_t b) { return b != TileState::nobody; });
    if (tile.w < 8) return ui.rect(tile, busy ? data::green : ui.theme->grid);
    if (tile.w >= 24 && tile.h >= 8)
        edged(ui, tile, ui.theme->panel2, ui.theme->line);
    else
        ui.rect(tile, ui.theme->panel2);
    const float bars = tile.h >= 40 ? std::clamp(tile.h * 0.3f, 12.0f, 40.0f) : tile.h * 0.3f;
    const bool named = tile.w >= 48 && tile.h >= 32;
    const float left = named ? 26.0f : 3.0f;
    if (named) ui.text(tile.x + 6, tile.y + 15, std::to_string(sm), {.size = 12, .color = ui.theme->ink2, .mono = true});
    draw_blocks(ui, scene, {tile.x + left, tile.y + 4, tile.w - left - 4, tile.h - bars - 10}, state);
    draw_issue_bars(ui, scene, {tile.x + (named ? 26 : 3), tile.bottom() - bars - 3, tile.w - (named ? 30 : 6), bars},
                    issues_now(frame, sm, window), window <= 1 && tile.w >= 60, lit(data::green, flash, *ui.theme));
    const bool faulted = scene.fault.sm == static_cast<int64_t>(sm) && frame.cycle() >= scene.fault.cycle;
    if (faulted) {
        ui.frame(tile, ui.theme->wrong, 2);
        if (named) ui.text(tile.x + 8, tile.bottom() - 6, "!", {.size = 16, .color = ui.theme->wrong, .weight = 700});
    }
    if (frame.still) return;
    const bool again = !scene.run->result.stopped;  // it can be run once more for another SM's trace
    if (ui.hovered(tile)) {
        int64_t resident =
            std::count_if(state.resident.begin(), state.resident.end(), [](uint32_t b) { return b != TileState::nobody; });
        ui.frame(tile, ui.theme->ink, 1);
        ui.tooltip(fmt::format(
            "SM {}: {} of {} blocks{}{}", sm, resident, state.resident.size(), faulted ? "\nthe launch ended here" : "",
            sm == scene.trace().sm                                       ? "\ntraced in full: click to go in"
            : !again                                                     ? "\nnot traced, and the launch was stopped"
            : frame.session.machine.entering == static_cast<int64_t>(sm) ? "\nis being traced ..."
                                                                         : "\nclick to trace this one and go in"));
    }
    if (!ui.clicked(tile)) return;
    if (sm == scene.trace().sm) return zoom_to(frame.session, Stop::sm);
    if (!again) return;
    frame.focus.sm = static_cast<int32_t>(sm);
    frame.session.machine.entering = sm;
    frame.session.post(ask::TraceSm{static_cast<int64_t>(sm), frame.cycle()});
}

void draw_slices(const MachineFrame& frame, const GpuPlaces& p) {
    Ui& ui = frame.ui;
    const MachineTrace& machine = *frame.scene->machine;
    const std::string_view what = frame.scene->has_l2() ? "L2 slice" : "this GPU has no L2: port";
    for (uint32_t i = 0; i < p.slice_count(); ++i) {
        const float busy = std::clamp(machine.queues.busy_at(frame.cycle(), i), 0.0f, 1.0f);
        ui.rect(p.slice[i], mix(ui.theme->panel2, data::sky, 0.12f + 0.88f * busy));
        if (!frame.still && ui.hovered(p.slice[i]))
            ui.tooltip(
                fmt::format("{} {}: busy {:.0f} % of these {} cycles", what, i, 100 * busy, machine.queues.cycles_a_column));
    }
    for (const Rect& bus : p.bus) ui.rect(bus, faded(data::sky, ui.theme->dark ? 0.10f : 0.14f));
}

void draw_channels(const MachineFrame& frame, const GpuPlaces& p) {
    Ui& ui = frame.ui;
    const MachineTrace& machine = *frame.scene->machine;
    const Lights lights = lights_of(frame);
    const int64_t length = std::max<int64_t>(1, machine.queues.cycles_a_column), column = frame.cycle() / length * length;
    const auto shown = [&](int64_t cycle, uint32_t i) { return std::lround(10 * machine.queues.waiting_at(cycle, i)); };
    const double most = frame.scene->run->result.totals.dram_bytes_per_cycle / std::max(1u, p.channel_count());  // a channel
    for (uint32_t i = 0; i < p.channel_count(); ++i) {
        const Rect& box = p.channel[i];
        const bool glows = lights.runs && !lights.calm && column > 0 &&
                           std::abs(shown(column, i) - shown(column - 1, i)) >= 5;  // half a request or more
        const float glow = glows ? 0.3f * lights.glow(frame.clock, static_cast<double>(column)) : 0;
        edged(ui, box, mix(ui.theme->panel2, ui.theme->accent, glow), ui.theme->line);
        const float waiting = machine.queues.waiting_at(frame.cycle(), i);
        const auto whole = static_cast<int>(std::lround(waiting));
        const bool left = p.channel_at_left(i);
        const float square = std::clamp(box.h * 0.25f, 4.0f, 9.0f), apart = square + 2;
        for (int k = 0; k < std::min(whole, 6); ++k) {
            const float x =
                left ? box.right() - 4 - square - apart * static_cast<float>(k) : box.x + 4 + apart * static_cast<float>(k);
            ui.rect({x, box.y + 3, square, std::min(square * 1.75f, box.h * 0.35f)}, data::sky);
        }
        // On the far side how much of what it can it sends, from the foot up.
        const float sends = std::clamp(
            static_cast<float>(machine.queues.at(machine.queues.reads, machine.queues.channels, frame.cycle(), i) / most),
            0.0f, 1.0f);
        if (sends > 0) ui.rect({left ? box.x : box.right() - 3, box.bottom() - box.h * sends, 3, box.h * sends}, data::blue);
        if (box.h >= 26) {
            const float baseline = box.bottom() - 4;
            ui.text(left ? box.x + 7 : box.right() - 7, baseline, fmt::format("ch {}", i),
                    {.size = 12, .color = ui.theme->quiet, .align = left ? Align::left : Align::right});
            const std::string number = waiting < 0.05f   ? ""
                                       : waiting < 9.95f ? fmt::format("{:.1f}", waiting)
                                                         : fmt::format("{:.0f}", waiting);
            ui.text(left ? box.right() - 5 : box.x + 5, baseline, number,
                    {.size = 12, .align = left ? Align::right : Align::left, .weight = 700});
        }
        if (!frame.still && ui.hovered(box))
            ui.tooltip(
                fmt::format("channel {}: {:.1f} reads wait, and it sends {:.0f} % of what it can: means of these {} cycles",
                            i, waiting, 100 * sends, machine.queues.cycles_a_column));
    }
}

Color color_of(RequestKind kind) {
    return kind == RequestKind::store    ? data::yellow
           : kind == RequestKind::atomic ? data::purple
           : kind == RequestKind::copy   ? data::orange
                                         : data::sky;
}

// Where it was a moment ago, in three steps that get fainter.
void draw_tail(const MachineFrame& frame, const GpuPlaces& p, const RequestRecord& r, const RequestPlace& now) {
    const MachineTrace& machine = *frame.scene->machine;
    const Stations stations = stations_of(machine, r);
    const auto cycles = static_cast<double>(std::max<int64_t>(1, stations.cycles(now.station)));
    const Route route = now.comes_back ? route_back(p, r) : route_out(p, r);
    const double behind = 36.0 / std::max(1.0f, route.length) * cycles;
    Point from = now.at;
    static constexpr float strength[] = {0.55f, 0.3f, 0.14f};
    for (int k = 0; k < 3; ++k) {
        const double back =
            std::max(static_cast<double>(stations.at[static_cast<size_t>(now.station)]), frame.clock - behind * (k + 1) / 3);
        const RequestPlace before = place_of(p, machine, r, back);
        if (before.station != now.station) break;
        if (std::fabs(before.at.x - from.x) < 0.5f || std::fabs(before.at.y - from.y) < 0.5f)
            frame.ui.line(from, before.at, faded(color_of(r.kind), strength[k]), 2);
        from = before.at;
    }
}

void draw_requests(const MachineFrame& frame, const GpuPlaces& p) {
    const MachineTrace& machine = *frame.scene->machine;
    int64_t pressed = -1;
    for (const uint32_t i : requests_at(*frame.scene, frame.clock)) {
        const bool followed = frame.session.machine.followed == static_cast<int64_t>(i);
        if (!followed && !is_drawn(*frame.scene, i)) continue;
        const RequestRecord& r = machine.requests[i];
        const RequestPlace place = place_of(p, machine, r, frame.clock);
        if (place.station == Station::sm_queue || place.station == Station::l1) continue;
        if (place.station == Station::channel_queue) continue;  // the channel counts it
        if (place.moves && frame.speed <= 1000) draw_tail(frame, p, r, place);
        draw_mark(frame.ui, place.at, r.kind, place.comes_back, place.station == Station::dram ? 2.5f : 4.0f);
        const float reach = frame.session.playing ? 11.0f : 8.0f;  // what moves is hard to hit
        const Rect near{place.at.x - reach, place.at.y - reach, 2 * reach, 2 * reach};
        if (frame.still || !frame.ui.hovered(near)) continue;
        frame.ui.tooltip(request_text(*frame.scene, r) + "\nclick to follow it");
        if (frame.ui.clicked(near)) pressed = static_cast<int64_t>(i);
    }
    if (pressed >= 0) frame.session.machine.followed = pressed;
}

// Too fast for single requests: dashes that move along the ways, the denser the more bytes pass.
void draw_flow(Ui& ui, Point from, Point to, double rate, float offset, Color color) {
    const float length = std::hypot(to.x - from.x, to.y - from.y);
    if (length < 1 || rate < 0.005) return;
    const float pitch = std::clamp(14 / static_cast<float>(std::sqrt(std::min(1.0, rate))), 14.0f, 160.0f);
    const Point way{(to.x - from.x) / length, (to.y - from.y) / length};
    for (float at = std::fmod(offset, pitch); at < length; at += pitch) {
        const float end = std::min(length, at + 8);
        ui.line({from.x + way.x * at, from.y + way.y * at}, {from.x + way.x * end, from.y + way.y * end}, color, 3);
    }
}

void draw_flows(const MachineFrame& frame, const GpuPlaces& p) {
    Ui& ui = frame.ui;
    const auto window = static_cast<int64_t>(frame.speed / smooth);
    const Rates rates = rates_in(*frame.scene, std::max<int64_t>(0, frame.cycle() - window), frame.cycle() + 1);
    const auto offset = static_cast<float>(std::fmod(ui.now * 60, 1e5));
    const float middle = p.crossbar.x + p.crossbar.w / 2, out = p.crossbar.y + p.crossbar.h * 0.2f,
                back = p.crossbar.bottom() - p.crossbar.h * 0.2f;
    for (const int side : {0, 1}) {
        const float end = p.bus[side].x + p.bus[side].w / 2;
        draw_flow(ui, {middle, out}, {end, out}, rates.l2, offset, data::sky);
        draw_flow(ui, {end, back}, {middle, back}, rates.l2, offset, faded(data::sky, 0.6f));
        draw_flow(ui, {end, p.crossbar.y}, {end, p.bus[side].y}, rates.l2, offset, data::sky);
        draw_flow(ui, {end, p.crossbar.bottom()}, {end, p.bus[side].bottom()}, rates.l2, offset, data::sky);
    }
    for (uint32_t c = 0; c < p.channel_count(); ++c) {
        const Rect& box = p.channel[c];
        const bool left = p.channel_at_left(c);
        const float y = box.y + box.h / 2, edge = left ? box.right() : box.x, other = left ? edge + 14 : edge - 14;
        draw_flow(ui, {edge, y}, {other, y}, rates.dram, offset, data::blue);
    }
}

void draw_followed_way(const MachineFrame& frame, const GpuPlaces& p) {
    Ui& ui = frame.ui;
    const MachineTrace& machine = *frame.scene->machine;
    const int64_t followed = frame.session.machine.followed;
    if (followed < 0 || followed >= static_cast<int64_t>(machine.requests.size())) return;
    const RequestRecord& r = machine.requests[static_cast<size_t>(followed)];
    if (r.level == MemoryLevel::l1) return;
    const Route out = route_out(p, r), back = route_back(p, r), far = route_to_dram(p, r);
    // What is to come at a third, what has arrived at half.
    const bool to_come = frame.cycle() < r.begin, home = frame.cycle() >= r.end();
    const Color ink = faded(ui.theme->ink, to_come ? 0.34f : home ? 0.5f : 1.0f);
    ui.polyline(back.points, faded(ink, 0.7f), 1, 4, 4);
    ui.polyline(out.points, ink, 2);
    if (!far.points.empty()) ui.polyline(far.points, ink, 2);
    if (r.sm < p.tile.size()) to_come || home ? ui.frame(p.tile[r.sm], ink, 2) : ui.outline(p.tile[r.sm], 2);
    if (r.slice < p.slice.size()) ui.frame(p.slice[r.slice], ink, 2);
    const RequestPlace place =
        place_of(p, machine, r, std::clamp(frame.clock, static_cast<double>(r.begin), static_cast<double>(r.end())));
    if (!to_come && !home) draw_mark(ui, place.at, r.kind, place.comes_back, 6);
    ui.ring(place.at, 8, ink, 1.5f);
    const std::string text =
        request_text(*frame.scene, r) + (to_come ? fmt::format(", leaves in cycle {}", with_commas(r.begin))
                                         : home  ? fmt::format(", is home since cycle {}", with_commas(r.end()))
                                                 : fmt::format(", {} so far", with_commas(frame.cycle() - r.begin)));
    const TextStyle style{.size = 14, .weight = 600};
    const float w = std::min(ui.text_width(text, style) + 24, p.crossbar.w - 20);
    const Rect chip{p.crossbar.x + (p.crossbar.w - w) / 2, p.crossbar.y + p.crossbar.h / 2 - 13, w, 26};
    ui.rect(chip, ui.theme->panel, 4);
    ui.frame(chip, ui.theme->ink, 1.5f, 4);
    TextStyle fitted = style;
    fitted.width = w - 20;
    ui.text(chip.x + 12, chip.y + 18, text, fitted);
}

// What the crossbar is and how busy, on a plate: requests pass beneath it.
void say_crossbar(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const Rates rates = rates_in(*frame.scene, frame.cycle(), frame.cycle() + 1);
    constexpr std::string_view name = "crossbar";
    const std::string text =
        fmt::format("{} {:.0f} % busy, up to {:.0f} B a cycle", frame.scene->has_l2() ? "L2's slices are" : "its ports are",
                    100 * rates.l2, double{frame.scene->run->gpu.l2_bytes_per_cycle.value});
    const TextStyle bold{.size = 13, .weight = 600};
    TextStyle plain{.size = 13, .color = ui.theme->ink2};
    const float x = r.x + 40, mid = r.y + r.h / 2 + 5, behind = x + ui.text_width(name, bold) + 10;
    plain.width = std::max(1.0f, r.right() - behind - 8);
    const float h = std::min(15.0f, r.h), w = std::min(behind + ui.text_width(text, plain) + 8, r.right()) - x + 8;
    ui.rect({x - 8, r.y + (r.h - h) / 2, w, h}, mix(ui.theme->panel, data::sky, ui.theme->dark ? 0.08f : 0.12f), 3);
    ui.text(x, mid, name, bold);
    ui.text(behind, mid, text, plain);
}

float legend_mark(Ui& ui, float x, float y, RequestKind kind, bool back, std::string_view label) {
    draw_mark(ui, {x + 5, y - 4}, kind, back, 4);
    return ui.text(x + 15, y, label, {.size = 12, .color = ui.theme->ink2}) + 16;
}

void draw_gpu_legend(const MachineFrame& frame, const Rect& r) {
    Ui& ui = frame.ui;
    const float y = r.y + 18;
    float x = r.x;
    x = legend_mark(ui, x, y, RequestKind::load, false, "load");
    x = legend_mark(ui, x, y, RequestKind::store, false, "store");
    x = legend_mark(ui, x, y, RequestKind::atomic, false, "atomic");
    x = legend_mark(ui, x, y, RequestKind::copy, false, "copy");
    x = legend_mark(ui, x, y, RequestKind::load, true, "coming back");
    const uint64_t n = frame.scene->machine ? uint64_t{frame.scene->machine->sampled} * frame.scene->drawn : 1;
    if (r.right() - x > 500)
        x = ui.text(x, y,
                    frame.speed > too_fast ? "so fast that dashes stand for requests"
                    : n > 1                ? fmt::format("one request in {} is drawn, queues in full", n)
                                           : "every request is drawn",
                    {.size = 12, .color = ui.theme->quiet}) +
            20;
    if (r.right() - x > 330) {
        const Rect mark{x, y - 12, 15, 15};
        if (frame.speed <= smooth)
            letter_box(ui, mark, frame.scene->letters.empty() ? 'F' : frame.scene->letters.front().first, data::green);
        else
            ui.rect(mark, ui.theme->grid), ui.rect({mark.x, mark.y + 6, mark.w, mark.h - 6}, data::green);
        x = ui.text(x + 21, y, frame.speed <= smooth ? "issued in this cycle" : "share of slots issued",
                    {.size = 12, .color = ui.theme->ink2}) +
            18;
        const int64_t wave =
            std::max<int64_t>(0, blocks_waiting(*frame.scene, frame.cycle()).begun - 1) / frame.scene->at_once;
        fill_wave(ui, {x, y - 11, 12, 12}, wave);
        x = ui.text(x + 18, y, fmt::format("block of wave {}", wave + 1), {.size = 12, .color = ui.theme->ink2}) + 18;
    }
    if (frame.speed > smooth) return;  // then bars stand for letters
    for (const auto& [letter, meaning] : frame.scene->letters) {
        const float w = ui.text_width(meaning, {.size = 12}) + 25;
        if (x + w > r.right()) break;
        const char text[] = {letter, 0};
        ui.text(x, y, text, {.size = 12, .color = ui.theme->right, .weight = 700, .mono = true});
        ui.text(x + 12, y, meaning, {.size = 12, .color = ui.theme->ink2});
        x += w;
    }
}

// Before a kernel has run: the parts of the GPU that it will run on, and what is being done meanwhile.
void draw_empty_gpu(const MachineFrame& frame, const Rect& body) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const std::string_view words = frame.snapshot.busy.empty() ? "No kernel has run yet." : "The first kernel runs now.";
    const std::string hint =
        frame.snapshot.busy.empty() ? "Its blocks land here, and its requests travel." : frame.snapshot.busy + ".";
    const auto gpu = model::gpu_named(frame.session.gpu);
    if (!gpu.ok()) return ui.say_nothing_yet(body, words, hint);
    const GpuPlaces p = place_gpu({body.x, body.y, body.w, body.h - legend_height}, gpu.value().sms, gpu.value().l2_slices,
                                  gpu.value().dram_channels);
    for (const Rect& tile : p.tile) ui.rect(tile, t.panel2), ui.frame(tile, t.line);
    for (const Rect& slice : p.slice) ui.rect(slice, mix(t.panel2, data::sky, 0.12f));
    for (const Rect& channel : p.channel) ui.rect(channel, t.panel2), ui.frame(channel, t.line);
    ui.rect(p.crossbar, faded(data::sky, t.dark ? 0.08f : 0.12f));
    for (const Rect& bus : p.bus) ui.rect(bus, faded(data::sky, t.dark ? 0.10f : 0.14f));
    ui.text(p.bus[0].right() + 10, p.all.y + 18, gpu.value().title, {.size = 13, .weight = 600});
    const float x = p.crossbar.x + p.crossbar.w / 2, y = p.crossbar.y + p.crossbar.h / 2;
    ui.text(x, y - 2, words, {.size = 14, .align = Align::center, .weight = 600});
    ui.text(x, y + 18, hint, {.size = 13, .color = t.ink2, .align = Align::center, .width = p.crossbar.w - 20});
}

GpuPlaces places_in(const MachineFrame& frame, const Rect& body) {
    const MachineTrace* machine = frame.scene->machine;
    return place_gpu({body.x, body.y, body.w, body.h - legend_height}, frame.scene->run->gpu.sms,
                     machine ? machine->slices : 0, machine ? machine->channels : 0);
}

std::string slots_text(const MachineFrame& frame) {
    const MachineScene& scene = *frame.scene;
    int64_t taken = 0;
    for (uint32_t sm = 0; sm < scene.run->gpu.sms; ++sm)
        for (const uint32_t block : blocks_on(scene, sm, frame.cycle()).resident) taken += block != TileState::nobody;
    return fmt::format("{}: {} of {} block slots taken", scene.run->program ? scene.run->program->shown_name() : "kernel",
                       with_commas(taken), with_commas(scene.at_once));
}

// Beside how many SMs there are what each of them, and the memories that all share, can hold, as far as there is room.
void say_capacities(Ui& ui, const model::GpuSpec& gpu, float x, float right, float baseline) {
    x = ui.text(x, baseline, counted(gpu.sms.value, "SM"), {.size = 13, .weight = 600});
    const std::string registers = bytes_text(4.0 * gpu.registers_per_sm), l1 = bytes_text(gpu.l1_bytes),
                      shared = bytes_text(gpu.shared_per_sm), l2 = bytes_text(gpu.l2_bytes);
    const bool one_memory = gpu.shared_carveouts.value[1] != 0;
    const std::string memory =
        gpu.memory_gb > 0 ? fmt::format(", {} {:g} GB", name_of(gpu.dram_kind.value), gpu.memory_gb.value) : std::string();
    const std::string near = one_memory ? fmt::format("{} of L1 and shared memory", l1)
                                        : fmt::format("{} of L1, {} of shared memory", l1, shared),
                      close = one_memory ? fmt::format("{} L1 + shared", l1) : fmt::format("{} L1, {} shared", l1, shared);
    for (const std::string& text : {fmt::format("each {} of registers, {}; L2 {}{}", registers, near, l2, memory),
                                    fmt::format("each {} registers, {}; L2 {}{}", registers, close, l2, memory),
                                    fmt::format("{} registers, {}; L2 {}", registers, close, l2),
                                    fmt::format("{} registers each; L2 {}", registers, l2)})
        if (x + 12 + ui.text_width(text, {.size = 12}) <= right)
            return void(ui.text(x + 12, baseline, text, {.size = 12, .color = ui.theme->ink2}));
}

}  // namespace

float needs_gpu(const MachineFrame& frame, const Rect& room) {
    if (frame.scene == nullptr || room.w >= wide_enough) return 0;
    return least_tiles + 2 * least_strip + 16;
}

void draw_gpu(const MachineFrame& frame, const Rect& area) {
    Ui& ui = frame.ui;
    const Split parts = split(area);
    const Rect body = machine_panel(frame, parts.picture, Stop::gpu, frame.scene != nullptr ? slots_text(frame) : "");
    if (frame.scene == nullptr) return draw_empty_gpu(frame, body);
    if (frame.scene->machine == nullptr)
        return ui.say_nothing_yet(body, "This run was not recorded for the machine.", "Run it again to see it move.");
    const GpuPlaces p = places_in(frame, body);
    const auto window = std::max<int64_t>(1, static_cast<int64_t>(frame.speed / smooth));
    if (p.host.w > 0) draw_host(frame, p.host);
    if (p.chip.w > 0) {
        const float engines = engines_height(frame, p.chip.h * 0.5f);
        draw_block_queue(frame, {p.chip.x, p.chip.y, p.chip.w, p.chip.h - engines});
        if (engines > 0) draw_engines(frame, {p.chip.x, p.chip.bottom() - engines, p.chip.w, engines});
    }
    const model::GpuSpec& gpu = frame.scene->run->gpu;
    const auto title = [&](const Rect& over, std::string_view text, Align align) {
        ui.text(align == Align::left ? over.x : over.right(), p.all.y + 18, text,
                {.size = 13, .align = align, .weight = 600});
    };
    const std::string_view memory = name_of(gpu.dram_kind.value), slices = frame.scene->has_l2() ? "L2" : "ports";
    if (p.channel_count() > 0) title(p.channel.front(), memory, Align::left);
    if (p.channel_count() > 1) title(p.channel.back(), memory, Align::right);
    if (p.slice_count() > 0) title(p.slice.front(), slices, Align::left);
    if (p.slice_count() > 1) title(p.slice.back(), slices, Align::right);
    say_capacities(ui, gpu, p.bus[0].right() + 10, p.bus[1].x - 34, p.all.y + 18);
    draw_slices(frame, p);
    ui.rect(p.crossbar, faded(data::sky, ui.theme->dark ? 0.08f : 0.12f));
    draw_channels(frame, p);
    const float flash = lights_of(frame).flash(frame.clock, static_cast<double>(frame.cycle()));
    for (uint32_t sm = 0; sm < p.tile.size(); ++sm) draw_tile(frame, p, sm, window, flash);
    const uint32_t traced = frame.scene->trace().sm;
    if (traced < p.tile.size() && !frame.still) ui.outline(p.tile[traced], 2);
    if (frame.speed > too_fast)
        draw_flows(frame, p);
    else
        draw_requests(frame, p);
    if (frame.session.machine.followed < 0) say_crossbar(frame, p.crossbar);
    draw_followed_way(frame, p);
    draw_gpu_legend(frame, {body.x, body.bottom() - legend_height + 2, body.w, legend_height});
    if (parts.strip.h > 0) draw_time_strip(frame, parts.strip);
    if (parts.followed.w > 0) draw_followed(frame, parts.followed);
}

Rect inside_gpu(const MachineFrame& frame, const Rect& area) {
    if (frame.scene == nullptr || frame.scene->machine == nullptr) return area;
    const Split parts = split(area);
    const Rect body = frame.ui.panel_body(parts.picture, {.title = " ", .badge = Provenance::simulated, .caption = " "});
    const GpuPlaces p = places_in(frame, body);
    const uint32_t sm = frame.scene->trace().sm;
    return sm < p.tile.size() ? p.tile[sm] : area;
}

std::string gpu_sentence(const MachineFrame& frame) {
    if (frame.scene == nullptr || frame.scene->machine == nullptr) return "";
    const MachineScene& scene = *frame.scene;
    const int64_t cycle = frame.cycle();
    if (const std::string fault = fault_sentence(scene, cycle); !fault.empty()) return fault;
    const int64_t schedulers = int64_t{scene.run->gpu.sms} * scene.run->gpu.sub_cores;
    std::string text;
    if (issues_kept(scene, cycle)) {
        int64_t issue = 0;
        for (uint32_t sm = 0; sm < scene.machine->issues.size(); ++sm) {
            uint32_t seen = 0;
            for (const TileIssue& i : issues_of_sm(scene, sm, cycle, cycle + 1)) seen |= 1u << i.scheduler;
            issue += std::popcount(seen);
        }
        text = fmt::format("{} of {} schedulers issue in this cycle", issue, schedulers);
    } else {
        text = fmt::format("{:.2f} instructions a scheduler and cycle here", rates_in(scene, cycle, cycle + 1).issue);
    }
    int64_t at_l2 = 0, at_dram = 0;
    for (const uint32_t i : requests_at(scene, frame.clock))
        ++(scene.machine->requests[i].channel != RequestRecord::none ? at_dram : at_l2);
    const int64_t all = at_l2 + at_dram;
    if (all > 0 && !scene.has_l2())
        text += fmt::format(", and {} request{} on {} way: this GPU has no L2, what leaves an SM goes to memory",
                            with_commas(all), all == 1 ? " is" : "s are", all == 1 ? "its" : "their");
    else if (all == 1)
        text += at_dram == 1 ? ", and one request is on its way to memory and back"
                             : ", and one request is on its way, to L2 and back";
    else if (all > 0)
        text += fmt::format(", and {:.0f} % of the {} on their way{} turn round at L2",
                            100.0 * static_cast<double>(at_l2) / static_cast<double>(all), counted(all, "request"),
                            scene.machine->sampled > 1 ? fmt::format(" (one in {} is kept)", scene.machine->sampled) : "");
    else
        text += ", and no request is on its way";
    return text + ".";
}

std::string gpu_described(const MachineFrame& frame) {
    if (frame.scene == nullptr) return "no kernel has run yet\n";
    const MachineScene& scene = *frame.scene;
    const model::GpuSpec& gpu = scene.run->gpu;
    const int64_t cycle = frame.cycle();
    const WaitingBlocks queue = blocks_waiting(scene, cycle);
    std::string text = fmt::format("cycle {} of {}, {}\n", with_commas(cycle), with_commas(scene.trace().cycles), gpu.title);
    int64_t resident = 0, full = 0;
    for (uint32_t sm = 0; sm < gpu.sms; ++sm) {
        const TileState state = blocks_on(scene, sm, cycle);
        const int64_t here =
            std::count_if(state.resident.begin(), state.resident.end(), [](uint32_t b) { return b != TileState::nobody; });
        resident += here;
        full += here > 0;
    }
    text += fmt::format("{} on {} of {} SMs, {} wait\n", counted(resident, "block"), full, gpu.sms.value,
                        with_commas(queue.waiting));
    if (scene.machine == nullptr) return text + "requests were not recorded\n";
    int64_t kinds[5] = {}, stations[Stations::count] = {};
    for (const uint32_t i : requests_at(scene, frame.clock)) {
        const RequestRecord& r = scene.machine->requests[i];
        double share = 0;
        ++kinds[static_cast<size_t>(r.kind)];
        ++stations[static_cast<size_t>(stations_of(*scene.machine, r).station_at(frame.clock, share))];
    }
    for (size_t k = 0; k < 5; ++k)
        if (kinds[k] > 0)
            text += fmt::format("{} {}{} on the way\n", kinds[k], name_of(static_cast<RequestKind>(k)),
                                kinds[k] == 1 ? "" : "s");
    for (size_t s = 0; s < Stations::count; ++s)
        if (stations[s] > 0) text += fmt::format("  {}: {}\n", name_of(static_cast<Station>(s)), stations[s]);
    if (scene.machine->sampled > 1)
        text += fmt::format("of other SMs than {} one request in {} is kept\n", scene.trace().sm, scene.machine->sampled);
    const int64_t followed = frame.session.machine.followed;
    if (followed >= 0 && followed < static_cast<int64_t>(scene.machine->requests.size()))
        text += "followed: " + request_text(scene, scene.machine->requests[static_cast<size_t>(followed)]) + "\n";
    return text;
}

}  // namespace lockstep::gui
