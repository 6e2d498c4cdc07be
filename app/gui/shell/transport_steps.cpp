// What a step means at each grain, and where the run stands.
#include "app/gui/shell/transport_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/views/build/build_play.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/views/training/tape_data.h"
#include "core/base/units.h"
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
int64_t look_for(SmLook::WantedStep& wanted, const KernelTrace& trace, const WarpTrack& warp, int64_t count) {
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

// A sketch without a picture above it fills the page: nothing on it moves.
bool sketch_alone(const Session& session) {
    return session.workspace == Workspace::learn && shows_sketch(session) && picture_above(session.lesson) == nullptr;
}

// "3 plans, derived", "1 training run, executed"
std::string rows_shown(const scene::FigureTable& table) {
    return fmt::format("{} {}{}, {}", table.rows.size(), table.one.empty() ? "row" : table.one,
                       table.rows.size() == 1 ? "" : "s", table.provenance);
}

}  // namespace

const KernelTrace* trace_of(const Snapshot& snapshot) {
    return snapshot.kernel.run ? &snapshot.kernel.run->result.trace : nullptr;
}

const simt::WarpHistory* focused_history(const Snapshot& snapshot, const Focus& focus) {
    const WarpTrack* const warp = focused_warp(snapshot, focus);
    const simt::WarpHistory* const history = snapshot.kernel.history.get();
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
    return session.learn.reveal_steps >= 0 ? std::min(count, session.learn.reveal_steps) : count;
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
    if (session.learn.reveal_steps < 0) return trace->cycles;
    if (session.learn.reveal_steps == 0) return 1;
    const int64_t last = cycle_of(snapshot, focus, session.learn.reveal_steps - 1);
    return last >= 0 ? last + 1 : trace->cycles;
}

std::string_view name_of(Grain grain) {
    static constexpr std::string_view names[] = {"cycle",         "instruction", "node", "kernel",
                                                 "training step", "action",      "call"};
    return names[static_cast<size_t>(grain)];
}

bool shows_program(const Session& session) {
    return session.workspace == Workspace::kernel && session.desk.document().is_program();
}

int64_t total_steps(const Snapshot& snapshot) {
    int64_t total = 0;
    for (const Curve& curve : snapshot.training.curves)
        total = std::max({total, curve.total_steps, static_cast<int64_t>(curve.loss.size())});
    return total;
}

std::vector<Grain> grains_of(const Session& session, const Snapshot& snapshot) {
    if (still_rows(session, snapshot) != nullptr || sketch_alone(session)) return {};
    if (session.workspace == Workspace::build) return {Grain::cycle};
    if (machine_at_cluster(session)) return {Grain::action};
    if (shows_cluster(session)) return {Grain::action, Grain::training_step};
    const bool tape = snapshot.training.step && !snapshot.training.step->nodes.empty(),
               lesson = session.lesson.lesson != nullptr && snapshot.source != Source::training;
    std::vector<Grain> grains;
    const auto add = [&](Grain grain, bool wanted) {
        if (wanted) grains.push_back(grain);
    };
    switch (session.workspace) {
        case Workspace::training:
            add(Grain::node, tape);
            add(Grain::kernel, true);
            add(Grain::training_step, !lesson);
            return grains;
        case Workspace::kernel: {
            const bool own_tape = session.desk.document().is_tape();
            if (session.desk.document().is_program()) {
                add(Grain::cycle, true);
                add(Grain::instruction, true);
                add(Grain::kernel, true);
                add(Grain::call, true);
                return grains;
            }
            add(Grain::node, own_tape && tape);
            add(Grain::kernel, own_tape && tape);
            add(Grain::cycle, !own_tape && (!snapshot.own.run || snapshot.own.run->timed));
            add(Grain::instruction, !own_tape);
            return grains;
        }
        default: {
            const bool learn = session.workspace == Workspace::learn, timed = !(tape && learn && !snapshot.kernel.run);
            add(Grain::cycle, timed);
            add(Grain::instruction, timed);
            add(Grain::node, tape && learn);
            add(Grain::kernel, snapshot.training.step != nullptr);
            add(Grain::training_step, snapshot.training.step && !lesson && !snapshot.tape);
            return grains;
        }
    }
}

