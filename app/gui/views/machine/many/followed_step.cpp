// Beside the strip of a step of many GPUs: what is followed, its way as a bar of legs over time, and how far it has come.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/many/cluster_level.h"

namespace lockstep::gui {
namespace {

constexpr float followed_width = 420;

Color color_of_leg(const WayLeg& leg) {
    if (leg.is == WayLeg::Is::waits) return data::orange;
    if (leg.is == WayLeg::Is::travels) return leg.sums ? data::blue : leg.gradient ? data::green : data::sky;
    return color_of(leg.work);
}

void draw_legs(const MachineFrame& frame, const ClusterStep& step, const StepWay& way, const Rect& bar, double now) {
    Ui& ui = frame.ui;
    const double all = std::max(1e-300, way.end - way.begin);
    const auto x_of = [&](double time) {
        return bar.x + bar.w * static_cast<float>(std::clamp((time - way.begin) / all, 0.0, 1.0));
    };
    for (const WayLeg& leg : way.legs) {
        const float x = x_of(leg.begin), w = std::max(1.0f, x_of(leg.end) - x - (way.legs.size() < 60 ? 1.0f : 0.0f));
        const float opacity = leg.end <= now ? 1.0f : leg.begin <= now ? 0.8f : 0.38f;
        const Rect part{x, bar.y, w, bar.h};
        const Color color = color_of_leg(leg);
        if (leg.is == WayLeg::Is::works) {
            ui.rect(part, faded(color, opacity));
            const char letter[] = {letter_of(leg.work), 0};
            if (w > 13 && leg.end <= now)
                ui.text(x + w / 2, bar.y + bar.h / 2 + 4.5f, letter,
                        {.size = 12, .color = text_on(color), .align = Align::center, .weight = 600});
        } else {
            const bool waits = leg.is == WayLeg::Is::waits;
            ui.rect(part, faded(color, (waits ? 0.25f : 0.5f) * opacity));
            ui.hatch(part, faded(color, opacity), waits ? Hatch::diagonal : Hatch::horizontal);
        }
        if (!frame.still && ui.hovered(part))
            ui.tooltip(fmt::format("{}\n{} to {}", leg_text(step, leg, std::clamp(now, leg.begin, leg.end)),
                                   step_time_text(step, leg.begin), step_time_text(step, leg.end)));
    }
    ui.rect({x_of(now) - 1, bar.y - 3, 2, bar.h + 6}, ui.theme->ink);
}

void draw_followed_step(const MachineFrame& frame, const ClusterStep& step, const StepWay& way, const Rect& area, int rank) {
    Ui& ui = frame.ui;
    const Theme& t = *ui.theme;
    const double now = cluster_time(frame.session, step);
    ui.rect(area, t.panel, 4);
    ui.frame(area, t.line, 1, 4);
    const float end = ui.text(area.x + 12, area.y + 22, "Followed", {.size = 14, .weight = 600});
    ui.text(area.right() - 12, area.y + 22, way.name,
            {.size = 13, .color = t.ink2, .align = Align::right, .width = area.right() - end - 24});
    const Rect bar{area.x + 12, area.y + 42, area.w - 24, 18};
    draw_legs(frame, step, way, bar, now);
    const double so_far = std::clamp(now - way.begin, 0.0, way.end - way.begin);
    const float controls = area.bottom() - 36;
    float y = bar.bottom() + 24;
    if (y < controls - 4) {
        const float x = ui.text(bar.x, y, step_time_text(step, so_far), {.size = 16, .weight = 700, .mono = true});
        ui.text(x + 6, y, fmt::format("of {}", step_time_text(step, way.end - way.begin)), {.size = 13, .color = t.ink2});
        ui.text(bar.right(), y, fmt::format("{} waiting", step_time_text(step, way.waited(now))),
                {.size = 13, .color = t.ink2, .align = Align::right});
        y += 24;
    }
    if (y < controls - 4) {
        const std::string words = now < way.begin  ? "it has not set out yet"
                                  : now >= way.end ? "it is done"
                                                   : leg_text(step, way.legs[static_cast<size_t>(way.leg_at(now))], now);
        ui.text(bar.x, y, words, {.size = 13, .width = bar.w});
        y += 24;
    }
    if (y + 14 < controls) {
        float x = bar.x;
        for (const auto& [words, hatch, color] : {std::tuple{"works", Hatch::solid, data::green},
                                                  {"travels", Hatch::horizontal, data::sky},
                                                  {"waits", Hatch::diagonal, data::orange}})
            x = ui.legend(x, y, color, hatch, words) + 12;
    }
    if (frame.still) return;
    float x = bar.x;
    const auto take_up = [&](const FollowedPacket& packet) {
        follow(frame, packet);
        const StepWay taken = way_through(step, packet);
        if (!taken.empty()) frame.session.cluster.time = taken.begin;
    };
    FollowedPacket& packet = frame.session.machine.packet;
    if (ui.chip(x, controls, "begin")) frame.session.cluster.time = way.begin;
    if (packet.kind != FollowedPacket::Kind::message && ui.chip(x, controls, "next one")) {
        FollowedPacket next = packet;
        ++(next.kind == FollowedPacket::Kind::chunk ? next.chunk : next.number);
        if (way_through(step, next).empty()) next = what_to_follow(step, rank, 0);
        take_up(next);
    }
    if (ui.chip(x, controls, "let go")) packet = {}, frame.session.machine.follow = false;
}

}  // namespace

Lights lights_of_step(const MachineFrame& frame, const ClusterStep& step) {
    const double filmed = frame.session.machine.filmed;
    const double speed = filmed > 0 ? filmed : cluster_speed(frame.session, step);
    // Where passes follow one another faster than a flash is over, nothing lights up.
    const size_t passes = step.columns.empty() || step.columns[0].lanes.empty() ? 1 : step.columns[0].lanes[0].spans.size();
    const bool fast = step.end / static_cast<double>(std::max<size_t>(1, passes)) < 2 * flash_seconds * speed;
    return {frame.session.playing || filmed > 0, fast, frame.session.less_motion, speed};
}

void follow(const MachineFrame& frame, const FollowedPacket& packet) {
    frame.session.machine.packet = packet;
}

StepWay followed_way(const MachineFrame& frame, const ClusterStep& step) {
    return way_through(step, frame.session.machine.packet);
}

void draw_step_foot(const MachineFrame& frame, const ClusterStep& step, const Rect& area, int rank) {
    const StepWay way = followed_way(frame, step);
    Rect strip = area;
    if (!way.empty() && area.w >= 1000 && area.h >= 120) {
        strip.w -= followed_width + 8;
        draw_followed_step(frame, step, way, {strip.right() + 8, area.y, followed_width, area.h}, rank);
    }
    draw_step_strip(frame, step, strip, step.replica_of(rank), step.stage_of(rank));
}

}  // namespace lockstep::gui
