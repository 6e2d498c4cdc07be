// A program in several modes on one axis: the host's calls above the GPU's kernels, a pair of lanes a mode, and below
// launches, calls, kernels and bytes as bars, a bar a mode. A click on a kernel, A and D pick it; Up and Down go
// from mode to mode.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/training/mode_times.h"
#include "app/gui/views/training/steps/step_ranks.h"
#include "app/gui/widgets/axis.h"

namespace lockstep::gui {
namespace {

using Modes = std::vector<ModeTimes>;

constexpr std::string_view no_modes_title = "Calls and kernels";
constexpr std::string_view modes_hidden = "Calls, kernels and times stay hidden until you lock an answer.";
constexpr Color mode_fills[] = {data::sky, data::orange, data::green, data::purple};

class ModesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Modes modes = modes_shown(*snapshot);
        if (modes.empty()) {
            const Rect body = ui.panel(area, {.title = no_modes_title});
            return ui.say_nothing_yet(body, "No program has run on a modelled GPU yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(modes_hidden) : modes_caption(modes), title = modes_title(modes);
        const Rect body = ui.panel(area, {.title = title,
                                          .right = fmt::format("the host's calls above the GPU's kernels"),
                                          .badge = hidden ? Provenance::none : Provenance::simulated,
                                          .caption = caption});
        if (hidden) return draw_hidden_place(ui, body);
        ui.push_scope("modes");
        mode_ = std::min(mode_, modes.size() - 1);
        pick_by_keys(ui, modes, area);
        const bool low = body.h < 300;  // the lanes alone, below one line
        float y = body.y;
        const std::string second =
            kernel_ >= 0 ? kernel_words(modes[mode_], static_cast<size_t>(kernel_)) : modes_difference(modes);
        if (low && kernel_ >= 0) {
            ui.text(body.x, y + 16, second, {.size = 14, .width = body.w});
        } else {
            ui.text(body.x, y + (low ? 17.0f : 22.0f), modes_headline(modes),
                    {.size = low ? 18.0f : 24.0f, .weight = 700, .width = body.w});
            if (!low)
                ui.text(body.x, y + 44, second,
                        {.size = 14, .color = kernel_ >= 0 ? ui.theme->ink : ui.theme->ink2, .width = body.w});
        }
        y += low ? 28 : 56;
        constexpr float legend = 24;
        const float bars = low ? 0 : 30 + 20 * static_cast<float>(modes.size()) + 8;
        draw_lanes(ui, modes, {body.x, y, body.w, body.bottom() - legend - bars - y});
        if (!low) draw_bars(ui, modes, {body.x, body.bottom() - legend - bars, body.w, bars});
        draw_legend(ui, body.x, body.bottom() - 6, body.right());
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const Modes modes = modes_shown(*snapshot);
        if (modes.empty()) return std::string(no_modes_title) + ": no program has run yet.\n";
        std::string text = fmt::format("{} (simulated)\n", modes_title(modes));
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(modes_hidden) + "\n";
        for (const ModeTimes& mode : modes) {
            text +=
                "  " + mode_words(mode) + (mode.bytes >= 0 ? fmt::format(", {} moved", bytes_si(mode.bytes)) : "") + "\n";
            for (size_t i = 0; i < mode.kernels.size() && i < 40; ++i) text += "    " + kernel_words(mode, i) + "\n";
        }
        return text + "  " + modes_headline(modes) + ". " + modes_difference(modes) + " " + modes_caption(modes) + "\n";
    }

  private:
    size_t mode_ = 0;
    int kernel_ = -1;

    static float name_width(Ui& ui, const Modes& modes) {
        float width = 74;
        for (const ModeTimes& mode : modes)
            width = std::max(width, ui.text_width(mode.mode, {.size = 14, .weight = 700}) + 12);
        return width;
    }

    static std::string kernel_words(const ModeTimes& mode, size_t kernel) {
        const ModeSpan& span = mode.kernels[kernel];
        return fmt::format("{}, kernel {} of {}: {}{}, from {} to {}", mode.mode, kernel + 1, mode.kernels.size(), span.name,
                           span.phase.empty() ? "" : " (" + span.phase + ")", time_text(span.begin), time_text(span.end));
    }

    void pick_by_keys(Ui& ui, const Modes& modes, const Rect& area) {
        const int down = (ui.pressed(Key::down, area) ? 1 : 0) - (ui.pressed(Key::up, area) ? 1 : 0);
        const int right = (ui.pressed(Key::d, area) ? 1 : 0) - (ui.pressed(Key::a, area) ? 1 : 0);
        if (down != 0)
            mode_ = static_cast<size_t>(std::clamp(static_cast<int>(mode_) + down, 0, static_cast<int>(modes.size()) - 1));
        if (right != 0 || down != 0) kernel_ = std::clamp(kernel_ + right, down != 0 ? 0 : -1, modes[mode_].launches() - 1);
    }

    void draw_lanes(Ui& ui, const Modes& modes, const Rect& r) {
        const Theme& theme = *ui.theme;
        double end = 1e-9;
        for (const ModeTimes& mode : modes) end = std::max(end, mode.step_us);
        const float axis = 22, side = r.w > 760 ? 190.0f : 92.0f;
        const float name = name_width(ui, modes);
        const Rect plot{r.x + name, r.y, r.w - name - side, r.h - axis};
        const float pitch = std::min(120.0f, plot.h / static_cast<float>(modes.size()));
        const float calls = std::min(22.0f, pitch * 0.28f), kernels = std::min(34.0f, pitch * 0.4f);
        const auto x_of = [&](double us) { return plot.x + plot.w * static_cast<float>(us / end); };
        double unit = step_of_time(end);
        while (x_of(unit) - plot.x < 58) unit *= 2;
        const float bottom = plot.y + pitch * static_cast<float>(modes.size());
        const bool programs = of_programs(modes);  // several programs differ in their work, not in who waits
        for (int i = 0; i * unit <= end; ++i) {
            const float x = x_of(i * unit);
            ui.line({x, plot.y}, {x, bottom}, theme.grid);
            ui.text(x, bottom + 16, i == 0 ? "0" : fmt::format("{:g} µs", i * unit),
                    {.size = 12, .color = theme.quiet, .align = i == 0 ? Align::left : Align::center});
        }
        for (size_t m = 0; m < modes.size(); ++m) {
            const ModeTimes& mode = modes[m];
            const float y = plot.y + pitch * static_cast<float>(m) + 6, below = y + calls + 3;
            ui.text(r.x, y + 15, mode.mode, {.size = 14, .weight = 700});
            if (pitch > 60)
                ui.text(r.x, below + kernels / 2 + 5, mode.replayed ? "replayed" : "kernels",
                        {.size = 12, .color = theme.quiet});
            ui.rect({plot.x, y, x_of(mode.step_us) - plot.x, calls}, theme.panel2);
            ui.rect({plot.x, below, x_of(mode.step_us) - plot.x, kernels}, theme.panel2);
            for (const ModeSpan& call : mode.calls) {
                const Rect box{x_of(call.begin), y, std::max(1.5f, x_of(call.end) - x_of(call.begin) - 1), calls};
                ui.rect(box, data::grey);
                if (box.w > 4) ui.hatch(box, faded(data::black, 0.35f), Hatch::vertical);
                if (ui.hovered(box))
                    ui.tooltip(
                        fmt::format("{}: a call, {} (for {})", mode.mode, time_text(call.end - call.begin), call.name));
            }
            for (size_t i = 0; i < mode.kernels.size(); ++i) {
                const ModeSpan& kernel = mode.kernels[i];
                const Rect box{x_of(kernel.begin), below, std::max(1.5f, x_of(kernel.end) - x_of(kernel.begin) - 1),
                               kernels};
                const Color fill = step_phase_color(kernel.phase);
                ui.rect(box, fill);
                if (kernels >= 14 && ui.text_width(kernel.name, {.size = 12, .weight = 600}) + 8 < box.w)
                    ui.text(box.x + box.w / 2, box.y + box.h / 2 + 4.5f, kernel.name,
                            {.size = 12, .color = text_on(fill), .align = Align::center, .weight = 600});
                if (ui.clicked(box)) mode_ = m, kernel_ = static_cast<int>(i);
                if (ui.hovered(box)) ui.tooltip(kernel_words(mode, i));
                if (mode_ == m && kernel_ == static_cast<int>(i)) ui.outline(box);
            }
            const float x = x_of(mode.step_us) + 8;
            const float told = ui.text(x, y + 15, time_text(mode.step_us), {.size = 16, .weight = 700});
            const std::string idle =
                programs ? fmt::format("forward {} cycles", with_commas(std::llround(mode.forward_cycles)))
                         : fmt::format("GPU idle {:.0f} %", mode.step_us > 0 ? 100 * mode.idle_us() / mode.step_us : 0.0);
            const bool apart = below + kernels / 2 - y > 27;  // from the time above it
            if (apart && x + ui.text_width(idle, {.size = 13}) < r.right())
                ui.text(x, below + kernels / 2 + 5, idle, {.size = 13, .color = theme.ink2});
            const std::string count = fmt::format("{} launches", mode.launches());
            if (told + 8 + ui.text_width(count, {.size = 13}) < r.right())
                ui.text(told + 8, y + 15, count, {.size = 13, .color = theme.ink2});
        }
    }

    static void draw_bars(Ui& ui, const Modes& modes, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y}, {r.right(), r.y}, theme.line);
        struct Column {
            std::string_view title;
            double (*value)(const ModeTimes&);
            std::string (*text)(double);
        };
        const auto time = [](double us) { return time_text(us); };
        const Column columns[] = {
            {"launches", [](const ModeTimes& m) { return double(m.launches()); },
             [](double v) { return fmt::format("{:g}", v); }},
            {"the host's calls", [](const ModeTimes& m) { return m.calls_us; }, time},
            {"kernels", [](const ModeTimes& m) { return m.kernels_us; }, time},
            {"bytes moved", [](const ModeTimes& m) { return m.bytes; },
             [](double v) { return v < 0 ? std::string("-") : bytes_si(v); }},
            {"forward, cycles", [](const ModeTimes& m) { return m.forward_cycles; },
             [](double v) { return with_commas(std::llround(v)); }},
        };
        const bool moved = std::any_of(modes.begin(), modes.end(), [](const ModeTimes& mode) { return mode.bytes >= 0; });
        std::vector<Column> shown(std::begin(columns), std::begin(columns) + 3);
        if (moved) shown.push_back(columns[3]);               // bytes are not counted in every mode
        if (of_programs(modes)) shown.push_back(columns[4]);  // one program has the same kernels in most of its modes
        const float name = name_width(ui, modes), pitch = (r.w - name) / static_cast<float>(shown.size());
        for (size_t m = 0; m < modes.size(); ++m)
            ui.text(r.x, r.y + 30 + 20 * static_cast<float>(m) + 13, modes[m].mode, {.size = 13, .weight = 600});
        for (size_t c = 0; c < shown.size(); ++c) {
            const Column& column = shown[c];
            const float x = r.x + name + pitch * static_cast<float>(c), numbers = 70;
            ui.text(x, r.y + 20, column.title, {.size = 13, .weight = 600, .width = pitch - 12});
            double most = 1e-9;
            for (const ModeTimes& mode : modes) most = std::max(most, column.value(mode));
            for (size_t m = 0; m < modes.size(); ++m) {
                const double value = column.value(modes[m]);
                const float y = r.y + 30 + 20 * static_cast<float>(m);
                const Rect bar{x, y,
                               std::max(1.0f, (pitch - numbers - 16) * static_cast<float>(std::max(0.0, value) / most)), 16};
                ui.rect(bar, mix(theme.panel, mode_fills[m % std::size(mode_fills)], 0.8f));
                ui.text(bar.right() + 6, y + 13, column.text(value), {.size = 13});
                if (ui.hovered({x, y, pitch - 8, 18})) ui.tooltip(mode_words(modes[m]));
            }
        }
    }

    static void draw_legend(Ui& ui, float x, float y, float right) {
        const auto next = [&](Color color, Hatch hatch, std::string_view words) {
            if (x + ui.text_width(words, {.size = 13}) + 40 < right) x = ui.legend(x, y, color, hatch, words);
        };
        next(data::grey, Hatch::vertical, "a call of the host");
        for (const std::string_view phase : {"forward", "backward", "update"})
            next(step_phase_color(phase), Hatch::solid, phase);
    }
};

}  // namespace

std::unique_ptr<View> make_modes_view() {
    return std::make_unique<ModesView>();
}

}  // namespace lockstep::gui
