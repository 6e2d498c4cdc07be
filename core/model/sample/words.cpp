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
    uint64_t blocks = 0, rounds = 0;
    size_t gaps = 0;
    for (const Gap& gap : s.gaps) {
        blocks += gap.blocks;
        rounds += gap.rounds;
        gaps += gap.rounds != 0;
    }
    std::string text =
        fmt::format("Sampled: {} of {} blocks ran cycle by cycle, with all SMs and their traffic",
                    with_commas(static_cast<int64_t>(s.timed_blocks)), with_commas(static_cast<int64_t>(s.blocks)));
    if (gaps != 0)
        text += fmt::format("; of the main loop's rounds {} were left out in {} {} of blocks", rounds / gaps, gaps,
                            gaps == 1 ? "wave" : "waves");
    return text + ". What was left out takes the time that was measured in front of it.";
}

std::string short_words_of(const Sampling& s) {
    const std::string instructions = with_commas(static_cast<int64_t>(s.timed_instructions));
    return fmt::format("Sampled: {} warp instructions of {} blocks timed; within {:.1f} % (estimated).", instructions,
                       with_commas(static_cast<int64_t>(s.timed_blocks)), std::max(0.1, 100 * s.error));
}

std::string error_words_of(const Sampling& s) {
    const bool any_blocks = std::any_of(s.gaps.begin(), s.gaps.end(), [](const Gap& gap) { return gap.blocks != 0; });
    const bool any_rounds = std::any_of(s.gaps.begin(), s.gaps.end(), [](const Gap& gap) { return gap.rounds != 0; });
    std::string from = any_blocks ? "how far waves of blocks differ" : "";
    if (any_rounds)
        from += std::string(any_blocks ? ", and " : "") + "how far rounds measured one after the other differ, at least 5 %";
    return fmt::format("Within {:.1f} % of the whole run, as estimated from {}.", std::max(0.1, 100 * s.error), from);
}

}  // namespace lockstep::model
