// D13's strip and D8's first form: the kernels of one training step, the host's enqueues above the GPU's work, phases on
// top. A click focuses a launch; "open in SM" (or Enter, or a double click) shows its warps. Of a run on many ranks the
// strip has a second page: every rank's phases, communication among them (step_ranks.h), which opens in Cluster.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_data.h"
#include "app/gui/views/roofline/measured_data.h"
#include "app/gui/views/training/steps/step_ranks.h"
#include "app/gui/views/training/steps/step_times.h"
#include "app/gui/views/training/training_data.h"
#include "app/gui/widgets/axis.h"
#include "core/base/units.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/cluster/cluster_training.h"

namespace lockstep::gui {
namespace {

std::string time_of(double us) {
    return time_text(us, {.decimals = us >= 5000 ? 1 : 0, .milli_from = 5000});
}

// A tensor program's launches are a training step's where it updates something.
std::string_view title_of(const Session& session, const nn::StepRecord& step) {
    const bool updates = std::any_of(step.launches.begin(), step.launches.end(),
                                     [](const device::LaunchEvent& launch) { return launch.phase == "update"; });
    return session.snapshot()->tape && !updates ? "Kernels of the program" : "Kernels of one training step";
}

class StepKernelsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto step = session.snapshot()->training.step;
        if (!step || step->launches.empty()) {
            const Rect body = ui.panel(area, {.title = "Kernels of one training step",
                                              .badge = Provenance::simulated,
                                              .caption = "No step has run yet."});
            return ui.say_nothing_yet(body, "No step has run yet.", session.snapshot()->busy);
        }
        const bool simulated = step->device.rfind("sim", 0) == 0;
        const bool hidden = session.learn.reveal_steps >= 0, untimed = without_times(*step);
        const auto& ranks = ranks_of(session);
        const bool by_rank = ranks && by_rank_ && !hidden;
        std::string right = session.snapshot()->tape ? fmt::format("{} · step {}", step->model, step->step)
                                                     : fmt::format("step {} · batch {}", step->step, step->batch);
        if (by_rank) right += fmt::format(" · {} ranks", ranks->ranks.size());
        if (!hidden && !by_rank) right += fmt::format(" · {}", counted(step->launches.size(), "kernel"));
        const std::string sentence = hidden    ? std::string(hidden_sentence)
                                     : by_rank ? ranks_sentence(*ranks, step->batch, step->loss)
                                               : all_said(session, *step);
        Rect body = ui.panel(
            area, {.title = by_rank ? std::string_view("One training step, rank by rank") : title_of(session, *step),
                   .right = right,
                   .badge = by_rank     ? Provenance::times_derived
                            : simulated ? Provenance::simulated
                                        : Provenance::measured,
                   .caption = sentence});
        if (hidden) {
            const Rect box{body.x, body.y, body.w, std::min(44.f, body.h)};
            ui.dashed(box, ui.theme->ink3);
            ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, "Hidden until you lock an answer.",
                    {.size = 13, .color = ui.theme->ink2, .align = Align::center});
            return;
        }
        ui.push_scope("step kernels");
        if (body.h >= 380 && !by_rank && !untimed && simulated) {  // room enough to say where the time goes
            const std::vector<NamedStep> steps = named_steps(*session.snapshot(), *step);
            const std::string says = step_times_headline(steps);
            const bool fits = ui.text_width(says, {.size = 20, .weight = 700}) <= body.w;
            ui.text(body.x, body.y + 20, says, {.size = fits ? 20.0f : 16.0f, .weight = 700, .width = body.w});
            const float high = 100.0f * static_cast<float>(steps.size()) + 14;
            gantts(ui, session, focus, *step, {body.x, body.y + 44, body.w, high});
            draw_step_times(ui, steps, {body.x, body.y + 60 + high, body.w, body.h - 60 - high});
            return ui.pop_scope();
        }
        // In half a panel the headline alone.
        if (session.workspace == Workspace::learn && body.h > 190 && !by_rank && !untimed && simulated && !ranks) {
            const std::string says = step_times_headline(named_steps(*session.snapshot(), *step));
            ui.text(body.x, body.y + 14, says, {.size = 16, .weight = 700, .width = body.w});
            body = {body.x, body.y + 24, body.w, body.h - 24};
            if (session.snapshot()->training.beside.empty() && body.h >= 150 && body.w <= 900) {  // one step alone
                gantts(ui, session, focus, *step, {body.x, body.y, body.w, 84});
                draw_step_times(ui, named_steps(*session.snapshot(), *step),
                                {body.x, body.y + 90, body.w, std::min(96.0f, body.h - 90)});
                return ui.pop_scope();
            }
        }
        const bool side = body.w > 900;
        constexpr std::string_view pages[] = {"ranks", "kernels"};
        const float choice = ranks ? ui.segmented_width(pages) + 8 : 0;
        const Rect left{body.x, body.y, body.w - (side ? 312.f : choice), body.h};
        if (by_rank)
            draw_step_ranks(ui, *ranks, span_, left);
        else if (untimed)
            list(ui, session, focus, *step, left);
        else
            gantts(ui, session, focus, *step, left);
        Rect words{body.right() - 280, body.y, 280, body.h};
        if (ranks) {
            float x = body.right() - choice + 8;
            by_rank_ = ui.segmented(x, body.y, pages, by_rank_ ? 0 : 1) == 0;
        }
        if (side) {
            ui.line({body.right() - 296, body.y}, {body.right() - 296, body.bottom()}, ui.theme->grid);
            by_rank ? picked_span(ui, session, focus, *step, *ranks, words, choice)
                    : picked(ui, session, focus, *step, words, choice);
        } else if (by_rank && span_.opens) {
            open_span(session, focus, *step, *ranks);
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto step = session.snapshot()->training.step;
        if (!step || step->launches.empty()) return "Kernels of one training step: no step has run yet.\n";
        std::string text =
            fmt::format("{} ({}), step {}, batch {}\n", title_of(session, *step),
                        step->device.rfind("sim", 0) == 0 ? "simulated" : "measured", step->step, step->batch);
        if (session.learn.reveal_steps >= 0) return text + fmt::format("  {}\n", hidden_sentence);
        if (const auto& ranks = ranks_of(session); ranks && by_rank_)
            return fmt::format("One training step, rank by rank (executed, times derived), step {}, batch {}\n{}  {}\n",
                               step->step, step->batch, ranks_text(*ranks), ranks_sentence(*ranks, step->batch, step->loss));
        const bool untimed = without_times(*step);
        for (size_t i = 0; i < step->launches.size(); ++i) {
            const device::LaunchEvent& e = step->launches[i];
            text += fmt::format("  {}{:>2} {:<24} {:<9}", static_cast<int>(i) == focus.launch ? ">" : " ", i + 1, e.label,
                                e.phase);
            if (!untimed)
                text += fmt::format(" {:>9.2f} to {:>9.2f} µs{}", e.begin_us - origin(*step), e.end_us - origin(*step),
                                    e.cycles > 0 ? fmt::format(", {}", counted(e.cycles, "cycle")) : "");
            text += "\n";
        }
        for (const StepBeside& other : session.snapshot()->training.beside)
            text += fmt::format("  beside it on {}: {}\n", other.gpu,
                                lockstep::time_text(length_of(*other.step), {.decimals = 1}));
        if (!untimed) text += step_times_text(named_steps(*session.snapshot(), *step));
        return text + "  " + all_said(session, *step) + "\n";
    }

