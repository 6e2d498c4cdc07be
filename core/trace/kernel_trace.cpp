#include "core/trace/kernel_trace.h"

#include <algorithm>

#include "core/trace/machine_trace.h"

namespace lockstep {

std::string_view level_name(MemoryLevel level) {
    static constexpr std::string_view names[] = {"none", "constant", "shared", "l1", "l2", "dram"};
    return names[static_cast<size_t>(level)];
}

uint64_t bytes_of(const KernelTrace& trace) {
    const auto bytes = [](const auto& rows) { return rows.capacity() * sizeof(rows[0]); };
    uint64_t sum = bytes(trace.warps) + bytes(trace.issues) + bytes(trace.blocks) + bytes(trace.overview.cycles);
    for (const WarpTrack& warp : trace.warps) sum += bytes(warp.runs) + bytes(warp.issues);
    for (const Overview::Level& level : trace.overview.levels) sum += bytes(level.states) + bytes(level.issued);
    return sum + (trace.machine ? bytes_of(*trace.machine) : 0);
}

KernelTrace stretch_of(const KernelTrace& trace, int64_t begin, int64_t end) {
    if (trace.truncated) {
        begin = std::max(begin, trace.kept_from);
        end = std::max(begin, std::min(end, trace.kept_until));
    }
    const auto within = [&](const StallRun& run) { return run.begin < end && run.end > begin; };
    const auto has_cause = [&](const StallRun& run) {
        return run.cause >= 0 && static_cast<size_t>(run.cause) < trace.issues.size();
    };
    std::vector<bool> issue_kept(trace.issues.size()), warp_kept(trace.warps.size());
    for (size_t i = 0; i < trace.issues.size(); ++i)
        issue_kept[i] = trace.issues[i].cycle >= begin && trace.issues[i].cycle < end;
    for (size_t w = 0; w < trace.warps.size(); ++w) {
        const WarpTrack& warp = trace.warps[w];
        if (warp.begin >= end || warp.end <= begin) continue;
        warp_kept[w] = true;
        for (const StallRun& run : warp.runs)
            if (within(run) && has_cause(run)) {
                const auto cause = static_cast<size_t>(run.cause);
                issue_kept[cause] = true;
                warp_kept[trace.issues[cause].warp] = true;
            }
    }
    KernelTrace cut;
    cut.sm = trace.sm;
    cut.schedulers = trace.schedulers;
    cut.issue_width = trace.issue_width;
    cut.warp_slots = trace.warp_slots;
    cut.block_slots = trace.block_slots;
    cut.cycles = trace.cycles;
    cut.blocks = trace.blocks;
    cut.overview = trace.overview;
    cut.truncated = begin > 0 || end < trace.cycles;
    cut.kept_from = begin;
    cut.kept_until = end;
    std::vector<uint32_t> warp_at(trace.warps.size()), issue_at(trace.issues.size());
    for (size_t w = 0; w < trace.warps.size(); ++w) {
        warp_at[w] = static_cast<uint32_t>(cut.warps.size());
        if (!warp_kept[w]) continue;
        WarpTrack track = trace.warps[w];
        track.begin = std::clamp(track.begin, begin, end);
        track.end = std::clamp(track.end, begin, end);
        track.runs.clear();
        track.issues.clear();
        for (const uint32_t i : trace.warps[w].issues) track.issued_before += trace.issues[i].cycle < begin;
        cut.warps.push_back(std::move(track));
    }
    for (size_t i = 0; i < trace.issues.size(); ++i) {
        if (!issue_kept[i]) continue;
        issue_at[i] = static_cast<uint32_t>(cut.issues.size());
        IssueRecord issue = trace.issues[i];
        issue.warp = warp_at[issue.warp];
        if (issue.cycle >= begin && issue.cycle < end) cut.warps[issue.warp].issues.push_back(issue_at[i]);
        cut.issues.push_back(issue);
    }
    for (size_t w = 0; w < trace.warps.size(); ++w) {
        if (!warp_kept[w]) continue;
        for (StallRun run : trace.warps[w].runs) {
            if (!within(run)) continue;
            run.begin = std::max(run.begin, begin);
            run.end = std::min(run.end, end);
            run.cause = has_cause(run) ? static_cast<int32_t>(issue_at[static_cast<size_t>(run.cause)]) : -1;
            cut.warps[warp_at[w]].runs.push_back(run);
        }
    }
    if (trace.machine) {
        std::vector<int64_t> to(trace.issues.size(), -1);
        for (size_t i = 0; i < to.size(); ++i)
            if (issue_kept[i]) to[i] = issue_at[i];
        cut.machine = std::make_shared<const MachineTrace>(stretch_of(*trace.machine, begin, end, to));
    }
    return cut;
}

}  // namespace lockstep
