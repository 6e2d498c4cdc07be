// D7, the roofline: log-log axes, the roofs of the memories and the peaks of the units from the GPU's row, the session's
// runs as a trail of numbered dots, and what is left above the run on show. A guess may be placed before the point appears.
#include "app/gui/views/roofline/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/roofline/roofline_picture.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {
namespace {

using model::RoofLevel;

class RooflineView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) {
            const Rect body = ui.panel(area, {.title = "Roofline"});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "It gets its place under the GPU's roofs here.");
        }
        RoofTrail& trail = session.roof;
        trail.adopt(snapshot->kernel.run, snapshot->kernel.label, trail.guess_first);
        const model::GpuSpec& gpu = snapshot->kernel.run->gpu;
        const model::Roofline roofline = model::roofline_of(gpu);
        RoofRun& run = *trail.current();
        const bool hidden = hides_point(session, trail);
        const RoofLevel level = run.guessing ? RoofLevel::dram : level_;
        const auto measured = hidden ? std::nullopt : measured_of(session, *snapshot->kernel.run);
        const std::string sentence = roof_sentence(roofline, trail, level, hidden) + on_silicon(measured, run);
        const Rect body = ui.panel(area, {.title = "Roofline",
                                          .right = fmt::format("{} on {}", run.label, gpu.title),
                                          .header_badge = Provenance::derived,
                                          .badge = hidden ? Provenance::none : Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("roofline");
        const float controls = body.h > 150 ? 36.0f : 0.0f;
        if (controls > 0) draw_controls(ui, trail, roofline, body);
        const RoofScene scene{roofline, trail, level, hidden, measured};
        RoofPlot plot{{body.x + 58, body.y + controls + 18, body.w - 70, body.h - controls - 62},
                      axes_of(roofline, trail, gpu.name, level)};
        make_room_for_table(ui, plot, scene);
        if (plot.box.w > 120 && plot.box.h > 50) {
            Labels labels({plot.box.x, plot.box.y - 16, plot.box.w + 12, plot.box.h + 18});
            const bool guess = run.guessing || (run.guessed && !hidden);
            if (guess) {
                if (run.guessing) move_guess(ui, plot, run, area);
                const Point at{plot.x(run.guess.intensity), plot.y(run.guess.flop_per_second)};
                labels.keep_free({at.x - 12, at.y - 12, 24, 24});
            }
            draw_roofline(ui, plot, scene, labels);
            if (guess) draw_guess(ui, plot, run, labels);
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel.run) return "Roofline: no kernel has run yet.";
        RoofTrail trail = session.roof;
        trail.adopt(snapshot->kernel.run, snapshot->kernel.label, trail.guess_first);
        const model::Roofline roofline = model::roofline_of(snapshot->kernel.run->gpu);
        const bool hidden = hides_point(session, trail);
        std::string text =
            fmt::format("Roofline of {} (roofs and peaks derived, runs simulated)\n", snapshot->kernel.run->gpu.title);
        for (const model::Roof& roof : roofline.roofs)
            text += fmt::format("  roof {}: {}\n", roof.name, bandwidth_text(roof.bytes_per_second));
        const auto tell = [&](const model::Peak& peak) {
            text +=
                fmt::format("  peak {}: {}, ridge with {} at {:.3g} FLOP/B\n", peak.name, flops_text(peak.flop_per_second),
                            roofline.roofs[0].name, model::ridge(roofline.roofs[0], peak));
        };
        for (const model::Peak& peak : roofline.peaks) tell(peak);
        for (const model::Peak& peak : roofline.rare)
            if (!hidden && peak.name == trail.current()->point.peak) tell(peak);
        for (const RoofRun& run : trail.runs()) {
            const bool now = &run == trail.current();
            if (run.gpu != snapshot->kernel.run->gpu.name || (now && hidden)) continue;
            text += fmt::format("  run {}{}: {}", run.number > 0 ? std::to_string(run.number) : "-", now ? " (on show)" : "",
                                run.label);
            const double room = model::headroom(roofline, run.point);
            text += run.point.plotted()
                        ? fmt::format(", {:.3g} FLOP/B, {}, {}, {} {} the roof\n", run.point.intensity(RoofLevel::dram),
                                      flops_text(run.point.flop_per_second()), lockstep::time_text(1e6 * run.point.seconds),
                                      times_text(room < 1 ? 1 / room : room), room < 1 ? "above" : "below")
                        : ", which has no place on the roofline\n";
        }
        const auto measured = hidden ? std::nullopt : measured_of(session, *snapshot->kernel.run);
        return text + "  " + roof_sentence(roofline, trail, RoofLevel::dram, hidden) +
               on_silicon(measured, *trail.current()) + "\n";
    }

  private:
    RoofLevel level_ = RoofLevel::dram;

    static std::string on_silicon(const std::optional<device::MeasuredKernel>& measured, const RoofRun& run) {
        return measured ? fmt::format(" {}.", measured_sentence(*measured, 1e6 * run.point.seconds)) : "";
    }

    void draw_controls(Ui& ui, RoofTrail& trail, const model::Roofline& roofline, const Rect& body) {
        float x = body.x;
        RoofRun& run = *trail.current();
        if (run.guessing) {
            if (ui.button({x, body.y, 112, 26}, "Lock the guess", true)) lock(run);
            x += 120;
            if (ui.chip(x, body.y, "show without")) run.guessing = false;
            const std::string_view how = "drag the diamond, or W A S D";
            if (x + ui.text_width(how, {.size = 13}) + 12 < body.right())
                ui.text(x + 12, body.y + 18, how, {.size = 13, .color = ui.theme->ink2});
            return;
        }
        const std::string_view names[] = {roofline.roofs[0].name, roofline.roofs[1].name, roofline.roofs[2].name};
        ui.text(x, body.y + 18, "bytes of", {.size = 13, .color = ui.theme->ink2});
        x += 58;
        level_ = static_cast<RoofLevel>(ui.segmented(x, body.y, names, static_cast<int>(level_)));
        x += 8;
        if (x + ui.chip_width("guess first") < body.right() && ui.chip(x, body.y, "guess first", trail.guess_first))
            trail.guess_first = !trail.guess_first;
        if (trail.runs().size() > 1 && x + ui.chip_width("clear the trail") < body.right() &&
            ui.chip(x, body.y, "clear the trail"))
            trail.forget_others();
    }

    static void lock(RoofRun& run) {
        run.guessing = false;
        run.guessed = true;
    }

    static void move_guess(Ui& ui, const RoofPlot& plot, RoofRun& run, const Rect& area) {
        RoofGuess& guess = run.guess;
        const bool focused = ui.enabled && ui.state->focused == ui.state->id_of("guess");
        if (focused) ui.state->slider_focused = true;  // the arrows are the diamond's
        double x = 0, y = 0;
        const auto key = [&](Key one, Key other, double by, double& sum) {
            if (ui.pressed(one, area) || (focused && ui.pressed(other, area))) sum += by;
        };
        key(Key::a, Key::left, -0.05, x), key(Key::d, Key::right, 0.05, x);
        key(Key::s, Key::down, -0.05, y), key(Key::w, Key::up, 0.05, y);
        guess.intensity *= std::pow(10, x);
        guess.flop_per_second *= std::pow(10, y);
        if (ui.pressed(Key::enter, area)) return lock(run);
        if (const Drag drag = ui.drag("drag", plot.box); drag.active)
            guess = {plot.intensity(drag.at.x), plot.flops(drag.at.y)};
        guess.intensity = std::clamp(guess.intensity, std::pow(10, plot.axes.x_low), std::pow(10, plot.axes.x_high));
        guess.flop_per_second =
            std::clamp(guess.flop_per_second, std::pow(10, plot.axes.y_low), std::pow(10, plot.axes.y_high));
    }

    static void draw_guess(Ui& ui, const RoofPlot& plot, RoofRun& run, Labels& labels) {
        const float x = plot.x(run.guess.intensity), y = plot.y(run.guess.flop_per_second);
        const Point around[] = {{x, y - 9}, {x + 9, y}, {x, y + 9}, {x - 9, y}, {x, y - 9}};
        ui.polygon({around[0], around[1], around[2], around[3]}, ui.theme->panel);
        ui.polyline(around, run.guessing ? ui.theme->accent : ui.theme->quiet, 2);
        if (!run.guessing) return;
        if (ui.area("guess", {x - 12, y - 12, 24, 24})) return lock(run);
        std::vector<Spot> spots;
        for (const float up : {-8.0f, 22.0f, 5.0f, -24.0f, 38.0f}) {
            spots.push_back({x + 14, y + up, Align::left});
            spots.push_back({x - 14, y + up, Align::right});
        }
        labels.write(ui, fmt::format("{:.2g} FLOP/B, {}", run.guess.intensity, flops_text(run.guess.flop_per_second)),
                     {.size = 12, .weight = 600}, spots);
    }
};

}  // namespace

std::unique_ptr<View> make_roofline_view() {
    return std::make_unique<RooflineView>();
}

}  // namespace lockstep::gui