  private:
    static constexpr std::string_view hidden_sentence = "The kernels of this step stay hidden until you lock an answer.";

    bool by_rank_ = true;
    PickedSpan span_;

    // Of the step on show; null: it ran on one device alone.
    static std::shared_ptr<const parallel::ParallelStepRecord> ranks_of(const Session& session) {
        const auto snapshot = session.snapshot();
        const auto& made = snapshot->training.on_ranks;
        return made && snapshot->training.step && made->step == snapshot->training.step->step && !made->ranks.empty()
                   ? made
                   : nullptr;
    }

    // Those that stand beside it, and the step itself.
    static std::vector<NamedStep> named_steps(const Snapshot& snapshot, const nn::StepRecord& step) {
        std::vector<NamedStep> steps;
        for (const StepBeside& other : snapshot.training.beside) steps.push_back({other.gpu, other.step.get()});
        steps.push_back({steps.empty() ? std::string() : snapshot.training.gpu, &step});  // one alone needs no name
        return steps;
    }

    // Communication opens where collectives are drawn, everything else as kernels.
    void open_span(Session& session, Focus& focus, const nn::StepRecord& step, const parallel::ParallelStepRecord& record) {
        span_.opens = false;
        const parallel::RankStep& rank = record.ranks[static_cast<size_t>(span_.rank)];
        const StepPhase phase = phase_of(rank.spans[static_cast<size_t>(span_.span)]);
        if (phase != StepPhase::communication) {
            by_rank_ = false;
            for (size_t i = step.launches.size(); i-- > 0;)
                if (step.launches[i].phase == name_of(phase)) focus.launch = static_cast<int>(i);
            focus.op = node_of_launch(step, focus.launch);
            return;
        }
        scene::ClusterSetup setup = cluster_setup(session);
        const auto ranks = static_cast<int>(record.ranks.size());
        setup.training.on = false;
        for (const scene::ClusterModel& row : scene::cluster_models())
            if (row.name == step.model)
                setup.training = {.on = true,
                                  .model = std::string(row.name),
                                  .plan = {.dp = ranks},
                                  .batch = step.batch,
                                  .steps = 1,
                                  .seed = 1};
        setup.collective.operation = "all_reduce";
        setup.collective.algorithm = "ring";
        setup.collective.ranks = ranks;
        double gradients = 0;
        for (const parallel::Traffic& row : rank.sent)
            if (row.purpose == "gradients") gradients += static_cast<double>(row.bytes);
        setup.collective.bytes = std::max(1.0, gradients * ranks / (2.0 * (ranks - 1)));
        ask_cluster(session, setup);
        session.workspace = Workspace::cluster;
    }

