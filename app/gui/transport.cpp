// The transport: what a step means at each grain, where the run stands, and the bar at the bottom.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell.h"
#include "app/gui/views/cluster_data.h"
#include "app/gui/views/lane_paths.h"
#include "app/gui/views/tape_data.h"
#include "app/gui/views/timeline_data.h"
#include "lessons/player/figure_table.h"

namespace lockstep::gui {

namespace {

const KernelTrace* trace_of(const Snapshot& snapshot) {
    return snapshot.kernel ? &snapshot.kernel->result.trace : nullptr;
}

// The cycle in which the focused warp issued its instruction number `step`; -1 when the trace does not hold it.
int64_t cycle_of(const Snapshot& snapshot, const Focus& focus, int64_t step) {
    const KernelTrace* trace = trace_of(snapshot);
    if (trace == nullptr || focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace->warps.size())) return -1;
    return cycle_of_step(*trace, trace->warps[static_cast<size_t>(focus.warp)], step);
}

// The clock leads, and stands in the wait before instruction `step`, on its issue, or behind the last that its warp issues:
// the nearest step that issues in another cycle. In a wait, and from behind, that is `step` itself; what is folded into an
// instruction shares its cycle.
int64_t next_by_clock(const Snapshot& snapshot, const Focus& focus, int64_t step, int way) {
    const int64_t here = cycle_of(snapshot, focus, step);
    if (here >= 0 && (way > 0 ? here > focus.time : way < 0 && here < focus.time)) return step;
    int64_t next = step + way;
    while (way != 0 && next >= 0 && cycle_of(snapshot, focus, next) == focus.time) next += way;
    return next;
}

// Narrows down where the wanted instruction is by the stretch that the trace keeps, which does not hold it, and guesses:
// in proportion, every other time in the middle, so that the search ends.
int64_t look_for(Session::WantedStep& wanted, const KernelTrace& trace, const WarpTrack& warp, int64_t count) {
    int64_t begin = 0, end = trace.cycles;
    for (const BlockRun& block : trace.blocks)
        if (block.block == warp.block) begin = block.begin, end = block.end;
    wanted.low = std::max(wanted.low, begin);
    wanted.high = std::min(wanted.high, end);
    const auto between = [](int64_t from, int64_t to, int64_t part, int64_t whole) {
        return from + static_cast<int64_t>(static_cast<double>(to - from) * static_cast<double>(part) /
                                           static_cast<double>(std::max<int64_t>(1, whole)));
    };
    const auto before = static_cast<int64_t>(warp.issued_before);
    const int64_t held = before + static_cast<int64_t>(warp.issues.size());
    int64_t guess = 0;
    if (wanted.step < before) {
        wanted.high = std::min(wanted.high, trace.kept_from);
        guess = between(begin, trace.kept_from, wanted.step, before);
        if (wanted.step + 1 == before) guess = trace.kept_from - 1;  // one step back
    } else {
        wanted.low = std::max(wanted.low, trace.kept_until);
        guess = between(trace.kept_until, end, wanted.step - held, count - held);
    }
    if (wanted.looks++ % 2 == 1) guess = (wanted.low + wanted.high) / 2;
    return std::clamp(guess, wanted.low, std::max(wanted.low, wanted.high - 1));
}

// The warp that lives at the clock in the slot of the focused one, which has ended; else the next that will: -1: none.
int32_t next_in_slot(const KernelTrace& trace, const Focus& focus) {
    const WarpTrack& was = trace.warps[static_cast<size_t>(focus.warp)];
    int32_t next = -1;
    for (size_t i = 0; i < trace.warps.size(); ++i) {
        const WarpTrack& warp = trace.warps[i];
        if (warp.slot != was.slot || warp.end <= focus.time || warp.issues.empty() ||
            trace.issues[warp.issues.back()].cycle < focus.time)
            continue;
        if (next < 0 || warp.begin < trace.warps[static_cast<size_t>(next)].begin) next = static_cast<int32_t>(i);
    }
    return next;
}

const WarpTrack* focused_warp(const Snapshot& snapshot, const Focus& focus) {
    const KernelTrace* trace = trace_of(snapshot);
    if (trace == nullptr || focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace->warps.size())) return nullptr;
    return &trace->warps[static_cast<size_t>(focus.warp)];
}

