// What all schedules share when they are written down: where the stages lie, further batches, and the messages.
#include <algorithm>

#include "core/parallel/pipeline/schedules/schedules.h"

namespace lockstep::parallel {

void place_stages(Schedule& schedule) {
    const int stages = schedule.stages();
    schedule.holder.assign(size_t(stages * schedule.copies), -1);
    for (int rank = 0; rank < schedule.ranks; ++rank)
        for (size_t chunk = 0; chunk < schedule.stages_of[size_t(rank)].size(); ++chunk) {
            const int stage = schedule.stages_of[size_t(rank)][chunk];
            const int copy = schedule.copies > 1 ? static_cast<int>(chunk) % schedule.copies : 0;
            if (stage >= 0 && stage < stages) schedule.holder[size_t(copy * stages + stage)] = rank;
        }
}

Schedule empty_schedule(std::string_view kind, const PipelineShape& shape, int chunks, int copies,
                        int (*stage)(int rank, int chunk, int ranks)) {
    Schedule schedule;
    schedule.kind = kind;
    schedule.ranks = shape.ranks;
    schedule.chunks = chunks;
    schedule.copies = copies;
    schedule.batches = std::max(1, shape.batches);
    schedule.per_update = shape.microbatches;
    schedule.microbatches = shape.microbatches * schedule.batches;
    schedule.stages_of.resize(size_t(shape.ranks));
    schedule.actions.resize(size_t(shape.ranks));
    for (int rank = 0; rank < shape.ranks; ++rank) {
        for (int chunk = 0; chunk < chunks; ++chunk)
            schedule.stages_of[size_t(rank)].push_back(stage(rank, chunk, shape.ranks));
        schedule.actions[size_t(rank)].reserve(size_t(schedule.microbatches * chunks / copies) * 3 + 1);
    }
    place_stages(schedule);
    return schedule;
}

void repeat_batches(Schedule& schedule, const PipelineShape& shape) {
    for (std::vector<Action>& list : schedule.actions) {
        const size_t one = list.size();
        for (int batch = 0; batch < schedule.batches; ++batch) {
            for (size_t i = 0; batch > 0 && i < one; ++i) {
                Action action = list[i];
                action.microbatch += batch * shape.microbatches;
                action.version = batch;
                list.push_back(action);
            }
            compute(list, ActionKind::update, (batch + 1) * shape.microbatches - 1, -1, batch + 1);
        }
    }
}

namespace {

struct MessageKey {  // a result that goes from one stage to the next (activation) or to the one before (gradient)
    bool gradient = false;
    int stage = 0, microbatch = 0;  // of the sender
};

// What `action` needs from another stage, and what another stage needs from it; false: nothing.
bool message_before(const Schedule& schedule, const Action& action, MessageKey& key) {
    if (action.kind == ActionKind::forward) {
        key = {false, action.stage - 1, action.microbatch};
        return action.stage > 0;
    }
    if (action.kind != ActionKind::backward && action.kind != ActionKind::backward_input) return false;
    key = {true, action.stage + 1, action.microbatch};
    return action.stage + 1 < schedule.stages();
}
bool message_after(const Schedule& schedule, const Action& action, MessageKey& key) {
    key = {action.kind != ActionKind::forward, action.stage, action.microbatch};
    if (action.kind == ActionKind::forward) return action.stage + 1 < schedule.stages();
    return (action.kind == ActionKind::backward || action.kind == ActionKind::backward_input) && action.stage > 0;
}

struct MessageLine {  // what one rank sends to another, in order
    int from = 0;
    std::vector<MessageKey> sent;
    size_t received = 0;
};

}  // namespace

void place_messages(Schedule& schedule) {
    const auto neighbour = [&](const MessageKey& key) {
        return schedule.rank_of(key.gradient ? key.stage - 1 : key.stage + 1, key.microbatch);
    };
    std::vector<std::vector<MessageLine>> lines(size_t(schedule.ranks));  // by receiver: few senders each
    const auto line_from = [&](int to, int from) -> MessageLine& {
        auto& of_rank = lines[size_t(to)];
        for (MessageLine& line : of_rank)
            if (line.from == from) return line;
        of_rank.push_back({from, {}, 0});
        return of_rank.back();
    };
    const size_t each = size_t(schedule.microbatches);
    std::vector<int> place(2 * size_t(schedule.stages()) * each);  // of a message in its line
    const auto slot = [&](const MessageKey& key) {
        return (size_t(key.gradient) * size_t(schedule.stages()) + size_t(key.stage)) * each + size_t(key.microbatch);
    };
    MessageKey key;
    for (int rank = 0; rank < schedule.ranks; ++rank)
        for (const Action& action : schedule.actions[size_t(rank)]) {
            if (!message_after(schedule, action, key)) continue;
            const int to = neighbour(key);
            if (to == rank) continue;
            MessageLine& line = line_from(to, rank);
            place[slot(key)] = static_cast<int>(line.sent.size());
            line.sent.push_back(key);
        }
    for (int rank = 0; rank < schedule.ranks; ++rank) {
        std::vector<Action>& list = schedule.actions[size_t(rank)];
        std::vector<Action> full;
        full.reserve(2 * list.size() + size_t(schedule.microbatches));
        const auto receive_for = [&](const Action& action) {
            if (!message_before(schedule, action, key)) return;
            const int from = schedule.rank_of(key.stage, key.microbatch);
            if (from == rank) return;
            MessageLine& line = line_from(rank, from);
            for (const size_t needed = size_t(place[slot(key)]); line.received <= needed; ++line.received) {
                const MessageKey& next = line.sent[line.received];
                full.push_back({next.gradient ? ActionKind::receive_gradient : ActionKind::receive_activation,
                                next.microbatch, next.gradient ? next.stage - 1 : next.stage + 1, from, 0});
            }
        };
        const auto send_from = [&](const Action& action) {
            if (!message_after(schedule, action, key)) return;
            if (const int to = neighbour(key); to != rank)
                full.push_back({key.gradient ? ActionKind::send_gradient : ActionKind::send_activation, key.microbatch,
                                key.stage, to, 0});
        };
        for (size_t i = 0; i < list.size(); ++i) {
            const bool pair = list[i].together && i + 1 < list.size();
            for (size_t j = i; j <= i + pair; ++j) receive_for(list[j]);
            for (size_t j = i; j <= i + pair; ++j) full.push_back(list[j]);
            for (size_t j = i; j <= i + pair; ++j) send_from(list[j]);
            i += pair;
        }
        list = std::move(full);
    }
}

}  // namespace lockstep::parallel
