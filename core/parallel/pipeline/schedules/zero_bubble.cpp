// ZB-H1 and ZB-H2 (Zero Bubble, arXiv 2401.10241): the backward is cut into I (gradient of the input), which the rank before
// waits for, and W (gradient of the weights), which nobody waits for and which fills the bubbles.
#include <algorithm>

#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {
namespace {

// Rank r runs `ahead` forwards, then I and F in turn, with the W of `behind` micro-batches earlier between them: at most
// ahead + behind micro-batches are alive.
void zero_bubble_rank(std::vector<Action>& list, int rank, int m, int ahead, int behind) {
    ahead = std::min(m, ahead);
    for (int i = 0; i < ahead; ++i) compute(list, ActionKind::forward, i, rank);
    for (int i = 0; i < m; ++i) {
        compute(list, ActionKind::backward_input, i, rank);
        if (i >= behind) compute(list, ActionKind::backward_weight, i - behind, rank);
        if (ahead + i < m) compute(list, ActionKind::forward, ahead + i, rank);
    }
    for (int i = std::max(0, m - behind); i < m; ++i) compute(list, ActionKind::backward_weight, i, rank);
}

}  // namespace

// 1F1B's forwards and its memory on the first rank; later ranks use what they have left of it to put off their W.
Schedule make_zb_h1(const PipelineShape& shape) {
    Schedule schedule = empty_schedule("zb-h1", shape, 1, 1, one_stage);
    for (int rank = 0; rank < shape.ranks; ++rank)
        zero_bubble_rank(schedule.actions[size_t(rank)], rank, shape.microbatches, shape.ranks - rank, rank);
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

// Twice the warm-up fills the time until the first gradient comes back; ranks end as staggered as they began.
Schedule make_zb_h2(const PipelineShape& shape) {
    Schedule schedule = empty_schedule("zb-h2", shape, 1, 1, one_stage);
    schedule.staggers = true;
    for (int rank = 0; rank < shape.ranks; ++rank)
        zero_bubble_rank(schedule.actions[size_t(rank)], rank, shape.microbatches, 2 * (shape.ranks - rank) - 1, 2 * rank);
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

}  // namespace lockstep::parallel
