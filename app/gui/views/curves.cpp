// D13, learning curves: training loss by step (log or linear) over test accuracy, several runs overlaid. The picture is
// two plots of the same width; a click or drag in either moves the focus to that step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/training_data.h"
#include "app/gui/views/training_views.h"

namespace lockstep::gui {
namespace {

// The next of 20, 50, 100, 200, 500, ... so that the axis stands still while a run grows.
int64_t rounded_up(int64_t steps) {
    for (int64_t decade = 10;; decade *= 10)
        for (int64_t factor : {2, 5, 10})
            if (factor * decade >= steps) return factor * decade;
}

struct Axis {
    float from = 0, length = 1;  // layout units; `from` is the low end
    double low = 0, high = 1;
    bool log = false;
    float at(double value) const {
        const double t = log ? (std::log10(std::max(value, low)) - std::log10(low)) / (std::log10(high) - std::log10(low))
                             : (value - low) / (high - low);
        return from + length * static_cast<float>(std::clamp(t, 0.0, 1.0));
    }
};

class CurvesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const auto& curves = snapshot->curves;
        const std::string sentence = caption(*snapshot, focus);
        const Rect body = ui.panel(area, {.title = "Learning curves",
                                          .right = fmt::format("{} run{}", curves.size(), curves.size() == 1 ? "" : "s"),
                                          .badge = Provenance::executed,
                                          .caption = sentence});
        if (curves.empty() || curves.front().loss.empty())
            return ui.say_nothing_yet(body, "No training step has finished yet.",
                                      "The first point appears when the first step has run.");
        ui.push_scope("curves");
        float x = body.x;
        const bool room = body.h > 170;
        if (room) {
            log_ = ui.segmented(x, body.y, {"log", "linear"}, log_ ? 0 : 1) == 0;
            float legend_x = body.right();
            for (size_t i = curves.size(); i-- > 0;) {
                const float width = ui.text_width(curves[i].name, {.size = 13}) + 48;
                if (legend_x - width < x + 8) break;
                legend_x -= width;
                ui.legend_line(legend_x, body.y + 18, color(i, *ui.theme), i > 0, curves[i].name);
            }
        }
        const float top = body.y + (room ? 36 : 0), bottom = body.bottom() - 20, between = 30;
        const float heights = bottom - top - between - 18;
        const float loss_height = heights * 0.56f;
        plot(ui, session, focus, *snapshot, {body.x, top + 18, body.w, loss_height}, true);
        plot(ui, session, focus, *snapshot, {body.x, top + 18 + loss_height + between, body.w, heights - loss_height},
             false);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        std::string text = "Learning curves (executed)\n";
        for (const Curve& curve : snapshot->curves) {
            if (curve.loss.empty()) continue;
            text += fmt::format("  {}: {} steps, training loss {:.4f} at step 0, {:.4f} at step {}", curve.name,
                                curve.loss.size(), curve.loss.front(), curve.loss.back(), curve.loss.size() - 1);
            if (!curve.accuracy.empty())
                text += fmt::format(", test accuracy {:.1f} % at step {}", 100 * curve.accuracy.back().accuracy,
                                    curve.accuracy.back().step);
            text += "\n";
        }
        return text + "  " + caption(*snapshot, focus) + "\n";
    }

  private:
    bool log_ = true;

    static Color color(size_t run, const Theme& theme) {
        constexpr Color others[] = {data::orange, data::purple, data::green};
        return run == 0 ? theme.ink : others[(run - 1) % 3];
    }
    static int64_t step_shown(const Curve& curve, const Focus& focus) {
        const auto last = static_cast<int64_t>(curve.loss.size()) - 1;
        return focus.step >= 0 ? std::min<int64_t>(focus.step, last) : last;
    }
    static const nn::Evaluation* accuracy_at(const Curve& curve, int64_t step) {
        const nn::Evaluation* found = nullptr;
        for (const nn::Evaluation& e : curve.accuracy)
            if (e.step <= step) found = &e;
        return found;
    }

    static std::string caption(const Snapshot& snapshot, const Focus& focus) {
        if (snapshot.curves.empty() || snapshot.curves.front().loss.empty())
            return "Loss and accuracy appear as the steps run.";
        const Curve& curve = snapshot.curves.front();
        const int64_t step = step_shown(curve, focus);
        std::string text = fmt::format("At step {} the batch's loss is {:.3f}, it began at {:.3f}", step,
                                       curve.loss[static_cast<size_t>(step)], curve.loss.front());
        if (const nn::Evaluation* e = accuracy_at(curve, step))
            text += fmt::format("; {:.1f} % of the test set is read right", 100 * e->accuracy);
        return text + ".";
    }

