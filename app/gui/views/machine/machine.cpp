// The machine (D16): breadcrumbs from the cluster to a lane, and the picture of where the zoom stands. Between two stops the
// outer picture grows around the thing that one looks at, and the inner one grows with it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "app/gui/shell/transport_steps.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/machine/machine_play.h"
#include "app/gui/views/machine/machine_tour.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/machine/many/cluster_step.h"
#include "app/gui/views/timeline/timeline_view.h"
#include "app/gui/widgets/text_editor.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {
namespace {

constexpr float crumbs_height = 42, cycle_field_width = 92;
constexpr float widest_without_slider = 1340;  // its room goes to the jumps: breadcrumbs zoom as well
constexpr std::pair<Landmark, std::string_view> landmarks[] = {{Landmark::fault, "fault"},
                                                               {Landmark::barrier, "barrier"},
                                                               {Landmark::divergence, "divergence"},
                                                               {Landmark::miss, "miss"}};
constexpr std::string_view hidden_sentence = "The machine stays hidden until you lock an answer.";
constexpr double seconds_a_stop = 0.6, rest_seconds = 0.35, seconds_told = 4;

double first_stop() {
    return static_cast<double>(stop_rows().front().stop);
}
double last_stop() {
    return static_cast<double>(stop_rows().back().stop);
}

// The least rectangle of `like`'s shape around `inner`.
Rect in_shape(const Rect& inner, const Rect& like) {
    const float scale = std::max(inner.w / std::max(1.0f, like.w), inner.h / std::max(1.0f, like.h));
    const float w = like.w * scale, h = like.h * scale;
    return {inner.x + (inner.w - w) / 2, inner.y + (inner.h - h) / 2, w, h};
}

class MachineView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        adopt(session, *snapshot);
        follow_clock(session, focus);
        enter_sm(session, focus);
        ask_for_step(session, *snapshot);
        ui.push_scope("machine");
        kept_.adopt(*snapshot);
        MachineFrame frame = frame_of(ui, session, focus, *snapshot);
        if (tells(frame)) frame.told = told_, ui.animate();
        Rect below{area.x, area.y + crumbs_height + 8, area.w, area.h - crumbs_height - 8};
        const Rect bar{area.x, area.y, area.w, crumbs_height};
        if (session.machine.tour >= 0) {
            const float foot = std::min(tour_foot_height, area.h * 0.25f);
            below.h -= foot + 8;
            frame.still = true;
            look_at_a_number(frame);
            draw_picture(frame, below);
            draw_tour_head(frame, bar);
            draw_tour_foot(frame, {area.x, area.bottom() - foot, area.w, foot});
        } else {
            zoom(ui, session, below);
            draw_picture(frame, below);
            draw_crumbs(frame, bar);
            keys(frame, area);
        }
        ui.pop_scope();
        if (session.playing) ui.animate();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        MachineView other;  // as if it were drawn: the facts are the picture's
        Session& mine = const_cast<Session&>(session);
        Focus looked = focus;
        const MachineLook before = session.machine;
        other.adopt(mine, *snapshot);
        ask_for_step(mine, *snapshot);
        other.follow_clock(mine, looked);
        other.kept_ = kept_;
        other.kept_.adopt(*snapshot);
        Ui none;
        const MachineFrame frame = other.frame_of(none, mine, looked, *snapshot);
        const StopRow& row = row_of(static_cast<Stop>(std::lround(session.machine.zoom)));
        // Above the GPU stands a plan, or a step that ran: its own lines say which.
        std::string text =
            fmt::format("The machine at {}{}\n", row.label(frame), row.stop < Stop::gpu ? "" : " (simulated)");
        if (hides(session, row.stop)) {
            mine.machine = before;
            return text + "  " + std::string(hidden_sentence) + "\n";
        }
        std::string facts = row.describe(frame);
        for (size_t at = 0; at < facts.size();) {
            const size_t end = std::min(facts.find('\n', at), facts.size());
            text += "  " + facts.substr(at, end - at) + "\n";
            at = end + 1;
        }
        if (const std::string sentence = row.sentence(frame); !sentence.empty()) text += "  " + sentence + "\n";
        mine.machine = before;
        return text;
    }

    float needs(Ui& ui, Session& session, Focus& focus, const Rect& room) override {
        if (session.machine.tour >= 0) return 0;  // it is a film
        const auto snapshot = session.snapshot();
        MachineFrame frame = frame_of(ui, session, focus, *snapshot);
        const Rect below{room.x, room.y, room.w, room.h - crumbs_height - 8};
        float most = 0;
        for (const double stop : {std::floor(session.machine.zoom), std::ceil(session.machine.zoom)})
            most = std::max(most, row_of(static_cast<Stop>(stop)).needs(frame, below));
        return most + crumbs_height + 8;
    }

  private:
    void adopt(Session& session, const Snapshot& snapshot) {
        if (snapshot.kernel.run == run_) return;
        const bool same_launch = run_ && snapshot.kernel.run && run_->program == snapshot.kernel.run->program &&
                                 run_->result.cycles == snapshot.kernel.run->result.cycles;
        run_ = snapshot.kernel.run;
        scene_.reset();
        if (run_) scene_ = std::make_unique<MachineScene>(make_machine_scene(run_, session.timeline(run_)));
        if (!same_launch) session.machine.clock = -1, session.machine.entering = -1;
    }

    // What the cluster shows where nothing of many GPUs has run: asked for once the zoom comes there.
    static void ask_for_step(Session& session, const Snapshot& snapshot) {
        const bool there = std::min(session.machine.zoom, session.machine.wanted) < static_cast<double>(Stop::gpu);
        if (!there || source_of(snapshot) != nullptr || session.cluster.asked) return;
        ask_cluster(session, scene::machine_cluster());
    }

    // The clock and the focus are one moment: who moved the focus has moved the clock.
    void follow_clock(Session& session, Focus& focus) const {
        if (!scene_) return;
        const auto last = static_cast<double>(std::max<int64_t>(0, scene_->trace().cycles - 1));
        double& clock = session.machine.clock;
        const int64_t time = std::max<int64_t>(0, focus.time);
        if (clock < 0 || static_cast<int64_t>(clock) != time) {
            clock = static_cast<double>(time);
            if (!session.playing && session.learn.reveal_steps < 0) focus.warp = warp_to_look_at(*scene_, focus.warp, time);
        }
        clock = std::clamp(clock, 0.0, last + 0.999);
    }

    // The SM that was asked for is traced: in. And into an SM one goes with a warp that is there.
    void enter_sm(Session& session, Focus& focus) const {
        if (!scene_) return;
        MachineLook& look = session.machine;
        const KernelTrace& trace = scene_->trace();
        if (look.entering >= 0 && trace.sm == static_cast<uint32_t>(look.entering)) {
            look.entering = -1;
            if (std::round(look.wanted) == static_cast<double>(Stop::gpu)) zoom_to(session, Stop::sm);
        }
        const bool sets_out = look.zoom <= static_cast<double>(Stop::gpu) && look.wanted > static_cast<double>(Stop::gpu);
        if (!sets_out || session.playing || session.learn.reveal_steps >= 0) return;
        const auto cycle = static_cast<int64_t>(std::max(0.0, look.clock));
        const auto is_there = [&](size_t w) { return trace.warps[w].begin <= cycle && cycle < trace.warps[w].end; };
        if (focus.warp >= 0 && static_cast<size_t>(focus.warp) < trace.warps.size() &&
            is_there(static_cast<size_t>(focus.warp)))
            return;
        for (size_t w = 0; w < trace.warps.size(); ++w)
            if (is_there(w))
                return focus_on(session, focus, *scene_->timeline, static_cast<uint32_t>(w), static_cast<int64_t>(cycle));
    }

    MachineFrame frame_of(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot) const {
        const double speed = session.machine.speed > 0 ? session.machine.speed : speed_at(session.machine.zoom);
        return {
            ui,
            session,
            focus,
            snapshot,
            scene_.get(),
            std::max(0.0, session.machine.clock),
            session.playing ? speed : std::max(1.0, session.machine.filmed),
            false,
            [&ui, &session, &focus, this](std::string_view name, const Rect& area) { show(ui, session, focus, name, area); },
            &kept_};
    }

    void show(Ui& ui, Session& session, Focus& focus, std::string_view name, const Rect& area) const {
        std::unique_ptr<View>& view = shown_[std::string(name)];
        if (!view) view = view_named(name)->make();
        ui.push_scope(name);
        view->draw(ui, session, focus, area);
        ui.pop_scope();
    }

    void zoom(Ui& ui, Session& session, const Rect& area) {
        MachineLook& look = session.machine;
        // Where the page is higher than its place, the wheel scrolls it as everywhere.
        if (const float notches = ui.state->scrolled.empty() ? ui.wheel(area) : 0; notches != 0) {
            look.wanted = look.zoom + notches * 0.25;
            wheeled_ = ui.now;
        } else if (wheeled_ > 0 && ui.now - wheeled_ > rest_seconds) {
            look.wanted = std::round(look.wanted);  // it comes to rest at a stop
            wheeled_ = 0;
        }
        look.wanted = std::clamp(look.wanted, first_stop(), last_stop());
        look.zoom = std::clamp(look.zoom, first_stop(), last_stop());
        const double passed = std::clamp(ui.now - last_, 0.0, 0.1);
        last_ = ui.now;
        if (wheeled_ > 0) ui.animate();
        if (session.less_motion) {  // it jumps
            look.zoom = std::round(look.wanted);
            return;
        }
        if (look.zoom == look.wanted) return;
        const double step = std::max(1.0, std::fabs(look.wanted - look.zoom)) * passed / seconds_a_stop;
        look.zoom =
            look.wanted > look.zoom ? std::min(look.wanted, look.zoom + step) : std::max(look.wanted, look.zoom - step);
        ui.animate();
    }

    // While a question of a lesson is open, whose answer the kernel's run would give away. Warp and lane hide what is to
    // come themselves.
    static bool hides(const Session& session, Stop stop) {
        return session.learn.reveal_steps >= 0 && stop >= Stop::gpu && stop <= Stop::sub_core;
    }

    static void draw_hidden(const MachineFrame& frame, const Rect& area, Stop stop) {
        const std::string title = row_of(stop).label(frame);
        const Rect body = frame.ui.panel(area, {.title = title});
        frame.ui.say_nothing_yet(body, hidden_sentence, "Warp and lane show what has been reached.");
    }

    static void draw_picture(const MachineFrame& frame, const Rect& area) {
        const double at = frame.session.machine.zoom;
        const auto rows = stop_rows();
        size_t outer = 0;
        while (outer + 1 < rows.size() && static_cast<double>(rows[outer + 1].stop) <= at) ++outer;
        const double from = static_cast<double>(rows[outer].stop);
        const double to = outer + 1 < rows.size() ? static_cast<double>(rows[outer + 1].stop) : from;
        const double share = to > from ? (at - from) / (to - from) : 0;
        if (hides(frame.session, rows[outer].stop)) return draw_hidden(frame, area, rows[outer].stop);
        if (share < 1e-6) return rows[outer].draw(frame, area);
        MachineFrame moving = frame;
        moving.still = true;
        const double eased = share * share * (3 - 2 * share);
        const Rect inner = in_shape(rows[outer].inside(frame, area), area);
        const float grown = std::pow(area.w / std::max(1.0f, inner.w), static_cast<float>(eased));
        const float way = grown <= 1 ? 0 : (grown - 1) / (area.w / std::max(1.0f, inner.w) - 1);
        const Point centre{inner.x + inner.w / 2 + (area.x + area.w / 2 - inner.x - inner.w / 2) * way,
                           inner.y + inner.h / 2 + (area.y + area.h / 2 - inner.y - inner.h / 2) * way};
        const Rect now{centre.x - inner.w * grown / 2, centre.y - inner.h * grown / 2, inner.w * grown, inner.h * grown};
        {
            const Rect whole{now.x + (area.x - inner.x) * grown, now.y + (area.y - inner.y) * grown, area.w * grown,
                             area.h * grown};
            const Scaled scaled(frame.ui, area, whole, area);
            rows[outer].draw(moving, area);
        }
        {
            frame.ui.clip(area);
            frame.ui.rect(now, faded(frame.ui.theme->background, static_cast<float>(std::min(1.0, eased * 2.5))));
            frame.ui.unclip();
            const Faded fainter(frame.ui, static_cast<float>(std::clamp(eased * 2.5 - 0.2, 0.0, 1.0)));
            const Scaled scaled(frame.ui, area, now, area);
            rows[outer + 1].draw(moving, area);
        }
        frame.ui.clip(area);
        frame.ui.outline(now);
        frame.ui.unclip();
    }

    void draw_crumbs(const MachineFrame& frame, const Rect& bar) {
        Ui& ui = frame.ui;
        const Theme& t = *ui.theme;
        ui.rect(bar, t.panel, 4);
        ui.frame(bar, t.line, 1, 4);
        float x = bar.x + 10;
        const auto at = static_cast<Stop>(std::lround(frame.session.machine.wanted));
        const float slider = bar.w > widest_without_slider ? 200 : 0, room = bar.right() - slider - 50;
        const auto width = [&](const StopRow& row) {
            return std::max(ui.text_width(row.label(frame), {.size = 14, .weight = row.stop == at ? 600 : 400}),
                            ui.text_width(row.detail(frame), {.size = 12})) +
                   22;
        };
        // Where there is no room for all, the farthest are left out, as long as where one stands has its place.
        const auto rows = stop_rows();
        size_t first = 0, here_at = 0;
        for (size_t i = 0; i < rows.size(); ++i)
            if (rows[i].stop == at) here_at = i;
        const auto reach = [&] {  // of the one after this, if there is one
            float end = x + (first > 0 ? 28.0f : 0.0f);
            for (size_t i = first; i <= std::min(here_at + 1, rows.size() - 1); ++i) end += width(rows[i]) + 20;
            return end - 20;
        };
        while (first < here_at && reach() > room) ++first;
        if (first > 0) {
            const Rect box{x, bar.y + 3, 24, bar.h - 6};
            if (ui.area("farther out", box)) zoom_to(frame.session, rows[first - 1].stop);
            ui.text(box.x + 12, box.y + 22, "...", {.size = 14, .color = t.ink2, .align = Align::center});
            if (ui.hovered(box)) ui.tooltip("out to the " + std::string(rows[first - 1].name));
            x += 28;
        }
        for (const StopRow& row : rows.subspan(first)) {
            const bool here = row.stop == at;
            const std::string label = row.label(frame), detail = row.detail(frame);
            const float w = width(row);
            if (x + w > room) break;
            const Rect box{x, bar.y + 3, w, bar.h - 6};
            if (ui.area(row.name, box)) zoom_to(frame.session, row.stop);
            if (here) ui.rect(box, t.selected, 4), ui.frame(box, t.accent, 1.5f, 4);
            ui.text(
                box.x + w / 2, box.y + (detail.empty() ? 23.0f : 16.0f), label,
                {.size = 14, .color = row.stop <= at ? t.ink : t.quiet, .align = Align::center, .weight = here ? 600 : 400});
            ui.text(box.x + w / 2, box.y + 31, detail, {.size = 12, .color = t.quiet, .align = Align::center});
            x += w + 6;
            if (&row != &stop_rows().back()) {
                const Point chevron[] = {{x + 2, bar.y + 16}, {x + 7, bar.y + 21}, {x + 2, bar.y + 26}};
                ui.polyline(chevron, t.quiet, 1.5f);
                x += 14;
            }
        }
        x += 12;
        constexpr std::string_view back = "back to Build (Esc)";
        if (frame.session.build.inside && x + ui.chip_width(back) < room) {
            if (ui.chip(x, bar.y + 8, back, true)) frame.session.workspace = Workspace::build;
            x += 6;
        }
        bool& offers = frame.session.machine.offers_tour;
        if (frame.session.machine.wanted != frame.session.machine.zoom) offers = false;  // who moves has found the way in
        // Where a longer offer would leave no room for a jump, it is a shorter one.
        const bool all_fit = x + ui.chip_width("first time here? take the tour") + jumps_width(ui) + 26 < room;
        const std::string_view tour = !offers ? "tour" : all_fit ? "first time here? take the tour" : "take the tour";
        if (x + ui.chip_width(tour) < room) {
            if (ui.chip(x, bar.y + 8, tour, offers)) begin_tour(frame.session);
            x += 6;
        }
        if (!machine_at_cluster(frame.session)) draw_jumps(frame, bar, x, room);
        if (slider <= 0) return;
        const Rect track{bar.right() - slider - 24, bar.y + 9, slider - 14, 24};  // left of the maximise mark
        ui.text(track.x - 14, bar.y + 26, "zoom", {.size = 13, .color = t.quiet, .align = Align::right});
        const double farthest = first_stop(), last = last_stop();
        if (last <= farthest) return;
        const auto value = static_cast<float>((std::round(frame.session.machine.wanted) - farthest) / (last - farthest));
        const float wanted = ui.slider("zoom", track, value, static_cast<int>(last - farthest) + 1);
        if (std::fabs(wanted - value) > 1e-3f)
            frame.session.machine.wanted = farthest + static_cast<double>(wanted) * (last - farthest);
    }

    float jumps_width(const Ui& ui) const {  // of all of them, with the field for a cycle
        if (!scene_) return 0;
        float width =
            ui.text_width("next", {.size = 13}) + 8 + ui.text_width("cycle", {.size = 13}) + cycle_field_width + 20;
        for (const auto& [what, name] : landmarks)
            if (what != Landmark::fault || scene_->run->result.fault) width += ui.chip_width(name) + 6;
        return width;
    }

    // To the next fault, barrier, divergence or miss, or to a cycle that one types.
    void draw_jumps(const MachineFrame& frame, const Rect& bar, float x, float room) {
        if (!scene_) return;
        Ui& ui = frame.ui;
        const float field = cycle_field_width, typed = ui.text_width("cycle", {.size = 13}) + field + 20;
        float needed = ui.text_width("next", {.size = 13}) + 8 + typed;
        size_t shown = 0;  // of the landmarks, as many as there is room for
        for (const auto& [what, name] : landmarks) {
            const bool none = what == Landmark::fault && !scene_->run->result.fault;
            const float w = none ? 0 : ui.chip_width(name) + 6;
            if (x + needed + w + 20 > room) break;
            needed += w, ++shown;
        }
        if (x + typed + 20 > room) return;
        const float left = x;
        x = room - (shown > 0 ? needed : typed) - 20;
        // The picture's caption says it; here, beside the jumps, where there is room.
        for (const std::string_view said : {std::string_view(frame.told), std::string_view(told_short_)}) {
            if (frame.told.empty() || ui.text_width(said, {.size = 13}) > x - left - 16) continue;
            ui.text(x - 12, bar.y + 26, said, {.size = 13, .color = ui.theme->wrong, .align = Align::right});
            break;
        }
        if (shown > 0) x = ui.text(x, bar.y + 26, "next", {.size = 13, .color = ui.theme->quiet}) + 8;
        for (const auto& [what, name] : std::span(landmarks).first(shown)) {
            if (what == Landmark::fault && !scene_->run->result.fault) continue;
            if (ui.chip(x, bar.y + 8, name)) jump(frame, what, name);
        }
        x = ui.text(x + 6, bar.y + 26, "cycle", {.size = 13, .color = ui.theme->quiet}) + 8;
        bool entered = false;
        if (text_field(ui, "cycle", {x, bar.y + 8, field, 26}, typed_, {.wrong = told_of_cycle_, .submitted = &entered}))
            told_.clear(), told_of_cycle_ = false;
        if (entered) {
            const int64_t cycles = scene_->trace().cycles;
            const auto cycle = cycle_typed(typed_, cycles, cycles_shown(frame.session, frame.focus, frame.snapshot), told_);
            told_of_cycle_ = !cycle;
            told_at_ = frame.clock, told_until_ = ui.now + seconds_told;
            told_short_ = told_;
            if (cycle) go_to(frame, static_cast<double>(*cycle)), typed_.clear(), told_.clear();
        }
    }

    // Why a jump or a typed cycle led nowhere: for a moment, or until the clock is elsewhere.
    bool tells(const MachineFrame& frame) {
        const bool plays = frame.session.playing;  // what was typed is answered then too
        if (!told_.empty() && frame.ui.now < told_until_ && (plays ? told_of_cycle_ : told_at_ == frame.clock)) return true;
        told_.clear();
        told_of_cycle_ = false;
        return false;
    }

    // To where it happens next, and to whom; where nothing comes, that is said.
    void jump(const MachineFrame& frame, Landmark what, std::string_view name) {
        const LandmarkAt next = next_landmark(*scene_, what, frame.cycle());
        const KernelTrace& trace = scene_->trace();
        if (next.cycle >= 0) {
            go_to(frame, static_cast<double>(next.cycle));
            if (next.warp >= 0)
                focus_on(frame.session, frame.focus, *scene_->timeline, static_cast<uint32_t>(next.warp), next.cycle);
            if (next.request >= 0) frame.session.machine.followed = next.request;
            return;
        }
        told_at_ = frame.clock, told_until_ = frame.ui.now + seconds_told;
        told_ = trace.truncated && trace.kept_until < trace.cycles
                    ? fmt::format("no {} comes up to cycle {}, where what is kept in full ends", name,
                                  with_commas(trace.kept_until))
                    : fmt::format("no {} comes after this cycle on SM {}", name, trace.sm);
        told_short_ = fmt::format("no {} to come", name);
    }

    void keys(const MachineFrame& frame, const Rect& area) {
        MachineLook& look = frame.session.machine;
        if (frame.ui.pressed(Key::plus, area) || frame.ui.pressed(Key::w, area) || frame.ui.pressed(Key::enter, area))
            look.wanted = std::round(look.zoom) + 1;
        if (frame.ui.pressed(Key::minus, area) || frame.ui.pressed(Key::s, area)) look.wanted = std::round(look.zoom) - 1;
        look.wanted = std::clamp(look.wanted, first_stop(), last_stop());
    }

    std::shared_ptr<const model::KernelRun> run_;
    std::unique_ptr<MachineScene> scene_;
    double last_ = 0, wheeled_ = 0;
    std::string typed_, told_, told_short_;  // told_: why one does not get there
    double told_at_ = -1;                    // where the clock stood then
    double told_until_ = 0;
    bool told_of_cycle_ = false;
    mutable KeptLanes kept_;
    mutable std::map<std::string, std::unique_ptr<View>> shown_;  // other views, within a picture
};

}  // namespace

std::unique_ptr<View> make_machine_view() {
    return std::make_unique<MachineView>();
}

}  // namespace lockstep::gui
