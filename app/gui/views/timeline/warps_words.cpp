#include "app/gui/views/timeline/warps_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/view.h"
#include "app/gui/views/sm/block_facts.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "core/base/units.h"
#include "core/model/sample/sampling.h"

namespace lockstep::gui {

std::string caption_of(const Timeline& timeline, const WindowSums& sums, const Focus& focus, int64_t hidden_from, bool whole,
                       bool cut) {
    if (hidden_from != INT64_MAX)
        return fmt::format("Cycles from {} on stay hidden until you lock an answer.", with_commas(hidden_from));
    const auto cycles = sums.end - sums.begin;
    const double rate = static_cast<double>(sums.all_issued()) /
                        static_cast<double>(std::max<int64_t>(1, cycles * static_cast<int64_t>(sums.issued.size())));
    if (cycles <= 0) return "These cycles are known from afar only: which state took most of each stretch.";
    std::string_view of = whole ? "Whole kernel: " : "";
    if (whole && timeline.trace().truncated) of = "All cycles kept in full: ";
    if (!whole && cut) of = "In the cycles kept in full, ";
    if (timeline.run->result.fault && sums.end >= timeline.cycles)
        return fmt::format("{}. {} of {} issue slots used until then.", stop_sentence(*timeline.run),
                           with_commas(sums.all_issued()), with_commas(sums.issue_slots));
    std::string text = fmt::format("{}{} of {} issue slots used, {:.2f} per scheduler and cycle.", of,
                                   with_commas(sums.all_issued()), with_commas(sums.issue_slots), rate);
    if (const auto& sampling = timeline.run->result.sampling)
        text += fmt::format(" Sampled: these {} stand for {}, in which all blocks run.",
                            counted(sampling->shown_cycles, "cycle"), with_commas(timeline.run->result.cycles));
    if (focus.time < 0) return text;
    const auto counts = states_at(timeline, focus.time);
    const auto best = std::max_element(counts.begin() + 2, counts.end());  // waits: neither issued nor ready
    int resident = 0;
    for (int c : counts) resident += c;
    if (resident == 0) return text + fmt::format(" At {} no warp is resident.", with_commas(focus.time));
    if (*best == 0) return text + fmt::format(" At {} no resident warp has to wait.", with_commas(focus.time));
    std::string doing(code_of(static_cast<StallReason>(best - counts.begin())).doing);
    if (*best == 1) doing.insert(std::min(doing.find(' '), doing.size()), "s");
    const std::string who =
        *best == resident && resident > 1 ? fmt::format("all {}", resident) : fmt::format("{} of {}", *best, resident);
    return text + fmt::format(" At {}, {} warps {}.", with_commas(focus.time), who, doing);
}

std::pair<int64_t, int64_t> span_of(int64_t begin, int64_t end, const Timeline& timeline) {
    const KernelTrace& trace = timeline.trace();
    if (!trace.truncated) return {begin, end};
    begin = std::clamp(begin, trace.kept_from, trace.kept_until);
    return {begin, std::clamp(end, begin, trace.kept_until)};
}

std::string slots_of(const WindowSums& sums) {
    const int64_t slots = sums.slot_cycles / std::max<int64_t>(1, sums.end - sums.begin);
    return fmt::format("{} warp slot{}", slots, slots == 1 ? "" : "s");
}

std::string length_of(const StallRun& stall, const Wait& wait) {
    const int64_t here = stall.end - stall.begin, all = wait.end - wait.begin;
    if (here == all) return counted(here, "cycle");
    return fmt::format("{} of the {} since what it waits for issued", with_commas(here), counted(all, "cycle"));
}

bool idle_sm(const Snapshot& snapshot) {
    if (!snapshot.kernel.run) return false;
    const KernelTrace& trace = snapshot.kernel.run->result.trace;
    return !trace.blocks.empty() && std::none_of(trace.blocks.begin(), trace.blocks.end(),
                                                 [&](const BlockRun& block) { return block.sm == trace.sm; });
}

std::string nothing_of(const Snapshot& snapshot) {
    if (!snapshot.kernel.run) return "No kernel has run yet.";
    if (idle_sm(snapshot)) return fmt::format("No block of this kernel ran on SM {}.", snapshot.kernel.run->result.trace.sm);
    return "This kernel was run without a trace of its warps.";
}

std::string idle_text(const KernelTrace& trace, int64_t begin, int64_t end) {
    int64_t last = -1, next = INT64_MAX;
    const BlockRun* other = nullptr;
    for (const BlockRun& block : trace.blocks) {
        if (block.sm != trace.sm) {
            if (block.begin < end && block.end > begin && (!other || block.end > other->end)) other = &block;
        } else if (block.end <= begin) {
            last = std::max(last, block.end);
        } else {
            next = std::min(next, block.begin);
        }
    }
    std::string text = next != INT64_MAX && last >= 0 ? fmt::format("SM {} had a block until {} and gets the next at {}",
                                                                    trace.sm, with_commas(last), with_commas(next))
                       : next != INT64_MAX ? fmt::format("SM {} gets its first block at {}", trace.sm, with_commas(next))
                                           : fmt::format("SM {} had its last block until {}", trace.sm, with_commas(last));
    return text + (other ? fmt::format("; SM {} still runs.", other->sm) : ".");
}

}  // namespace lockstep::gui