    void picked_span(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step,
                     const parallel::ParallelStepRecord& record, const Rect& r, float choice) {
        const Theme& theme = *ui.theme;
        const auto ranks = static_cast<int>(record.ranks.size());
        if (span_.rank >= ranks || span_.rank < 0 ||
            span_.span >= static_cast<int>(record.ranks[static_cast<size_t>(span_.rank)].spans.size()))
            span_ = {};
        if (span_.rank < 0) {
            ui.paragraph({r.x, r.y + 30, r.w, r.h - 30},
                         "Click a phase: communication opens in Cluster, the others show their kernels.",
                         {.size = 13, .color = theme.ink2}, 19);
            return;
        }
        const parallel::RankStep& rank = record.ranks[static_cast<size_t>(span_.rank)];
        const parallel::RankSpan& span = rank.spans[static_cast<size_t>(span_.span)];
        const bool exchanges = phase_of(span) == StepPhase::communication;
        ui.text(r.x, r.y + 11, fmt::format("rank {}", span_.rank), {.size = 14, .weight = 600, .width = r.w - choice});
        ui.text(r.x, r.y + 28, span.label, {.size = 13, .mono = true, .width = r.w - choice});
        std::string words = lockstep::time_text(span.end_us - span.begin_us, {.decimals = 2});
        if (exchanges) {
            const PhaseTimes times = phase_times(rank);
            words += fmt::format(" · {} sent in the step", counted(times.sent_bytes, "byte"));
        }
        ui.text(r.x, r.y + 45, words, {.size = 12, .color = theme.ink2, .width = r.w});
        const bool asked =
            r.h >= 74 && ui.button({r.x, r.y + 52, 124, 26}, exchanges ? "open in Cluster" : "its kernels", true);
        if (asked || span_.opens) open_span(session, focus, step, record);
    }

    // A simulated step that ran for its numbers alone, as steps do while training runs on.
    static bool without_times(const nn::StepRecord& step) {
        return step.device.rfind("sim", 0) == 0 &&
               std::none_of(step.launches.begin(), step.launches.end(), [](const auto& e) { return e.cycles > 0; });
    }
    static double origin(const nn::StepRecord& step) {
        return std::min(step.launches.front().enqueue_begin_us, step.launches.front().begin_us);
    }
    static double length_of(const nn::StepRecord& step) { return std::max(end(step) - origin(step), 1e-6); }
    static double end(const nn::StepRecord& step) {
        double last = 0;
        for (const auto& e : step.launches) last = std::max(last, e.end_us);
        return last;
    }

