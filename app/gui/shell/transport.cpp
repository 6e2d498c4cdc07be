// The transport: the bar at the bottom. What a step is and where the run stands: transport_steps.cpp. From left to right:
// the buttons, what a step is, how fast it plays (transport_speed.cpp), the strip with the run's parts, which can be
// dragged, and two lines of words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/shell/shell.h"
#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/sm/lane_paths.h"
#include "app/gui/views/timeline/timeline_data.h"
#include "app/gui/views/training/tape_data.h"

namespace lockstep::gui {

namespace {

Color color_of_phase(const std::string& phase) {
    return phase == "backward"  ? data::blue
           : phase == "update"  ? data::purple
           : phase == "forward" ? data::green
                                : data::grey;
}

void button_face(Ui& ui, const Rect& box, bool primary, bool hovered) {
    ui.rect(box, primary ? ui.theme->accent : ui.theme->panel2, 4);
    if (!primary) ui.frame(box, hovered ? ui.theme->ink3 : ui.theme->line, 1, 4);
}

// The strip where the run can be dragged through.
struct Scrub {
    Ui& ui;
    Session& session;
    Focus& focus;
    const Snapshot& snapshot;
    float x, y, w;  // y: of the bar

    bool training() const { return session.workspace == Workspace::training; }
    bool hidden() const { return session.learn.reveal_steps >= 0 && !training(); }
    float known() const { return hidden() ? w * 0.72f : w; }  // while the rest is hidden, its length is not told
    void cursor(float at) const {
        ui.cursor_line(at, y + 15, y + 43);
        ui.arrow_head({at, y + 19}, Way::down, ui.theme->ink, 6);
    }
};

// One segment a kernel, as wide as its cycles; of equal widths while they are not timed. A wish opens the kernel there.
void scrub_launches(const Scrub& scrub, double wish) {
    const auto& launches = scrub.snapshot.training.step->launches;
    const auto weight = [](const device::LaunchEvent& l) { return l.end_us > l.begin_us ? l.end_us - l.begin_us : 1.0; };
    double total = 0, done = 0;
    for (const auto& launch : launches) total += weight(launch);
    for (size_t i = 0; i < launches.size(); ++i) {
        const double w = weight(launches[i]) / total;
        const bool here = static_cast<int32_t>(i) == scrub.focus.launch;
        const Rect box{scrub.x + scrub.w * static_cast<float>(done) + 1, scrub.y + 25,
                       std::max(1.0f, scrub.w * static_cast<float>(w) - 2), 8};
        scrub.ui.rect(box, faded(color_of_phase(launches[i].phase), here ? 1.0f : 0.7f));
        if (here) scrub.cursor(scrub.x + scrub.w * static_cast<float>(done + w / 2));
        if (wish >= done && wish < done + w && scrub.focus.launch != static_cast<int32_t>(i)) {
            scrub.focus.launch = static_cast<int32_t>(i);
            scrub.session.post(ask::OpenKernel{scrub.focus.launch});
        }
        done += w;
    }
}

// One segment an issued instruction, in the colour of its path.
void draw_issues(const Scrub& scrub, const simt::WarpHistory& history) {
    const int64_t count = instructions_of(scrub.session, scrub.focus, scrub.snapshot);
    const int64_t shown = std::min<int64_t>(count, 160);
    for (int64_t i = 0; i < shown; ++i) {
        const int64_t step = count <= 160 ? i : i * count / shown;
        if (step > scrub.session.sm.history_step) break;
        const float w = scrub.known() / static_cast<float>(shown);
        const PathCode code = path_code(running_path(history.steps[static_cast<size_t>(step)]));
        const Rect box{scrub.x + w * static_cast<float>(i) + (w > 4 ? 1 : 0), scrub.y + 25, w - (w > 4 ? 2 : 0), 8};
        if (code.hatch == Hatch::solid)
            scrub.ui.rect(box, faded(code.color, 0.75f));
        else
            scrub.ui.hatch(box, code.color, code.hatch);
    }
}

// What lies behind, and the stretch that the trace keeps in full: beyond it the run is replayed.
void draw_share(const Scrub& scrub, float drawn) {
    const Theme& t = *scrub.ui.theme;
    scrub.ui.rect({scrub.x + 1, scrub.y + 25, (scrub.w - 2) * drawn, 8},
                  faded(scrub.training() ? data::green : t.accent, 0.75f));
    const KernelTrace* const trace = trace_of(scrub.snapshot);
    if (scrub.session.workspace == Workspace::build) return;
    if (trace == nullptr || !trace->truncated || trace->cycles <= 0 || scrub.training() || scrub.hidden()) return;
    const auto place = [&](int64_t cycle) {
        return scrub.x + scrub.w * static_cast<float>(static_cast<double>(cycle) / static_cast<double>(trace->cycles));
    };
    const float from = place(trace->kept_from), until = place(trace->kept_until);
    scrub.ui.rect({from, scrub.y + 36, std::max(2.0f, until - from), 3}, t.ink2);
}

void scrub_tape(const Scrub& scrub, double wish) {
    if (!scrub.snapshot.training.step || scrub.session.learn.reveal_steps >= 0) return;  // the way ahead is hidden
    const TapePlan tape = plan_tape(*scrub.snapshot.training.step);
    const int to = static_cast<int>(wish * static_cast<double>(tape.last() + 1));
    if (const int from = tape_position(scrub.session, scrub.focus, tape); from != std::min(to, tape.last()))
        move(scrub.session, scrub.focus, scrub.snapshot, Grain::node, to - from);
}

void scrub_steps(const Scrub& scrub, double wish) {
    const int64_t last = std::max<int64_t>(0, total_steps(scrub.snapshot) - 1);
    const auto step = static_cast<int64_t>(std::lround(wish * static_cast<double>(last)));
    if (!scrub.snapshot.training.step || scrub.snapshot.training.step->step != step) scrub.session.post(ask::ShowStep{step});
}

void scrub_instructions(const Scrub& scrub, double wish) {
    Session& session = scrub.session;
    if (open_ended(scrub.snapshot, scrub.focus)) {
        session.sm.wanted = {};
        session.sm.by_time = true;
        scrub.focus.time = static_cast<int64_t>(wish * static_cast<double>(trace_of(scrub.snapshot)->cycles - 1));
    } else if (const int64_t count = instructions_of(session, scrub.focus, scrub.snapshot); count > 0) {
        session.sm.history_step = std::clamp<int64_t>(static_cast<int64_t>(wish * static_cast<double>(count)), 0, count - 1);
        move(session, scrub.focus, scrub.snapshot, Grain::instruction, 0);
    }
}

void scrub_cycles(const Scrub& scrub, double wish) {
    const KernelTrace* const trace = trace_of(scrub.snapshot);
    if (trace == nullptr) return;
    const int64_t shown = cycles_shown(scrub.session, scrub.focus, scrub.snapshot);
    scrub.focus.time = std::clamp<int64_t>(static_cast<int64_t>(wish * static_cast<double>(shown)), 0,
                                           std::max<int64_t>(0, trace->cycles - 1));
}

// Goes to a share of the run, 0 to 1.
void scrub_to(const Scrub& scrub, double wish) {
    if (scrub.session.workspace == Workspace::build) {
        scrub.session.build.at = wish;
        return;
    }
    if (machine_at_cluster(scrub.session)) return scrub_cluster_step(scrub.session, scrub.snapshot, wish);
    if (shows_cluster(scrub.session)) return scrub_cluster(scrub.session, scrub.snapshot, wish);
    if (shows_program(scrub.session) && (scrub.session.grain == Grain::kernel || scrub.session.grain == Grain::call))
        return scrub_program(scrub.session, scrub.snapshot, wish);
    if (scrub.session.grain == Grain::node) return scrub_tape(scrub, wish);
    if (scrub.training()) return scrub_steps(scrub, wish);
    if (scrub.session.grain == Grain::instruction) return scrub_instructions(scrub, wish);
    scrub_cycles(scrub, wish);
}

void draw_scrub(const Scrub& scrub, const Position& at) {
    Ui& ui = scrub.ui;
    const Snapshot& snapshot = scrub.snapshot;
    const Rect track{scrub.x, scrub.y + 24, scrub.w, 10};
    ui.rect(track, ui.theme->panel2, 3);
    ui.frame(track, ui.theme->line, 1, 3);
    const Drag drag = ui.drag("scrub", {scrub.x, scrub.y + 12, scrub.w, 34});
    const auto share = static_cast<double>((drag.at.x - scrub.x) / scrub.known());
    const double wish = drag.active ? std::clamp(share, 0.0, 1.0) : -1;
    const bool launches = scrub.session.grain == Grain::kernel && scrub.session.learn.reveal_steps < 0 &&
                          snapshot.training.step && !snapshot.training.step->launches.empty();
    if (launches) {
        scrub_launches(scrub, wish);
    } else {
        const float drawn = at.share >= 0 ? static_cast<float>(at.share) : 0;
        const simt::WarpHistory* const history = focused_history(snapshot, scrub.focus);
        if (scrub.session.grain == Grain::instruction && history && !history->truncated)
            draw_issues(scrub, *history);
        else
            draw_share(scrub, drawn);
        const float known = scrub.known();
        if (scrub.hidden())
            ui.hatch({scrub.x + known + 4, scrub.y + 25, scrub.w - known - 5, 8}, ui.theme->ink3, Hatch::diagonal);
        scrub.cursor(scrub.x + scrub.w * drawn);
        if (wish >= 0) scrub_to(scrub, wish);
    }
    if (!snapshot.busy.empty() && snapshot.progress >= 0)
        ui.rect({scrub.x, scrub.y + 47, scrub.w * static_cast<float>(std::clamp(snapshot.progress, 0.0, 1.0)), 2},
                ui.theme->accent);
}

// What the machine's clock does while it runs. Returns where the chips end.
float choose_way(Ui& ui, Session& session, const Snapshot& snapshot, float x, float y, float room) {
    MachineLook& look = session.machine;
    const auto fits = [&](std::string_view label) { return x + ui.chip_width(label) < room; };
    x += 8;
    if (fits("skip waits") && ui.chip(x, y + 15, "skip waits", look.skip_waits)) look.skip_waits = !look.skip_waits;
    if (fits("follow") && ui.chip(x, y + 15, "follow", look.follow)) {
        look.follow = !look.follow;
        if (look.follow && look.followed < 0)
            follow_request(session, snapshot, static_cast<int64_t>(std::max(0.0, look.clock)));
    }
    if (fits("loop") && ui.chip(x, y + 15, "loop", look.loop_to > look.loop_from)) loop_here(session, snapshot);
    return x;
}

// The same where the clock is that of a step of many GPUs: units of time a second.
float choose_step_speed(Ui& ui, Session& session, const Snapshot& snapshot, float x, float y, float room) {
    const auto step = session.cluster_step(snapshot);
    if (!step) return x;
    MachineLook& look = session.machine;
    const auto fits = [&](std::string_view label) { return x + ui.chip_width(label) < room; };
    const std::vector<SpeedChoice> choices = cluster_speeds(*step);
    float all = ui.text_width("speed", {.size = 13}) + 18;
    for (const std::string_view label : {"by zoom", "skip waits", "follow"}) all += ui.chip_width(label) + 6;
    for (const SpeedChoice& choice : choices) all += ui.chip_width(choice.name) + 6;
    if (x + all > room) {            // one chip that goes round
        size_t at = choices.size();  // by zoom
        for (size_t i = 0; i < choices.size(); ++i)
            if (look.cluster_speed == choices[i].a_second) at = i;
        const std::string label = "speed: " + (at < choices.size() ? choices[at].name : "by zoom");
        if (x + ui.chip_width(label) < room + 300 && ui.chip(x, y + 15, label, true)) {
            at = at < choices.size() ? at + 1 : 0;
            look.cluster_speed = at < choices.size() ? choices[at].a_second : 0;
        }
    } else {
        x = ui.text(x, y + 33, "speed", {.size = 13, .color = ui.theme->quiet}) + 10;
        if (ui.chip(x, y + 15, "by zoom", look.cluster_speed <= 0)) look.cluster_speed = 0;
        for (const SpeedChoice& choice : choices)
            if (ui.chip(x, y + 15, choice.name, look.cluster_speed == choice.a_second)) look.cluster_speed = choice.a_second;
        x += 8;
    }
    if (fits("skip waits") && ui.chip(x, y + 15, "skip waits", look.skip_waits)) look.skip_waits = !look.skip_waits;
    if (fits("follow") && ui.chip(x, y + 15, "follow", look.follow)) {
        look.follow = !look.follow;
        if (look.follow && look.packet.kind == FollowedPacket::Kind::none) follow_in_step(session, snapshot);
        if (!look.follow) look.packet = {};
    }
    return x;
}

// Of the die of a GPU that is built.
float choose_die_speed(Ui& ui, Session& session, float x, float y, float room) {
    constexpr double fastest = 1e4;
    std::vector<SpeedChoice> choices;
    for (const SpeedChoice& choice : speed_choices())
        if (choice.a_second <= fastest) choices.push_back(choice);
    double& speed = session.build.speed;
    constexpr std::string_view whole = "whole run";
    if (room - x < 420) {  // one chip that goes round
        size_t at = 0;
        while (at + 1 < choices.size() && choices[at].a_second < speed) ++at;
        const std::string label = "speed: " + choices[at].name;
        if (x + ui.chip_width(label) < room + 300 && ui.chip(x, y + 15, label, true))
            speed = choices[(at + 1) % choices.size()].a_second;
    } else {
        x = ui.text(x, y + 33, "speed", {.size = 13, .color = ui.theme->quiet}) + 10;
        for (const SpeedChoice& choice : choices)
            if (x + ui.chip_width(choice.name) < room && ui.chip(x, y + 15, choice.name, speed == choice.a_second))
                speed = choice.a_second;
        x += 8;
    }
    if (x + ui.chip_width(whole) < room && ui.chip(x, y + 15, whole, session.build.at < 0))
        session.build.at = -1, session.playing = false;
    return x;
}

// What a step is: a chip each where there is room, else one that goes round. Returns where they end.
float choose_grain(Ui& ui, Session& session, const std::vector<Grain>& grains, float x, float y, bool roomy) {
    if (!roomy) {
        const std::string label = "step: " + std::string(name_of(session.grain));
        if (ui.chip(x, y + 15, label, true)) {
            const auto at = std::find(grains.begin(), grains.end(), session.grain) - grains.begin();
            session.grain = grains[static_cast<size_t>(at + 1) % grains.size()];
        }
        return x;
    }
    x = ui.text(x, y + 33, "step", {.size = 13, .color = ui.theme->quiet}) + 10;
    for (const Grain grain : grains)
        if (ui.chip(x, y + 15, name_of(grain), grain == session.grain)) session.grain = grain;
    return x;
}

}  // namespace

// First, back, play, step, last; returns where they end.
float Shell::transport_buttons(Ui& ui, const Snapshot& snapshot, const Rect& bar) {
    const Theme& t = *ui.theme;
    const float y = bar.y;
    float x = 14;
    const auto mover = [&](std::string_view name, int way, bool far) {
        const Rect box{x, y + 13, 34, 30};
        if (ui.area(name, box)) session.playing = false, move(session, focus, snapshot, session.grain, way, far);
        button_face(ui, box, false, ui.hovered(box));
        if (ui.hovered(box)) ui.tooltip(name);
        const float m = x + 17, d = static_cast<float>(way);
        ui.polygon({{m - 5 * d, y + 20}, {m - 5 * d, y + 36}, {m + 7 * d, y + 28}}, t.ink);
        if (far) ui.rect({m + (way > 0 ? 7.0f : -9.0f), y + 20, 2, 16}, t.ink);
        x += 38;
    };
    const bool ends = bar.w > 420;  // else there is no room for them; the keys remain
    if (ends) mover("first (Home)", -1, true);
    mover("back (Left)", -1, false);
    const Rect play_box{x, y + 13, 44, 30};
    if (ui.area("play", play_box)) session.playing = !session.playing, last_play_ = 0;
    button_face(ui, play_box, true, false);
    if (session.playing) {
        ui.rect({x + 16, y + 20, 4, 16}, t.on_accent);
        ui.rect({x + 24, y + 20, 4, 16}, t.on_accent);
    } else {
        ui.polygon({{x + 16, y + 19}, {x + 16, y + 37}, {x + 31, y + 28}}, t.on_accent);
    }
    if (ui.hovered(play_box)) ui.tooltip(session.playing ? "pause (Space)" : "play (Space)");
    x += 48;
    mover("step (Right)", 1, false);
    if (ends) mover("last (End)", 1, true);
    return x;
}

// How much of a bar of width `all` its words take, right of `x`: where it is narrow as much as they need, as far as the
// track keeps a length that can be dragged, or all of it where there is no room for a track anyway.
static float words_width(const Ui& ui, const Position& at, const std::string& busy, float all, float x) {
    constexpr float most = 346, track = 61, around = 50, unit = 40;
    const float least = std::min(most, std::max(150.0f, all * 0.28f));
    const float words = std::max(ui.text_width(at.title, {.size = 13, .mono = true}),
                                 ui.text_width(busy.empty() ? at.text : busy, {.size = 13}));
    const float needed = std::ceil((words + 14) / unit) * unit;  // in steps: nothing moves with each digit
    const bool no_track = all - least - around - x < track;
    const float room = no_track ? all - x - 12 : all - x - around - track;
    return std::min({most, std::max(least, std::min(needed, room)), all - x - 12});
}

void Shell::transport(Ui& ui, const Snapshot& snapshot, const Rect& place) {
    const Theme& t = *ui.theme;
    ui.push_scope("transport");
    ui.rect({place.x, place.y, place.w, 1}, t.line);
    // In a low bar what stands in it stands closer to its edges.
    const Rect bar{place.x, place.y - (transport_height - place.h) / 2, place.w, transport_height};
    const auto words = [&](const Position& at, float x, float width, const TextStyle& title) {
        TextStyle style = title;
        style.width = width;
        ui.text(x, bar.y + 24, at.title, style);
        ui.text(x, bar.y + 42, snapshot.busy.empty() ? at.text : snapshot.busy,
                {.size = 13, .color = t.ink2, .width = width});
    };
    const std::vector<Grain> grains = grains_of(session, snapshot);
    if (grains.empty()) {  // nothing moves: what is shown, in words
        session.playing = false;
        words(position_of(session, focus, snapshot), 14, bar.w - 28, {.size = 13, .weight = 600});
        return ui.pop_scope();
    }
    if (std::find(grains.begin(), grains.end(), session.grain) == grains.end()) session.grain = grains.front();
    float x = transport_buttons(ui, snapshot, bar) + 14;
    const bool machine = plays_machine(session, snapshot), die = session.workspace == Workspace::build;
    x = die                           ? choose_die_speed(ui, session, x, bar.y, bar.right() - 560)
        : machine_at_cluster(session) ? choose_step_speed(ui, session, snapshot, x, bar.y, bar.right() - 560)
        : machine                     ? x
                                      : choose_grain(ui, session, grains, x, bar.y, bar.w > 1000);
    if (!die && has_speed(session, snapshot))
        x = choose_speed(ui, session, machine ? x : x + 10, bar.y, bar.right() - (bar.w > 1000 ? 560 : 380));
    if (machine) x = choose_way(ui, session, snapshot, x, bar.y, bar.right() - 560);
    const Position at = position_of(session, focus, snapshot);
    const float width = words_width(ui, at, snapshot.busy, bar.w, x);
    const Rect said{bar.w - width, bar.y, width - 12, bar.h};
    const bool cycles = has_speed(session, snapshot) && !session.roof.guessing();
    if (asks_cycle_ && cycles && width > 200) {
        cycle_field(ui, snapshot, said);
    } else {
        asks_cycle_ = cycle_open_ = false;
        if (width > 60) words(at, said.x, said.w, {.size = 13, .mono = true});
        if (cycles && width > 200) {
            if (ui.area("go to cycle", {said.x - 6, bar.y + 8, said.w + 6, 40})) asks_cycle_ = true, ui.animate();
            if (ui.hovered({said.x - 6, bar.y + 8, said.w + 6, 40})) ui.tooltip("go to a cycle by its number (G)");
        }
    }
    const Scrub scrub{ui, session, focus, snapshot, x + 20, bar.y, bar.w - width - 30 - (x + 20)};
    if (scrub.w > 60) draw_scrub(scrub, at);
    ui.pop_scope();
}

}  // namespace lockstep::gui
