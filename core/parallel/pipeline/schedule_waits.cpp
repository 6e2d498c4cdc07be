// The lists are played as far as they go, without times.
#include "core/parallel/pipeline/schedule_waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace lockstep::parallel {

namespace {

struct WaitFinder {
    const Schedule& schedule;
    std::vector<std::vector<Action>> lists;  // of what computes, without updates
    std::vector<size_t> next;                // by rank

    explicit WaitFinder(const Schedule& of) : schedule(of), lists(of.actions.size()), next(of.actions.size(), 0) {
        for (size_t rank = 0; rank < lists.size(); ++rank)
            std::copy_if(of.actions[rank].begin(), of.actions[rank].end(), std::back_inserter(lists[rank]),
                         [](const Action& action) { return computes(action.kind) && action.kind != ActionKind::update; });
        play();
    }

    static bool goes_back(ActionKind kind) { return kind == ActionKind::backward || kind == ActionKind::backward_input; }
    static bool same(const Action& a, const Action& b) {  // a B gives what an I does
        return a.stage == b.stage && a.microbatch == b.microbatch &&
               (a.kind == b.kind || (goes_back(a.kind) && goes_back(b.kind)));
    }
    std::vector<Action> needs_of(const Action& action) const {
        using enum ActionKind;
        std::vector<Action> needs;
        const auto need = [&](ActionKind kind, int stage) {
            if (stage >= 0 && stage < schedule.stages())
                needs.push_back({.kind = kind, .microbatch = action.microbatch, .stage = stage});
        };
        if (action.kind == forward) need(forward, action.stage - 1);
        if (goes_back(action.kind)) need(forward, action.stage), need(action.kind, action.stage + 1);
        if (action.kind == backward_weight) need(backward_input, action.stage);
        return needs;
    }
    int rank_of(const Action& action) const { return schedule.rank_of(action.stage, action.microbatch); }
    bool done(const Action& wanted) const {
        const auto& list = lists[size_t(rank_of(wanted))];
        const auto end = list.begin() + static_cast<std::ptrdiff_t>(next[size_t(rank_of(wanted))]);
        return std::any_of(list.begin(), end, [&](const Action& action) { return same(action, wanted); });
    }
    std::optional<Action> missing(size_t rank) const {  // what its next action waits for
        for (const Action& wanted : needs_of(lists[rank][next[rank]]))
            if (!done(wanted)) return wanted;
        return std::nullopt;
    }
    void play() {
        for (bool moved = true; moved;) {
            moved = false;
            for (size_t rank = 0; rank < lists.size(); ++rank)
                for (; next[rank] < lists[rank].size() && !missing(rank); ++next[rank]) moved = true;
        }
    }
    ScheduleWait wait_of(size_t rank) const {
        const Action wanted = *missing(rank);
        const int from = rank_of(wanted);
        const auto& list = lists[size_t(from)];
        auto there = std::find_if(list.begin(), list.end(), [&](const Action& action) { return same(action, wanted); });
        return {static_cast<int>(rank), next[rank], lists[rank][next[rank]], there == list.end() ? wanted : *there, from,
                there == list.end()};
    }
};

}  // namespace

std::string ScheduleWait::text() const {
    if (never)
        return fmt::format("rank {} stands at {} and waits for rank {}'s {}, which is in no list", rank, text_of(stands_at),
                           from, text_of(needs));
    if (from == rank)
        return fmt::format("rank {} stands at {}, which needs its own {}, further down its list", rank, text_of(stands_at),
                           text_of(needs));
    return fmt::format("rank {} stands at {} and waits for rank {}'s {}", rank, text_of(stands_at), from, text_of(needs));
}

std::vector<ScheduleWait> circle_of_waits(const Schedule& schedule) {
    const WaitFinder finder(schedule);
    size_t rank = 0;
    while (rank < finder.lists.size() && finder.next[rank] == finder.lists[rank].size()) ++rank;
    std::vector<ScheduleWait> chain;
    if (rank == finder.lists.size()) return chain;
    for (;;) {
        const auto seen = std::find_if(chain.begin(), chain.end(),
                                       [&](const ScheduleWait& wait) { return wait.rank == static_cast<int>(rank); });
        if (seen != chain.end()) return {seen, chain.end()};
        chain.push_back(finder.wait_of(rank));
        if (chain.back().never) return {chain.back()};
        rank = static_cast<size_t>(chain.back().from);
    }
}

}  // namespace lockstep::parallel