    static std::string caption(const nn::StepRecord& step, const std::string& doing) {
        if (without_times(step))
            return doing.rfind("timing", 0) == 0 ? "The kernels of this step are being timed."
                                                 : "This step ran without timing; pause to time it.";
        double busy = 0;
        for (const auto& e : step.launches) busy += e.end_us - e.begin_us;
        const double total = std::max(end(step) - origin(step), 1e-9);
        const auto slowest = std::max_element(step.launches.begin(), step.launches.end(), [](const auto& a, const auto& b) {
            return a.end_us - a.begin_us < b.end_us - b.begin_us;
        });
        if (step.device == "host")
            return fmt::format("The host computes for {} of {}, {:.0f} %. The longest kernel is {}, {}.", time_of(busy),
                               time_of(total), 100 * busy / total, slowest->label,
                               time_of(slowest->end_us - slowest->begin_us));
        double host = 0, between = 0;  // for the next launch to be given, and from one kernel to the next that stands ready
        for (size_t i = 1; i < step.launches.size(); ++i) {
            const device::LaunchEvent& next = step.launches[i];
            const double ended = step.launches[i - 1].end_us, gap = std::max(0.0, next.begin_us - ended);
            const double given = std::clamp(next.enqueue_end_us - ended, 0.0, gap);
            host += given;
            between += gap - given;
        }
        const auto said = [](double us) { return lockstep::time_text(us, {.decimals = 1}); };
        std::string waits =
            host < 0.1 ? "it never waits for the host" : fmt::format("for {} it waits for the host", said(host));
        if (between >= 0.1) waits += fmt::format(", and {} pass from one kernel to the next", said(between));
        return fmt::format("The GPU is busy {} of {}, {:.0f} %; {}. The longest kernel is {}, {}.", said(busy), said(total),
                           100 * busy / total, waits, slowest->label, said(slowest->end_us - slowest->begin_us));
    }

    // The caption, and what was measured of such a step on the same GPU.
    static std::string all_said(const Session& session, const nn::StepRecord& step) {
        const std::string measured = measured_step_sentence(session, step);
        return caption(step, session.snapshot()->busy) + (measured.empty() ? "" : " " + measured);
    }

    static void open_in_sm(Session& session, int launch, Workspace workspace = Workspace::sm) {
        session.post(ask::OpenKernel{launch});
        session.workspace = workspace;
    }

    // Those that stand beside it above it, all on one clock that begins with the step.
    void gantts(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, const Rect& r) {
        const auto snapshot = session.snapshot();
        const std::vector<StepBeside>& beside = snapshot->training.beside;
        double total = length_of(step);
        for (const StepBeside& other : beside) total = std::max(total, length_of(*other.step));
        const float h = r.h / static_cast<float>(beside.size() + 1);
        float y = r.y;
        for (const StepBeside& other : beside) {
            gantt(ui, session, focus, *other.step, {r.x, y, r.w, h - 6}, total, other.gpu, false);
            y += h;
        }
        gantt(ui, session, focus, step, {r.x, y, r.w, h}, total, beside.empty() ? std::string() : snapshot->training.gpu,
              true);
    }

