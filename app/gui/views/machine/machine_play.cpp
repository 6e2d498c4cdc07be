#include "app/gui/views/machine/machine_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/machine/many/step_way.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

// The next cycle from `cycle` on in which the traced SM issues; the last one where none comes.
int64_t next_issue(const KernelTrace& trace, int64_t cycle) {
    const auto at = std::lower_bound(trace.issues.begin(), trace.issues.end(), cycle,
                                     [](const IssueRecord& issue, int64_t c) { return issue.cycle < c; });
    return at == trace.issues.end() ? trace.cycles - 1 : at->cycle;
}

}  // namespace

bool plays_machine(const Session& session, const Snapshot& snapshot) {
    return session.workspace == Workspace::machine && snapshot.kernel.run && session.grain == Grain::cycle &&
           session.machine.zoom >= static_cast<double>(Stop::gpu) - 0.5;
}

bool play_machine(Session& session, Focus& focus, const Snapshot& snapshot, double seconds) {
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    MachineLook& look = session.machine;
    const double speed = look.speed > 0 ? look.speed : speed_at(look.zoom);
    const double last = std::max(0.0, static_cast<double>(trace.cycles) - 1);
    double clock = look.clock < 0 ? std::max(0.0, static_cast<double>(focus.time)) : look.clock;
    if (static_cast<int64_t>(clock) != std::max<int64_t>(0, focus.time))
        clock = static_cast<double>(focus.time);  // moved elsewhere
    clock += seconds * speed;
    bool goes_on = true;
    if (look.loop_to > look.loop_from && clock >= static_cast<double>(look.loop_to)) {
        const auto from = static_cast<double>(look.loop_from), length = static_cast<double>(look.loop_to - look.loop_from);
        clock = from + std::fmod(clock - from, length);  // also where a frame is longer than the loop
    } else if (look.follow && trace.machine && look.followed >= 0 &&
               look.followed < static_cast<int64_t>(trace.machine->requests.size())) {
        const auto arrives = static_cast<double>(trace.machine->requests[static_cast<size_t>(look.followed)].end());
        if (look.clock < arrives && clock >= arrives) clock = arrives, goes_on = false;
    } else if (look.skip_waits && !trace.truncated) {
        // Where nothing issues before the next frame, the wait is over at once.
        const int64_t next = next_issue(trace, static_cast<int64_t>(clock));
        if (static_cast<double>(next) > clock + 1) clock = static_cast<double>(next);
    }
    if (clock >= last) clock = last, goes_on = false;
    look.clock = clock;
    set_clock(session, focus, trace, static_cast<int64_t>(clock));
    return goes_on;
}

void loop_here(Session& session, const Snapshot& snapshot) {
    MachineLook& look = session.machine;
    if (std::exchange(look.loop_to, -1) > look.loop_from) {
        look.loop_from = -1;
        return;
    }
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    const double speed = look.speed > 0 ? look.speed : speed_at(look.zoom), begin = std::max(0.0, look.clock);
    look.loop_from = static_cast<int64_t>(begin);
    look.loop_to = static_cast<int64_t>(std::min(begin + std::max(2.0, 5 * speed), static_cast<double>(trace.cycles - 1)));
    if (trace.machine && look.followed >= 0 && look.followed < static_cast<int64_t>(trace.machine->requests.size())) {
        const RequestRecord& request = trace.machine->requests[static_cast<size_t>(look.followed)];
        look.loop_from = request.begin;
        look.loop_to = std::min(request.end() + 1, trace.cycles - 1);
    }
    if (look.loop_to <= look.loop_from) look.loop_from = look.loop_to = -1;
}

bool machine_at_cluster(const Session& session) {
    return session.workspace == Workspace::machine && session.machine.zoom < static_cast<double>(Stop::gpu) - 0.5;
}

double cluster_speed(const Session& session, const ClusterStep& step) {
    const double unit = step.unit_us > 0 ? step.unit_us : 1;
    if (session.machine.cluster_speed > 0) return session.machine.cluster_speed / unit;
    // The whole step takes about ten seconds; at a node the clock is a hundred times as slow.
    const double whole = std::log10(std::max(1e-9, step.end) * unit / 10);
    return std::pow(10.0, std::round(whole - 2 * std::clamp(session.machine.zoom, 0.0, 1.0))) / unit;
}

