// D9, pipeline schedules: one, or two on one time axis; or, by the switch in front of the chips, the one that a training run
// executed, with the numbers of its plan. The chips pick which; the numbers under them (ranks, micro-batches,
// chunks, the times of F, I and W, the hop, a slow rank, the limit) run them again. Dragging a bar puts the action elsewhere
// in its rank's order (- and + do it by a place), dragging its end changes how long such actions take, dragging the grip
// between two rows gives a layer to the neighbour (so does the picked stage's number of layers). Clicking an action
// picks its micro-batch and rank, clicking idle dots or Enter says whom the rank waits for. Up and Down choose the rank,
// Page Up and Page Down the micro-batch, W and S or the wheel zoom, A and D pan, Home shows everything; dragging the axis
// moves the cursor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/pipeline/pipeline_picture.h"
#include "core/scene/cluster/cluster_plan.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view pipeline_title = "Pipeline schedule";
constexpr std::string_view pipeline_hidden = "The schedule stays hidden until you lock an answer.";

class PipelineView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene) {
            const Rect body = ui.panel(area, {.title = pipeline_title});
            return ui.say_nothing_yet(body, "No schedule has run yet.", snapshot->busy);
        }
        adopt(scene);
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(pipeline_hidden) : pipeline_caption(*scene);
        const Rect body = ui.panel(area, {.title = pipeline_title, .right = header(*scene, area.w), .caption = caption});
        ui.push_scope("pipeline");
        const int row = picked_rank(focus, *scene, rows_of(*scene));
        float used = 0;
        if (!has_room_to_itself(session, body.h)) {
            used = pipeline_controls(ui, session, body, row, refused_, false);
            pipeline_controls(ui, session, body, row, refused_, true);
        }
        Rect picture{body.x, body.y + used, body.w, body.h - used};
        if (!hidden && trained(*scene) && picture.h > 150) {
            const float high = training_facts(ui, *scene->training, picture);
            picture = {picture.x, picture.y + high, picture.w, picture.h - high};
        }
        if (hidden) {
            draw_hidden_place(ui, picture);
            return ui.pop_scope();
        }
        if (!refused_.empty() && picture.h > 120) {
            const float high =
                ui.paragraph({picture.x, picture.y, picture.w, 40}, refused_, {.size = 13, .color = ui.theme->wrong}, 18) +
                6;
            picture = {picture.x, picture.y + high, picture.w, picture.h - high};
        }
        if (picture.h > 90) show(ui, session, focus, *scene, picture, area);
        ui.pop_scope();
    }

    float needs(Ui&, Session& session, Focus&, const Rect& room) override {
        return room.h < 370 && has_room_to_itself(session, room.h - 70) ? 250 : 440;  // without its title and caption
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const auto& scene = snapshot->cluster;
        if (!scene) return std::string(pipeline_title) + ": nothing has run yet.\n";
        std::string text = setup_text(session, *scene) + "\n";
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(pipeline_hidden) + "\n";
        const double now = schedule_time(session, focus, *scene);
        for (const scene::ScheduleShown& shown : scene->schedules) {
            text += "  " + schedule_facts(shown) + "\n";
            if (shown.refusal.empty()) text += ranks_text(focus, *scene, shown, now);
        }
        if (why_.block >= 0 && scene == seen_) text += "  why: " + why_.text + "\n";
        if (!scene->schedules.front().parts.empty())
            text += fmt::format("  {}s by stage, as cut by hand: {}\n", part_word(*scene),
                                fmt::join(scene->schedules.front().parts, ", "));
        if (!refused_.empty()) text += "  " + refused_ + "\n";
        return text + "  " + pipeline_caption(*scene) + "\n";
    }

  private:
    static std::string setup_text(const Session& session, const scene::ClusterScene& scene) {
        if (scene.training) {
            std::string text = fmt::format("{} (executed, times derived): {}", pipeline_title, scene.training->title);
            if (trained(scene) && session.learn.reveal_steps < 0)
                text += fmt::format("\n  {}; all ranks sent {}; {}", training_words(*scene.training),
                                    sent_words(*scene.training), step_share_words(*scene.training));
            return text;
        }
        if (scene.planned)
            return fmt::format("{} ({}): {}", pipeline_title, name_of(provenance_of(scene.schedules.front())),
                               scene.planned->title);
        const scene::PipelineSetup& setup = scene.setup.pipeline;
        std::string text = fmt::format("{} ({}): {} ranks, {} micro-batches, F {}, I {}, W {}, hop {}", pipeline_title,
                                       name_of(provenance_of(scene.schedules.front())), setup.ranks, setup.microbatches,
                                       amount(setup.forward), amount(setup.input), amount(setup.weight), amount(setup.hop));
        if (setup.slow_rank >= 0)
            text += fmt::format(", rank {} {} times slower", setup.slow_rank, amount(setup.slow_factor));
        return text;
    }

    static std::string ranks_text(const Focus& focus, const scene::ClusterScene& scene, const scene::ScheduleShown& shown,
                                  double now) {
        std::string text;
        const parallel::ScheduleRun& run = shown.run;
        const auto ranks = static_cast<int>(run.actions.size());
        const char* row = run.schedule.chunks > 1 ? "rank" : "stage";
        for (int rank = 0; rank < ranks && rank < 64; ++rank) {
            text += fmt::format("    {} {}{}: idle {}, peak {} of {} micro-batches", row, rank,
                                rank == picked_rank(focus, scene, ranks) ? " (picked)" : "", amount(idle_of(run, rank)),
                                amount(peak_of(run, rank)), activation_limit(scene));
            if (run.weight_versions.size() > static_cast<size_t>(rank) && run.weight_versions[static_cast<size_t>(rank)] > 1)
                text += fmt::format(", {} versions of the weights", run.weight_versions[static_cast<size_t>(rank)]);
            text += fmt::format("; at {} {}\n", amount(now), doing(run, rank, now));
        }
        return text;
    }

    std::shared_ptr<const scene::ClusterScene> seen_;
    uint64_t version_ = 0;
    double begin_ = 0, end_ = 0;  // in view; equal: everything
    double pan_begin_ = 0;
    bool scrubbing_ = false, panned_ = false;
    HeldAction held_;
    Why why_;
    std::string refused_;  // the last move of a boundary: why it cannot be
    float scrolled_ = 0;

    void adopt(const std::shared_ptr<const scene::ClusterScene>& scene) {
        if (scene == seen_) return;
        seen_ = scene;
        ++version_;
        why_ = {};
        refused_.clear();
        begin_ = end_ = 0;
    }

    static int rows_of(const scene::ClusterScene& scene) {
        size_t rows = 1;
        for (const scene::ScheduleShown& shown : scene.schedules) rows = std::max(rows, shown.run.actions.size());
        return static_cast<int>(rows);
    }
    static std::string_view part_word(const scene::ClusterScene& scene) { return scene.training ? "block" : "layer"; }

    static std::string header(const scene::ClusterScene& scene, float width) {
        if (width < 700) return scene.source;
        std::string text = scene.source.empty() ? std::string() : scene.source + ", ";
        if (scene.training) return text + "times derived, of an H100 and the links in Network; the column of rank 0";
        if (scene.planned) return text + "times derived by the planner, as in the machine";
        for (const scene::ScheduleShown& shown : scene.schedules)
            if (shown.executed) return text + "times of the virtual clock";
        return text + "1 unit: one forward of one micro-batch on one stage";
    }

    static std::string doing(const parallel::ScheduleRun& run, int rank, double now) {
        for (const parallel::ActionRun& ran : run.actions[static_cast<size_t>(rank)])
            if (parallel::computes(ran.action.kind) && ran.begin <= now + 1e-9 && ran.end > now + 1e-9)
                return "runs " + parallel::text_of(ran.action);
        for (const parallel::IdleRun& idle : run.idle[static_cast<size_t>(rank)])
            if (idle.begin <= now + 1e-9 && idle.end > now + 1e-9) return idle.reason;
        return "has ended";
    }

    static float training_facts(Ui& ui, const scene::TrainingShown& shown, const Rect& area) {
        const std::string words = fmt::format("{}; all ranks sent {}.", training_words(shown), sent_words(shown));
        return ui.paragraph({area.x, area.y, area.w, 60}, words, {.size = 13, .color = ui.theme->ink2}, 18) + 6;
    }

    // Whether so many actions are in view, or so narrow ones, that they are drawn as shares of time.
    static bool is_coarse(const scene::ClusterScene& scene, const PipelinePlaces& p) {
        size_t visible = 0;
        double shortest = 1e300;
        for (const scene::ScheduleShown& shown : scene.schedules)
            for (const auto& rank : shown.run.actions)
                for (const parallel::ActionRun& run : rank) {
                    if (run.end <= p.begin || run.begin >= p.end) continue;
                    ++visible;
                    if (parallel::computes(run.action.kind) && run.action.kind != parallel::ActionKind::update)
                        shortest = std::min(shortest, run.end - run.begin);
                }
        const float cell = static_cast<float>(shortest / (p.end - p.begin)) * p.plot.w;
        return visible > 700 && (cell < 6 || visible > 1500);
    }

    static float bar_height(float pitch, bool curves) {
        if (curves && pitch > 52) return std::min(30.0f, std::floor(pitch * 0.36f));
        const float bar = curves ? std::min(20.0f, std::floor(pitch * 0.45f)) : pitch >= 6 ? pitch - 2 : pitch;
        return std::min(bar, 22.0f);
    }

    PipelinePlaces place(const Session& session, const Focus& focus, const scene::ClusterScene& scene,
                         const Rect& area) const {
        PipelinePlaces p;
        const scene::PipelineSetup& setup = scene.setup.pipeline;
        const float labels = area.w > 560 ? 88.0f : 66.0f;
        p.label_x = area.x;
        p.plot = {area.x + labels, area.y, area.w - labels - 8, area.h - 26};
        p.axis_y = area.bottom() - 24;
        const double all = std::max(schedule_end(scene), 1e-9);
        p.begin = end_ > begin_ ? begin_ : 0;
        p.end = end_ > begin_ ? end_ : all;
        p.split = scene.training ? 0.5 : setup.input / (setup.input + setup.weight);
        p.limit = activation_limit(scene);
        int lines = 0;
        for (const scene::ScheduleShown& shown : scene.schedules)
            lines += std::max(static_cast<int>(shown.run.actions.size()), 1);
        p.rank = picked_rank(focus, scene, rows_of(scene));
        p.microbatch = picked_microbatch(session, scene);
        p.coarse = is_coarse(scene, p);
        const auto blocks = static_cast<float>(scene.schedules.size());
        const float heads = 26 * blocks, room = p.axis_y - 6 - area.y - heads;
        const float pitch = std::clamp(room / static_cast<float>(std::max(1, lines)), 2.0f, trained(scene) ? 52.0f : 84.0f);
        float y = area.y;
        for (const scene::ScheduleShown& shown : scene.schedules) {
            PipelineBlock block;
            block.shown = &shown;
            block.ranks = static_cast<int>(shown.run.actions.size());
            block.pitch = pitch;
            const bool curves = pitch >= 30 && !p.coarse;
            block.bar = bar_height(pitch, curves);
            block.curve = curves ? pitch - block.bar - 6 : 0;
            block.head = {area.x, y, area.w - 8, 24};
            block.rows = {area.x, y + 26, area.w, pitch * static_cast<float>(std::max(1, block.ranks))};
            y = block.rows.bottom();
            p.blocks.push_back(block);
        }
        p.axis_y = std::min(p.axis_y, y + 6);
        return p;
    }

    void show(Ui& ui, Session& session, Focus& focus, const scene::ClusterScene& scene, const Rect& whole,
              const Rect& panel) {
        Rect area = whole;
        const bool legend = whole.h > 150;
        if (legend) area = {whole.x, whole.y + 24, whole.w, whole.h - 24};
        PipelinePlaces p = place(session, focus, scene, area);
        react(ui, session, focus, scene, p, panel);
        p = place(session, focus, scene, area);
        if (legend) draw_pipeline_legend(ui, whole.x, whole.y + 14, whole.right(), p, darker_words(scene));
        for (const PipelineBlock& block : p.blocks) draw_pipeline_block(ui, p, block, version_);
        draw_pipeline_axis(ui, p, scene, schedule_time(session, focus, scene));
        draw_saving(ui, p);
        if (panned_) draw_held(ui, p, held_);
        if (session.learn.reveal_steps < 0 && session.workspace == Workspace::cluster) {
            scene::ClusterSetup wanted = cluster_setup(session);
            const StageMove move = dragged_boundary(ui, p, scene::parts_of(wanted), part_word(scene));
            if (move.by != 0) refused_ = move_stages(wanted, move);
            if (move.by != 0 && refused_.empty()) {
                if (wanted.training.on) wanted.training.steps = 1;
                ask_cluster(session, wanted);
            }
        }
        if (trained(scene)) {
            const bool refused = scene.schedules.front().run.actions.empty();
            const float from = refused ? area.y + 54 : p.axis_y + 28;
            if (whole.bottom() - from > 56)
                draw_rank_streams(ui, p, *scene.training, focus, {whole.x, from, whole.w, whole.bottom() - from},
                                  schedule_time(session, focus, scene));
        }
        if (why_.block >= 0) draw_why(ui, p, why_);
    }

    void zoom(double factor, double around, double all) {
        double begin = end_ > begin_ ? begin_ : 0, end = end_ > begin_ ? end_ : all;
        begin = around - (around - begin) * factor;
        end = around + (end - around) * factor;
        look_at(begin, end, all);
    }
    void look_at(double begin, double end, double all) {
        const double length = std::max(end - begin, all / 400);
        if (length >= all) return static_cast<void>(begin_ = end_ = 0);
        begin_ = std::clamp(begin, 0.0, all - length);
        end_ = begin_ + length;
    }

    static int by_keys(Ui& ui, Key forward, Key back, const Rect& panel) {  // 1, -1, or 0
        return (ui.pressed(forward, panel) ? 1 : 0) - (ui.pressed(back, panel) ? 1 : 0);
    }

    void zoom_and_pan(Ui& ui, const PipelinePlaces& p, double now, double all, const Rect& time_area, const Rect& panel) {
        const double length = p.end - p.begin, middle = now >= p.begin && now <= p.end ? now : (p.begin + p.end) / 2;
        if (const float turned = ui.wheel(time_area); turned != 0) zoom(std::pow(0.8, turned), p.time(ui.mouse.x), all);
        if (ui.pressed(Key::w, panel)) zoom(0.7, middle, all);
        if (ui.pressed(Key::s, panel)) zoom(1 / 0.7, middle, all);
        if (ui.pressed(Key::a, panel)) look_at(p.begin - length / 8, p.end - length / 8, all);
        if (ui.pressed(Key::d, panel)) look_at(p.begin + length / 8, p.end + length / 8, all);
        if (ui.pressed(Key::home, panel)) begin_ = end_ = 0;
    }

    void choose_by_key(Ui& ui, Session& session, Focus& focus, const scene::ClusterScene& scene, const PipelinePlaces& p,
                       double now, const Rect& panel) {
        if (const int by = by_keys(ui, Key::down, Key::up, panel); by != 0)
            focus.rank = rank_of_row(scene, std::clamp(p.rank + by, 0, rows_of(scene) - 1)), why_ = {};
        int microbatches = scene.training ? 1 : scene.setup.pipeline.microbatches;
        for (const scene::ScheduleShown& shown : scene.schedules)
            microbatches = std::max(microbatches, shown.run.schedule.microbatches);
        if (const int by = by_keys(ui, Key::page_down, Key::page_up, panel); by != 0)
            session.cluster.microbatch = std::clamp(p.microbatch + by, 0, microbatches - 1);
        if (ui.pressed(Key::enter, panel)) explain(p, p.rank, now, -1);
        if (const int by = by_keys(ui, Key::plus, Key::minus, panel); by != 0) move_by_key(session, scene, p, now, by);
    }

    void begin_drag(const Session& session, const scene::ClusterScene& scene, const PipelinePlaces& p, const Drag& drag,
                    double now) {
        scrubbing_ = drag.from.y >= p.axis_y - 4 || std::abs(drag.from.x - p.x(now)) < 4;
        held_ =
            scrubbing_ || scene.training || scene.planned || session.cluster.asked ? HeldAction{} : action_at(p, drag.from);
        pan_begin_ = p.begin;
        panned_ = false;
    }

    // The cursor, an action's end, an action, or the picture itself, whichever was taken hold of.
    void go_on_dragging(Session& session, const PipelinePlaces& p, const Drag& drag, double all) {
        const float moved = std::abs(drag.at.x - drag.from.x);
        if (scrubbing_) {
            session.cluster.time = std::clamp(p.time(drag.at.x), 0.0, all);
            session.cluster.collective = false;
        } else if (held_.what == HeldAction::What::end) {
            panned_ = panned_ || moved > 3;
            if (panned_) stretch_action(session, p, held_, drag.at.x - drag.from.x);
        } else if (held_.what == HeldAction::What::action && (panned_ || moved > 6)) {
            panned_ = true;
            held_.to = place_for(p, held_, drag.at.x);
        } else if (held_.what == HeldAction::What::nothing && moved > 4 && end_ > begin_) {
            panned_ = true;
            const double length = p.end - p.begin;
            const double by = static_cast<double>((drag.from.x - drag.at.x) / std::max(1.0f, p.plot.w)) * length;
            look_at(pan_begin_ + by, pan_begin_ + by + length, all);
        }
    }

    void react(Ui& ui, Session& session, Focus& focus, const scene::ClusterScene& scene, const PipelinePlaces& p,
               const Rect& panel) {
        const double all = std::max(schedule_end(scene), 1e-9), now = schedule_time(session, focus, scene);
        const Rect time_area{p.plot.x, p.plot.y, p.plot.w, p.axis_y + 22 - p.plot.y};
        zoom_and_pan(ui, p, now, all, time_area, panel);
        choose_by_key(ui, session, focus, scene, p, now, panel);
        const Drag drag = ui.drag("time", time_area);
        if (drag.started) begin_drag(session, scene, p, drag, now);
        if (drag.active) go_on_dragging(session, p, drag, all);
        if (drag.ended && !scrubbing_ && !panned_) pick(session, focus, scene, p, drag.from);
        if (drag.ended && held_.what == HeldAction::What::action && panned_ && held_.to != held_.index)
            move_action(session, p, held_);
        if (!drag.active) held_ = {};
        if (!drag.active && ui.hovered(time_area)) draw_action_tip(ui, p);
    }

    void pick(Session& session, Focus& focus, const scene::ClusterScene& scene, const PipelinePlaces& p, Point at) {
        const ScheduleSpot spot = spot_at(p, at);
        why_ = {};
        if (spot.block < 0) return;
        focus.rank = rank_of_row(scene, spot.rank);
        session.cluster.collective = false;
        session.cluster.time = std::max(0.0, spot.time);
        const parallel::ScheduleRun& run = p.blocks[static_cast<size_t>(spot.block)].shown->run;
        for (const parallel::ActionRun& ran : run.actions[static_cast<size_t>(spot.rank)])
            if (parallel::computes(ran.action.kind) && ran.begin <= spot.time && ran.end > spot.time) {
                if (ran.action.kind != parallel::ActionKind::update) session.cluster.microbatch = ran.action.microbatch;
                session.cluster.time = ran.begin;
                return;
            }
        explain(p, spot.rank, spot.time, spot.block);
    }

    // The idle span at that time on that rank, of that schedule or of the first that idles there.
    void explain(const PipelinePlaces& p, int rank, double time, int block) {
        const bool same = why_.block >= 0 && why_.rank == rank && block < 0;
        why_ = {};
        if (same) return;
        for (size_t i = 0; i < p.blocks.size(); ++i) {
            if (block >= 0 && static_cast<int>(i) != block) continue;
            const parallel::ScheduleRun& run = p.blocks[i].shown->run;
            if (rank >= static_cast<int>(run.idle.size())) continue;
            const auto& spans = run.idle[static_cast<size_t>(rank)];
            for (size_t k = 0; k < spans.size(); ++k)
                if (spans[k].begin <= time + 1e-9 && spans[k].end > time + 1e-9)
                    return static_cast<void>(why_ = explain_idle(*p.blocks[i].shown, static_cast<int>(i), rank, k));
        }
        // None here: the rank's longest, so that Enter always answers.
        for (size_t i = 0; i < p.blocks.size() && block < 0; ++i) {
            const parallel::ScheduleRun& run = p.blocks[i].shown->run;
            if (rank >= static_cast<int>(run.idle.size()) || run.idle[static_cast<size_t>(rank)].empty()) continue;
            const auto& spans = run.idle[static_cast<size_t>(rank)];
            const auto longest = std::max_element(
                spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.end - a.begin < b.end - b.begin; });
            why_ = explain_idle(*p.blocks[i].shown, static_cast<int>(i), rank, static_cast<size_t>(longest - spans.begin()));
            return;
        }
    }
};

}  // namespace

std::unique_ptr<View> make_pipeline_view() {
    return std::make_unique<PipelineView>();
}

}  // namespace lockstep::gui
