// What a report says of a sampled launch.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/units.h"
#include "core/model/launch/launch.h"
#include "core/model/sample/sampling.h"

namespace lockstep::model {

int64_t shown_cycles(const TimedResult& result) {
    return result.sampling ? result.sampling->shown_cycles : result.cycles;
}

std::string words_of(const Sampling& s) {
    uint64_t all = s.timed_instructions;
    for (const Gap& gap : s.gaps) all += gap.instructions;
    std::string text =
        fmt::format("Sampled: {} of {} blocks ran cycle by cycle, with all SMs and their traffic",
                    with_commas(static_cast<int64_t>(s.timed_blocks)), with_commas(static_cast<int64_t>(s.blocks)));
    if (!s.blocks_only)
        text +=
            fmt::format("; of their main loop most rounds were left out, so {:.2g} % of all warp instructions were timed",
                        100.0 * static_cast<double>(s.timed_instructions) / static_cast<double>(std::max<uint64_t>(1, all)));
    return text + ". What was left out takes the time that was measured in front of it.";
}

std::string short_words_of(const Sampling& s) {
    const std::string instructions = with_commas(static_cast<int64_t>(s.timed_instructions));
    return fmt::format("Sampled: {} warp instructions of {} blocks timed; within {:.1f} % (estimated).", instructions,
                       with_commas(static_cast<int64_t>(s.timed_blocks)), std::max(0.1, 100 * s.error));
}

std::string error_words_of(const Sampling& s) {
    const bool any_blocks = std::any_of(s.gaps.begin(), s.gaps.end(), [](const Gap& gap) { return gap.rounds == 0; });
    const bool any_rounds = std::any_of(s.gaps.begin(), s.gaps.end(), [](const Gap& gap) { return gap.rounds != 0; });
    std::string from = any_blocks ? "how far waves of blocks differ" : "";
    if (any_rounds)
        from += std::string(any_blocks ? ", and " : "") + "how far rounds measured one after the other differ, at least 5 %";
    return fmt::format("Within {:.1f} % of the whole run, as estimated from {}.", std::max(0.1, 100 * s.error), from);
}

}  // namespace lockstep::model
