// A line that learns, from a tensor program with inputs x and y and params w and b: the examples, the line after each of the
// program's corrections, and every example's miss with its square, whose mean is the cost. Beside it the cost by correction.
// The slider, a click on the costs, and Left and Right choose the correction; "play" goes through all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "core/base/units.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view line_fit_title = "The line, its misses and its cost";
constexpr std::string_view line_fit_hidden =
    "The line stands where it began; the cost and what follows wait for your answer.";

struct FittedLine {
    double w = 0, b = 0, cost = 0;  // the cost: the mean of the squared misses
};
struct LineFit {
    std::vector<double> x, y;       // the examples
    std::vector<FittedLine> lines;  // before the first correction, after it, ...
    double miss(const FittedLine& line, size_t i) const { return line.w * x[i] + line.b - y[i]; }
};

LineFit line_fit_of(const Snapshot& snapshot) {
    LineFit fit;
    if (!snapshot.tape || snapshot.tape->history.empty()) return fit;
    const auto& history = snapshot.tape->history;
    const auto values = [&](size_t step, const char* name) {
        const auto found = history[step].find(name);
        return found == history[step].end() ? std::vector<double>() : found->second.value;
    };
    fit.x = values(0, "x"), fit.y = values(0, "y");
    if (fit.x.empty() || fit.x.size() != fit.y.size() || fit.x.size() > 256) return {};
    for (size_t step = 0; step < history.size(); ++step) {
        const auto w = values(step, "w"), b = values(step, "b");
        if (w.size() != 1 || b.size() != 1) break;
        if (!fit.lines.empty() && fit.lines.back().w == w[0] && fit.lines.back().b == b[0]) continue;
        FittedLine line{w[0], b[0], 0};
        for (size_t i = 0; i < fit.x.size(); ++i) line.cost += fit.miss(line, i) * fit.miss(line, i);
        line.cost /= static_cast<double>(fit.x.size());
        fit.lines.push_back(line);
    }
    return fit;
}

std::string short_number(double value) {
    return fmt::format("{:.3g}", std::abs(value) < 5e-7 ? 0.0 : value);
}

