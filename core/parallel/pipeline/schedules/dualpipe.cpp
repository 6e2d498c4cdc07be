// DualPipe (DeepSeek-V3, arXiv 2412.19437, section 3.2.1): every stage is held twice, on rank r and on rank p - 1 - r. Half
// of the micro-batches enter at the first rank, half at the last; where the two streams cross, a forward of one and a
// backward of the other run together and hide each other's messages. Here they run one after the other, which takes the same
// time.
#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/base/diagnostic.h"
#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {

Schedule make_dualpipe(const PipelineShape& shape) {
    const int p = shape.ranks, m = shape.microbatches;
    if (p % 2 != 0)
        throw Failure(fmt::format("dualpipe needs an even number of pipeline ranks, not {}: {} would do", p,
                                  p == 1 ? "2" : fmt::format("{} or {}", p - 1, p + 1)));
    if (m % 2 != 0 || m < 2 * p)
        throw Failure(
            fmt::format("dualpipe needs an even number of micro-batches, at least twice its {} ranks: {} would do, not {}",
                        p, std::max(2 * p, m + m % 2), m));
    Schedule schedule = empty_schedule("dualpipe", shape, 2, 2,
                                       [](int rank, int chunk, int ranks) { return chunk == 0 ? rank : ranks - 1 - rank; });
    for (int rank = 0; rank < p; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        const int from_end = std::min(rank, p - 1 - rank);  // how far the rank is from its end of the pipeline
        // Direction 0 is the one whose micro-batches enter at this rank's end.
        int forwards[2] = {0, 0}, backwards[2] = {0, 0};
        std::deque<Action> put_off;  // W for later
        const auto action = [&](ActionKind kind, int direction, int i) {
            const bool second = (direction == 1) != (rank >= p / 2);  // copy of the stage
            return Action{kind, second ? m / 2 + i : i, second ? p - 1 - rank : rank, -1, 0};
        };
        const auto F = [&](int direction) { list.push_back(action(ActionKind::forward, direction, forwards[direction]++)); };
        const auto B = [&](int direction, bool split = false) {
            const int i = backwards[direction]++;
            list.push_back(action(split ? ActionKind::backward_input : ActionKind::backward, direction, i));
            if (split) put_off.push_back(action(ActionKind::backward_weight, direction, i));
        };
        const auto W = [&] { list.push_back(put_off.front()), put_off.pop_front(); };

        const int inside = p / 2 - from_end - 1;
        for (int i = 0; i < 2 * inside; ++i) F(0);
        for (int i = 0; i < from_end + 1; ++i) F(0), F(1);
        for (int i = 0; i < inside; ++i) B(1, true), W(), F(1);
        const auto pair = [&](int forward, int backward) { F(forward), list.back().together = true, B(backward); };
        for (int i = 0; i < m / 2 - p + from_end + 1; ++i) {
            if (i == 0 && inside == 0)  // the two ranks in the middle: the first B waits for this F
                F(0), B(1);
            else
                pair(0, 1);
            pair(1, 0);
        }
        for (int i = 0; i < inside; ++i) B(1), pair(1, 0);
        bool split = false;
        for (int i = 0; i < from_end + 1; ++i) {
            if (i == (from_end + 1) / 2 && from_end % 2 == 1) split = true;
            B(1, split);
            if (i == (from_end + 1) / 2 && from_end % 2 == 0) split = true;
            B(0, split);
        }
        for (int i = 0; i < inside; ++i) W(), B(0, true);
        while (!put_off.empty()) W();
    }
    repeat_batches(schedule, shape);
    place_messages(schedule);
    return schedule;
}

}  // namespace lockstep::parallel
