#include "app/gui/views/machine/many/step_way.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/collective/collective_data.h"

namespace lockstep::gui {
namespace {

bool is_pass(StepWork work) {  // that a micro-batch goes through; the weights' half of a backward pass is beside its way
    return work == StepWork::forward || work == StepWork::backward || work == StepWork::input;
}

// Orders the legs, lets none begin before the one in front of it has ended, and fills what is between with waits.
void close_up(StepWay& way) {
    std::stable_sort(way.legs.begin(), way.legs.end(), [](const WayLeg& a, const WayLeg& b) { return a.begin < b.begin; });
    std::vector<WayLeg> whole;
    for (WayLeg leg : way.legs) {
        if (!whole.empty()) {
            const WayLeg& before = whole.back();
            leg.begin = std::max(leg.begin, before.end);
            if (leg.begin > before.end + 1e-12) {
                WayLeg wait = before;
                wait.is = WayLeg::Is::waits;
                wait.from = wait.to = before.to;
                wait.begin = before.end, wait.end = leg.begin;
                whole.push_back(wait);
            }
        }
        if (leg.end > leg.begin) whole.push_back(leg);
    }
    way.legs = std::move(whole);
    if (way.legs.empty()) return;
    way.begin = way.legs.front().begin;
    way.end = way.legs.back().end;
}

StepWay way_of_microbatch(const ClusterStep& step, int replica, int microbatch) {
    StepWay way;
    const StepColumn& column = step.column(replica);
    for (size_t stage = 0; stage < column.lanes.size(); ++stage)
        for (const StepSpan& span : column.lanes[stage].spans)
            if (span.microbatch == microbatch && is_pass(span.work)) {
                const int at = static_cast<int>(stage);
                way.legs.push_back(
                    {WayLeg::Is::works, span.work, span.work != StepWork::forward, false, at, at, span.begin, span.end});
            }
    for (const StepPacket& packet : column.packets)
        if (packet.microbatch == microbatch)
            way.legs.push_back({WayLeg::Is::travels, StepWork::other, packet.gradient, false, packet.from, packet.to,
                                packet.sent, packet.arrives});
    way.name = fmt::format("micro-batch {}{}", microbatch + 1,
                           step.replicas > 1 ? fmt::format(" of replica {}", replica) : std::string());
    close_up(way);
    return way;
}

StepWay way_of_message(const ClusterStep& step, int replica, int number) {
    StepWay way;
    const StepPacket& packet = step.column(replica).packets[static_cast<size_t>(number)];
    way.legs.push_back(
        {WayLeg::Is::travels, StepWork::other, packet.gradient, false, packet.from, packet.to, packet.sent, packet.arrives});
    if (packet.taken > packet.arrives)
        way.legs.push_back({WayLeg::Is::waits, StepWork::other, packet.gradient, false, packet.to, packet.to, packet.arrives,
                            packet.taken});
    way.name = fmt::format("{} from stage {} to {}", packet.gradient ? "gradients" : "activations", packet.from, packet.to);
    close_up(way);
    return way;
}

// In round k member r sends chunk r - k on, so the chunk is at member chunk + k.
StepWay way_of_chunk(const ClusterStep& step, int ring_number, int chunk) {
    StepWay way;
    const StepRing& ring = step.rings[static_cast<size_t>(ring_number)];
    const int n = step.replicas;
    way.stage = ring.stage;
    const double each = (ring.end - ring.begin) / std::max(1, ring.rounds);
    for (int round = 0; round < ring.rounds; ++round)
        way.legs.push_back({WayLeg::Is::travels, ring.gathers ? StepWork::gather : StepWork::sum, true, true,
                            (chunk + round) % n, (chunk + round + 1) % n, ring.begin + each * round,
                            ring.begin + each * (round + 1)});
    way.name =
        fmt::format("chunk {} of stage {}'s {}", chunk_name(chunk, n), ring.stage, ring.gathers ? "weights" : "gradients");
    close_up(way);
    return way;
}

}  // namespace

int StepWay::leg_at(double time) const {
    for (size_t i = 0; i < legs.size(); ++i)
        if (time < legs[i].end) return static_cast<int>(i);
    return static_cast<int>(legs.size()) - 1;
}

double StepWay::waited(double until) const {
    double sum = 0;
    for (const WayLeg& leg : legs)
        if (leg.is == WayLeg::Is::waits) sum += std::clamp(until - leg.begin, 0.0, leg.end - leg.begin);
    return sum;
}

StepWay way_through(const ClusterStep& step, const FollowedPacket& followed) {
    if (!step.refusal.empty() || followed.replica < 0 || followed.replica >= step.replicas || followed.number < 0) return {};
    switch (followed.kind) {
        case FollowedPacket::Kind::none:
            return {};
        case FollowedPacket::Kind::microbatch:
            return way_of_microbatch(step, followed.replica, followed.number);
        case FollowedPacket::Kind::message:
            if (followed.number >= static_cast<int>(step.column(followed.replica).packets.size())) return {};
            return way_of_message(step, followed.replica, followed.number);
        case FollowedPacket::Kind::chunk:
            if (followed.number >= static_cast<int>(step.rings.size()) || followed.chunk < 0 ||
                followed.chunk >= step.replicas)
                return {};
            return way_of_chunk(step, followed.number, followed.chunk);
    }
    return {};
}

FollowedPacket what_to_follow(const ClusterStep& step, int rank, double time) {
    using Kind = FollowedPacket::Kind;
    if (!step.refusal.empty() || step.columns.empty()) return {};
    const int replica = step.replica_of(rank), stage = step.stage_of(rank);
    const StepColumn& column = step.column(replica);
    const auto of = [&](size_t packet) -> FollowedPacket {
        const int microbatch = column.packets[packet].microbatch;
        if (microbatch >= 0) return {Kind::microbatch, replica, microbatch, -1};
        return {Kind::message, replica, static_cast<int>(packet), -1};
    };
    const std::vector<uint32_t> under_way = packets_at(step, replica, time);
    for (const uint32_t i : under_way)
        if (column.packets[i].from == stage || column.packets[i].to == stage) return of(i);
    for (size_t r = 0; r < step.rings.size(); ++r)
        if (const int round = step.rings[r].round_at(time); round >= 0 && step.rings[r].stage == stage)
            return {Kind::chunk, replica, static_cast<int>(r),
                    ((replica - round) % step.replicas + step.replicas) % step.replicas};
    const GpuNow now = stage_at(step, replica, stage, time);
    for (const StepSpan* span : {now.span, now.next})
        if (span != nullptr && span->microbatch >= 0) return {Kind::microbatch, replica, span->microbatch, -1};
    if (!under_way.empty()) return of(under_way.front());
    for (size_t i = 0; i < column.packets.size(); ++i)
        if (column.packets[i].sent >= time) return of(i);
    for (size_t r = 0; r < step.rings.size(); ++r)
        if (step.rings[r].stage == stage && step.rings[r].end > time)
            return {Kind::chunk, replica, static_cast<int>(r), replica};
    return column.packets.empty() ? FollowedPacket{} : of(0);
}

std::string leg_text(const ClusterStep& step, const WayLeg& leg, double time) {
    const double share = std::clamp((time - leg.begin) / std::max(1e-300, leg.end - leg.begin), 0.0, 1.0);
    if (leg.is == WayLeg::Is::works)
        return fmt::format("{} on stage {}, {:.0f} %", name_of(leg.work), leg.from, 100 * share);
    if (leg.sums) return fmt::format("on its way from replica {} to {}, {:.0f} %", leg.from, leg.to, 100 * share);
    const std::string_view what = leg.gradient ? "gradients" : "activations";
    if (leg.is == WayLeg::Is::travels)
        return fmt::format("{} on their way from stage {} to {}, {:.0f} %", what, leg.from, leg.to, 100 * share);
    return fmt::format("waits at stage {} for {} more", leg.to, step_time_text(step, std::max(0.0, leg.end - time)));
}

std::string followed_sentence(const ClusterStep& step, const StepWay& way, double time) {
    if (way.empty()) return "";
    std::string name = way.name;
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    if (time < way.begin) return fmt::format("{} sets out in {}.", name, step_time_text(step, way.begin - time));
    if (time >= way.end)
        return fmt::format("{} took {}, {} of them waiting.", name, step_time_text(step, way.end - way.begin),
                           step_time_text(step, way.waited(way.end)));
    return fmt::format("{}: {}.", name, leg_text(step, way.legs[static_cast<size_t>(way.leg_at(time))], time));
}

double wait_over(const ClusterStep& step, const StepWay& way, int rank, double time) {
    if (!way.empty() && time >= way.begin && time < way.end) {
        const WayLeg& leg = way.legs[static_cast<size_t>(way.leg_at(time))];
        return leg.is == WayLeg::Is::waits ? leg.end : time;
    }
    const int replica = step.replica_of(rank), stage = step.stage_of(rank);
    const GpuNow now = stage_at(step, replica, stage, time);
    if (now.span != nullptr) return now.does == GpuDoes::held_up ? now.span->end : time;
    return now.next != nullptr ? now.next->begin : step.end;
}

Point followed_at(const ClusterPlaces& places, const FollowedPacket& followed, const StepWay& way, double time) {
    if (way.empty()) return {};
    const WayLeg& leg = way.legs[static_cast<size_t>(way.leg_at(std::clamp(time, way.begin, way.end)))];
    const double share = std::clamp((time - leg.begin) / std::max(1e-300, leg.end - leg.begin), 0.0, 1.0);
    const auto middle = [](const Rect& r) { return Point{r.x + r.w / 2, r.y + r.h / 2}; };
    if (leg.sums) return along(ring_way(places, way.stage, leg.from), share);
    if (leg.is == WayLeg::Is::travels)
        return along(packet_way(places, followed.replica, leg.from, leg.to, leg.gradient), share);
    const Rect tile = places.tile(followed.replica, leg.to);
    if (leg.is == WayLeg::Is::works) return middle(tile);
    // At the door through which it came.
    const float y = tile.y + tile.h * (leg.gradient ? 0.74f : 0.4f);
    return {leg.gradient ? tile.right() : tile.x, y};
}

}  // namespace lockstep::gui
