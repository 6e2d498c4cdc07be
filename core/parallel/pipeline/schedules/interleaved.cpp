// Interleaved 1F1B (Megatron-LM, arXiv 2104.04473): rank r holds the stages r, r + p, r + 2p, ..., so that the pipeline
// fills and drains in stages of a v-th of the length; the bubble shrinks by v, messages grow by v.
#include <fmt/format.h>

#include <algorithm>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {

// Micro-batches go in groups of p: p of them through the first chunk, the same p through the second, and so on; backward in
// the same groups from the last chunk on. Rank r runs 2(p-r-1) + (v-1)p forwards ahead.
Schedule make_interleaved(const PipelineShape& shape) {
    const int p = shape.ranks, m = shape.microbatches, v = shape.chunks;
    if (m % p != 0)
        throw Failure(
            fmt::format("interleaved runs micro-batches in groups of the {} pipeline ranks: {} is no multiple, {} would be",
                        p, m, m < p ? fmt::format("{}", p) : fmt::format("{} or {}", m / p * p, (m / p + 1) * p)));
    Schedule schedule =
        empty_schedule("interleaved", shape, v, 1, [](int rank, int chunk, int ranks) { return chunk * ranks + rank; });
    for (int rank = 0; rank < p; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        const int all = m * v, ahead = std::min(all, 2 * (p - rank - 1) + (v - 1) * p + 1);
        const auto step = [&](ActionKind kind, int k) {
            const int chunk = k % (p * v) / p;
            compute(list, kind, k / (p * v) * p + k % p, (kind == ActionKind::forward ? chunk : v - 1 - chunk) * p + rank);
        };
        for (int k = 0; k < ahead; ++k) step(ActionKind::forward, k);
        for (int k = 0; k < all; ++k) {
            step(ActionKind::backward, k);
            if (ahead + k < all) step(ActionKind::forward, ahead + k);
        }
    }
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

}  // namespace lockstep::parallel