namespace {

void move_cycle(const Session& session, Focus& focus, const Snapshot& snapshot, int way, bool far) {
    const KernelTrace* const trace = trace_of(snapshot);
    if (trace == nullptr || trace->cycles <= 0) return;
    const int64_t last = std::max<int64_t>(0, cycles_shown(session, focus, snapshot) - 1);
    focus.time = far ? (way < 0 ? 0 : last) : std::clamp<int64_t>(focus.time + way, 0, last);
}

// The clock follows the instruction, into a stretch that has yet to be fetched where it must.
void clock_to_step(Session& session, Focus& focus, const Snapshot& snapshot, int64_t count) {
    const KernelTrace* const trace = trace_of(snapshot);
    const WarpTrack* const warp = focused_warp(snapshot, focus);
    if (session.sm.wanted.step != session.sm.history_step) session.sm.wanted = {};
    if (const int64_t cycle = cycle_of(snapshot, focus, session.sm.history_step); cycle >= 0) {
        focus.time = cycle;
        session.sm.wanted = {};
    } else if (warp != nullptr && trace->truncated) {
        session.sm.wanted.step = session.sm.history_step;  // known when its stretch has been fetched
        focus.time = look_for(session.sm.wanted, *trace, *warp, count);
    } else if (trace != nullptr && session.sm.history_step + 1 == count && trace->cycles > 0) {
        focus.time = trace->cycles - 1;  // an instruction that faulted was never issued
    }
}

void move_instruction(Session& session, Focus& focus, const Snapshot& snapshot, int way, bool far) {
    const KernelTrace* const trace = trace_of(snapshot);
    const bool by_clock = session.grain != Grain::instruction || session.sm.by_time, on = by_clock && way > 0 && !far;
    const bool kept =
        trace != nullptr && (!trace->truncated || (focus.time >= trace->kept_from && focus.time < trace->kept_until));
    const WarpTrack* const warp = focused_warp(snapshot, focus);
    if (on && kept && session.learn.reveal_steps < 0 && warp && warp->end <= focus.time) {
        const int32_t next = next_in_slot(*trace, focus);
        if (next < 0) return;  // there is no way on from an end
        focus.warp = next;
        set_clock(session, focus, *trace, focus.time);
    }
    session.sm.by_time = false;
    const int64_t count = instructions_of(session, focus, snapshot);
    if (count == 0) return;
    const int64_t next =
        by_clock && !far ? next_by_clock(snapshot, focus, session.sm.history_step, way) : session.sm.history_step + way;
    if (on && next >= count && !open_ended(snapshot, focus)) return;  // it only drains
    session.sm.history_step = far ? (way < 0 ? 0 : count - 1) : std::clamp<int64_t>(next, 0, count - 1);
    if (const simt::WarpHistory* const history = focused_history(snapshot, focus);
        history && session.sm.history_step < static_cast<int64_t>(history->steps.size()))
        focus.pc = static_cast<int32_t>(history->steps[static_cast<size_t>(session.sm.history_step)].pc);
    clock_to_step(session, focus, snapshot, count);
}

void move_node(Session& session, Focus& focus, const Snapshot& snapshot, int way, bool far) {
    if (!snapshot.training.step || snapshot.training.step->nodes.empty()) return;
    const TapePlan tape = plan_tape(*snapshot.training.step);
    const int last = session.learn.reveal_steps >= 0 ? tape.last_forward() : tape.last();
    if (last < 0) return;
    const int at = tape_position(session, focus, tape);
    session.training.tape_at = far ? (way < 0 ? 0 : last) : std::clamp(at + way, 0, last);
    const Moment& moment = tape.moments[static_cast<size_t>(session.training.tape_at)];
    focus.op = moment.node;
    if (focus.launch == moment.launch) return;
    focus.launch = moment.launch;
    if (moment.launch >= 0 && static_cast<size_t>(moment.launch) < snapshot.training.step->launches.size() &&
        snapshot.training.step->launches[static_cast<size_t>(moment.launch)].run)
        session.post(ask::OpenKernel{focus.launch});
}

// Opens a launch of a whole program, the call that asked for it on show.
void go_to_launch(Session& session, const Snapshot& snapshot, int64_t launch) {
    if (launch == snapshot.program.launch) return;
    session.post(ask::OpenLaunch{launch});
    session.program.call = snapshot.program.run->report.launches[static_cast<size_t>(launch)].call;
}

// Looks at a call, and opens what it launched.
void go_to_call(Session& session, const Snapshot& snapshot, int64_t call) {
    const runtime::Report& report = snapshot.program.run->report;
    const runtime::CallSite& site = report.calls[static_cast<size_t>(call)].site;
    session.program.call = call;
    if (site.line > 0 && snapshot.program.run->is_own_line(site.file)) session.program.line = site.line;
    const auto launch = std::lower_bound(report.launches.begin(), report.launches.end(), call,
                                         [](const runtime::LaunchRecord& l, int64_t c) { return l.call < c; });
    if (launch != report.launches.end() && launch->call == call)
        go_to_launch(session, snapshot, launch - report.launches.begin());
}

void move_in_program(Session& session, const Snapshot& snapshot, bool by_call, int way, bool far) {
    if (!snapshot.program.run) return;
    const runtime::Report& report = snapshot.program.run->report;
    const auto count = static_cast<int64_t>(by_call ? report.calls.size() : report.launches.size());
    if (count == 0) return;
    const int64_t at = by_call ? session.program.call : snapshot.program.launch;
    const int64_t wanted = far ? (way < 0 ? 0 : count - 1) : std::clamp<int64_t>(at + way, 0, count - 1);
    by_call ? go_to_call(session, snapshot, wanted) : go_to_launch(session, snapshot, wanted);
}

void move_kernel(Session& session, Focus& focus, const Snapshot& snapshot, int way, bool far) {
    if (shows_program(session)) return move_in_program(session, snapshot, false, way, far);
    if (!snapshot.training.step || snapshot.training.step->launches.empty()) return;
    const auto count = static_cast<int32_t>(snapshot.training.step->launches.size());
    focus.launch = far ? (way < 0 ? 0 : count - 1) : std::clamp(focus.launch + way, 0, count - 1);
    session.post(ask::OpenKernel{focus.launch});
}

void move_training_step(Session& session, const Snapshot& snapshot, int way, bool far) {
    const int64_t shown = snapshot.training.step ? snapshot.training.step->step : -1;
    int64_t newest = shown;
    for (const Curve& curve : snapshot.training.curves)
        newest = std::max(newest, static_cast<int64_t>(curve.loss.size()) - 1);
    if (!far && way > 0 && shown >= newest) return session.post(ask::Train{1});
    session.post(ask::ShowStep{far ? (way < 0 ? 0 : newest) : std::max<int64_t>(0, shown + way)});
}

Position position_in_rows(const Session& session, const scene::FigureTable& table) {
    Position at{.title = rows_shown(table), .last = true};
    if (session.learn.reveal_steps >= 0) {
        at.text = "figures are hidden until you lock an answer";
        return at;
    }
    for (const scene::FigureRow& row : table.rows) at.text += (at.text.empty() ? "" : " · ") + row.name;
    return at;
}

// "step 1,204"; empty: there is none.
std::string step_words(const Snapshot& snapshot) {
    return snapshot.training.step ? "step " + with_commas(snapshot.training.step->step) : "";
}

Position position_on_tape(const Session& session, const Focus& focus, const nn::StepRecord& step) {
    Position at;
    const TapePlan tape = plan_tape(step);
    const int moment = tape_position(session, focus, tape);
    if (moment < 0) return at;
    static constexpr std::string_view kinds[] = {"forward", "backward", "update"};
    const Moment& now = tape.moments[static_cast<size_t>(moment)];
    at.title = step.nodes[static_cast<size_t>(now.node)].name;
    at.text = std::string(kinds[static_cast<size_t>(now.kind)]);
    if (session.learn.reveal_steps < 0)
        at.text += ", moment " + std::to_string(moment + 1) + " of " + std::to_string(tape.moments.size());
    at.share = (moment + 0.5) / static_cast<double>(tape.moments.size());
    at.last = moment == tape.last();
    return at;
}

Position position_in_training(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    if (!snapshot.training.step) return {.title = "no step yet", .text = snapshot.busy};
    if (session.grain == Grain::node && !snapshot.training.step->nodes.empty())
        return position_on_tape(session, focus, *snapshot.training.step);
    Position at;
    const std::string step = step_words(snapshot);
    const auto& launches = snapshot.training.step->launches;
    const auto count = static_cast<int32_t>(launches.size());
    if (session.grain == Grain::kernel && focus.launch >= 0 && focus.launch < count) {
        const auto& launch = launches[static_cast<size_t>(focus.launch)];
        at.title = fmt::format("{}  (kernel {} of {})", launch.label, focus.launch + 1, count);
        at.text = step + (launch.cycles > 0 ? " · " + with_commas(launch.cycles) + " cycles" : "");
        at.share = (focus.launch + 0.5) / static_cast<double>(count);
        at.last = focus.launch + 1 == count;
        return at;
    }
    at.title = snapshot.training.step->model + " on " + snapshot.training.step->device;
    at.text = session.learn.reveal_steps >= 0 ? step : fmt::format("{} · {}", step, counted(count, "kernel"));
    const int64_t total = total_steps(snapshot);
    at.share = total > 1 ? static_cast<double>(snapshot.training.step->step) / static_cast<double>(total - 1) : 0;
    return at;
}

Position position_in_program(const Session& session, const Snapshot& snapshot) {
    const runtime::Report& report = snapshot.program.run->report;
    const bool by_call = session.grain == Grain::call;
    const int64_t at = by_call ? session.program.call : snapshot.program.launch,
                  count = static_cast<int64_t>(by_call ? report.calls.size() : report.launches.size());
    if (at < 0 || at >= count) return {.title = by_call ? "no call is chosen" : "no launch is open", .text = snapshot.busy};
    const auto index = static_cast<size_t>(at);
    const double begin = by_call ? report.calls[index].begin_us : report.launches[index].begin_us;
    const std::string call =
        by_call ? fmt::format("{}  (call {} of {})", report.calls[index].call, with_commas(at + 1), with_commas(count)) : "";
    return {.share = (static_cast<double>(at) + 0.5) / static_cast<double>(count),
            .title = by_call ? call : snapshot.program.run->label_of(at),
            .text = fmt::format("{} of {}", lockstep::time_text(begin), lockstep::time_text(report.total_us)),
            .last = at + 1 == count};
}

// While the rest is hidden the strip does not say how long it is: what is known fills so much of it.
constexpr double hidden_share = 0.72;

Position position_by_instruction(const Session& session, const Focus& focus, const Snapshot& snapshot,
                                 const std::string& time) {
    Position at;
    const int64_t count = instructions_of(session, focus, snapshot), cycles = trace_of(snapshot)->cycles;
    const bool hidden = session.learn.reveal_steps >= 0, open = open_ended(snapshot, focus);
    at.text = "issue " + with_commas(session.sm.history_step + 1) +
              (hidden ? ""
               : open ? " of more than " + with_commas(count - 1)
                      : " of " + with_commas(count)) +
              ", " + time;
    at.last = count > 0 && session.sm.history_step + 1 >= count && !open;
    if (count > 0)
        at.share =
            (static_cast<double>(session.sm.history_step) + 1) / static_cast<double>(count) * (hidden ? hidden_share : 1);
    if (open && !hidden && cycles > 0)
        at.share = static_cast<double>(std::max<int64_t>(0, focus.time)) / static_cast<double>(cycles);
    return at;
}

Position position_by_cycle(const Session& session, const Focus& focus, const Snapshot& snapshot, const std::string& time) {
    Position at;
    const std::string step = step_words(snapshot);
    const auto cycles = static_cast<double>(trace_of(snapshot)->cycles);
    const int64_t shown = cycles_shown(session, focus, snapshot);
    at.text = step.empty() ? time : step + " · " + time;
    at.last = session.grain == Grain::cycle && focus.time + 1 >= shown;
    if (cycles > 0 && focus.time >= 0) at.share = static_cast<double>(focus.time) / cycles;
    if (session.learn.reveal_steps >= 0)
        at.share =
            std::min(at.share * hidden_share * cycles / static_cast<double>(std::max<int64_t>(1, shown)), hidden_share);
    return at;
}

}  // namespace