std::vector<SpeedChoice> cluster_speeds(const ClusterStep& step) {
    if (step.unit_us <= 0) return {{"0.1 units a second", 0.1}, {"1", 1}, {"10", 10}};
    const double us = step.end * step.unit_us;
    std::vector<SpeedChoice> choices;
    double from = us >= 5e4 ? 1e3 : std::pow(10.0, std::floor(std::log10(std::max(1e-3, us))) - 3);
    for (int i = 0; i < 4; ++i, from *= 10) {
        const double nano = from * 1e3;
        const std::string text = from >= 1e6   ? fmt::format("{:g} s", from * 1e-6)
                                 : from >= 1e3 ? fmt::format("{:g} ms", from * 1e-3)
                                 : from >= 1   ? fmt::format("{:g} µs", from)
                                               : fmt::format("{:g} ns", nano);
        choices.push_back({i == 0 ? text + " a second" : text, from});
    }
    return choices;
}

bool play_cluster_step(Session& session, const Snapshot& snapshot, double seconds) {
    const auto step = session.cluster_step(snapshot);
    if (!step || !(step->end > 0)) return true;
    const MachineLook& look = session.machine;
    const double speed = cluster_speed(session, *step), before = cluster_time(session, *step);
    double time = before + seconds * speed;
    const StepWay way = way_through(*step, look.packet);
    if (look.follow && !way.empty() && before < way.end && time >= way.end) {  // it is done
        session.cluster.time = way.end;
        return false;
    }
    if (look.skip_waits) {
        // Where the wait goes on until the next frame, it is over at once.
        const double over = wait_over(*step, way, picked_gpu(session, *step), time);
        if (over > time + seconds * speed) time = over;
    }
    session.cluster.time = time >= step->end ? std::fmod(time, step->end) : time;
    return true;
}

void follow_in_step(Session& session, const Snapshot& snapshot) {
    const auto step = session.cluster_step(snapshot);
    if (!step || !step->refusal.empty()) return;
    session.machine.packet = what_to_follow(*step, picked_gpu(session, *step), cluster_time(session, *step));
}

namespace {

std::vector<double> step_beginnings(const ClusterStep& step) {
    std::vector<double> times = {0, step.end};
    for (const StepColumn& column : step.columns)
        for (const StepLane& lane : column.lanes)
            for (const StepSpan& span : lane.spans) times.push_back(span.begin);
    std::sort(times.begin(), times.end());
    return times;
}

}  // namespace

void move_cluster_step(Session& session, const Snapshot& snapshot, int way, bool far) {
    const auto step = session.cluster_step(snapshot);
    if (!step) return;
    const double now = cluster_time(session, *step), least = step->end * 1e-9;
    if (far || way == 0) {
        session.cluster.time = way < 0 ? 0 : way > 0 ? step->end : now;
        return;
    }
    double found = way > 0 ? step->end : 0;
    for (const double time : step_beginnings(*step)) {
        if (way > 0 && time > now + least) found = std::min(found, time);
        if (way < 0 && time < now - least) found = std::max(found, time);
    }
    session.cluster.time = found;
}

void scrub_cluster_step(Session& session, const Snapshot& snapshot, double share) {
    if (const auto step = session.cluster_step(snapshot)) session.cluster.time = step->end * std::clamp(share, 0.0, 1.0);
}

Position position_in_step(const Session& session, const Snapshot& snapshot) {
    const auto step = session.cluster_step(snapshot);
    if (!step || !(step->end > 0)) return {.title = "no step has run", .text = snapshot.busy};
    const double now = cluster_time(session, *step);
    Position at;
    at.share = now / step->end;
    at.last = now >= step->end * (1 - 1e-9);
    at.title = fmt::format("a step of {}", counted(step->gpus(), "GPU"));
    at.text = fmt::format("{} of {}", step_time_text(*step, now), step_time_text(*step, step->end));
    return at;
}

void follow_request(Session& session, const Snapshot& snapshot, int64_t cycle) {
    const MachineScene scene = make_machine_scene(snapshot.kernel.run, session.timeline(snapshot.kernel.run));
    session.machine.followed = request_to_follow(scene, cycle);
}

std::span<const SpeedChoice> speed_choices() {
    static const std::array<SpeedChoice, 7> choices = {
        {{"1 cycle a second", 1}, {"10", 10}, {"100", 100}, {"1 000", 1e3}, {"10^4", 1e4}, {"10^6", 1e6}, {"10^9", 1e9}}};
    return choices;
}

}  // namespace lockstep::gui
