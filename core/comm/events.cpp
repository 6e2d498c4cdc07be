#include "core/comm/events.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

namespace lockstep::comm {

std::string_view name_of(RankEvent::Kind kind) {
    static constexpr std::string_view names[] = {"work", "send", "receive", "wait"};
    return names[static_cast<size_t>(kind)];
}

Trace trace_of(std::span<const std::vector<RankEvent>> ranks) {
    Trace trace;
    std::map<std::pair<int, uint64_t>, int> sent;  // span by sender and number
    std::vector<std::pair<std::pair<int, uint64_t>, int>> received;
    const auto nanoseconds = [](double us) { return static_cast<int64_t>(std::llround(us * 1000)); };
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        const int parent = static_cast<int>(trace.tracks.size());
        trace.tracks.push_back({fmt::format("rank {}", rank), -1});
        std::map<int, int> tracks;  // by stream
        for (const RankEvent& event : ranks[rank]) {
            const auto [track, is_new] = tracks.emplace(event.stream, static_cast<int>(trace.tracks.size()));
            if (is_new) trace.tracks.push_back({fmt::format("stream {}", event.stream), parent});
            const int span = static_cast<int>(trace.spans.size());
            std::string name = event.label.empty() ? std::string(name_of(event.kind)) : event.label;
            if (event.kind == RankEvent::Kind::send) name += fmt::format(" to {}", event.peer);
            if (event.kind == RankEvent::Kind::receive) name += fmt::format(" from {}", event.peer);
            trace.spans.push_back({track->second, nanoseconds(event.begin_us), nanoseconds(event.end_us), std::move(name)});
            if (event.kind == RankEvent::Kind::send) sent[{static_cast<int>(rank), event.message}] = span;
            if (event.kind == RankEvent::Kind::receive) received.push_back({{event.peer, event.message}, span});
        }
    }
    for (const auto& [message, span] : received)
        if (const auto from = sent.find(message); from != sent.end()) trace.arrows.push_back({from->second, span});
    return trace;
}

}  // namespace lockstep::comm