    // `own`: its kernels can be chosen. `gpu`: named where several steps stand there.
    void gantt(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, const Rect& r, double total,
               const std::string& gpu, bool own) {
        const Theme& theme = *ui.theme;
        const double t0 = origin(step);
        const double unit = step_of_time(total);
        const float named = gpu.empty() ? 0.0f : 150.0f;  // room behind the longest step for its name
        const Rect plot{r.x + 48, r.y, r.w - 56 - named, r.h};
        auto x_of = [&](double us) { return plot.x + plot.w * static_cast<float>((us - t0) / total); };
        const bool host_row = step.device != "host" && r.h >= 76;
        const float phases = r.y + 10, host = r.y + 15, gpu_y = host_row ? r.y + 38 : r.y + 22,
                    axis = std::min(r.bottom() - 1, gpu_y + 42);
        for (int i = 0; i * unit <= total; ++i) {
            const float x = x_of(t0 + i * unit);
            ui.line({x, r.y + 16}, {x, gpu_y + 30}, theme.grid);
            if (axis > gpu_y + 36 && (own || r.h >= 100))
                ui.text(x, axis,
                        i == 0         ? "0"
                        : total > 5000 ? fmt::format("{:g} ms", i * unit / 1000)
                                       : fmt::format("{:g} µs", i * unit),
                        {.size = 12, .color = theme.ink2, .align = i == 0 ? Align::left : Align::center});
        }
        if (!gpu.empty()) {
            const float x = x_of(t0 + length_of(step)) + 8;
            const std::string says = fmt::format("{}: {}", gpu, lockstep::time_text(length_of(step), {.decimals = 1}));
            const float w = ui.text_width(says, {.size = 14, .weight = 700});
            ui.text(std::min(x, r.right() - w), host + 14, says, {.size = 14, .weight = 700});
        }
        for (size_t i = 0; i < step.launches.size();) {
            size_t j = i;
            while (j < step.launches.size() && step.launches[j].phase == step.launches[i].phase) ++j;
            const float a = x_of(step.launches[i].begin_us), b = x_of(step.launches[j - 1].end_us);
            ui.rect({a + 1, phases, std::max(1.f, b - a - 2), 3}, step_phase_color(step.launches[i].phase));
            if (ui.text_width(step.launches[i].phase, {.size = 12}) + 6 < b - a)
                ui.text((a + b) / 2, phases - 4, step.launches[i].phase,
                        {.size = 12, .color = theme.ink2, .align = Align::center});
            i = j;
        }
        if (host_row) ui.text(r.x, host + 14, "host", {.size = 13, .color = theme.ink2});
        ui.text(r.x, gpu_y + 18, step.device == "host" ? "host" : "GPU", {.size = 13, .color = theme.ink2});
        for (size_t i = 0; i < step.launches.size(); ++i) {
            const device::LaunchEvent& e = step.launches[i];
            const std::string number = std::to_string(i + 1);
            if (host_row) {
                const float a = x_of(e.enqueue_begin_us), b = x_of(e.enqueue_end_us);
                ui.rect({a + 0.5f, host, std::max(1.f, b - a - 1), 18}, mix(theme.panel, theme.ink2, 0.3f));
                const std::string label = i == 0 ? "enqueue 1" : number;
                const std::string& fitted = ui.text_width(label, {.size = 12}) + 4 < b - a ? label : number;
                if (ui.text_width(fitted, {.size = 12}) + 4 < b - a)
                    ui.text((a + b) / 2, host + 14, fitted, {.size = 12, .align = Align::center});
            }
            const float a = x_of(e.begin_us), b = std::max(x_of(e.end_us), a + 2);
            const bool here = own && static_cast<int>(i) == focus.launch;
            const Rect bar{a + 0.5f, gpu_y, b - a - 1, 26};
            const Color fill = mix(theme.panel, step_phase_color(e.phase), here ? 0.85f : 0.62f);
            ui.rect(bar, fill);
            for (const std::string& label : {number + " " + e.label, number + " " + e.kernel, number})
                if (ui.text_width(label, {.size = 12, .weight = 600}) + 6 < bar.w) {
                    ui.text(bar.x + bar.w / 2, gpu_y + 18, label,
                            {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600});
                    break;
                }
            if (here) ui.outline(bar, 0);
            if (here && host_row) {
                const float from = x_of(e.enqueue_end_us);
                const Point path[] = {
                    {from, host + 18}, {from, host + 20.5f}, {bar.x + 2, host + 20.5f}, {bar.x + 2, gpu_y}};
                ui.polyline(path, theme.ink, 1.5f);
            }
            if (own) choose(ui, session, focus, step, i, bar, r);
            if (ui.hovered(bar))
                ui.tooltip(fmt::format("{} {} ({})\n{}{}", number, e.label, e.kernel,
                                       lockstep::time_text(e.end_us - e.begin_us, {.decimals = 2}),
                                       e.cycles > 0 ? fmt::format(", {}", counted(e.cycles, "cycle")) : ""));
        }
    }

    static void choose(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, size_t launch, const Rect& bar,
                       const Rect& panel) {
        const device::LaunchEvent& e = step.launches[launch];
        const bool double_clicked = ui.double_clicked(bar);
        if (!ui.area("launch" + std::to_string(launch + 1), bar)) return;
        const bool again = focus.launch == static_cast<int>(launch);
        focus.launch = static_cast<int>(launch);
        focus.op = node_of_launch(step, focus.launch);
        if (e.run && (double_clicked || (again && ui.pressed(Key::enter, panel))))
            open_in_sm(session, focus.launch);
        else if (e.run)
            session.post(ask::OpenKernel{focus.launch});
    }

