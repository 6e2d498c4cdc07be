// D7, the roofline: log-log axes, the roofs of the memories and the peaks of the units from the GPU's row, the session's
// runs as a trail of numbered dots, and what is left above the run on show. A guess may be placed before the point appears.
#include "app/gui/views/roofline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {
namespace {

using model::RoofLevel;
using model::RoofPoint;

constexpr float table_pitch = 20, table_number = 30, table_column = 70;

struct Plot {
    Rect box;
    RoofAxes axes;
    float x(double intensity) const {
        const double t = (std::log10(intensity) - axes.x_low) / (axes.x_high - axes.x_low);
        return box.x + box.w * static_cast<float>(std::clamp(t, -0.5, 1.5));
    }
    float y(double flops) const {
        const double t = (std::log10(flops) - axes.y_low) / (axes.y_high - axes.y_low);
        return box.bottom() - box.h * static_cast<float>(std::clamp(t, -0.5, 1.5));
    }
    double intensity(float at) const {
        return std::pow(10, axes.x_low + (axes.x_high - axes.x_low) * static_cast<double>((at - box.x) / box.w));
    }
    double flops(float at) const {
        return std::pow(10, axes.y_low + (axes.y_high - axes.y_low) * static_cast<double>((box.bottom() - at) / box.h));
    }
};

std::string decade_text(int decade) {  // of FLOP/s
    constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
    const int thousand = std::clamp(decade / 3, 0, 5);
    return fmt::format("{:.0f} {}", std::pow(10, decade - 3 * thousand), prefixes[static_cast<size_t>(thousand)]);
}

class RooflineView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel) {
            const Rect body = ui.panel(area, {.title = "Roofline"});
            return ui.say_nothing_yet(body, "No kernel has run yet.", "It gets its place under the GPU's roofs here.");
        }
        RoofTrail& trail = session.roof;
        trail.adopt(snapshot->kernel, snapshot->kernel_label, trail.guess_first);
        const model::GpuSpec& gpu = snapshot->kernel->gpu;
        const model::Roofline roofline = model::roofline_of(gpu);
        RoofRun& run = *trail.current();
        const bool hidden = hides_point(session, trail);
        const RoofLevel level = run.guessing ? RoofLevel::dram : level_;
        const std::string sentence = roof_sentence(roofline, trail, level, hidden);
        const Rect body = ui.panel(area, {.title = "Roofline",
                                          .right = fmt::format("{} on {}", run.label, gpu.title),
                                          .header_badge = Provenance::derived,
                                          .badge = hidden ? Provenance::none : Provenance::simulated,
                                          .caption = sentence});
        ui.push_scope("roofline");
        const float controls = body.h > 200 ? 36.0f : 0.0f;
        if (controls > 0) draw_controls(ui, trail, roofline, body);
        Plot plot{{body.x + 58, body.y + controls + 18, body.w - 70, body.h - controls - 62},
                  axes_of(roofline, trail, gpu.name, level)};
        if (plot.box.w > 120 && plot.box.h > 60) {
            draw_axes(ui, plot);
            draw_roofs(ui, plot, roofline, run.point, level);
            draw_trail(ui, plot, roofline, trail, level, hidden);
            if (run.guessing)
                place_guess(ui, plot, run, area);
            else if (run.guessed && !hidden)
                diamond(ui, plot, run.guess, ui.theme->quiet);
            if (plot.box.w > 430 && plot.box.h > 150) draw_table(ui, plot, roofline, trail, level, hidden);
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        if (!snapshot->kernel) return "Roofline: no kernel has run yet.";
        RoofTrail trail = session.roof;
        trail.adopt(snapshot->kernel, snapshot->kernel_label, trail.guess_first);
        const model::Roofline roofline = model::roofline_of(snapshot->kernel->gpu);
        const bool hidden = hides_point(session, trail);
        std::string text =
            fmt::format("Roofline of {} (roofs and peaks derived, runs simulated)\n", snapshot->kernel->gpu.title);
        for (const model::Roof& roof : roofline.roofs)
            text += fmt::format("  roof {}: {}\n", roof.name, bandwidth_text(roof.bytes_per_second));
        for (const model::Peak& peak : roofline.peaks)
            text +=
                fmt::format("  peak {}: {}, ridge with {} at {:.3g} FLOP/B\n", peak.name, flops_text(peak.flop_per_second),
                            roofline.roofs[0].name, model::ridge(roofline.roofs[0], peak));
        for (const RoofRun& run : trail.runs()) {
            const bool now = &run == trail.current();
            if (run.gpu != snapshot->kernel->gpu.name || (now && hidden)) continue;
            text += fmt::format("  run {}{}: {}", run.number, now ? " (on show)" : "", run.label);
            text += run.point.plotted()
                        ? fmt::format(", {:.3g} FLOP/B, {}, {:.3g} us, x{:.3g} below the roof\n",
                                      run.point.intensity(RoofLevel::dram), flops_text(run.point.flop_per_second()),
                                      1e6 * run.point.seconds, model::headroom(roofline, run.point))
                        : ", which has no place on the roofline\n";
        }
        return text + "  " + roof_sentence(roofline, trail, RoofLevel::dram, hidden) + "\n";
    }

  private:
    RoofLevel level_ = RoofLevel::dram;

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

    static void draw_axes(Ui& ui, const Plot& plot) {
        const Theme& theme = *ui.theme;
        const Rect& r = plot.box;
        const TextStyle small{.size = 12, .color = theme.ink2, .align = Align::center};
        for (int d = static_cast<int>(std::ceil(plot.axes.x_low)); d <= plot.axes.x_high; ++d) {
            const float x = plot.x(std::pow(10, d));
            ui.line({x, r.y}, {x, r.bottom()}, theme.grid);
            ui.text(x, r.bottom() + 17, fmt::format("{:g}", std::pow(10, d)), small);
        }
        for (int d = static_cast<int>(std::ceil(plot.axes.y_low)); d <= plot.axes.y_high; ++d) {
            const float y = plot.y(std::pow(10, d));
            ui.line({r.x, y}, {r.right(), y}, theme.grid);
            ui.text(r.x - 8, y + 4, decade_text(d), {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        ui.text(r.x - 58, r.y - 6, "FLOP/s", {.size = 12, .color = theme.ink2});
        ui.text(r.right(), r.bottom() + 34, "arithmetic intensity, FLOP per byte",
                {.size = 12, .color = theme.ink2, .align = Align::right});
    }

    // Roofs up to the peak of the units that the run uses; beyond it, dashed, for faster units.
    static void draw_roofs(Ui& ui, const Plot& plot, const model::Roofline& roofline, const RoofPoint& point,
                           RoofLevel level) {
        const Theme& theme = *ui.theme;
        const Rect& r = plot.box;
        const model::Peak* own = roofline.peak(point.peak);
        if (own == nullptr) own = &roofline.peaks.front();
        ui.clip({r.x, r.y - 14, r.w + 12, r.h + 16});
        const model::Roof& fastest = roofline.roof(RoofLevel::l1);
        float last_label = 1e9f;
        for (const model::Peak& peak : roofline.peaks) {  // fastest first
            const bool is_own = &peak == own;
            const model::Roof& from = is_own ? fastest : roofline.roof(level);
            const Point a{plot.x(model::ridge(from, peak)), plot.y(peak.flop_per_second)}, b{r.right(), a.y};
            const Point line[] = {a, b};
            ui.polyline(line, is_own ? theme.ink : theme.quiet, is_own ? 2.0f : 1.2f, is_own ? 0.f : 5.f,
                        is_own ? 0.f : 4.f);
            const std::string label = fmt::format("{} {}", peak.name, flops_text(peak.flop_per_second));
            const float baseline = last_label < 1e8f && a.y - 7 - last_label < 15 ? a.y + 17 : a.y - 7;  // fastest first
            if (baseline > r.y - 14)
                ui.text(r.right(), baseline, label,
                        {.size = 12,
                         .color = is_own ? theme.ink : theme.ink2,
                         .align = Align::right,
                         .weight = is_own ? 600 : 400});
            last_label = baseline;
        }
        float last_tick = 1e9f;
        for (const model::Roof& roof : roofline.roofs) {
            const bool chosen = roof.level == level;
            const Color color = chosen ? theme.accent : theme.quiet;
            const double low = std::pow(10, plot.axes.x_low), at = model::ridge(roof, *own);
            const Point line[] = {{plot.x(low), plot.y(roof.bytes_per_second * low)},
                                  {plot.x(at), plot.y(own->flop_per_second)}};
            ui.polyline(line, color, chosen ? 2.6f : 1.4f);
            const model::Peak& most = roofline.peaks.front();
            if (chosen && most.flop_per_second > own->flop_per_second) {
                const double beyond = model::ridge(roof, most);
                const Point more[] = {line[1], {plot.x(beyond), plot.y(most.flop_per_second)}};
                ui.polyline(more, color, 1.4f, 5, 4);
            }
            ui.line({line[1].x, line[1].y - 5}, {line[1].x, line[1].y + 5}, theme.ink, 1.5f);
            const std::string tick =
                roof.level == RoofLevel::l1 ? fmt::format("ridge {:.3g}", at) : fmt::format("{:.3g}", at);
            const float width = ui.text_width(tick, {.size = 12});
            if (last_tick - line[1].x > width / 2 + 22)
                ui.text(line[1].x, line[1].y - 9, tick,
                        {.size = 12,
                         .color = chosen ? theme.ink : theme.ink2,
                         .align = Align::center,
                         .weight = chosen ? 600 : 400});
            last_tick = line[1].x;
        }
        // Names at one x, right of which every roof is above its name; a third of the way to the first ridge.
        const float left = plot.x(model::ridge(fastest, *own)), x = r.x + (left - r.x) * 0.42f;
        float lowest = 1e9f;
        for (const model::Roof& roof : roofline.roofs) {
            const std::string label = fmt::format("{} {}", roof.name, bandwidth_text(roof.bytes_per_second));
            const bool chosen = roof.level == level;
            const TextStyle style{.size = 12, .color = chosen ? theme.accent : theme.ink2, .weight = chosen ? 600 : 400};
            const float baseline = std::min(plot.y(roof.bytes_per_second * plot.intensity(x)) + 15, lowest - 15);
            const float width = ui.text_width(label, style);
            if (baseline < r.y + 8 || baseline > r.bottom() - 2) continue;
            ui.rect({x + 6, baseline - 11, width + 4, 14}, theme.panel);
            ui.text(x + 8, baseline, label, style);
            lowest = baseline;
        }
        ui.unclip();
    }

    static float radius(const RoofPoint& point, double longest) {
        return 4.5f + 8.5f * static_cast<float>(std::sqrt(longest > 0 ? point.seconds / longest : 0));
    }

    static void draw_trail(Ui& ui, const Plot& plot, const model::Roofline& roofline, const RoofTrail& trail,
                           RoofLevel level, bool hidden) {
        const Theme& theme = *ui.theme;
        const RoofRun& now = *trail.current();
        std::vector<Point> line;
        double longest = 0;
        const auto shown = [&](const RoofRun& run) {
            return run.gpu == now.gpu && run.point.plotted(level) && !(&run == &now && hidden);
        };
        for (const RoofRun& run : trail.runs())
            if (shown(run)) {
                line.push_back({plot.x(run.point.intensity(level)), plot.y(run.point.flop_per_second())});
                longest = std::max(longest, run.point.seconds);
            }
        if (line.size() > 1) ui.polyline(line, theme.quiet, 1);
        const auto dot = [&](const RoofRun& run) {
            const Point at{plot.x(run.point.intensity(level)), plot.y(run.point.flop_per_second())};
            const float size = std::max(radius(run.point, longest), 8.0f);
            const bool current = &run == &now;
            ui.circle(at, size, current ? theme.accent : theme.panel);
            if (!current) ui.ring(at, size, theme.ink, 1.4f);
            ui.text(at.x, at.y + 4, std::to_string(run.number),
                    {.size = 12, .color = current ? theme.on_accent : theme.ink, .align = Align::center, .weight = 600});
            if (ui.hovered({at.x - size, at.y - size, 2 * size, 2 * size}))
                ui.tooltip(fmt::format("run {}: {}\n{:.3g} FLOP/B, {}\n{:.4g} us", run.number, run.label,
                                       run.point.intensity(level), flops_text(run.point.flop_per_second()),
                                       1e6 * run.point.seconds));
        };
        for (const RoofRun& run : trail.runs())
            if (shown(run) && &run != &now) dot(run);
        if (!shown(now)) return;
        const model::Peak* const peak = roofline.peak(now.point.peak);
        if (peak != nullptr) {
            const double intensity = now.point.intensity(level);
            const double roof = model::attainable(roofline.roof(level), *peak, intensity);
            const float x = plot.x(intensity), top = plot.y(roof), bottom = plot.y(now.point.flop_per_second());
            if (bottom - top > 3) {
                const Point drop[] = {{x, top}, {x, plot.box.bottom()}};
                ui.polyline(drop, theme.wrong, 1.4f, 2, 3);
                ui.line({x - 4, top}, {x + 4, top}, theme.wrong, 1.5f);
                const std::string words = fmt::format("x{:.3g} headroom", model::headroom(roofline, now.point, level));
                const float width = ui.text_width(words, {.size = 13, .weight = 600});
                const bool right = x + 12 + width < plot.box.right();
                const float y = std::clamp((top + bottom) / 2 + 4, plot.box.y + 10, plot.box.bottom() - 4);
                ui.rect({right ? x + 10 : x - 14 - width, y - 12, width + 4, 16}, theme.panel);
                ui.text(right ? x + 12 : x - 12, y, words,
                        {.size = 13, .color = theme.wrong, .align = right ? Align::left : Align::right, .weight = 600});
            }
        }
        dot(now);
    }

    static void diamond(Ui& ui, const Plot& plot, const RoofGuess& guess, Color color) {
        const float x = plot.x(guess.intensity), y = plot.y(guess.flop_per_second);
        const Point around[] = {{x, y - 9}, {x + 9, y}, {x, y + 9}, {x - 9, y}, {x, y - 9}};
        ui.polygon({around[0], around[1], around[2], around[3]}, ui.theme->panel);
        ui.polyline(around, color, 2);
    }

    static void place_guess(Ui& ui, const Plot& plot, RoofRun& run, const Rect& area) {
        RoofGuess& guess = run.guess;
        const Rect grip{plot.x(guess.intensity) - 12, plot.y(guess.flop_per_second) - 12, 24, 24};
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
        if (const Drag drag = ui.drag("drag", plot.box); drag.active)
            guess = {plot.intensity(drag.at.x), plot.flops(drag.at.y)};
        guess.intensity = std::clamp(guess.intensity, std::pow(10, plot.axes.x_low), std::pow(10, plot.axes.x_high));
        guess.flop_per_second =
            std::clamp(guess.flop_per_second, std::pow(10, plot.axes.y_low), std::pow(10, plot.axes.y_high));
        if (ui.area("guess", grip) || ui.pressed(Key::enter, area)) lock(run);
        diamond(ui, plot, guess, ui.theme->accent);
        ui.text(std::min(plot.x(guess.intensity) + 14, plot.box.right() - 150), plot.y(guess.flop_per_second) - 8,
                fmt::format("{:.2g} FLOP/B, {}", guess.intensity, flops_text(guess.flop_per_second)),
                {.size = 12, .weight = 600});
    }

    static void draw_table(Ui& ui, const Plot& plot, const model::Roofline& roofline, const RoofTrail& trail,
                           RoofLevel level, bool hidden) {
        const Theme& theme = *ui.theme;
        const RoofRun& now = *trail.current();
        std::vector<const RoofRun*> rows;
        for (const RoofRun& run : trail.runs())
            if (run.gpu == now.gpu) rows.push_back(&run);
        const auto most = static_cast<size_t>(std::clamp((plot.box.h * 0.5f - 30) / table_pitch, 2.0f, 6.0f));
        while (rows.size() > most) rows.erase(rows.front() == &now ? rows.begin() + 1 : rows.begin());
        const float w = std::min(356.0f, plot.box.w * 0.62f), h = table_pitch * static_cast<float>(rows.size() + 1) + 12;
        const Rect box{plot.box.right() - w, plot.box.bottom() - h - 6, w, h};
        ui.rect(box, theme.panel2, 4);
        ui.frame(box, theme.line, 1, 4);
        const TextStyle head{.size = 12, .color = theme.ink2, .align = Align::right};
        float y = box.y + 17;
        const float at[] = {box.right() - 12 - 2 * table_column - 10, box.right() - 12 - table_column, box.right() - 12};
        ui.text(box.x + table_number + 6, y, "run", {.size = 12, .color = theme.ink2});
        ui.text(at[0], y, "FLOP/B", head);
        ui.text(at[1], y, "GFLOP/s", head);
        ui.text(at[2], y, "of its roof", head);
        for (const RoofRun* run : rows) {
            y += table_pitch;
            const bool current = run == &now;
            const int weight = current ? 600 : 400;
            ui.text(box.x + 12, y, std::to_string(run->number),
                    {.size = 12, .color = current ? theme.accent : theme.ink, .weight = 600});
            ui.text(box.x + table_number + 6, y, run->label,
                    {.size = 13, .weight = weight, .width = at[0] - 58 - box.x - table_number - 6});
            const bool shows = run->point.plotted(level) && !(current && hidden);
            const auto number = [&](float x, const std::string& text) {
                ui.text(x, y, shows ? text : "?",
                        {.size = 12, .align = Align::right, .weight = current ? 700 : 400, .mono = true});
            };
            number(at[0], fmt::format("{:.3g}", run->point.intensity(level)));
            number(at[1], fmt::format("{:.4g}", run->point.flop_per_second() / 1e9));
            const double room = model::headroom(roofline, run->point, level);
            number(at[2], fmt::format("{:.0f} %", room > 0 ? 100 / room : 0));
        }
    }
};

}  // namespace

std::unique_ptr<View> make_roofline_view() {
    return std::make_unique<RooflineView>();
}

}  // namespace lockstep::gui
