// A schedule played by events: every rank runs its list until it waits for a message that is not sent yet; the sender wakes
// it. No rank is looked at twice for nothing, so the time is proportional to the number of actions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedule.h"

namespace lockstep::parallel {
namespace {

struct PlayedRank {
    size_t next = 0;       // action
    int64_t waits = -1;    // for this message
    double clock = 0;      // compute
    double idle_from = 0;  // where its last work ended
    double first = 0;      // begin of its first work
    bool began = false;
    int batch = 0;       // of its last work
    Action waited = {};  // the last receive since then
    bool on_its_way = false;
    int alive = 0;
};

struct Player {
    const Schedule& schedule;
    const Durations& durations;
    ScheduleRun& run;
    std::vector<PlayedRank> ranks;
    std::vector<double> sent, arrives;  // by message; below 0: not sent
    std::vector<int> ready;             // ranks that can go on

    int64_t message(bool gradient, int sender_stage, int microbatch) const {
        return (int64_t{gradient} * schedule.stages() + sender_stage) * schedule.microbatches + microbatch;
    }
    double time_of(const Action& action, int rank) const {
        const double factor = durations.of_rank.empty() ? 1 : durations.of_rank[size_t(rank)];
        if (action.kind == ActionKind::update) return durations.update * factor;
        const double part =
            schedule.share() * factor * (durations.of_stage.empty() ? 1 : durations.of_stage[size_t(action.stage)]);
        switch (action.kind) {
            case ActionKind::backward:
                return (durations.input + durations.weight) * part;
            case ActionKind::backward_input:
                return durations.input * part;
            case ActionKind::backward_weight:
                return durations.weight * part;
            default:
                return durations.forward * part;
        }
    }
    double late_by(const Action& action, int rank) const {
        const LateAction& late = durations.late;
        return rank == late.rank && action.kind == late.kind && action.stage == late.stage &&
                       action.microbatch == late.microbatch
                   ? late.by
                   : 0;
    }
    void change_alive(int rank, double time, int by) {
        PlayedRank& one = ranks[size_t(rank)];
        one.alive += by;
        auto& steps = run.activations[size_t(rank)];
        if (!steps.empty() && steps.back().time == time)
            steps.back().alive = one.alive;
        else
            steps.push_back({time, one.alive});
        // A micro-batch that ends where the next begins is never alive with it: a B's end comes first in the list.
        run.peak_activations[size_t(rank)] = std::max(run.peak_activations[size_t(rank)], one.alive);
    }
    void work(int rank, const Action& action);
    bool receive(int rank, const Action& action);
    void play(int rank);
};

void Player::work(int rank, const Action& action) {
    PlayedRank& one = ranks[size_t(rank)];
    const double begin = one.clock, end = begin + time_of(action, rank) + late_by(action, rank);
    const int batch = action.microbatch / schedule.per_update;
    if (begin > one.idle_from) {
        const bool gradient = one.waited.kind == ActionKind::receive_gradient;
        const bool flush = schedule.flushes && !schedule.staggers && one.began && batch > one.batch;
        run.idle[size_t(rank)].push_back(
            {one.idle_from, begin,
             flush ? std::string("waits for the flush")
                   : fmt::format("waits for {}{}{}", gradient ? 'B' : 'F', one.waited.microbatch + 1,
                                 one.on_its_way ? " (on its way)" : ""),
             one.waited.peer, one.waited.microbatch});
    }
    if (!one.began) one.first = begin, one.began = true;
    one.batch = batch;
    if (action.kind == ActionKind::forward) change_alive(rank, begin, 1);
    run.actions[size_t(rank)].push_back({action, begin, end});
    run.busy[size_t(rank)] += end - begin;
    one.clock = one.idle_from = end;
    if (action.kind == ActionKind::backward || action.kind == ActionKind::backward_weight) change_alive(rank, end, -1);
}

bool Player::receive(int rank, const Action& action) {
    PlayedRank& one = ranks[size_t(rank)];
    const bool gradient = action.kind == ActionKind::receive_gradient;
    const int64_t key = message(gradient, gradient ? action.stage + 1 : action.stage - 1, action.microbatch);
    if (arrives[size_t(key)] < 0) {
        one.waits = key;
        return false;
    }
    if (arrives[size_t(key)] > one.clock) {
        one.clock = arrives[size_t(key)];
        one.waited = action;
        one.on_its_way = sent[size_t(key)] <= one.idle_from;
    }
    run.actions[size_t(rank)].push_back({action, one.clock, one.clock});
    return true;
}

void Player::play(int rank) {
    PlayedRank& one = ranks[size_t(rank)];
    const std::vector<Action>& list = schedule.actions[size_t(rank)];
    for (; one.next < list.size(); ++one.next) {
        const Action& action = list[one.next];
        if (computes(action.kind)) {
            work(rank, action);
        } else if (action.kind == ActionKind::receive_activation || action.kind == ActionKind::receive_gradient) {
            if (!receive(rank, action)) return;
        } else {
            const int64_t key = message(action.kind == ActionKind::send_gradient, action.stage, action.microbatch);
            sent[size_t(key)] = one.clock;
            arrives[size_t(key)] = one.clock + durations.hop;
            run.actions[size_t(rank)].push_back({action, one.clock, arrives[size_t(key)]});
            PlayedRank& other = ranks[size_t(action.peer)];
            if (other.waits == key) other.waits = -1, ready.push_back(action.peer);
        }
    }
}

// Versions of the weights alive on a rank: those of the micro-batches under way, and the newest.
int most_versions(const std::vector<ActionRun>& actions) {
    std::vector<int> users(1, 0);  // micro-batches under way, by version
    int newest = 0, most = 1, alive = 0;
    for (const ActionRun& run : actions) {
        const Action& action = run.action;
        const size_t version = size_t(action.version);
        if (version >= users.size()) users.resize(version + 1, 0);
        if (action.kind == ActionKind::forward) {
            alive += users[version]++ == 0;
        } else if (action.kind == ActionKind::backward || action.kind == ActionKind::backward_weight) {
            alive -= --users[version] == 0;
        } else if (action.kind == ActionKind::update) {
            newest = action.version;
        }
        most = std::max(most, alive + (users.size() <= size_t(newest) || users[size_t(newest)] == 0 ? 1 : 0));
    }
    return most;
}

// Where nothing flushes: between the last first backward and the first last forward every rank is in its steady turn.
double steady_cost(const ScheduleRun& run) {
    double begin = 0, end = run.total, busy = 0;
    for (const auto& list : run.actions) {
        double first = run.total, last = 0;
        for (const ActionRun& ran : list) {
            if (ran.action.kind == ActionKind::backward) first = std::min(first, ran.begin);
            if (ran.action.kind == ActionKind::forward) last = ran.end;
        }
        begin = std::max(begin, first), end = std::min(end, last);
    }
    for (const auto& list : run.actions)
        for (const ActionRun& action : list)
            if (computes(action.action.kind))
                busy += std::max(0.0, std::min(action.end, end) - std::max(action.begin, begin));
    const double share = busy / (double(run.schedule.ranks) * (end - begin));
    if (!(end > begin) || !(share > 0)) return run.total;
    const double all = std::accumulate(run.busy.begin(), run.busy.end(), 0.0);
    return std::min(run.total, all / double(run.schedule.ranks) / share);
}

void check_durations(const Schedule& schedule, const Durations& durations) {
    const auto refuse = [](double value) { return !(value >= 0) || !std::isfinite(value); };
    if (refuse(durations.forward) || refuse(durations.input) || refuse(durations.weight) || refuse(durations.hop) ||
        refuse(durations.update) || refuse(durations.late.by))
        throw Failure("the durations of a schedule are finite numbers from 0 on");
    const auto check_factors = [&](const std::vector<double>& factors, int count, std::string_view what) {
        if (factors.empty()) return;
        if (factors.size() != size_t(count) || std::any_of(factors.begin(), factors.end(), refuse))
            throw Failure(fmt::format("the factors of {0} {1} are {0} finite numbers from 0 on", count, what));
    };
    check_factors(durations.of_rank, schedule.ranks, "ranks");
    check_factors(durations.of_stage, schedule.stages(), "stages");
}

}  // namespace

ScheduleRun time_schedule(const Schedule& schedule, const Durations& durations) {
    check_durations(schedule, durations);
    ScheduleRun run;
    run.schedule = schedule;
    run.unit = "units";
    const size_t n = size_t(schedule.ranks);
    run.actions.resize(n), run.idle.resize(n), run.activations.resize(n);
    run.peak_activations.assign(n, 0), run.weight_versions.assign(n, 1), run.busy.assign(n, 0);
    const size_t messages = 2 * size_t(schedule.stages()) * size_t(schedule.microbatches);
    Player player{schedule,
                  durations,
                  run,
                  std::vector<PlayedRank>(n),
                  std::vector<double>(messages, -1),
                  std::vector<double>(messages, -1),
                  {}};
    for (int rank = schedule.ranks - 1; rank >= 0; --rank) {
        run.actions[size_t(rank)].reserve(schedule.actions[size_t(rank)].size());
        player.ready.push_back(rank);
    }
    while (!player.ready.empty()) {
        const int rank = player.ready.back();
        player.ready.pop_back();
        player.play(rank);
    }
    for (size_t rank = 0; rank < n; ++rank)
        if (player.ranks[rank].next < schedule.actions[rank].size()) {
            const std::vector<std::string> problems = problems_of(schedule);
            throw Failure(problems.empty() ? "the ranks of this schedule wait for each other" : problems.front());
        }
    settle_run(run);
    return run;
}

void settle_run(ScheduleRun& run) {
    const Schedule& schedule = run.schedule;
    double span = 0;
    run.total = run.ideal = 0;
    for (size_t rank = 0; rank < run.actions.size(); ++rank) {
        double first = -1, last = 0;
        for (const ActionRun& ran : run.actions[rank]) {
            if (!computes(ran.action.kind)) continue;
            if (first < 0) first = ran.begin;
            last = std::max(last, ran.end);
        }
        span = std::max(span, last - std::max(first, 0.0));
        run.total = std::max(run.total, last);
        run.ideal = std::max(run.ideal, run.busy[rank]);
        if (!schedule.flushes) run.weight_versions[rank] = most_versions(run.actions[rank]);
    }
    for (size_t rank = 0; rank < run.actions.size(); ++rank) {
        double last = 0;
        for (const ActionRun& action : run.actions[rank])
            if (computes(action.action.kind)) last = std::max(last, action.end);
        if (run.total > last)
            run.idle[rank].push_back({last, run.total,
                                      !schedule.flushes   ? "has drained"
                                      : schedule.staggers ? "could begin the next step"
                                                          : "waits for the flush",
                                      -1, -1});
    }
    run.cost = !schedule.flushes ? steady_cost(run) : schedule.staggers ? span : run.total;
}

double ScheduleRun::idle_a_rank() const {
    return cost - std::accumulate(busy.begin(), busy.end(), 0.0) / double(busy.size());
}
double ScheduleRun::bubble_of_total() const {
    return cost > 0 ? idle_a_rank() / cost : 0;
}
double ScheduleRun::bubble_over_ideal() const {
    return ideal > 0 ? cost / ideal - 1 : 0;
}
bool ScheduleRun::operator==(const ScheduleRun& other) const {
    return actions == other.actions && idle == other.idle && activations == other.activations && total == other.total &&
           cost == other.cost && peak_activations == other.peak_activations && weight_versions == other.weight_versions;
}

}  // namespace lockstep::parallel