// Null: not known yet; that of the warp before stays for a moment.
const simt::WarpHistory* focused_history(const Snapshot& snapshot, const Focus& focus) {
    const WarpTrack* const warp = focused_warp(snapshot, focus);
    const simt::WarpHistory* const history = snapshot.history.get();
    if (history == nullptr || warp == nullptr) return history;
    return history->block == warp->block && history->warp_in_block == warp->warp_in_block ? history : nullptr;
}

int64_t instructions_of(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    int64_t count = 0;
    const KernelTrace* const trace = trace_of(snapshot);
    const simt::WarpHistory* const history = focused_history(snapshot, focus);
    if (history != nullptr) count = static_cast<int64_t>(history->steps.size());
    if (const WarpTrack* const track = focused_warp(snapshot, focus); track && (history == nullptr || history->truncated)) {
        const WarpTrack& warp = *track;
        const auto held = static_cast<int64_t>(warp.issued_before + warp.issues.size());
        // A warp that goes on behind the stretch has one more at least.
        count = std::max(count, held + (trace->truncated && warp.end >= trace->kept_until ? 1 : 0));
    }
    return session.reveal_steps >= 0 ? std::min(count, session.reveal_steps) : count;
}

// How many instructions the warp will have issued is not known: the trace keeps a stretch, and the history is too long.
bool open_ended(const Snapshot& snapshot, const Focus& focus) {
    const KernelTrace* trace = trace_of(snapshot);
    const simt::WarpHistory* const history = focused_history(snapshot, focus);
    const WarpTrack* const warp = focused_warp(snapshot, focus);
    if (warp == nullptr || !trace->truncated || (history != nullptr && !history->truncated)) return false;
    return warp->end >= trace->kept_until && trace->kept_until < trace->cycles;
}

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

namespace {

// The rows of a lesson's scene in which nothing moves: plans, training runs, layouts; null: something does.
const lessons::FigureTable* still_rows(const Session& session, const Snapshot& snapshot) {
    if (session.workspace != "learn" || !session.lesson.lesson || !snapshot.cluster || !snapshot.cluster->table ||
        snapshot.cluster->table->rows.empty())
        return nullptr;
    const std::string view = scene_view_of(session);
    const lessons::ClusterScene& scene = *snapshot.cluster;
    const bool still = view == "rows" || view == "mesh" || view == "rank_memory" || view == "network" || view == "ranks" ||
                       view == "cheaper" || (view == "pipeline" && scene.schedules.empty()) ||
                       (view == "collective" && scene.collective.messages.empty());
    return still ? scene.table.get() : nullptr;
}

// "3 plans, derived", "1 training run, executed"
std::string rows_shown(const lessons::FigureTable& table) {
    return fmt::format("{} {}{}, {}", table.rows.size(), table.one.empty() ? "row" : table.one,
                       table.rows.size() == 1 ? "" : "s", table.provenance);
}

}  // namespace

int64_t cycles_shown(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    const KernelTrace* trace = trace_of(snapshot);
    if (trace == nullptr) return 0;
    if (session.reveal_steps < 0) return trace->cycles;
    if (session.reveal_steps == 0) return 1;
    const int64_t last = cycle_of(snapshot, focus, session.reveal_steps - 1);
    return last >= 0 ? last + 1 : trace->cycles;
}

std::string_view name_of(Grain grain) {
    static constexpr std::string_view names[] = {"cycle", "instruction", "node", "kernel", "training step", "action"};
    return names[static_cast<size_t>(grain)];
}

