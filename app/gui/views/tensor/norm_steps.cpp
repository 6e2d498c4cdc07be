// What batch norm does to the values of one channel, on three lines with one scale: as they are, with the mean taken off,
// and divided by the deviation. A value keeps its column of lines, so that its way is seen; a click, A and D pick one.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/cluster/cluster_controls.h"
#include "app/gui/views/tensor/norm_groups.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view norm_steps_title = "Batch norm: mean off, then divided by the deviation";
constexpr std::string_view norm_steps_hidden = "What the values become stays hidden until you lock an answer.";

// The values on each of the three lines, by example.
struct NormSteps {
    NormGroups norm;
    std::vector<double> off;  // with their own group's mean taken off
    double deviation = 1;     // of the first group
};
NormSteps norm_steps(NormGroups norm) {
    NormSteps steps{.norm = std::move(norm), .off = {}};
    const std::vector<NormStatistics> groups = norm_statistics(steps.norm.x, steps.norm.groups);
    const size_t each = steps.norm.x.size() / groups.size();
    for (size_t i = 0; i < steps.norm.x.size(); ++i)
        steps.off.push_back(steps.norm.x[i] - groups[std::min(i / each, groups.size() - 1)].mean);
    steps.deviation = std::sqrt(groups.front().square + steps.norm.epsilon);
    return steps;
}

class NormStepsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        auto norm = snapshot->tape ? norm_groups(*snapshot->tape) : std::nullopt;
        if (!norm) {
            const Rect body = ui.panel(area, {.title = norm_steps_title});
            return ui.say_nothing_yet(body, "No program with a batch_norm of a few examples has run yet.", snapshot->busy);
        }
        const NormSteps steps = norm_steps(std::move(*norm));
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(norm_steps_hidden) : norm_caption(steps.norm);
        const Rect body = ui.panel(area, {.title = norm_steps_title,
                                          .right = fmt::format("{} examples of one channel", steps.norm.examples()),
                                          .badge = hidden ? Provenance::none : Provenance::executed,
                                          .caption = caption});
        if (hidden) return draw_hidden_place(ui, body);
        ui.push_scope("norm steps");
        const int by = (ui.pressed(Key::d, area) ? 1 : 0) - (ui.pressed(Key::a, area) ? 1 : 0);
        picked_ = std::clamp((picked_ < 0 ? widest(steps) : picked_) + by, 0, steps.norm.examples() - 1);
        float y = body.y;
        if (body.h > 220) {
            ui.text(body.x, y + 20, headline_of(steps, picked_), {.size = 20, .weight = 700, .width = body.w});
            y += 38;
        }
        draw_lines(ui, steps, {body.x, y, body.w, body.bottom() - y});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        auto norm = snapshot->tape ? norm_groups(*snapshot->tape) : std::nullopt;
        if (!norm) return std::string(norm_steps_title) + ": no program with a batch_norm has run yet.\n";
        const NormSteps steps = norm_steps(std::move(*norm));
        std::string text = fmt::format("{} (executed)\n", norm_steps_title);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(norm_steps_hidden) + "\n";
        for (int i = 0; i < steps.norm.examples(); ++i) text += "  " + headline_of(steps, i) + "\n";
        return text + "  " + norm_caption(steps.norm) + "\n";
    }

  private:
    int picked_ = -1;  // an example; -1: the one that ends furthest out

    static int widest(const NormSteps& steps) {
        size_t most = 0;
        for (size_t i = 1; i < steps.norm.y.size(); ++i)
            if (std::abs(steps.norm.y[i]) > std::abs(steps.norm.y[most])) most = i;
        return static_cast<int>(most);
    }
    static std::string headline_of(const NormSteps& steps, int example) {
        const auto i = static_cast<size_t>(example);
        return fmt::format("{} is {} from the mean, which is {} deviations", plain_number(steps.norm.x[i]),
                           plain_number(steps.off[i]), plain_number(steps.norm.y[i]));
    }

    void draw_lines(Ui& ui, const NormSteps& steps, const Rect& r) {
        const Theme& theme = *ui.theme;
        const NormStatistics all = norm_statistics(steps.norm.x, 1).front();
        const std::array<std::vector<double>, 3> lines = {steps.norm.x, steps.off, steps.norm.y};
        const std::array<double, 3> middles = {all.mean, 0, 0};
        double reach = 1e-9;
        for (size_t line = 0; line < lines.size(); ++line)
            for (const double value : lines[line]) reach = std::max(reach, std::abs(value - middles[line]));
        const float words = r.w > 620 ? 200.0f : 0.0f, radius = r.h > 260 ? 13.0f : 10.0f;
        const Rect plot{r.x + words, r.y + 20, r.w - words - 20, r.h - 44};
        if (plot.w < 140 || plot.h < 110) return;
        const float centre = plot.x + plot.w / 2, unit = (plot.w / 2 - radius - 16) / static_cast<float>(reach);
        const auto x_of = [&](size_t line, double value) {
            return centre + unit * static_cast<float>(value - middles[line]);
        };
        const auto y_of = [&](size_t line) {
            return plot.y + radius + (plot.h - 2 * radius) * static_cast<float>(line) / 2;
        };
        const Point mean[] = {{centre, y_of(0) - radius - 4}, {centre, y_of(2) + radius + 4}};
        ui.polyline(mean, theme.ink2, 1.5f, 5, 4);
        ui.text(centre, y_of(0) - radius - 9, "mean " + plain_number(all.mean),
                {.size = 13, .align = Align::center, .weight = 600});
        const std::string names[] = {"the values", "mean taken off",
                                     fmt::format("divided by {}", plain_number(steps.deviation))};
        const std::string notes[] = {"", fmt::format("minus {}", plain_number(all.mean)), "their deviation"};
        for (size_t line = 0; line < lines.size(); ++line) {
            ui.line({plot.x, y_of(line)}, {plot.right(), y_of(line)}, theme.ink3);
            if (words > 0) {
                ui.text(r.x, y_of(line) + (notes[line].empty() ? 5.0f : -1.0f), names[line], {.size = 15, .weight = 700});
                ui.text(r.x, y_of(line) + 17, notes[line], {.size = 13, .color = theme.ink2});
            }
        }
        for (size_t i = 0; i < steps.norm.x.size(); ++i) {
            const bool on = static_cast<int>(i) == picked_;
            std::array<Point, 3> way;
            for (size_t line = 0; line < lines.size(); ++line) way[line] = {x_of(line, lines[line][i]), y_of(line)};
            ui.polyline(way, on ? data::orange : faded(data::sky, 0.6f), on ? 3.0f : 2.0f);
        }
        for (size_t i = 0; i < steps.norm.x.size(); ++i)
            for (size_t line = 0; line < lines.size(); ++line) {
                const bool on = static_cast<int>(i) == picked_;
                const Color fill = on ? data::orange : data::sky;
                const std::string number = plain_number(lines[line][i]);
                const float half = std::max(radius, ui.text_width(number, {.size = 13, .weight = 700}) / 2 + 6);
                const Rect box{x_of(line, lines[line][i]) - half, y_of(line) - radius, 2 * half, 2 * radius};
                ui.rect(box, fill, radius);
                if (on) ui.frame(box, theme.ink, 2, radius);
                ui.text(box.x + half, y_of(line) + 4.5f, number,
                        {.size = 13, .color = text_on(fill), .align = Align::center, .weight = 700});
                if (ui.clicked(box)) picked_ = static_cast<int>(i);
                if (ui.hovered(box)) ui.tooltip(headline_of(steps, static_cast<int>(i)));
            }
    }
};

}  // namespace

std::unique_ptr<View> make_norm_steps_view() {
    return std::make_unique<NormStepsView>();
}

}  // namespace lockstep::gui
