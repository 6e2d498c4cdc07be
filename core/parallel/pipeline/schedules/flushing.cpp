// GPipe (arXiv 1811.06965) and 1F1B with a flush (PipeDream-Flush, arXiv 2104.04473): the same bubble, other memory.
#include <algorithm>

#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {

// All forwards, then all backwards: every micro-batch's activations wait for the last forward.
Schedule make_gpipe(const PipelineShape& shape) {
    Schedule schedule = empty_schedule("gpipe", shape, 1, 1, one_stage);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        for (int i = 0; i < shape.microbatches; ++i) compute(list, ActionKind::forward, i, rank);
        for (int i = 0; i < shape.microbatches; ++i) compute(list, ActionKind::backward, i, rank);
    }
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

// Rank r runs p - r forwards ahead, then one backward and one forward in turn: no more than p - r micro-batches are alive.
Schedule make_1f1b(const PipelineShape& shape) {
    Schedule schedule = empty_schedule("1f1b", shape, 1, 1, one_stage);
    for (int rank = 0; rank < shape.ranks; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        const int ahead = std::min(shape.microbatches, shape.ranks - rank);
        for (int i = 0; i < ahead; ++i) compute(list, ActionKind::forward, i, rank);
        for (int i = 0; i < shape.microbatches; ++i) {
            compute(list, ActionKind::backward, i, rank);
            if (ahead + i < shape.microbatches) compute(list, ActionKind::forward, ahead + i, rank);
        }
    }
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

}  // namespace lockstep::parallel
