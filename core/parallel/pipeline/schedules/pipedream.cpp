// PipeDream (arXiv 1806.03377): 1F1B that never flushes. Weights change while micro-batches are under way, so every
// micro-batch's backward takes the version that its forward took. In the first form every micro-batch is a batch and rank r
// keeps up to p - r versions; in the 2BW form (arXiv 2006.09503) m micro-batches share an update and two versions suffice.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {
namespace {

// 1F1B over all batches; version_of(rank, microbatch): of the weights; an update after each `per_update` backwards.
template <class VersionOf>
void never_flush(Schedule& schedule, VersionOf version_of) {
    schedule.flushes = false;
    const int p = schedule.ranks, m = schedule.microbatches;
    for (int rank = 0; rank < p; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        const int ahead = std::min(m, p - rank);
        for (int i = 0; i < ahead; ++i) compute(list, ActionKind::forward, i, rank, version_of(rank, i));
        for (int i = 0; i < m; ++i) {
            compute(list, ActionKind::backward, i, rank, version_of(rank, i));
            if ((i + 1) % schedule.per_update == 0) compute(list, ActionKind::update, i, -1, (i + 1) / schedule.per_update);
            if (ahead + i < m) compute(list, ActionKind::forward, ahead + i, rank, version_of(rank, ahead + i));
        }
    }
    place_messages(schedule);
}

PipelineShape pipedream_shape(PipelineShape shape) {
    if (shape.batches <= 0) shape.batches = 3;
    return shape;
}

}  // namespace

// Rank r's forward of micro-batch i runs when i - (p - r) + 1 updates are done.
Schedule make_pipedream(const PipelineShape& asked) {
    const PipelineShape shape = pipedream_shape(asked);
    Schedule schedule = empty_schedule("pipedream", shape, 1, 1, one_stage);
    schedule.per_update = 1;
    never_flush(schedule, [&](int rank, int i) { return std::max(0, i - (shape.ranks - rank) + 1); });
    return schedule;
}

// All micro-batches of batch b take version b - 1, on every rank; the update of batch b makes version b + 1.
Schedule make_pipedream_2bw(const PipelineShape& asked) {
    const PipelineShape shape = pipedream_shape(asked);
    if (shape.microbatches < shape.ranks)
        throw Failure(fmt::format(
            "pipedream_2bw needs at least as many micro-batches as pipeline ranks, so that two versions of the weights "
            "suffice: {} are fewer than {}",
            shape.microbatches, shape.ranks));
    Schedule schedule = empty_schedule("pipedream_2bw", shape, 1, 1, one_stage);
    never_flush(schedule, [&](int, int i) { return std::max(0, i / shape.microbatches - 1); });
    return schedule;
}

}  // namespace lockstep::parallel
