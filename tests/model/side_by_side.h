// One launch on the plain SM and on the fast one: where they first differ, in a sentence.
#pragma once
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/model/launch/packed.h"
#include "core/model/plain/plain_sm.h"

namespace lockstep::model::test {

// A warp's life cycle by cycle, from the runs and issues that the trace has.
inline std::vector<PlainCycle> cycles_of(const KernelTrace& trace, const WarpTrack& track) {
    std::vector<PlainCycle> cycles(static_cast<size_t>(track.end - track.begin));
    const auto at = [&](int64_t cycle) -> PlainCycle& { return cycles.at(static_cast<size_t>(cycle - track.begin)); };
    for (const StallRun& run : track.runs)
        for (int64_t cycle = run.begin; cycle < run.end; ++cycle) at(cycle) = {run.reason, run.pc, run.cause};
    for (auto i = track.issues.rbegin(); i != track.issues.rend(); ++i) {  // of two in one cycle the first one stays
        const IssueRecord& issue = trace.issues[*i];
        if (!issue.folded) at(issue.cycle) = {StallReason::selected, issue.pc, -1};
    }
    return cycles;
}

inline std::string in_words(const PlainCycle& cycle) {
    return fmt::format("{} at pc {} for issue {}", row_of(cycle.reason).name, cycle.pc, cycle.cause);
}

inline std::string difference_of_issues(const std::vector<IssueRecord>& plain, const std::vector<IssueRecord>& fast) {
    const auto all_of = [](const IssueRecord& i) {
        return fmt::format("cycle {} warp {} pc {} ready {} lanes {:x} level {} sectors {} passes {} folded {} early {}",
                           i.cycle, i.warp, i.pc, i.ready, i.active, level_name(i.level), i.sectors, i.passes, i.folded,
                           i.early);
    };
    for (size_t i = 0; i < std::min(plain.size(), fast.size()); ++i)
        if (all_of(plain[i]) != all_of(fast[i]))
            return fmt::format("issue {}: {} on the plain SM, {}", i, all_of(plain[i]), all_of(fast[i]));
    return plain.size() == fast.size() ? "" : fmt::format("{} issues on the plain SM, {}", plain.size(), fast.size());
}

inline std::string difference_of_warps(const std::vector<PlainTrack>& plain, const KernelTrace& fast) {
    if (plain.size() != fast.warps.size()) return fmt::format("{} warps, {}", plain.size(), fast.warps.size());
    for (size_t w = 0; w < plain.size(); ++w) {
        const PlainTrack& here = plain[w];
        const WarpTrack& there = fast.warps[w];
        const std::vector<PlainCycle> cycles = cycles_of(fast, there);
        for (size_t c = 0; c < std::min(cycles.size(), here.cycles.size()); ++c)
            if (here.cycles[c] != cycles[c])
                return fmt::format("warp {} in cycle {}: {} on the plain SM, {}", w, here.begin + static_cast<int64_t>(c),
                                   in_words(here.cycles[c]), in_words(cycles[c]));
        if (cycles.size() != here.cycles.size() || here.begin != there.begin || here.block != there.block ||
            here.warp_in_block != there.warp_in_block || here.slot != there.slot)
            return fmt::format("warp {}: another life", w);
    }
    return "";
}

struct Launch {
    simt::LaunchConfig config;
    simt::Memory memory;
    std::vector<std::pair<uint64_t, uint64_t>> buffers;  // address and bytes of all that it may write
};

// "" where the plain SM and the fast one, traced and untraced, with and without running ahead, exact and not, on one thread
// and on three, and with packed registers where nobody looks, agree in cycles, in every issue, in what every warp did in
// every cycle and in what they leave in memory.
inline std::string difference(const GpuSpec& gpu, const ptx::Program& program, const Launch& it, TimedOptions options = {}) {
    simt::Memory plain_memory = it.memory;
    const PlainResult plain = plain_launch(gpu, program, it.config, plain_memory, options);
    for (const bool trace : {true, false})
        for (const char* const ahead :
             {"step by step", "ahead", "ahead and exact", "on three threads", "packed", "packed, step by step"}) {
            const bool packed = std::string_view(ahead).starts_with("packed");
            if (trace && packed) continue;
            options.trace = trace;
            options.run_ahead = !std::string_view(ahead).ends_with("step by step");
            options.exact = std::string_view(ahead) == "ahead and exact";
            const bool threads = std::string_view(ahead) == "on three threads";
            options.threads = threads ? 3 : 1;
            options.alone = threads ? 0 : 1 << 15;
            simt::Memory fast_memory = it.memory;
            const TimedResult fast =
                launch(gpu, program, it.config, fast_memory, options, packed ? Pack::everywhere : Pack::nowhere);
            const std::string how = fmt::format("{}, {}: ", trace ? "traced" : "untraced", ahead);
            if (plain.fault || fast.fault) {
                const std::string here = plain.fault ? simt::render(*plain.fault) : "no fault";
                const std::string there = fast.fault ? simt::render(*fast.fault) : "no fault";
                if (here != there) return how + here + " on the plain SM, " + there;
                continue;
            }
            if (trace) {
                if (const auto found = difference_of_issues(plain.issues, fast.trace.issues); !found.empty())
                    return how + found;
                if (const auto found = difference_of_warps(plain.warps, fast.trace); !found.empty()) return how + found;
            }
            if (plain.cycles != fast.cycles)
                return how + fmt::format("{} cycles on the plain SM, {}", plain.cycles, fast.cycles);
            for (size_t pc = 0; pc < program.instructions.size(); ++pc)
                for (size_t reason = 0; reason < static_cast<size_t>(StallReason::count); ++reason)
                    if (plain.states[pc][reason] != fast.instructions[pc].stalls[reason])
                        return how + fmt::format("pc {}: {} cycles of {} on the plain SM, {}", pc, plain.states[pc][reason],
                                                 stall_reasons()[reason].name, fast.instructions[pc].stalls[reason]);
            for (const auto& [address, bytes] : it.buffers)
                if (std::memcmp(plain_memory.read(address, bytes), fast_memory.read(address, bytes), bytes) != 0)
                    return how + "other values in memory";
        }
    return "";
}

}  // namespace lockstep::model::test
