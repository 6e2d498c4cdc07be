// A schedule's rows as text. A token is an action's letter and micro-batch, as wide as its time; idle time is dots. Where
// that does not fit the width, a column is a letter: what the rank does in the middle of the column's time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/parallel/pipeline/schedule.h"

namespace lockstep::parallel {
namespace {

std::string letters_of(const ScheduleRun& run, size_t rank, int columns) {
    std::string text(size_t(columns), '.');
    const double column = run.total / columns;
    for (const ActionRun& ran : run.actions[rank]) {
        if (!computes(ran.action.kind)) continue;
        // Columns whose middle lies in [begin, end).
        const int first = static_cast<int>(std::ceil(ran.begin / column - 0.5)),
                  last = static_cast<int>(std::ceil(ran.end / column - 0.5));
        for (int i = std::max(first, 0); i < std::min(last, columns); ++i) text[size_t(i)] = name_of(ran.action.kind)[0];
    }
    return text;
}

std::string tokens_of(const ScheduleRun& run, size_t rank, double column) {
    std::string text(size_t(std::llround(run.total / column)), '.');
    for (const ActionRun& ran : run.actions[rank]) {
        if (!computes(ran.action.kind)) continue;
        const size_t begin = size_t(std::llround(ran.begin / column)), end = size_t(std::llround(ran.end / column));
        std::string token = text_of(ran.action);
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
        for (const ActionRun& ran : list) {
            if (!computes(ran.action.kind) || ran.end <= ran.begin) continue;
            shortest = std::min(shortest, ran.end - ran.begin);
            longest_name = std::max(longest_name, static_cast<int>(text_of(ran.action).size()));
        }
    const double column = shortest / (longest_name + 1);
    const bool fits = run.total / column <= width;
    std::string text;
    for (size_t rank = 0; rank < run.actions.size(); ++rank)
        text += fmt::format("rank {:<3} {}\n", rank,
                            fits ? tokens_of(run, rank, column) : letters_of(run, rank, std::max(width, 1)));
    return text;
}

Trace trace_of(const ScheduleRun& run) {
    Trace trace;
    // One unit, of whatever kind, is shown as one microsecond, with three decimals.
    const auto at = [](double time) { return static_cast<int64_t>(std::llround(time * 1000)); };
    trace.tracks.push_back({fmt::format("pipeline {}", run.schedule.kind), -1});
    std::map<std::tuple<int, int, bool>, int> sent;  // spans by receiving stage, micro-batch, gradient or not
    std::vector<std::tuple<std::tuple<int, int, bool>, int>> received;
    for (size_t rank = 0; rank < run.actions.size(); ++rank) {
        const int track = static_cast<int>(trace.tracks.size());
        trace.tracks.push_back({fmt::format("rank {}", rank), 0});
        trace.tracks.push_back({fmt::format("rank {} activations", rank), 0});
        const std::vector<ActionRun>& list = run.actions[rank];
        const auto span = [&](const ActionRun& one) {
            trace.spans.push_back({track, at(one.begin), at(one.end), text_of(one.action), -1});
            return static_cast<int>(trace.spans.size()) - 1;
        };
        int before = -1;  // the span of the last work
        std::vector<std::tuple<int, int, bool>> awaited;
        for (const ActionRun& ran : list) {
            const Action& action = ran.action;
            if (computes(action.kind)) {
                before = span(ran);
                for (const auto& key : awaited) received.emplace_back(key, before);
                awaited.clear();
            } else if (action.kind == ActionKind::send_activation) {
                sent[{action.stage + 1, action.microbatch, false}] = before;
            } else if (action.kind == ActionKind::send_gradient) {
                sent[{action.stage - 1, action.microbatch, true}] = before;
            } else {
                awaited.emplace_back(action.stage, action.microbatch, action.kind == ActionKind::receive_gradient);
            }
        }
        for (const IdleRun& idle : run.idle[rank])
            trace.spans.push_back({track, at(idle.begin), at(idle.end), idle.reason, -1});
        for (const ActivationStep& step : run.activations[rank])
            trace.counters.push_back({track + 1, at(step.time), static_cast<double>(step.alive)});
    }
    for (const auto& [key, span] : received)
        if (const auto from = sent.find(key); from != sent.end() && from->second >= 0)
            trace.arrows.push_back({from->second, span});
    return trace;
}

}  // namespace lockstep::parallel