std::vector<Grain> grains_of(const Session& session, const Snapshot& snapshot) {
    if (still_rows(session, snapshot) != nullptr) return {};
    if (shows_cluster(session)) return {Grain::action, Grain::training_step};
    const bool tape = snapshot.step && !snapshot.step->nodes.empty();
    if (session.workspace == "training") {
        std::vector<Grain> grains;
        if (tape) grains.push_back(Grain::node);
        grains.push_back(Grain::kernel);
        if (!session.lesson.lesson) grains.push_back(Grain::training_step);
        return grains;
    }
    std::vector<Grain> grains = {Grain::cycle, Grain::instruction};
    if (session.workspace == "kernel" && session.desk.document().is_tape())
        return tape ? std::vector{Grain::node, Grain::kernel} : std::vector<Grain>{};
    if (session.workspace == "kernel") {
        if (snapshot.own_run && !snapshot.own_run->timed) grains.erase(grains.begin());
        return grains;
    }
    if (tape && session.workspace == "learn" && !snapshot.kernel) grains.clear();  // nothing was timed
    if (tape && session.workspace == "learn") grains.push_back(Grain::node);
    if (snapshot.step) grains.push_back(Grain::kernel);
    if (snapshot.step && !session.lesson.lesson && !snapshot.tape) grains.push_back(Grain::training_step);
    return grains;
}

void move(Session& session, Focus& focus, const Snapshot& snapshot, Grain grain, int way, bool far) {
    if (still_rows(session, snapshot) != nullptr) return;
    if (shows_cluster(session)) return move_cluster(session, focus, snapshot, grain, way, far);
    const KernelTrace* trace = trace_of(snapshot);
    switch (grain) {
        case Grain::action:
            return;
        case Grain::cycle: {
            if (trace == nullptr || trace->cycles <= 0) return;
            const int64_t last = std::max<int64_t>(0, cycles_shown(session, focus, snapshot) - 1);
            focus.time = far ? (way < 0 ? 0 : last) : std::clamp<int64_t>(focus.time + way, 0, last);
            return;
        }
        case Grain::instruction: {
            const bool by_clock = session.grain != Grain::instruction || session.by_time;
            const bool kept = trace != nullptr &&
                              (!trace->truncated || (focus.time >= trace->kept_from && focus.time < trace->kept_until));
            const WarpTrack* const warp = focused_warp(snapshot, focus);
            if (by_clock && way > 0 && !far && kept && session.reveal_steps < 0 && warp && warp->end <= focus.time) {
                const int32_t next = next_in_slot(*trace, focus);
                if (next < 0) return;  // there is no way on from an end
                focus.warp = next;
                set_clock(session, focus, *trace, focus.time);
            }
            session.by_time = false;
            const int64_t count = instructions_of(session, focus, snapshot);
            if (count == 0) return;
            const int64_t next =
                by_clock && !far ? next_by_clock(snapshot, focus, session.history_step, way) : session.history_step + way;
            if (by_clock && way > 0 && !far && next >= count && !open_ended(snapshot, focus)) return;  // it only drains
            session.history_step = far ? (way < 0 ? 0 : count - 1) : std::clamp<int64_t>(next, 0, count - 1);
            if (const simt::WarpHistory* const history = focused_history(snapshot, focus);
                history && session.history_step < static_cast<int64_t>(history->steps.size()))
                focus.pc = static_cast<int32_t>(history->steps[static_cast<size_t>(session.history_step)].pc);
            if (session.wanted.step != session.history_step) session.wanted = {};
            if (const int64_t cycle = cycle_of(snapshot, focus, session.history_step); cycle >= 0) {
                focus.time = cycle;
                session.wanted = {};
            } else if (trace != nullptr && trace->truncated && focus.warp >= 0 &&
                       focus.warp < static_cast<int32_t>(trace->warps.size())) {
                session.wanted.step = session.history_step;  // known when its stretch has been fetched
                focus.time = look_for(session.wanted, *trace, trace->warps[static_cast<size_t>(focus.warp)], count);
            } else if (trace != nullptr && session.history_step + 1 == count && trace->cycles > 0) {
                focus.time = trace->cycles - 1;  // an instruction that faulted was never issued
            }
            return;
        }
        case Grain::node: {
            if (!snapshot.step || snapshot.step->nodes.empty()) return;
            const TapePlan tape = plan_tape(*snapshot.step);
            const int last = session.reveal_steps >= 0 ? tape.last_forward() : tape.last();
            if (last < 0) return;
            const int at = tape_position(session, focus, tape);
            session.tape_at = far ? (way < 0 ? 0 : last) : std::clamp(at + way, 0, last);
            const Moment& moment = tape.moments[static_cast<size_t>(session.tape_at)];
            focus.op = moment.node;
            if (focus.launch == moment.launch) return;
            focus.launch = moment.launch;
            if (moment.launch >= 0 && static_cast<size_t>(moment.launch) < snapshot.step->launches.size() &&
                snapshot.step->launches[static_cast<size_t>(moment.launch)].run)
                session.post({Request::Kind::open_kernel, focus.launch, {}});
            return;
        }
        case Grain::kernel: {
            if (!snapshot.step || snapshot.step->launches.empty()) return;
            const auto count = static_cast<int32_t>(snapshot.step->launches.size());
            focus.launch = far ? (way < 0 ? 0 : count - 1) : std::clamp(focus.launch + way, 0, count - 1);
            session.post({Request::Kind::open_kernel, focus.launch, {}});
            return;
        }
        case Grain::training_step: {
            const int64_t shown = snapshot.step ? snapshot.step->step : -1;
            int64_t newest = shown;
            for (const Curve& curve : snapshot.curves)
                newest = std::max(newest, static_cast<int64_t>(curve.loss.size()) - 1);
            if (!far && way > 0 && shown >= newest) return session.post({Request::Kind::train, 1, {}});
            session.post({Request::Kind::show_step, far ? (way < 0 ? 0 : newest) : std::max<int64_t>(0, shown + way), {}});
            return;
        }
    }
}

