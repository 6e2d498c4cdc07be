// The transport: the bar at the bottom. What a step is and where the run stands: transport_steps.cpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/views/training/tape_data.h"

namespace lockstep::gui {

namespace {

Color color_of_phase(const std::string& phase) {
    return phase == "backward"  ? data::blue
           : phase == "update"  ? data::purple
           : phase == "forward" ? data::green
                                : data::grey;
}

void button_face(Ui& ui, const Rect& box, bool primary, bool hovered) {
    ui.rect(box, primary ? ui.theme->accent : ui.theme->panel2, 4);
    if (!primary) ui.frame(box, hovered ? ui.theme->ink3 : ui.theme->line, 1, 4);
}

}  // namespace

void Shell::transport(Ui& ui, const Snapshot& snapshot, const Rect& bar) {
    const Theme& t = *ui.theme;
    ui.push_scope("transport");
    ui.rect({bar.x, bar.y, bar.w, 1}, t.line);
    const float y = bar.y;
    const std::vector<Grain> grains = grains_of(session, snapshot);
    if (grains.empty()) {  // nothing moves: what is shown, in words
        session.playing = false;
        const Position at = position_of(session, focus, snapshot);
        ui.text(14, y + 24, at.title, {.size = 13, .weight = 600, .width = bar.w - 28});
        ui.text(14, y + 42, snapshot.busy.empty() ? at.text : snapshot.busy,
                {.size = 13, .color = t.ink2, .width = bar.w - 28});
        return ui.pop_scope();
    }
    if (std::find(grains.begin(), grains.end(), session.grain) == grains.end()) session.grain = grains.front();

    // first, back, play, step, last
    float x = 14;
    const auto mover = [&](std::string_view name, int way, bool far) {
        const Rect box{x, y + 13, 34, 30};
        if (ui.area(name, box)) session.playing = false, move(session, focus, snapshot, session.grain, way, far);
        button_face(ui, box, false, ui.hovered(box));
        if (ui.hovered(box)) ui.tooltip(name);
        const float m = x + 17, d = static_cast<float>(way);
        ui.polygon({{m - 5 * d, y + 20}, {m - 5 * d, y + 36}, {m + 7 * d, y + 28}}, t.ink);
        if (far) ui.rect({m + (way > 0 ? 7.0f : -9.0f), y + 20, 2, 16}, t.ink);
        x += 38;
    };
    const bool ends = bar.w > 420;  // else there is no room for them; the keys remain
    if (ends) mover("first (Home)", -1, true);
    mover("back (Left)", -1, false);
    const Rect play_box{x, y + 13, 44, 30};
    if (ui.area("play", play_box)) session.playing = !session.playing, last_play_ = 0;
    button_face(ui, play_box, true, false);
    if (session.playing) {
        ui.rect({x + 16, y + 20, 4, 16}, t.on_accent);
        ui.rect({x + 24, y + 20, 4, 16}, t.on_accent);
    } else {
        ui.polygon({{x + 16, y + 19}, {x + 16, y + 37}, {x + 31, y + 28}}, t.on_accent);
    }
    if (ui.hovered(play_box)) ui.tooltip(session.playing ? "pause (Space)" : "play (Space)");
    x += 48;
    mover("step (Right)", 1, false);
    if (ends) mover("last (End)", 1, true);

    x += 14;
    const bool roomy = bar.w > 1000;
    if (roomy) x = ui.text(x, y + 33, "step", {.size = 13, .color = t.quiet}) + 10;
    if (roomy) {
        for (const Grain grain : grains)
            if (ui.chip(x, y + 15, name_of(grain), grain == session.grain)) session.grain = grain;
    } else {  // one chip that goes round
        const std::string label = "step: " + std::string(name_of(session.grain));
        if (ui.chip(x, y + 15, label, true)) {
            const auto at = std::find(grains.begin(), grains.end(), session.grain) - grains.begin();
            session.grain = grains[static_cast<size_t>(at + 1) % grains.size()];
        }
    }

    // scrub strip and position
    const Position at = position_of(session, focus, snapshot);
    const float words = std::min({346.0f, std::max(150.0f, bar.w * 0.28f), bar.w - x - 12});
    const float sx = x + 20, sw = bar.w - words - 30 - sx;
    const float tx = bar.w - words;
    if (words > 60) {
        ui.text(tx, y + 24, at.title, {.size = 13, .mono = true, .width = words - 12});
        ui.text(tx, y + 42, snapshot.busy.empty() ? at.text : snapshot.busy,
                {.size = 13, .color = t.ink2, .width = words - 12});
    }
    if (sw > 60) {
        const Rect track{sx, y + 24, sw, 10};
        ui.rect(track, t.panel2, 3);
        ui.frame(track, t.line, 1, 3);
        const bool hidden = session.reveal_steps >= 0 && session.workspace != Workspace::training;
        const float known = hidden ? sw * 0.72f : sw;
        const float drawn = at.share >= 0 ? static_cast<float>(at.share) : 0;
        const Drag scrub = ui.drag("scrub", {sx, y + 12, sw, 34});
        const double wish = scrub.active ? std::clamp(static_cast<double>((scrub.at.x - sx) / known), 0.0, 1.0) : -1;
        if (session.grain == Grain::kernel && session.reveal_steps < 0 && snapshot.step &&
            !snapshot.step->launches.empty()) {
            // one segment a kernel, as wide as its cycles; equal widths while they are not timed
            const auto& launches = snapshot.step->launches;
            double total = 0;
            const auto weight = [](const device::LaunchEvent& l) {
                return l.end_us > l.begin_us ? l.end_us - l.begin_us : 1.0;
            };
            for (const auto& launch : launches) total += weight(launch);
            double done = 0;
            for (size_t i = 0; i < launches.size(); ++i) {
                const double w = weight(launches[i]) / total;
                const bool here = static_cast<int32_t>(i) == focus.launch;
                ui.rect({sx + sw * static_cast<float>(done) + 1, y + 25, std::max(1.0f, sw * static_cast<float>(w) - 2), 8},
                        faded(color_of_phase(launches[i].phase), here ? 1.0f : 0.7f));
                if (here)
                    ui.cursor_line(sx + sw * static_cast<float>(done + w / 2), y + 15, y + 43),
                        ui.arrow_head({sx + sw * static_cast<float>(done + w / 2), y + 19}, Way::down, t.ink, 6);
                if (wish >= done && wish < done + w && focus.launch != static_cast<int32_t>(i)) {
                    focus.launch = static_cast<int32_t>(i);
                    session.post(ask::OpenKernel{focus.launch});
                }
                done += w;
            }
        } else {
            const simt::WarpHistory* const history = focused_history(snapshot, focus);
            if (session.grain == Grain::instruction && history && !history->truncated) {
                // one segment an issued instruction, in the colour of its path
                const int64_t count = instructions_of(session, focus, snapshot);
                const int64_t shown = std::min<int64_t>(count, 160);
                for (int64_t i = 0; i < shown; ++i) {
                    const int64_t step = count <= 160 ? i : i * count / shown;
                    if (step > session.history_step) break;
                    const float w = known / static_cast<float>(shown);
                    const PathCode code = path_code(running_path(history->steps[static_cast<size_t>(step)]));
                    const Rect box{sx + w * static_cast<float>(i) + (w > 4 ? 1 : 0), y + 25, w - (w > 4 ? 2 : 0), 8};
                    if (code.hatch == Hatch::solid)
                        ui.rect(box, faded(code.color, 0.75f));
                    else
                        ui.hatch(box, code.color, code.hatch);
                }
            } else {
                ui.rect({sx + 1, y + 25, (sw - 2) * drawn, 8},
                        faded(session.workspace == Workspace::training ? data::green : t.accent, 0.75f));
                // the stretch that the trace keeps in full: beyond it the run is replayed
                if (const KernelTrace* trace = trace_of(snapshot); trace != nullptr && trace->truncated &&
                                                                   trace->cycles > 0 &&
                                                                   session.workspace != Workspace::training && !hidden) {
                    const auto place = [&](int64_t cycle) {
                        return sx + sw * static_cast<float>(static_cast<double>(cycle) / static_cast<double>(trace->cycles));
                    };
                    const float from = place(trace->kept_from), until = place(trace->kept_until);
                    ui.rect({from, y + 36, std::max(2.0f, until - from), 3}, t.ink2);
                }
            }
            if (hidden) ui.hatch({sx + known + 4, y + 25, sw - known - 5, 8}, t.ink3, Hatch::diagonal);
            const float cx = sx + sw * drawn;
            ui.cursor_line(cx, y + 15, y + 43);
            ui.arrow_head({cx, y + 19}, Way::down, t.ink, 6);
            if (wish >= 0) {
                if (shows_cluster(session)) {
                    scrub_cluster(session, snapshot, wish);
                } else if (session.grain == Grain::node && snapshot.step && session.reveal_steps < 0) {
                    const TapePlan tape = plan_tape(*snapshot.step);
                    const int to = static_cast<int>(wish * static_cast<double>(tape.last() + 1));
                    if (const int from = tape_position(session, focus, tape); from != std::min(to, tape.last()))
                        move(session, focus, snapshot, Grain::node, to - from);
                } else if (session.grain == Grain::node) {
                    // the way ahead is hidden
                } else if (session.workspace == Workspace::training) {
                    int64_t total = 0;
                    for (const Curve& curve : snapshot.curves)
                        total = std::max({total, curve.total_steps, static_cast<int64_t>(curve.loss.size())});
                    const auto step =
                        static_cast<int64_t>(std::lround(wish * static_cast<double>(std::max<int64_t>(0, total - 1))));
                    if (!snapshot.step || snapshot.step->step != step) session.post(ask::ShowStep{step});
                } else if (session.grain == Grain::instruction && open_ended(snapshot, focus)) {
                    session.wanted = {};
                    session.by_time = true;
                    focus.time = static_cast<int64_t>(wish * static_cast<double>(trace_of(snapshot)->cycles - 1));
                } else if (session.grain == Grain::instruction) {
                    const int64_t count = instructions_of(session, focus, snapshot);
                    if (count > 0) {
                        session.history_step =
                            std::clamp<int64_t>(static_cast<int64_t>(wish * static_cast<double>(count)), 0, count - 1);
                        move(session, focus, snapshot, Grain::instruction, 0);
                    }
                } else if (const KernelTrace* trace = trace_of(snapshot)) {
                    focus.time = std::clamp<int64_t>(
                        static_cast<int64_t>(wish * static_cast<double>(cycles_shown(session, focus, snapshot))), 0,
                        std::max<int64_t>(0, trace->cycles - 1));
                }
            }
        }
        if (!snapshot.busy.empty() && snapshot.progress >= 0)
            ui.rect({sx, y + 47, sw * static_cast<float>(std::clamp(snapshot.progress, 0.0, 1.0)), 2}, t.accent);
    }
    ui.pop_scope();
}

}  // namespace lockstep::gui
