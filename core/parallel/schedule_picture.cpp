// A schedule's rows as text. A token is an action's letter and micro-batch, as wide as its time; idle time is dots. Where
// that does not fit the width, a column is a letter: what the rank does in the middle of the column's time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/parallel/schedule.h"

namespace lockstep::parallel {
namespace {

std::string letters_of(const ScheduleRun& run, size_t rank, int columns) {
    std::string text(size_t(columns), '.');
    const double column = run.total / columns;
    for (const ActionRun& one : run.actions[rank]) {
        if (!computes(one.action.kind)) continue;
        // Columns whose middle lies in [begin, end).
        const int first = static_cast<int>(std::ceil(one.begin / column - 0.5)),
                  last = static_cast<int>(std::ceil(one.end / column - 0.5));
        for (int i = std::max(first, 0); i < std::min(last, columns); ++i) text[size_t(i)] = name_of(one.action.kind)[0];
    }
    return text;
}

std::string tokens_of(const ScheduleRun& run, size_t rank, double column) {
    std::string text(size_t(std::llround(run.total / column)), '.');
    for (const ActionRun& one : run.actions[rank]) {
        if (!computes(one.action.kind)) continue;
        const size_t begin = size_t(std::llround(one.begin / column)), end = size_t(std::llround(one.end / column));
        std::string token = text_of(one.action);
        if (token.size() + 1 > end - begin) token = token.substr(0, end > begin ? end - begin : 0);
        token.resize(end - begin, ' ');
        text.replace(begin, end - begin, token);
    }
    return text;
}

}  // namespace

std::string picture_of(const ScheduleRun& run, int width) {
    if (run.total <= 0) return "";
    double shortest = run.total;
    int longest_name = 2;
    for (const auto& list : run.actions)
        for (const ActionRun& one : list) {
            if (!computes(one.action.kind) || one.end <= one.begin) continue;
            shortest = std::min(shortest, one.end - one.begin);
            longest_name = std::max(longest_name, static_cast<int>(text_of(one.action).size()));
        }
    const double column = shortest / (longest_name + 1);
    const bool fits = run.total / column <= width;
    std::string text;
    for (size_t rank = 0; rank < run.actions.size(); ++rank)
        text += fmt::format("rank {:<3} {}\n", rank,
                            fits ? tokens_of(run, rank, column) : letters_of(run, rank, std::max(width, 1)));
    return text;
}

}  // namespace lockstep::parallel
