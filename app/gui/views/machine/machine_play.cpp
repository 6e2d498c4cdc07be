#include "app/gui/views/machine/machine_play.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "app/gui/views/machine/machine_view.h"

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
        clock = static_cast<double>(look.loop_from);
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

void follow_request(Session& session, const Snapshot& snapshot, int64_t cycle) {
    const MachineScene scene = make_machine_scene(snapshot.kernel.run, session.timeline(snapshot.kernel.run));
    session.machine.followed = request_to_follow(scene, cycle);
}

std::span<const SpeedChoice> speed_choices() {
    static constexpr std::array<SpeedChoice, 7> choices = {
        {{"1 cycle a second", 1}, {"10", 10}, {"100", 100}, {"1 000", 1e3}, {"10^4", 1e4}, {"10^6", 1e6}, {"10^9", 1e9}}};
    return choices;
}

}  // namespace lockstep::gui