void scrub_program(Session& session, const Snapshot& snapshot, double share) {
    if (!snapshot.program.run) return;
    const runtime::Report& report = snapshot.program.run->report;
    const bool by_call = session.grain == Grain::call;
    const auto count = static_cast<int64_t>(by_call ? report.calls.size() : report.launches.size());
    if (count == 0) return;
    const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(share * static_cast<double>(count)), 0, count - 1);
    if (by_call && wanted != session.program.call) go_to_call(session, snapshot, wanted);
    if (!by_call) go_to_launch(session, snapshot, wanted);
}

void move(Session& session, Focus& focus, const Snapshot& snapshot, Grain grain, int way, bool far) {
    if (still_rows(session, snapshot) != nullptr) return;
    if (session.workspace == Workspace::build) return move_build(session, snapshot, way, far);
    if (machine_at_cluster(session)) return move_cluster_step(session, snapshot, way, far);
    if (shows_cluster(session)) return move_cluster(session, focus, snapshot, grain, way, far);
    switch (grain) {
        case Grain::action:
            return;
        case Grain::cycle:
            return move_cycle(session, focus, snapshot, way, far);
        case Grain::instruction:
            return move_instruction(session, focus, snapshot, way, far);
        case Grain::node:
            return move_node(session, focus, snapshot, way, far);
        case Grain::kernel:
            return move_kernel(session, focus, snapshot, way, far);
        case Grain::call:
            return move_in_program(session, snapshot, true, way, far);
        case Grain::training_step:
            return move_training_step(session, snapshot, way, far);
    }
}