    // Without times: one box a launch, all of one width, in order.
    static void list(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, const Rect& r) {
        const Theme& theme = *ui.theme;
        const size_t count = step.launches.size();
        const size_t rows = r.w / static_cast<float>(count) >= 58 || r.h < 40 ? 1 : 2, per = (count + rows - 1) / rows;
        const float pitch = r.w / static_cast<float>(per), row = std::min(r.h / static_cast<float>(rows), 72.f);
        const bool phases = row >= 34;
        const float head = phases ? 13 : 0;
        std::string phase;
        for (size_t i = 0; i < count; ++i) {
            const device::LaunchEvent& e = step.launches[i];
            const float x = r.x + pitch * static_cast<float>(i % per), y = r.y + row * static_cast<float>(i / per);
            if (phases && (e.phase != phase || i % per == 0)) {
                size_t end = i;
                while (end < count && end / per == i / per && step.launches[end].phase == e.phase) ++end;
                ui.text(x + 1, y + 8, e.phase,
                        {.size = 12, .color = theme.ink2, .width = pitch * static_cast<float>(end - i) - 4});
                phase = e.phase;
            }
            const bool here = static_cast<int>(i) == focus.launch;
            const Color fill = mix(theme.panel, step_phase_color(e.phase), here ? 0.85f : 0.62f);
            const Rect box{x + 0.5f, y + head, pitch - 1, row - head - 2};
            ui.rect(box, fill);
            const std::string number = std::to_string(i + 1);
            const size_t space = e.label.find(' ');
            const TextStyle style{
                .size = 12, .color = text_on(fill), .align = Align::center, .weight = 600, .width = box.w - 4};
            const float middle = box.x + box.w / 2;
            if (box.h >= 48 && space != std::string::npos) {  // number, layer, operation
                ui.text(middle, box.y + 14, number, style);
                ui.text(middle, box.y + 29, e.label.substr(0, space), style);
                ui.text(middle, box.y + 44, e.label.substr(space + 1), style);
            } else if (box.h >= 32) {
                const float tight = box.h < 36 ? 1.5f : 0;
                ui.text(middle, box.y + 14 - tight, number, style);
                ui.text(middle, box.y + 29 - 2 * tight, e.label, style);
            } else {
                ui.text(middle, box.y + box.h / 2 + 4.5f, number + " " + e.label, style);
            }
            if (here) ui.outline(box, 0);
            choose(ui, session, focus, step, i, box, r);
            if (ui.hovered(box)) ui.tooltip(fmt::format("{} {} ({})\n{}, not timed", number, e.label, e.kernel, e.phase));
        }
    }

    static void picked(Ui& ui, Session& session, Focus& focus, const nn::StepRecord& step, const Rect& r, float choice) {
        const Theme& theme = *ui.theme;
        const int launch = focus.launch >= 0 ? std::min(focus.launch, static_cast<int>(step.launches.size()) - 1) : -1;
        if (launch < 0) {
            ui.paragraph({r.x, r.y + (choice > 0 ? 30.f : 0.f), r.w, r.h},
                         "Click a kernel to see its blocks and warps, and where it stands in the graph.",
                         {.size = 13, .color = theme.ink2}, 19);
            return;
        }
        const device::LaunchEvent& e = step.launches[static_cast<size_t>(launch)];
        ui.text(r.x, r.y + 11, fmt::format("{}  {}", launch + 1, e.label),
                {.size = 14, .weight = 600, .width = r.w - choice});
        ui.text(r.x, r.y + 28, e.kernel, {.size = 13, .mono = true, .width = r.w - choice});
        ui.text(r.x, r.y + 45,
                fmt::format("{} of {}", counted(e.grid.count(), "block"), e.block.count()) +
                    (without_times(step)
                         ? ""
                         : fmt::format("{} · {}", e.cycles > 0 ? fmt::format(" · {}", counted(e.cycles, "cycle")) : "",
                                       lockstep::time_text(e.end_us - e.begin_us, {.decimals = 2}))),
                {.size = 12, .color = theme.ink2, .width = r.w});
        if (r.h < 74) return;
        if (ui.button({r.x, r.y + 52, 124, 26}, "open in SM", true, e.run != nullptr)) open_in_sm(session, launch);
        if (e.run && ui.button({r.x + 132, r.y + 52, 140, 26}, "open in Memory"))
            open_in_sm(session, launch, Workspace::memory);
        if (!e.run)
            ui.text(r.x + 134, r.y + 70, step.device == "host" ? "ran on the host" : "not timed",
                    {.size = 12, .color = theme.quiet});
    }
};

}  // namespace

std::unique_ptr<View> make_step_kernels_view() {
    return std::make_unique<StepKernelsView>();
}

}  // namespace lockstep::gui