Position position_of(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    Position at;
    if (const lessons::FigureTable* table = still_rows(session, snapshot)) {
        at.title = rows_shown(*table);
        at.last = true;
        if (session.reveal_steps >= 0) {
            at.text = "figures are hidden until you lock an answer";
            return at;
        }
        for (const lessons::FigureRow& row : table->rows) at.text += (at.text.empty() ? "" : " · ") + row.name;
        return at;
    }
    if (shows_cluster(session)) return position_in_cluster(session, focus, snapshot);
    const KernelTrace* trace = trace_of(snapshot);
    const std::string step = snapshot.step ? "step " + with_commas(snapshot.step->step) : "";
    const bool training = session.workspace == "training" || session.grain == Grain::node ||
                          (session.workspace == "kernel" && session.desk.document().is_tape()) ||
                          (trace == nullptr && snapshot.step && session.workspace == "learn");  // its kernels were not timed
    if (training) {
        if (!snapshot.step) {
            at.title = "no step yet";
            at.text = snapshot.busy;
            return at;
        }
        const auto& launches = snapshot.step->launches;
        if (session.grain == Grain::node && !snapshot.step->nodes.empty()) {
            const TapePlan tape = plan_tape(*snapshot.step);
            const int moment = tape_position(session, focus, tape);
            if (moment >= 0) {
                const Moment& now = tape.moments[static_cast<size_t>(moment)];
                static constexpr std::string_view kinds[] = {"forward", "backward", "update"};
                at.title = snapshot.step->nodes[static_cast<size_t>(now.node)].name;
                at.text = std::string(kinds[static_cast<size_t>(now.kind)]);
                if (session.reveal_steps < 0)
                    at.text += ", moment " + std::to_string(moment + 1) + " of " + std::to_string(tape.moments.size());
                at.share = (moment + 0.5) / static_cast<double>(tape.moments.size());
                at.last = moment == tape.last();
            }
        } else if (session.grain == Grain::kernel && focus.launch >= 0 &&
                   focus.launch < static_cast<int32_t>(launches.size())) {
            const auto& launch = launches[static_cast<size_t>(focus.launch)];
            at.title = launch.label + "  (kernel " + std::to_string(focus.launch + 1) + " of " +
                       std::to_string(launches.size()) + ")";
            at.text = step + (launch.cycles > 0 ? " · " + with_commas(launch.cycles) + " cycles" : "");
            at.share = (focus.launch + 0.5) / static_cast<double>(launches.size());
            at.last = focus.launch + 1 == static_cast<int32_t>(launches.size());
        } else {
            at.title = snapshot.step->model + " on " + snapshot.step->device;
            at.text = session.reveal_steps >= 0 ? step : step + " · " + std::to_string(launches.size()) + " kernels";
            int64_t total = 0;
            for (const Curve& curve : snapshot.curves)
                total = std::max({total, curve.total_steps, static_cast<int64_t>(curve.loss.size())});
            at.share = total > 1 ? static_cast<double>(snapshot.step->step) / static_cast<double>(total - 1) : 0;
        }
        return at;
    }
    if (trace == nullptr) {
        at.title = "no kernel yet";
        at.text = snapshot.busy;
        return at;
    }
    at.title = snapshot.kernel_label.empty() ? snapshot.kernel->program->shown_name() : snapshot.kernel_label;
    if (session.roof.guessing()) {  // how long it takes is what is guessed
        at.text = "hidden until you lock your guess";
        return at;
    }
    const int64_t cycles = trace->cycles;
    const std::string time = focus.time >= 0 ? "cycle " + with_commas(focus.time) +
                                                   (session.reveal_steps >= 0 ? "" : " of " + with_commas(cycles))
                                             : "";
    if (session.grain == Grain::instruction) {
        const int64_t count = instructions_of(session, focus, snapshot);
        at.text = "issue " + with_commas(session.history_step + 1) +
                  (session.reveal_steps >= 0     ? ""
                   : open_ended(snapshot, focus) ? " of more than " + with_commas(count - 1)
                                                 : " of " + with_commas(count)) +
                  ", " + time;
        at.last = count > 0 && session.history_step + 1 >= count && !open_ended(snapshot, focus);
        // While the rest is hidden the strip does not say how long it is.
        at.share = count > 0 ? (static_cast<double>(session.history_step) + 1) / static_cast<double>(count) *
                                   (session.reveal_steps >= 0 ? 0.72 : 1)
                             : 0;
        if (open_ended(snapshot, focus) && session.reveal_steps < 0 && cycles > 0)
            at.share = static_cast<double>(std::max<int64_t>(0, focus.time)) / static_cast<double>(cycles);
    } else {
        at.text = step.empty() ? time : step + " · " + time;
        at.last = session.grain == Grain::cycle && focus.time + 1 >= cycles_shown(session, focus, snapshot);
        at.share = cycles > 0 && focus.time >= 0 ? static_cast<double>(focus.time) / static_cast<double>(cycles) : 0;
        if (session.reveal_steps >= 0)
            at.share = std::min(at.share * 0.72 * static_cast<double>(cycles) /
                                    static_cast<double>(std::max<int64_t>(1, cycles_shown(session, focus, snapshot))),
                                0.72);
    }
    return at;
}

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
        const bool hidden = session.reveal_steps >= 0 && session.workspace != "training";
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
                    session.post({Request::Kind::open_kernel, focus.launch, {}});
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
                        faded(session.workspace == "training" ? data::green : t.accent, 0.75f));
                // the stretch that the trace keeps in full: beyond it the run is replayed
                if (const KernelTrace* trace = trace_of(snapshot); trace != nullptr && trace->truncated &&
                                                                   trace->cycles > 0 && session.workspace != "training" &&
                                                                   !hidden) {
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
                } else if (session.workspace == "training") {
                    int64_t total = 0;
                    for (const Curve& curve : snapshot.curves)
                        total = std::max({total, curve.total_steps, static_cast<int64_t>(curve.loss.size())});
                    const auto step =
                        static_cast<int64_t>(std::lround(wish * static_cast<double>(std::max<int64_t>(0, total - 1))));
                    if (!snapshot.step || snapshot.step->step != step) session.post({Request::Kind::show_step, step, {}});
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
