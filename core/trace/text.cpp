#include "core/trace/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace lockstep {

std::string format_text(const Trace& trace) {
    std::string out = fmt::format("time {}\n", trace.time_unit);
    auto to = std::back_inserter(out);
    for (size_t i = 0; i < trace.tracks.size(); ++i) {
        fmt::format_to(to, "track {} {}", i, trace.tracks[i].name);
        if (trace.tracks[i].parent >= 0) fmt::format_to(to, " in {}", trace.tracks[i].parent);
        out += '\n';
    }
    for (const TraceSpan& s : trace.spans) fmt::format_to(to, "span {} {}..{} {}\n", s.track, s.begin, s.end, s.name);
    for (const TraceCounter& c : trace.counters) fmt::format_to(to, "counter {} {} {}\n", c.track, c.time, c.value);
    for (const TraceArrow& a : trace.arrows) fmt::format_to(to, "arrow {} -> {}\n", a.from_span, a.to_span);
    return out;
}

std::string format_text(const KernelTrace& trace, size_t warps) {
    std::string out = fmt::format("sm {} cycles {}\n", trace.sm, trace.cycles);
    auto to = std::back_inserter(out);
    if (trace.truncated && trace.kept_from != 0) fmt::format_to(to, "kept from {}\n", trace.kept_from);
    if (trace.truncated) fmt::format_to(to, "kept until {}\n", trace.kept_until);
    for (const BlockRun& b : trace.blocks)
        fmt::format_to(to, "block {} sm {} slot {} {}..{}\n", b.block, b.sm, b.slot, b.begin, b.end);
    for (size_t w = 0; w < std::min(warps, trace.warps.size()); ++w) {
        const WarpTrack& track = trace.warps[w];
        fmt::format_to(to, "warp {} of block {} slot {} scheduler {} {}..{}\n", track.warp_in_block, track.block, track.slot,
                       track.scheduler, track.begin, track.end);
        size_t run = 0;
        const auto write_runs = [&](int64_t until) {
            for (; run < track.runs.size() && track.runs[run].begin < until; ++run) {
                const StallRun& r = track.runs[run];
                fmt::format_to(to, "  {}..{} {} pc {}", r.begin, r.end, row_of(r.reason).name, r.pc);
                if (r.cause >= 0 && static_cast<size_t>(r.cause) < trace.issues.size())
                    fmt::format_to(to, " <- pc {}", trace.issues[static_cast<size_t>(r.cause)].pc);
                out += '\n';
            }
        };
        for (const uint32_t index : track.issues) {
            const IssueRecord& issue = trace.issues[index];
            write_runs(issue.cycle);
            fmt::format_to(to, "  {} issue pc {} lanes {}", issue.cycle, issue.pc, __builtin_popcount(issue.active));
            if (issue.level != MemoryLevel::none) fmt::format_to(to, " {}", level_name(issue.level));
            if (issue.folded) fmt::format_to(to, " folded");
            if (issue.early != 0) fmt::format_to(to, " sent {}", issue.sent());
            if (issue.sectors != 0) fmt::format_to(to, " sectors {}", issue.sectors);
            if (issue.passes != 0) fmt::format_to(to, " passes {}", issue.passes);
            out += '\n';
        }
        write_runs(trace.cycles + 1);
    }
    return out;
}

}  // namespace lockstep
