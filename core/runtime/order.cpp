#include "core/runtime/order.h"

#include <algorithm>

namespace lockstep::runtime {
namespace {
constexpr size_t most_seen = 4096;  // touches that are looked at; the oldest are let go
}

void WorkOrder::join(Clock& clock, const Clock& other) {
    for (const auto& [stream, count] : other) clock[stream] = std::max(clock[stream], count);
}

void WorkOrder::enter(uint32_t stream) {
    Clock& own = streams_[stream];
    join(own, host_);
    if (stream == 0) {
        for (const auto& [other, clock] : streams_)
            if (other != 0 && !independent_[other]) join(own, Clock(clock));
    } else if (!independent_[stream]) {
        join(own, Clock(streams_[0]));
    }
}

std::optional<WorkOrder::Race> WorkOrder::add(const Piece& piece, std::span<const Touch> touches) {
    enter(piece.stream);
    Clock& known = streams_[piece.stream];
    const uint64_t number = known[piece.stream] = ++count_[piece.stream];
    std::optional<Race> race;
    for (const Touch& touch : touches) {
        for (const Seen& seen : seen_) {
            const bool both_read = !touch.writes && !seen.touch.writes;
            const uint64_t begin = std::max(touch.begin, seen.touch.begin), end = std::min(touch.end, seen.touch.end);
            if (both_read || begin >= end || seen.piece.stream == piece.stream) continue;
            if (known[seen.piece.stream] >= seen.number || race) continue;
            race = Race{seen.piece, begin, seen.touch.writes, touch.writes};
        }
    }
    for (const Touch& touch : touches) {
        // What lies inside of a later write of the same stream, or was read there again, is told by that one.
        std::erase_if(seen_, [&](const Seen& seen) {
            return seen.piece.stream == piece.stream && seen.touch.writes <= touch.writes &&
                   touch.begin <= seen.touch.begin && seen.touch.end <= touch.end;
        });
        seen_.push_back({touch, piece, number});
    }
    if (seen_.size() > most_seen) seen_.erase(seen_.begin(), seen_.end() - static_cast<std::ptrdiff_t>(most_seen));
    return race;
}

void WorkOrder::record(uint32_t event, uint32_t stream) {
    enter(stream);
    events_[event] = streams_[stream];
}

void WorkOrder::wait(uint32_t stream, uint32_t event) {
    enter(stream);
    join(streams_[stream], events_[event]);
}

void WorkOrder::host_waits_for_stream(uint32_t stream) {
    enter(stream);
    join(host_, streams_[stream]);
    std::erase_if(seen_, [&](const Seen& seen) { return host_[seen.piece.stream] >= seen.number; });
}

void WorkOrder::host_waits_for_event(uint32_t event) {
    join(host_, events_[event]);
    std::erase_if(seen_, [&](const Seen& seen) { return host_[seen.piece.stream] >= seen.number; });
}

void WorkOrder::host_waits_for_all() {
    for (const auto& [stream, clock] : streams_) join(host_, clock);
    seen_.clear();
}

}  // namespace lockstep::runtime
