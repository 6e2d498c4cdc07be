// ZB-1p and ZB-2p (Zero Bubble, arXiv 2401.10241, section 3.1): no fixed pattern, but an order that is searched for the
// times of F, I, W and a hop and for a memory of p or 2p micro-batches. The ranks are played in time; each takes what it can
// at every moment: forwards until its memory is full, then I and F in turn, W where it would wait or where its memory is
// full. Three questions that have no one answer are tried both ways, and the handmade orders too; the fastest step stays.
#include <algorithm>
#include <limits>
#include <queue>

#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

struct SearchedChoice {
    bool small_gaps = false;      // W goes into a gap that is shorter than it
    bool late_forwards = false;   // F goes before an I that will be there before F ends
    bool forwards_first = false;  // while no I has run, F goes before an I that is there
};

struct SearchedRank {
    std::vector<double> activation_at, gradient_at;  // by micro-batch: when it is there
    int forwards = 0, inputs = 0, weights = 0;
    double clock = 0, first = -1;
    ActionKind last = ActionKind::backward_weight;  // of F and I
    std::vector<Action> list;
};

struct SearchedOrder {
    const PipelineShape& shape;
    double limit = 0;  // whole micro-batches
    SearchedChoice choice;
    std::vector<SearchedRank> ranks;
    using Moment = std::pair<double, int>;
    std::priority_queue<Moment, std::vector<Moment>, std::greater<>> moments;  // at which a rank looks what it can do

    SearchedOrder(const PipelineShape& s, double most, SearchedChoice c)
        : shape(s), limit(most), choice(c), ranks(size_t(s.ranks)) {
        for (SearchedRank& searched : ranks)
            searched.activation_at.assign(size_t(s.microbatches), never), searched.gradient_at = searched.activation_at;
        std::fill(ranks[0].activation_at.begin(), ranks[0].activation_at.end(), 0.0);
        for (int rank = 0; rank < s.ranks; ++rank) moments.emplace(0, rank);
    }

    // What came of it: the longest that a rank takes from its first action to its last; never where ranks got stuck.
    double play() {
        while (!moments.empty()) {
            const auto [time, rank] = moments.top();
            moments.pop();
            SearchedRank& one = ranks[size_t(rank)];
            if (time >= one.clock && one.weights < shape.microbatches) look(rank, time);
        }
        double cost = 0;
        for (const SearchedRank& one : ranks)
            cost = std::max(cost, one.weights == shape.microbatches ? one.clock - one.first : never);
        return cost;
    }

    // At `time` and again when the neighbour is free.
    void wake(int rank, double time, double there) {
        moments.emplace(std::max(time, ranks[size_t(rank)].clock), rank);
        moments.emplace(std::max(there, ranks[size_t(rank)].clock), rank);
    }

    void take(int rank, double time, ActionKind kind) {
        SearchedRank& one = ranks[size_t(rank)];
        if (one.first < 0) one.first = time;
        const bool forward = kind == ActionKind::forward, input = kind == ActionKind::backward_input;
        const int i = forward ? one.forwards++ : input ? one.inputs++ : one.weights++;
        one.clock = time + (forward ? shape.forward : input ? shape.input : shape.weight);
        compute(one.list, kind, i, rank);
        const double there = one.clock + shape.hop;
        if (forward && rank + 1 < shape.ranks) {
            ranks[size_t(rank) + 1].activation_at[size_t(i)] = there;
            wake(rank + 1, time, there);
        } else if (forward) {
            one.gradient_at[size_t(i)] = one.clock;
        } else if (input && rank > 0) {
            ranks[size_t(rank) - 1].gradient_at[size_t(i)] = there;
            wake(rank - 1, time, there);
        }
        if (forward || input) one.last = kind;
        moments.emplace(one.clock, rank);
    }

    void look(int rank, double time) {
        using enum ActionKind;
        const SearchedRank& one = ranks[size_t(rank)];
        const int m = shape.microbatches, put_off = one.inputs - one.weights;
        const double activation = one.forwards < m ? one.activation_at[size_t(one.forwards)] : never;
        const double gradient = one.inputs < one.forwards ? one.gradient_at[size_t(one.inputs)] : never;
        const bool room = one.forwards - one.inputs + 1 + put_off * shape.kept <= limit + 1e-9;
        const bool full = activation <= time && !room;
        if (gradient <= time && activation <= time && room)
            return take(rank, time,
                        one.last == backward_input || (choice.forwards_first && one.inputs == 0) ? forward : backward_input);
        if (gradient <= time)
            return take(rank, time, full && one.last == backward_input && put_off > 0 ? backward_weight : backward_input);
        if (activation <= time && room) {
            const bool soon = gradient < time + shape.forward && one.last != backward_input;
            if (choice.late_forwards || !soon) return take(rank, time, forward);
            if (put_off > 0 && (choice.small_gaps || gradient - time >= shape.weight))
                return take(rank, time, backward_weight);
            moments.emplace(gradient, rank);
            return;
        }
        const double next = std::min(gradient, room ? activation : never);  // that is known of
        if (put_off > 0 && (full || one.inputs == m || choice.small_gaps || next - time >= shape.weight))
            return take(rank, time, backward_weight);
        if (next < never) moments.emplace(next, rank);
    }
};

Schedule searched(const PipelineShape& shape, std::string_view kind, int limit) {
    Schedule schedule = empty_schedule(kind, shape, 1, 1, one_stage);
    schedule.staggers = true;
    PipelineShape one_batch = shape;
    one_batch.batches = 1;
    double best = never;
    for (int bits = 0; bits < 8; ++bits) {
        SearchedOrder order(one_batch, limit, {(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0});
        const double cost = order.play();
        if (!(cost < best)) continue;
        best = cost;
        for (size_t rank = 0; rank < order.ranks.size(); ++rank) schedule.actions[rank] = std::move(order.ranks[rank].list);
    }
    const Durations times{.forward = shape.forward, .input = shape.input, .weight = shape.weight, .hop = shape.hop};
    for (Schedule& handmade : limit > shape.ranks ? std::vector{make_zb_h1(one_batch), make_zb_h2(one_batch)}
                                                  : std::vector{make_zb_h1(one_batch)}) {
        handmade.staggers = true;
        const double cost = time_schedule(handmade, times).cost;
        if (!(cost < best)) continue;
        best = cost;
        for (size_t rank = 0; rank < handmade.actions.size(); ++rank) {
            std::vector<Action>& list = schedule.actions[rank];
            list.clear();
            for (const Action& action : handmade.actions[rank])
                if (computes(action.kind) && action.kind != ActionKind::update) list.push_back(action);
        }
    }
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

}  // namespace

Schedule make_zb_1p(const PipelineShape& shape) {
    return searched(shape, "zb-1p", shape.ranks);
}
Schedule make_zb_2p(const PipelineShape& shape) {
    return searched(shape, "zb-2p", 2 * shape.ranks);
}

}  // namespace lockstep::parallel
