#include "core/model/launch/recorder.h"

#include <algorithm>
#include <tuple>

namespace lockstep::model {

int32_t Recorder::add_track(uint32_t block, uint32_t warp, uint32_t slot, uint32_t scheduler, int64_t begin,
                            uint64_t issued_before) {
    WarpTrack track;
    track.block = block;
    track.warp_in_block = warp;
    track.slot = static_cast<uint16_t>(slot);
    track.scheduler = static_cast<uint16_t>(scheduler);
    track.begin = begin;
    track.issued_before = issued_before;
    track.end = begin;
    trace.warps.push_back(std::move(track));
    return static_cast<int32_t>(trace.warps.size() - 1);
}

void Recorder::add_issue(int32_t track, int64_t number, const IssueRecord& issue) {
    if (trace.issues.empty()) first_ = number;
    const auto index = static_cast<uint32_t>(trace.issues.size());
    trace.issues.push_back(issue);
    trace.warps[static_cast<size_t>(track)].issues.push_back(index);
}

void Recorder::add_run(int32_t track, StallRun run, int64_t cause) {
    ++runs_;
    run.cause = cause < 0 || cause < first_ ? -1 : static_cast<int32_t>(cause - first_);
    trace.warps[static_cast<size_t>(track)].runs.push_back(run);
}

int64_t Recorder::add_block(const BlockRun& block) {
    if (!on_) return -1;
    if (trace.blocks.size() >= limit_) {
        blocks_cut_ = true;
        return -1;
    }
    trace.blocks.push_back(block);
    return static_cast<int64_t>(trace.blocks.size() - 1);
}

KernelTrace Recorder::finish(int64_t cycles, bool faulted) {
    trace.cycles = cycles;
    trace.overview = overview.finish(cycles);
    if (!trace.truncated) trace.kept_until = cycles;
    if (machine) trace.machine = std::make_shared<const MachineTrace>(machine->finish(cycles, first_, trace.issues.size()));
    for (WarpTrack& track : trace.warps) {
        if (!trace.truncated) break;
        if (track.end == track.begin || track.end > trace.kept_until) track.end = std::max(track.begin, trace.kept_until);
        while (!track.runs.empty() && track.runs.back().begin >= track.end) track.runs.pop_back();
        if (!track.runs.empty()) track.runs.back().end = std::min(track.runs.back().end, track.end);
    }
    trace.truncated |= blocks_cut_;
    std::sort(trace.blocks.begin(), trace.blocks.end(), [](const BlockRun& a, const BlockRun& b) {
        return std::tie(a.begin, a.sm, a.slot) < std::tie(b.begin, b.sm, b.slot);
    });
    if (!faulted) return std::move(trace);
    std::erase_if(trace.blocks, [&](const BlockRun& block) { return block.begin >= cycles; });
    for (BlockRun& block : trace.blocks) block.end = std::min(block.end, cycles);
    if (trace.truncated) {
        trace.kept_until = std::min(trace.kept_until, cycles);
        return std::move(trace);
    }
    return stretch_of(trace, 0, cycles);
}

}  // namespace lockstep::model