    void plot(Ui& ui, Session& session, Focus& focus, const Snapshot& snapshot, const Rect& r, bool loss) {
        const Theme& theme = *ui.theme;
        int64_t steps = 1;
        double low = INFINITY, high = -INFINITY;
        for (const Curve& curve : snapshot.curves) {
            steps = std::max<int64_t>(steps, static_cast<int64_t>(curve.loss.size()));
            for (double v : curve.loss)
                if (std::isfinite(v)) {
                    low = std::min(low, v);
                    high = std::max(high, v);
                }
        }
        const bool log = loss && log_ && low > 0;
        Axis x{r.x + 44, r.w - 52, 0, static_cast<double>(rounded_up(steps)), false};
        Axis y{r.bottom(), -r.h, 0, 1, log};
        std::vector<std::pair<double, std::string>> ticks;
        if (!loss) {
            ticks = {{0, "0 %"}, {0.5, "50 %"}, {1, "100 %"}};
        } else if (log) {
            y.low = std::pow(10.0, std::floor(std::log10(low) * 2) / 2);
            y.high = std::max(std::pow(10.0, std::ceil(std::log10(high) * 4) / 4), y.low * 2);
            for (double decade = 1e-8; decade < 1e6; decade *= 10)
                for (double f : {1.0, 3.0})
                    if (f * decade >= y.low * 0.999 && f * decade <= y.high)
                        ticks.emplace_back(f * decade, fmt::format("{:g}", f * decade));
            if (ticks.size() > 5) std::erase_if(ticks, [](const auto& t) { return t.second.back() == '3'; });
        } else {
            y.low = 0;
            double unit = std::pow(10.0, std::floor(std::log10(std::max(high, 1e-9))));
            if (high / unit < 2) unit /= 2;
            y.high = std::ceil(high / unit) * unit;
            const int every = y.high / unit > 6 ? 2 : 1;
            for (int i = 0; i * unit <= y.high * 1.001; i += every)
                ticks.emplace_back(i * unit, fmt::format("{:g}", i * unit));
        }
        ui.text(r.x, r.y - 8, loss ? "training loss" : "test accuracy", {.size = 12, .color = theme.ink2});
        for (const auto& [value, label] : ticks) {
            const float at = y.at(value);
            ui.line({x.from, at}, {x.from + x.length, at}, theme.grid);
            ui.text(x.from - 8, at + 4, label, {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        const Curve& first = snapshot.curves.front();
        const int64_t shown = step_shown(first, focus);
        const float cursor = x.at(static_cast<double>(shown));
        if (!loss)
            for (int i = 0; i <= 5; ++i) {
                const double step = x.high * i / 5;
                if (std::abs(x.at(step) - cursor) > 46)
                    ui.text(x.at(step), r.bottom() + 17, with_commas(static_cast<int64_t>(step)),
                            {.size = 12, .color = theme.ink2, .align = Align::center});
            }
        for (size_t i = snapshot.curves.size(); i-- > 0;) {
            const Curve& curve = snapshot.curves[i];
            std::vector<Point> points;
            if (loss) {
                const size_t stride = std::max<size_t>(1, curve.loss.size() / 300);  // a point a pixel at most
                for (size_t s = 0; s < curve.loss.size(); s += stride)
                    if (std::isfinite(curve.loss[s])) points.push_back({x.at(static_cast<double>(s)), y.at(curve.loss[s])});
            } else {
                for (const nn::Evaluation& e : curve.accuracy)
                    points.push_back({x.at(static_cast<double>(e.step)), y.at(e.accuracy)});
            }
            if (points.size() > 1)
                ui.polyline(points, color(i, theme), i == 0 ? 2.5f : 1.6f, i == 0 ? 0.f : 6.f, i == 0 ? 0.f : 3.f);
            if (points.size() == 1) ui.circle(points[0], 2.5f, color(i, theme));
        }
        ui.cursor_line(cursor, r.y - 4, r.bottom());
        const nn::Evaluation* e = accuracy_at(first, shown);
        const double value = loss ? first.loss[static_cast<size_t>(shown)] : e ? e->accuracy : NAN;
        if (std::isfinite(value)) {
            ui.circle({cursor, y.at(value)}, 6, theme.panel);
            ui.circle({cursor, y.at(value)}, 4.5f, theme.ink);
            const std::string number = loss ? fmt::format("{:.3f}", value) : fmt::format("{:.1f} %", 100 * value);
            const float left = ui.text(r.right(), r.y - 8, number, {.size = 12, .align = Align::right, .weight = 600});
            ui.text(left - 10, r.y - 8, fmt::format("at step {}", loss ? shown : e->step),
                    {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        if (!loss)
            ui.text(cursor, r.bottom() + 17, fmt::format("step {}", shown),
                    {.size = 12, .align = Align::center, .weight = 600});

        const Rect hit{x.from, r.y, x.length, r.h};
        if (const Drag drag = ui.drag(loss ? "loss" : "accuracy", hit); drag.active || drag.started) {
            const auto step = static_cast<int32_t>(std::lround((drag.at.x - x.from) / x.length * x.high));
            const int32_t target = std::clamp<int32_t>(step, 0, static_cast<int32_t>(first.loss.size()) - 1);
            if (target != focus.step) {
                focus.step = target;
                session.post({Request::Kind::show_step, target, {}});
            }
        }
    }
};

}  // namespace

std::unique_ptr<View> make_curves_view() {
    return std::make_unique<CurvesView>();
}

}  // namespace lockstep::gui
