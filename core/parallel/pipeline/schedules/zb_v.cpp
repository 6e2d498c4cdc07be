// ZB-V (arXiv 2401.10241, section 6; 2405.15362): rank r holds the stages r and 2p - 1 - r, so that a micro-batch runs down
// all ranks and up again and ends where it began. The first gradient is back on a rank early: no bubble at 1F1B's memory.
#include <algorithm>

#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {

Schedule make_zb_v(const PipelineShape& shape) {
    const int p = shape.ranks, m = shape.microbatches;
    Schedule schedule = empty_schedule(
        "zb-v", shape, 2, 1, [](int rank, int chunk, int ranks) { return chunk == 0 ? rank : 2 * ranks - 1 - rank; });
    schedule.staggers = true;
    const int full = std::max(m, 2 * p - 1);  // the pattern is that of a full pipeline; what is beyond m is left out
    for (int rank = 0; rank < p; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        const int stage[2] = {rank, 2 * p - 1 - rank};
        int forwards[2] = {0, 0}, inputs[2] = {0, 0}, weights[2] = {0, 0};
        const auto add = [&](ActionKind kind, int(&count)[2], int chunk) {
            if (const int i = count[chunk]++; i < m) compute(list, kind, i, stage[chunk]);
        };
        const auto F = [&](int chunk) { add(ActionKind::forward, forwards, chunk); };
        const auto I = [&](int chunk) { add(ActionKind::backward_input, inputs, chunk); };
        const auto W = [&](int chunk) { add(ActionKind::backward_weight, weights, chunk); };
        // Down until the first micro-batch is back, then both arms, then the upper arm with its backward.
        for (int i = 0; i < 2 * (p - rank) - 1; ++i) F(0);
        for (int i = 0; i < rank; ++i) F(1), F(0);
        for (int i = 0; i < p - rank; ++i) F(1), I(1), W(1);
        while (forwards[1] < forwards[0] || forwards[0] < full) {
            if (forwards[0] < full) F(0);
            I(0), W(0), F(1), I(1), W(1);
        }
        // No more forwards: what other ranks wait for goes first.
        for (int i = 0; i < rank; ++i) I(0), I(1);
        for (int i = 0; i < p - rank; ++i) I(0), W(0);
        while (weights[1] < inputs[1]) W(1);
        while (weights[0] < inputs[0]) W(0);
    }
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

}  // namespace lockstep::parallel
