// What is wrong with a schedule. Each check is a sentence; later checks are skipped where they would only repeat earlier
// ones.
#include <fmt/format.h>

#include <algorithm>

#include "core/parallel/pipeline/schedule.h"

namespace lockstep::parallel {
namespace {

constexpr size_t most_problems = 20;
constexpr size_t action_kinds = 10;

struct ScheduleCheck {
    const Schedule& schedule;
    std::vector<std::string> problems;
    std::vector<int> place;  // in its rank's list, by kind, stage and micro-batch; -1: nowhere
    std::vector<int> version;

    size_t slot(ActionKind kind, int stage, int microbatch) const {
        return (size_t(kind) * size_t(schedule.stages()) + size_t(stage)) * size_t(schedule.microbatches) +
               size_t(microbatch);
    }
    int at(ActionKind kind, int stage, int microbatch) const { return place[slot(kind, stage, microbatch)]; }
    template <class... Values>
    void say(fmt::format_string<Values...> text, Values&&... values) {
        if (problems.size() < most_problems) problems.push_back(fmt::format(text, std::forward<Values>(values)...));
    }
    bool full() const { return problems.size() >= most_problems; }

    bool shape();
    void places();
    void counts();
    void order();
    void messages();
    void line_order();
    void circles();
    void updates();
};

bool ScheduleCheck::shape() {
    const Schedule& s = schedule;
    if (s.ranks < 1 || s.chunks < 1 || s.microbatches < 1 || s.per_update < 1 || s.copies < 1 ||
        s.ranks * s.chunks % s.copies != 0 || s.microbatches % s.per_update != 0) {
        say("{} ranks, {} chunks, {} copies and {} micro-batches of which {} share an update make no schedule", s.ranks,
            s.chunks, s.copies, s.microbatches, s.per_update);
        return false;
    }
    if (s.stages_of.size() != size_t(s.ranks) || s.actions.size() != size_t(s.ranks)) {
        say("a schedule of {} ranks has {} lists of stages and {} of actions", s.ranks, s.stages_of.size(),
            s.actions.size());
        return false;
    }
    Schedule placed{.ranks = s.ranks, .chunks = s.chunks, .copies = s.copies, .stages_of = s.stages_of};
    place_stages(placed);
    for (size_t i = 0; i < placed.holder.size(); ++i)
        if (placed.holder[i] < 0) say("no rank holds stage {}", i % size_t(s.stages()));
    if (placed.holder != s.holder) say("the stages are not where stages_of says: place_stages() was not called");
    for (size_t rank = 0; rank < s.stages_of.size(); ++rank)
        if (s.stages_of[rank].size() != size_t(s.chunks))
            say("rank {} holds {} stages, not {}", rank, s.stages_of[rank].size(), s.chunks);
    return problems.empty();
}

void ScheduleCheck::places() {
    const Schedule& s = schedule;
    place.assign(action_kinds * size_t(s.stages()) * size_t(s.microbatches), -1);
    version.assign(size_t(s.stages()) * size_t(s.microbatches), -1);
    for (int rank = 0; rank < s.ranks; ++rank)
        for (size_t i = 0; i < s.actions[size_t(rank)].size(); ++i) {
            const Action& action = s.actions[size_t(rank)][i];
            if (size_t(action.kind) >= action_kinds || action.microbatch < 0 || action.microbatch >= s.microbatches) {
                say("rank {}'s action {} is of micro-batch {}: there are {}", rank, i, action.microbatch + 1,
                    s.microbatches);
                continue;
            }
            if (action.kind == ActionKind::update) continue;
            if (action.stage < 0 || action.stage >= s.stages()) {
                say("rank {}'s {} is of stage {}: there are {}", rank, text_of(action), action.stage, s.stages());
                continue;
            }
            if (const int holder = s.rank_of(action.stage, action.microbatch); holder != rank) {
                say("rank {} runs {} of stage {}, which rank {} holds", rank, text_of(action), action.stage, holder);
                continue;
            }
            int& known = place[slot(action.kind, action.stage, action.microbatch)];
            if (known >= 0)
                say("{} of stage {} is there twice on rank {}", text_of(action), action.stage, rank);
            else
                known = static_cast<int>(i);
        }
}

void ScheduleCheck::counts() {
    using enum ActionKind;
    for (int stage = 0; stage < schedule.stages() && !full(); ++stage)
        for (int i = 0; i < schedule.microbatches; ++i) {
            const int rank = schedule.rank_of(stage, i);
            if (at(forward, stage, i) < 0) say("F{} of stage {} is missing on rank {}", i + 1, stage, rank);
            const bool whole = at(backward, stage, i) >= 0, input = at(backward_input, stage, i) >= 0,
                       weight = at(backward_weight, stage, i) >= 0;
            if (whole && (input || weight))
                say("stage {} goes back through micro-batch {} twice: B and {}", stage, i + 1, input ? "I" : "W");
            else if (!whole && !input && !weight)
                say("B{} of stage {} is missing on rank {}", i + 1, stage, rank);
            else if (!whole && input != weight)
                say("{}{} of stage {} is missing on rank {}", input ? 'W' : 'I', i + 1, stage, rank);
        }
}

void ScheduleCheck::order() {
    using enum ActionKind;
    for (int stage = 0; stage < schedule.stages() && !full(); ++stage)
        for (int i = 0; i < schedule.microbatches; ++i) {
            const int rank = schedule.rank_of(stage, i);
            const bool whole = at(backward, stage, i) >= 0;
            const int F = at(forward, stage, i), B = at(whole ? backward : backward_input, stage, i),
                      W = at(backward_weight, stage, i);
            const char letter = whole ? 'B' : 'I';
            if (B < F) say("{}{} of stage {} runs before its F", letter, i + 1, stage);
            if (!whole && W < B) say("W{} of stage {} runs before its I", i + 1, stage);
            if (const int R = at(recompute, stage, i); R >= 0 && (R < F || R > B))
                say("R{} of stage {} is not between its F and {}", i + 1, stage, letter);
            const auto needs = [&](int use, char what, int other, ActionKind receive, int result, char of) {
                if (schedule.rank_of(other, i) == rank) {
                    if (result > use)
                        say("{}{} of stage {} runs before {}{} of stage {}", what, i + 1, stage, of, i + 1, other);
                } else if (const int had = at(receive, stage, i); had < 0) {
                    say("rank {} never receives what {}{} of stage {} needs", rank, what, i + 1, stage);
                } else if (had > use) {
                    say("{}{} of stage {} runs before what it needs is received", what, i + 1, stage);
                }
            };
            if (stage > 0) needs(F, 'F', stage - 1, receive_activation, at(forward, stage - 1, i), 'F');
            if (stage + 1 < schedule.stages()) {
                const bool whole_after = at(backward, stage + 1, i) >= 0;
                needs(B, letter, stage + 1, receive_gradient, at(whole_after ? backward : backward_input, stage + 1, i),
                      whole_after ? 'B' : 'I');
            }
            if (const int sent = at(send_activation, stage, i); sent >= 0 && sent < F)
                say("rank {} sends activation {} of stage {} before its F", rank, i + 1, stage);
            if (const int sent = at(send_gradient, stage, i); sent >= 0 && sent < B)
                say("rank {} sends gradient {} of stage {} before its {}", rank, i + 1, stage, letter);
        }
}

void ScheduleCheck::messages() {
    using enum ActionKind;
    const auto check = [&](int from, int to, int i, ActionKind send, ActionKind receive, std::string_view what) {
        const int sender = schedule.rank_of(from, i), receiver = schedule.rank_of(to, i);
        const int sent = at(send, from, i), had = at(receive, to, i);
        if (sender == receiver) {
            if (sent >= 0 || had >= 0) say("rank {} sends {} {} to itself", sender, what, i + 1);
            return;
        }
        if (sent < 0 && had < 0) return;  // order() has said that it is needed
        if (had < 0) say("rank {} sends {} {} to rank {}, which never receives it", sender, what, i + 1, receiver);
        if (sent < 0) say("rank {} waits for {} {} of rank {}, which never sends it", receiver, what, i + 1, sender);
        if (sent >= 0 && schedule.actions[size_t(sender)][size_t(sent)].peer != receiver)
            say("rank {} sends {} {} to rank {}: rank {} needs it", sender, what, i + 1,
                schedule.actions[size_t(sender)][size_t(sent)].peer, receiver);
        if (had >= 0 && schedule.actions[size_t(receiver)][size_t(had)].peer != sender)
            say("rank {} receives {} {} from rank {}: rank {} has it", receiver, what, i + 1,
                schedule.actions[size_t(receiver)][size_t(had)].peer, sender);
    };
    for (int stage = 0; stage < schedule.stages() && !full(); ++stage)
        for (int i = 0; i < schedule.microbatches; ++i) {
            if (stage + 1 < schedule.stages()) check(stage, stage + 1, i, send_activation, receive_activation, "activation");
            if (stage > 0) check(stage, stage - 1, i, send_gradient, receive_gradient, "gradient");
            if (stage == 0 && at(receive_activation, stage, i) >= 0)
                say("stage 0 receives activation {} from nobody", i + 1);
            if (stage + 1 == schedule.stages() && at(receive_gradient, stage, i) >= 0)
                say("the last stage receives gradient {} from nobody", i + 1);
        }
}

// Between two ranks the order of receiving is that of sending.
void ScheduleCheck::line_order() {
    using enum ActionKind;
    for (int to = 0; to < schedule.ranks && !full(); ++to) {
        std::vector<std::pair<int, int>> last;  // by sender: the place of the message received last
        for (const Action& action : schedule.actions[size_t(to)]) {
            if (action.kind != receive_activation && action.kind != receive_gradient) continue;
            const bool gradient = action.kind == receive_gradient;
            const int stage = gradient ? action.stage + 1 : action.stage - 1;
            const int sent = at(gradient ? send_gradient : send_activation, stage, action.microbatch);
            auto known = std::find_if(last.begin(), last.end(), [&](const auto& one) { return one.first == action.peer; });
            if (known == last.end()) known = last.insert(last.end(), {action.peer, -1});
            if (sent < known->second)
                say("rank {} receives {} {} after a message that rank {} sends later", to,
                    gradient ? "gradient" : "activation", action.microbatch + 1, action.peer);
            known->second = std::max(known->second, sent);
        }
    }
}

// Runs all lists as far as they go: where they stop, everybody waits.
void ScheduleCheck::circles() {
    using enum ActionKind;
    std::vector<size_t> next(size_t(schedule.ranks), 0);
    const auto missing = [&](int rank) {  // the sender that the rank's next action waits for; -1: none
        const Action& action = schedule.actions[size_t(rank)][next[size_t(rank)]];
        const bool gradient = action.kind == receive_gradient;
        if (!gradient && action.kind != receive_activation) return -1;
        const int sent = at(gradient ? send_gradient : send_activation, gradient ? action.stage + 1 : action.stage - 1,
                            action.microbatch);
        return next[size_t(action.peer)] > size_t(sent) ? -1 : action.peer;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (int rank = 0; rank < schedule.ranks; ++rank)
            for (; next[size_t(rank)] < schedule.actions[size_t(rank)].size() && missing(rank) < 0; ++next[size_t(rank)])
                moved = true;
    }
    int rank = 0;
    while (rank < schedule.ranks && next[size_t(rank)] == schedule.actions[size_t(rank)].size()) ++rank;
    if (rank == schedule.ranks) return;
    std::vector<bool> seen(size_t(schedule.ranks), false);
    while (!seen[size_t(rank)]) seen[size_t(rank)] = true, rank = missing(rank);
    std::string text;
    const int start = rank;
    do {
        const Action& action = schedule.actions[size_t(rank)][next[size_t(rank)]];
        text += fmt::format("{}rank {} waits for {} {} of rank {}", text.empty() ? "" : ", ", rank,
                            action.kind == receive_gradient ? "gradient" : "activation", action.microbatch + 1, action.peer);
        rank = missing(rank);
    } while (rank != start);
    say("ranks wait for each other in a circle: {}", text);
}

void ScheduleCheck::updates() {
    using enum ActionKind;
    const Schedule& s = schedule;
    for (int rank = 0; rank < s.ranks && !full(); ++rank) {
        int done = 0;
        for (size_t i = 0; i < s.actions[size_t(rank)].size(); ++i) {
            const Action& action = s.actions[size_t(rank)][i];
            if (action.kind == update) {
                ++done;
                if (action.version != done)
                    say("rank {}'s update {} says that it makes version {}", rank, done, action.version);
                if (action.microbatch != done * s.per_update - 1)
                    say("rank {}'s update {} takes in micro-batches to {}, not {}", rank, done, action.microbatch + 1,
                        done * s.per_update);
                for (int stage : s.stages_of[size_t(rank)])
                    for (int j = (done - 1) * s.per_update; j < std::min(done * s.per_update, s.microbatches); ++j) {
                        if (s.rank_of(stage, j) != rank) continue;
                        const bool whole = at(backward, stage, j) >= 0;
                        if (at(whole ? backward : backward_weight, stage, j) > static_cast<int>(i))
                            say("rank {} updates before {}{} of stage {}", rank, whole ? 'B' : 'W', j + 1, stage);
                    }
            } else if (action.kind == forward) {
                version[size_t(action.stage) * size_t(s.microbatches) + size_t(action.microbatch)] = action.version;
                if (action.version > done || action.version < 0)
                    say("F{} of stage {} takes version {} of the weights after {} updates", action.microbatch + 1,
                        action.stage, action.version, done);
                else if (s.flushes && action.version != action.microbatch / s.per_update)
                    say("F{} of stage {} takes version {} of the weights, its batch {}", action.microbatch + 1, action.stage,
                        action.version, action.microbatch / s.per_update);
            }
        }
        if (done != s.microbatches / s.per_update)
            say("rank {} updates {} times for {} batches", rank, done, s.microbatches / s.per_update);
    }
    for (int rank = 0; rank < s.ranks && !full(); ++rank)
        for (const Action& action : s.actions[size_t(rank)]) {
            if (action.kind == forward || action.kind == update || !computes(action.kind)) continue;
            const int before = version[size_t(action.stage) * size_t(s.microbatches) + size_t(action.microbatch)];
            if (before >= 0 && before != action.version)
                say("{} of stage {} takes version {} of the weights, its F took {}", text_of(action), action.stage,
                    action.version, before);
        }
}

}  // namespace

std::vector<std::string> problems_of(const Schedule& schedule) {
    ScheduleCheck check{schedule, {}, {}, {}};
    if (!check.shape()) return check.problems;
    check.places();
    check.counts();
    if (!check.problems.empty()) return check.problems;
    check.order();
    check.messages();
    if (check.problems.empty()) check.line_order();
    if (check.problems.empty()) check.circles();
    check.updates();
    return check.problems;
}

}  // namespace lockstep::parallel
