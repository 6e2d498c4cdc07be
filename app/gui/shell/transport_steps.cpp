// What a step means at each grain, and where the run stands.
#include "app/gui/shell/transport_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/views/training/tape_data.h"
#include "core/scene/figures/figure_table.h"

namespace lockstep::gui {

namespace {

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

// The rows of a lesson's scene in which nothing moves: plans, training runs, layouts; null: something does.
const scene::FigureTable* still_rows(const Session& session, const Snapshot& snapshot) {
    if (session.workspace != Workspace::learn || !session.lesson.lesson || !snapshot.cluster || !snapshot.cluster->table ||
        snapshot.cluster->table->rows.empty())
        return nullptr;
    const SceneRow& scene = scene_on_show(session);
    return scene.still != nullptr && scene.still(*snapshot.cluster) ? snapshot.cluster->table.get() : nullptr;
}

// "3 plans, derived", "1 training run, executed"
std::string rows_shown(const scene::FigureTable& table) {
    return fmt::format("{} {}{}, {}", table.rows.size(), table.one.empty() ? "row" : table.one,
                       table.rows.size() == 1 ? "" : "s", table.provenance);
}

}  // namespace

const KernelTrace* trace_of(const Snapshot& snapshot) {
    return snapshot.kernel ? &snapshot.kernel->result.trace : nullptr;
}

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

bool open_ended(const Snapshot& snapshot, const Focus& focus) {
    const KernelTrace* trace = trace_of(snapshot);
    const simt::WarpHistory* const history = focused_history(snapshot, focus);
    const WarpTrack* const warp = focused_warp(snapshot, focus);
    if (warp == nullptr || !trace->truncated || (history != nullptr && !history->truncated)) return false;
    return warp->end >= trace->kept_until && trace->kept_until < trace->cycles;
}

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
    if (session.workspace == Workspace::training) {
        std::vector<Grain> grains;
        if (tape) grains.push_back(Grain::node);
        grains.push_back(Grain::kernel);
        if (!session.lesson.lesson) grains.push_back(Grain::training_step);
        return grains;
    }
    std::vector<Grain> grains = {Grain::cycle, Grain::instruction};
    if (session.workspace == Workspace::kernel && session.desk.document().is_tape())
        return tape ? std::vector{Grain::node, Grain::kernel} : std::vector<Grain>{};
    if (session.workspace == Workspace::kernel) {
        if (snapshot.own_run && !snapshot.own_run->timed) grains.erase(grains.begin());
        return grains;
    }
    if (tape && session.workspace == Workspace::learn && !snapshot.kernel) grains.clear();  // nothing was timed
    if (tape && session.workspace == Workspace::learn) grains.push_back(Grain::node);
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
                session.post(ask::OpenKernel{focus.launch});
            return;
        }
        case Grain::kernel: {
            if (!snapshot.step || snapshot.step->launches.empty()) return;
            const auto count = static_cast<int32_t>(snapshot.step->launches.size());
            focus.launch = far ? (way < 0 ? 0 : count - 1) : std::clamp(focus.launch + way, 0, count - 1);
            session.post(ask::OpenKernel{focus.launch});
            return;
        }
        case Grain::training_step: {
            const int64_t shown = snapshot.step ? snapshot.step->step : -1;
            int64_t newest = shown;
            for (const Curve& curve : snapshot.curves)
                newest = std::max(newest, static_cast<int64_t>(curve.loss.size()) - 1);
            if (!far && way > 0 && shown >= newest) return session.post(ask::Train{1});
            session.post(ask::ShowStep{far ? (way < 0 ? 0 : newest) : std::max<int64_t>(0, shown + way)});
            return;
        }
    }
}

Position position_of(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    Position at;
    if (const scene::FigureTable* table = still_rows(session, snapshot)) {
        at.title = rows_shown(*table);
        at.last = true;
        if (session.reveal_steps >= 0) {
            at.text = "figures are hidden until you lock an answer";
            return at;
        }
        for (const scene::FigureRow& row : table->rows) at.text += (at.text.empty() ? "" : " · ") + row.name;
        return at;
    }
    if (shows_cluster(session)) return position_in_cluster(session, focus, snapshot);
    const KernelTrace* trace = trace_of(snapshot);
    const std::string step = snapshot.step ? "step " + with_commas(snapshot.step->step) : "";
    const bool training =
        session.workspace == Workspace::training || session.grain == Grain::node ||
        (session.workspace == Workspace::kernel && session.desk.document().is_tape()) ||
        (trace == nullptr && snapshot.step && session.workspace == Workspace::learn);  // its kernels were not timed
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

}  // namespace lockstep::gui