class LineFitView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        adopt(*snapshot);
        if (fit_.lines.empty()) {
            const Rect body = ui.panel(area, {.title = line_fit_title});
            return ui.say_nothing_yet(body, "No program with x, y, w and b has run.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const size_t last = fit_.lines.size() - 1;
        if (playing_ >= 0) {
            const double seconds = last > 10 ? 0.15 : 0.8;
            at_ = std::min(last, static_cast<size_t>((ui.now - playing_) / seconds));
            if (at_ == last)
                playing_ = -1;
            else
                ui.animate();
        }
        const int by = (ui.pressed(Key::right, area) ? 1 : 0) - (ui.pressed(Key::left, area) ? 1 : 0);
        if (by < 0 && at_ > 0) --at_;
        if (by > 0) at_ = std::min(last, at_ + 1);
        const size_t at = hidden ? 0 : at_;
        const std::string caption = hidden ? std::string(line_fit_hidden) : caption_of(at);
        const Rect body = ui.panel(area, {.title = line_fit_title,
                                          .right = counted(fit_.x.size(), "example"),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        ui.push_scope("line fit");
        float y = body.y;
        if (!hidden && body.h > 220) {
            ui.text(body.x, y + 20, headline_of(at), {.size = 20, .weight = 700, .width = body.w});
            y += 32;
        }
        if (!hidden && last > 0) {
            float x = body.x;
            if (ui.chip(x, y, "play", playing_ >= 0)) playing_ = playing_ >= 0 ? -1 : ui.now;
            const float width = std::min(240.0f, body.right() - x - 170);
            if (width > 60) {
                const auto share = static_cast<float>(at_) / static_cast<float>(last);
                const float set = ui.slider("correction", {x + 10, y, width, 26}, share, static_cast<int>(last) + 1);
                if (set != share) at_ = static_cast<size_t>(std::lround(set * static_cast<float>(last))), playing_ = -1;
                ui.text(x + 22 + width, y + 18, fmt::format("{} of {} corrections", at_, last),
                        {.size = 13, .color = ui.theme->ink2, .width = body.right() - x - 22 - width});
            }
            y += 36;
        }
        const Rect room{body.x, y, body.w, body.bottom() - 26 - y};
        const bool costs = !hidden && last > 0 && room.w > 520;
        const float left = costs ? std::floor(room.w * 0.62f) : room.w;
        draw_line(ui, at, hidden, {room.x, room.y, left, room.h});
        if (costs) draw_costs(ui, {room.x + left + 30, room.y, room.w - left - 30, room.h});
        const float base = body.bottom() - 5;
        ui.circle({body.x + 7, base - 4}, 5, data::green);
        float x = ui.text(body.x + 18, base, "an example", {.size = 13, .color = ui.theme->ink2}) + 18;
        x = ui.legend_line(x, base, data::sky, false, "the line wx + b") + 8;
        if (!hidden) {
            ui.rect({x, base - 11, 14, 12}, faded(data::orange, 0.55f));
            ui.hatch({x, base - 11, 14, 12}, faded(data::black, 0.4f), Hatch::diagonal);
            ui.text(x + 20, base, "a miss, squared", {.size = 13, .color = ui.theme->ink2, .width = body.right() - x - 20});
        }
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        LineFitView fresh;
        fresh.adopt(*snapshot);
        if (fresh.fit_.lines.empty()) return std::string(line_fit_title) + ": no program with x, y, w and b has run.\n";
        std::string text = fmt::format("{} (executed)\n", line_fit_title);
        for (size_t i = 0; i < fresh.fit_.x.size() && i < 8; ++i)
            text += fmt::format("  example {}: x {}, y {}\n", i + 1, short_number(fresh.fit_.x[i]),
                                short_number(fresh.fit_.y[i]));
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(line_fit_hidden) + "\n";
        for (size_t i = 0; i < fresh.fit_.lines.size() && i < 6; ++i)
            text += fmt::format("  after {} corrections: w {}, b {}, cost {}\n", i, short_number(fresh.fit_.lines[i].w),
                                short_number(fresh.fit_.lines[i].b), short_number(fresh.fit_.lines[i].cost));
        const size_t last = fresh.fit_.lines.size() - 1;
        return text + "  " + fresh.headline_of(last) + "\n  " + fresh.caption_of(last) + "\n";
    }

  private:
    std::shared_ptr<const scene::TapeRun> seen_;
    LineFit fit_;
    size_t at_ = 0;
    double playing_ = -1;

    void adopt(const Snapshot& snapshot) {
        if (snapshot.tape == seen_) return;
        seen_ = snapshot.tape;
        fit_ = line_fit_of(snapshot);
        at_ = fit_.lines.empty() ? 0 : fit_.lines.size() - 1;
        playing_ = -1;
    }

    std::string headline_of(size_t at) const {
        const FittedLine& line = fit_.lines[at];
        if (at == 0)
            return fmt::format("w = {}, b = {}: the cost is {}", short_number(line.w), short_number(line.b),
                               short_number(line.cost));
        return fmt::format("{}: the cost goes from {} to {}", counted(at, "correction"),
                           short_number(fit_.lines.front().cost), short_number(line.cost));
    }
    std::string caption_of(size_t at) const {
        const FittedLine& line = fit_.lines[at];
        std::string squares;
        for (size_t i = 0; i < fit_.x.size() && i < 3; ++i)
            squares += fmt::format("{}({})²", i == 0 ? "" : " + ", short_number(fit_.miss(line, i)));
        if (fit_.x.size() > 3) squares += " + ...";
        if (fit_.x.size() == 1)
            return fmt::format("At x = {} the line says {}, the example {}: the miss squared, {}, is {}.",
                               short_number(fit_.x[0]), short_number(line.w * fit_.x[0] + line.b), short_number(fit_.y[0]),
                               squares, short_number(line.cost));
        return fmt::format("w = {}, b = {}. The mean of {}, over {} examples, is {}.", short_number(line.w),
                           short_number(line.b), squares, fit_.x.size(), short_number(line.cost));
    }

    void draw_line(Ui& ui, size_t at, bool hidden, const Rect& r) const {
        const Theme& theme = *ui.theme;
        double left = 0, right = 1, low = 0, high = 1;
        for (size_t i = 0; i < fit_.x.size(); ++i) {
            left = std::min(left, fit_.x[i]), right = std::max(right, fit_.x[i] * 1.25);
            low = std::min(low, fit_.y[i]), high = std::max(high, fit_.y[i] * 1.2);
        }
        for (const FittedLine& line : {fit_.lines.front(), fit_.lines[at]})
            for (size_t i = 0; i < fit_.x.size(); ++i) {
                const double y = line.w * fit_.x[i] + line.b;
                if (std::abs(y) < 4 * (high - low)) low = std::min(low, y), high = std::max(high, y * 1.1);
            }
        const Rect plot{r.x + 36, r.y + 12, r.w - 36 - 10, r.h - 12 - 34};
        if (plot.w < 80 || plot.h < 60) return;
        const auto x_of = [&](double x) { return plot.x + plot.w * static_cast<float>((x - left) / (right - left)); };
        const auto y_of = [&](double y) { return plot.bottom() - plot.h * static_cast<float>((y - low) / (high - low)); };
        const auto grid = [](double length) {
            const double power = std::pow(10.0, std::floor(std::log10(length / 4)));
            const double times = length / 4 / power;
            return power * (times < 2 ? 1 : times < 5 ? 2 : 5);
        };
        for (double mark = std::ceil(low / grid(high - low)) * grid(high - low); mark <= high; mark += grid(high - low)) {
            ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, theme.grid);
            ui.text(plot.x - 8, y_of(mark) + 4, short_number(mark),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        for (double mark = std::ceil(left / grid(right - left)) * grid(right - left); mark <= right;
             mark += grid(right - left)) {
            ui.line({x_of(mark), plot.y}, {x_of(mark), plot.bottom()}, theme.grid);
            ui.text(x_of(mark), plot.bottom() + 16, short_number(mark),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        }
        ui.text(plot.right(), plot.bottom() + 31, "x", {.size = 13, .color = theme.ink2, .align = Align::right});
        ui.text(r.x, plot.y + 2, "y", {.size = 13, .color = theme.ink2});
        ui.clip(plot);
        const FittedLine& line = fit_.lines[at];
        for (size_t i = 0; i < fit_.x.size() && !hidden; ++i) {
            const float x = x_of(fit_.x[i]), a = y_of(line.w * fit_.x[i] + line.b), b = y_of(fit_.y[i]);
            const Rect square{x, std::min(a, b), std::abs(a - b), std::abs(a - b)};
            if (square.h < 1 || fit_.x.size() > 12) continue;
            const Rect shown{square.x + square.w > plot.right() ? x - square.w : x, square.y, square.w, square.h};
            ui.rect(shown, faded(data::orange, 0.45f));
            for (float hx = shown.x; hx < shown.right(); hx += 440)
                for (float hy = shown.y; hy < shown.bottom(); hy += 56)
                    ui.hatch({hx, hy, std::min(440.0f, shown.right() - hx), std::min(56.0f, shown.bottom() - hy)},
                             faded(data::black, 0.3f), Hatch::diagonal);
        }
        for (size_t i = 0; i <= at; ++i) {
            const FittedLine& one = fit_.lines[i];
            const Point ends[] = {{x_of(left), y_of(one.w * left + one.b)}, {x_of(right), y_of(one.w * right + one.b)}};
            ui.polyline(ends, faded(data::sky, i == at ? 1.0f : 0.3f), i == at ? 3.0f : 1.0f);
        }
        for (size_t i = 0; i < fit_.x.size(); ++i) {
            const float x = x_of(fit_.x[i]), a = y_of(line.w * fit_.x[i] + line.b), b = y_of(fit_.y[i]);
            if (!hidden && fit_.x.size() <= 12) ui.line({x, a}, {x, b}, data::vermillion, 2.5f);
            ui.circle({x, b}, 6, data::green);
            ui.ring({x, b}, 6, theme.panel, 1.5f);
        }
        ui.unclip();
        for (size_t i = 0; i < fit_.x.size(); ++i) {
            const Point p{x_of(fit_.x[i]), y_of(fit_.y[i])};
            if (!hidden && fit_.x.size() <= 4) {
                const float a = y_of(line.w * fit_.x[i] + line.b);
                if (std::abs(a - p.y) > 34 && a > plot.y && a < plot.bottom())
                    ui.text(p.x - 8, (a + p.y) / 2 + 5, short_number(fit_.miss(line, i)),
                            {.size = 14, .align = Align::right, .weight = 700});
            }
            if (ui.hovered({p.x - 9, p.y - 9, 18, 18}))
                ui.tooltip(hidden ? fmt::format("x {}, y {}", short_number(fit_.x[i]), short_number(fit_.y[i]))
                                  : fmt::format("x {}, y {}: the line says {}, a miss of {}", short_number(fit_.x[i]),
                                                short_number(fit_.y[i]), short_number(line.w * fit_.x[i] + line.b),
                                                short_number(fit_.miss(line, i))));
        }
    }

    void draw_costs(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, "Cost by correction", {.size = 14, .weight = 600, .width = r.w});
        const Rect plot{r.x + 4, r.y + 40, r.w - 8, r.h - 40 - 34};
        if (plot.w < 60 || plot.h < 40) return;
        double most = 0;
        for (const FittedLine& line : fit_.lines)
            if (std::isfinite(line.cost)) most = std::max(most, line.cost);
        if (!(most > 0)) return;
        const auto count = static_cast<float>(fit_.lines.size());
        const float pitch = plot.w / count, bar = std::max(2.0f, std::min(46.0f, pitch - 3));
        for (size_t i = 0; i < fit_.lines.size(); ++i) {
            const float h =
                std::isfinite(fit_.lines[i].cost) ? plot.h * static_cast<float>(fit_.lines[i].cost / most) : plot.h;
            const Rect box{plot.x + pitch * static_cast<float>(i) + (pitch - bar) / 2, plot.bottom() - std::max(1.0f, h),
                           bar, std::max(1.0f, h)};
            ui.rect(box, i <= at_ ? data::orange : theme.panel2);
            const Rect touch{plot.x + pitch * static_cast<float>(i), plot.y, pitch, plot.h};
            if (i == at_) ui.outline({box.x, box.y, box.w, box.h});
            if (pitch >= 34)
                ui.text(box.x + box.w / 2, box.y - 6, short_number(fit_.lines[i].cost),
                        {.size = 12, .align = Align::center, .weight = 600});
            if (ui.hovered(touch))
                ui.tooltip(fmt::format("after {} corrections: w {}, b {}, cost {}", i, short_number(fit_.lines[i].w),
                                       short_number(fit_.lines[i].b), short_number(fit_.lines[i].cost)));
            if (ui.clicked(touch)) at_ = i, playing_ = -1;
        }
        ui.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, theme.ink3);
        ui.text(plot.x, plot.bottom() + 18, "0", {.size = 12, .color = theme.quiet, .mono = true});
        ui.text(plot.right(), plot.bottom() + 18, fmt::format("{} corrections", fit_.lines.size() - 1),
                {.size = 12, .color = theme.quiet, .align = Align::right});
    }
};

}  // namespace

std::unique_ptr<View> make_line_fit_view() {
    return std::make_unique<LineFitView>();
}

}  // namespace lockstep::gui
