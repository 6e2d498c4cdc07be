#include "app/gui/views/build/build_play.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/build/build_data.h"
#include "core/trace/machine_trace.h"

namespace lockstep::gui {
namespace {

// The share of the design's whole time that a cycle of its longest kernel stands at.
double share_of_cycle(const BuiltDesign& design, double cycle) {
    const size_t kernel = design.longest();
    const double length = design.kernels[kernel].time_us / design.time_us;
    return design.share_before(kernel) +
           length * cycle / static_cast<double>(std::max<int64_t>(1, design.run->result.cycles));
}

}  // namespace

double exact_cycle(const BuildDesk& desk, const BuiltDesign& design) {
    const size_t kernel = design.longest();
    const double length = design.kernels[kernel].time_us / design.time_us;
    return (desk.at - design.share_before(kernel)) / std::max(1e-12, length) *
           static_cast<double>(design.run->result.cycles);
}

const BuiltDesign* playing_design(const Session& session, const Snapshot& snapshot) {
    const BuiltDesign* const shown = shown_design(session, snapshot);
    return shown != nullptr && shown->ran() && shown->run && shown->time_us > 0 && !shown->kernels.empty() ? shown : nullptr;
}

PlayedStretch played_stretch(const BuiltDesign& design) {
    const KernelTrace& trace = design.run->result.trace;
    PlayedStretch stretch{0, std::max<int64_t>(1, trace.cycles)};
    if (trace.truncated) stretch = {trace.kept_from, std::max(trace.kept_from + 1, trace.kept_until)};
    if (trace.machine && trace.machine->issues_until > trace.machine->issues_from) {
        stretch.begin = std::max(stretch.begin, trace.machine->issues_from);
        stretch.end = std::max(stretch.begin + 1, std::min(stretch.end, trace.machine->issues_until));
    }
    // A launch begins with cycles in which nothing happens.
    if (!trace.issues.empty() && trace.issues.front().cycle < stretch.end)
        stretch.begin = std::max(stretch.begin, trace.issues.front().cycle);
    return stretch;
}

void play_build(Session& session, const Snapshot& snapshot, double seconds) {
    const BuiltDesign* const design = playing_design(session, snapshot);
    if (design == nullptr) return;
    BuildDesk& desk = session.build;
    const PlayedStretch stretch = played_stretch(*design);
    const auto begin = static_cast<double>(stretch.begin), end = static_cast<double>(stretch.end);
    double cycle = desk.at < 0 ? begin + (end - begin) / 4 : exact_cycle(desk, *design) + seconds * desk.speed;
    if (!(cycle >= begin) || cycle >= end) cycle = begin;  // round again
    desk.at = share_of_cycle(*design, cycle);
}

void move_build(Session& session, const Snapshot& snapshot, int way, bool far) {
    const BuiltDesign* const design = playing_design(session, snapshot);
    if (design == nullptr) return;
    BuildDesk& desk = session.build;
    const int64_t last = std::max<int64_t>(0, design->run->result.cycles - 1);
    const int64_t now = desk.at < 0 ? played_stretch(*design).begin : std::max<int64_t>(0, cycle_on_die(desk, *design));
    const int64_t wanted = far ? (way < 0 ? 0 : last) : std::clamp<int64_t>(now + way, 0, last);
    desk.at = share_of_cycle(*design, static_cast<double>(wanted) + 0.5);
}

Position position_in_build(const Session& session, const Snapshot& snapshot) {
    const BuildDesk& desk = session.build;
    Position at{.title = desk.title(snapshot), .text = desk.position(snapshot), .last = false};
    const BuiltDesign* const design = playing_design(session, snapshot);
    if (design == nullptr || desk.at < 0) return at;
    at.share = desk.at;
    if (const int64_t cycle = cycle_on_die(desk, *design); cycle >= 0) {
        const std::string of = fmt::format("cycle {} of {}", with_commas(cycle), with_commas(design->run->result.cycles));
        at.text = design->kernels.size() > 1 ? of + " of " + design->kernels[design->longest()].label : of;
    } else {
        at.text = fmt::format("{} of {}, shares only", time_text(desk.at * design->time_us), time_text(design->time_us));
    }
    return at;
}

}  // namespace lockstep::gui