Position position_of(const Session& session, const Focus& focus, const Snapshot& snapshot) {
    if (const scene::FigureTable* table = still_rows(session, snapshot)) return position_in_rows(session, *table);
    if (sketch_alone(session))
        return {
            .title = "a prediction to draw",
            .text = sketch_is_open(session.lesson) ? "nothing moves until it is answered" : "\"the run\" shows what ran"};
    if (session.workspace == Workspace::build) return position_in_build(session, snapshot);
    if (machine_at_cluster(session)) return position_in_step(session, snapshot);
    if (shows_cluster(session)) return position_in_cluster(session, focus, snapshot);
    const KernelTrace* const trace = trace_of(snapshot);
    const bool own_tape = session.workspace == Workspace::kernel && session.desk.document().is_tape();
    const bool untimed = trace == nullptr && snapshot.training.step && session.workspace == Workspace::learn;
    if (session.workspace == Workspace::training || session.grain == Grain::node || own_tape || untimed)
        return position_in_training(session, focus, snapshot);
    if (shows_program(session) && (session.grain == Grain::kernel || session.grain == Grain::call) && snapshot.program.run)
        return position_in_program(session, snapshot);
    if (trace == nullptr) {
        const std::string refused = session.desk.refused_launch(snapshot);
        const auto& last = snapshot.own.result;
        return {.title = refused.empty()                     ? "no kernel yet"
                         : last->cancelled || last->given_up ? "the run was stopped"
                                                             : "the launch was refused",
                .text = snapshot.busy.empty() ? refused : snapshot.busy};
    }
    Position at{.text = "hidden until you lock your guess"};
    if (!session.roof.guessing()) {  // else how long it takes is what is guessed
        std::string time = focus.time >= 0 ? "cycle " + with_commas(focus.time) : "";
        if (focus.time >= 0 && session.learn.reveal_steps < 0) time += " of " + with_commas(trace->cycles);
        at = session.grain == Grain::instruction ? position_by_instruction(session, focus, snapshot, time)
                                                 : position_by_cycle(session, focus, snapshot, time);
    }
    at.title = snapshot.kernel.label.empty() ? snapshot.kernel.run->program->shown_name() : snapshot.kernel.label;
    return at;
}

}  // namespace lockstep::gui
