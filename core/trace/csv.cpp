#include "core/trace/csv.h"

#include <fmt/format.h>

#include <iterator>
#include <ostream>

namespace lockstep {
namespace {

// RFC 4180: in quotes, with quotes doubled.
std::string quoted(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"') out += '"';
        out += c;
    }
    return out + '"';
}

}  // namespace

void write_csv(const KernelTrace& trace, std::ostream& out, const std::function<std::string(uint32_t pc)>& name_of) {
    out << "event,sm,warp_slot,scheduler,block,warp_in_block,begin_cycle,end_cycle,state,pc,instruction,lanes,ready_cycle,"
           "memory_level,sectors_32_bytes,shared_passes,waits_for_pc,waits_for_cycle,sent_cycle\n";
    const auto text = [&](uint32_t pc) { return quoted(name_of ? name_of(pc) : "instruction " + std::to_string(pc)); };
    for (const WarpTrack& warp : trace.warps) {
        const std::string who =
            fmt::format("{},{},{},{},{}", trace.sm, warp.slot, warp.scheduler, warp.block, warp.warp_in_block);
        size_t run = 0;
        const auto write_waits = [&](int64_t until) {
            for (; run < warp.runs.size() && warp.runs[run].begin < until; ++run) {
                const StallRun& r = warp.runs[run];
                std::string cause = ",";
                if (r.cause >= 0 && static_cast<size_t>(r.cause) < trace.issues.size()) {
                    const IssueRecord& issue = trace.issues[static_cast<size_t>(r.cause)];
                    cause = fmt::format("{},{}", issue.pc, issue.cycle);
                }
                out << fmt::format("wait,{},{},{},{},{},{},,,,,,{},\n", who, r.begin, r.end, row_of(r.reason).name, r.pc,
                                   text(r.pc), cause);
            }
        };
        for (const uint32_t index : warp.issues) {
            const IssueRecord& i = trace.issues[index];
            write_waits(i.cycle);
            // What ptxas folds into another instruction takes no issue slot and no time.
            out << fmt::format("issue,{},{},{},{},{},{},{},{},{},{},{},,,{}\n", who, i.cycle, i.cycle + (i.folded ? 0 : 1),
                               i.folded ? "folded" : "selected", i.pc, text(i.pc), __builtin_popcount(i.active), i.ready,
                               i.level != MemoryLevel::none ? level_name(i.level) : "",
                               i.sectors != 0 ? std::to_string(i.sectors) : "",
                               i.passes != 0 ? std::to_string(i.passes) : "", i.sent());
        }
        write_waits(INT64_MAX);
    }
}

void write_csv(const Trace& trace, std::ostream& out) {
    const auto name_of = [&](int track) {
        return track < 0 || static_cast<size_t>(track) >= trace.tracks.size()
                   ? std::string()
                   : quoted(trace.tracks[static_cast<size_t>(track)].name);
    };
    out << fmt::format("track,within,begin_{0},end_{0},name\n", trace.time_unit);
    for (const TraceSpan& span : trace.spans) {
        const bool known = span.track >= 0 && static_cast<size_t>(span.track) < trace.tracks.size();
        const int parent = known ? trace.tracks[static_cast<size_t>(span.track)].parent : -1;
        out << fmt::format("{},{},{},{},{}\n", name_of(span.track), name_of(parent), span.begin, span.end,
                           quoted(span.name));
    }
}

}  // namespace lockstep
