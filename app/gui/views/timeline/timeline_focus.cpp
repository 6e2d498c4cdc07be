// Which warp and moment the views look at: a first look, the clock and the instruction together, what a prediction hides.
#include <algorithm>
#include <cmath>

#include "app/gui/views/timeline/timeline_data.h"
#include "core/ptx/decode/program.h"

namespace lockstep::gui {

int32_t line_of_pc(const ptx::Program& program, uint32_t pc) {
    for (uint32_t i = pc + 1; i-- > 0;)
        if (i < program.instructions.size() && program.instructions[i].line > 0) return program.instructions[i].line;
    return -1;
}

int64_t focus_first(const Timeline& timeline, Focus& focus, int64_t window) {
    const KernelTrace& trace = timeline.trace();
    if (trace.warps.empty()) return 0;
    window = std::clamp<int64_t>(window, 1, std::max<int64_t>(1, timeline.cycles));
    // The entropy of the warps' states: high where issues and waits of many kinds meet.
    int64_t begin = 0;
    double most = -1;
    const Level* level = level_for(timeline, static_cast<double>(window) / 4);
    for (int64_t t = 0; level && t + window <= timeline.cycles; t += std::max<int64_t>(level->bucket, window / 4)) {
        StateCounts sum{};
        double all = 0, entropy = 0;
        for (int64_t i = t / level->bucket;
             i < std::min<int64_t>((t + window) / level->bucket, static_cast<int64_t>(level->totals.size())); ++i)
            for (size_t s = 0; s < state_count; ++s) sum[s] += level->totals[static_cast<size_t>(i)][s];
        for (const uint64_t count : sum) all += static_cast<double>(count);
        for (const uint64_t count : sum)
            if (const double share = static_cast<double>(count) / all; count > 0) entropy -= share * std::log2(share);
        if (sum[0] > 0 && entropy > most) {
            most = entropy;
            begin = t;
        }
    }
    const int64_t end = begin + window;
    uint32_t best_warp = 0;
    int64_t best_length = 0, best_time = std::clamp(trace.warps[0].begin, begin, end - 1);
    for (uint32_t w = 0; w < trace.warps.size(); ++w)
        for (const StallRun& run : runs_in(trace.warps[w], begin, end)) {
            if (run.cause < 0 || trace.issues[static_cast<size_t>(run.cause)].cycle < begin) continue;
            if (trace.issues[static_cast<size_t>(run.cause)].cycle >= run.begin) continue;
            const int64_t length = std::min(run.end, end) - run.begin;
            if (length <= best_length) continue;
            best_length = length;
            best_warp = w;
            best_time = run.begin + length / 2;
        }
    const WarpState state = state_at(trace, trace.warps[best_warp], best_time);
    focus.warp = static_cast<int32_t>(best_warp);
    focus.block = static_cast<int32_t>(trace.warps[best_warp].block);
    focus.sm = static_cast<int32_t>(trace.sm);
    focus.time = best_time;
    if (timeline.run->program && state.resident && state.pc() < timeline.run->program->instructions.size()) {
        focus.pc = static_cast<int32_t>(state.pc());
        focus.line = line_of_pc(*timeline.run->program, state.pc());
    }
    return begin;
}

void set_clock(Session& session, Focus& focus, const KernelTrace& trace, int64_t cycle) {
    focus.time = cycle;
    session.sm.wanted = {};
    session.sm.by_time = session.grain == Grain::instruction;  // the next step goes on from here
    if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return;
    const WarpTrack& warp = trace.warps[static_cast<size_t>(focus.warp)];
    const bool goes_on = trace.truncated && warp.end >= trace.kept_until;
    const auto held = static_cast<int64_t>(warp.issued_before + warp.issues.size());
    if (held > 0)
        session.sm.history_step = std::clamp<int64_t>(issues_before(trace, warp, cycle), 0, held - (goes_on ? 0 : 1));
}

void focus_on(Session& session, Focus& focus, const Timeline& timeline, uint32_t warp, int64_t cycle) {
    const KernelTrace& trace = timeline.trace();
    const WarpTrack& track = trace.warps[warp];
    const WarpState state = state_at(trace, track, cycle);
    focus.warp = static_cast<int32_t>(warp);
    focus.block = static_cast<int32_t>(track.block);
    focus.sm = static_cast<int32_t>(trace.sm);
    set_clock(session, focus, trace, cycle);
    if (state.resident && timeline.run->program && state.pc() < timeline.run->program->instructions.size()) {
        focus.pc = static_cast<int32_t>(state.pc());
        focus.line = line_of_pc(*timeline.run->program, state.pc());
    }
}

void FocusFollower::follow(const Timeline& timeline, Focus& focus) {
    const bool moved = focus.time != time || focus.warp != warp || timeline.run.get() != run;
    time = focus.time;
    warp = focus.warp;
    run = timeline.run.get();
    const KernelTrace& trace = timeline.trace();
    if (!moved || warp < 0 || warp >= static_cast<int32_t>(trace.warps.size()) || time < 0) return;
    const WarpTrack& track = trace.warps[static_cast<size_t>(warp)];
    focus.block = static_cast<int32_t>(track.block);
    const WarpState state = state_at(trace, track, time);
    if (time >= track.end && !trace.truncated) focus.pc = focus.line = -1;  // it has ended: no instruction is its next
    if (!state.resident || !timeline.run->program || state.pc() >= timeline.run->program->instructions.size()) return;
    focus.pc = static_cast<int32_t>(state.pc());
    focus.line = line_of_pc(*timeline.run->program, state.pc());
}

int64_t revealed_until(const Session& session, const Focus& focus, const KernelTrace& trace) {
    if (session.learn.reveal_steps < 0) return INT64_MAX;
    if (focus.warp < 0 || focus.warp >= static_cast<int32_t>(trace.warps.size())) return 0;
    const auto& issues = trace.warps[static_cast<size_t>(focus.warp)].issues;
    const auto last = std::min<int64_t>(session.learn.reveal_steps, static_cast<int64_t>(issues.size())) - 1;
    return last < 0 ? 0 : trace.issues[issues[static_cast<size_t>(last)]].cycle + 1;
}

}  // namespace lockstep::gui
