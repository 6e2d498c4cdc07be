#include "app/gui/views/training/exhibit_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/nn/data/made/grid_world.h"

namespace lockstep::gui {
namespace {

struct ShareBar {
    std::string name;
    double value = 0;  // percent
};
// `mark`: a line across them, which those that reach it are filled for; 0: none.
void draw_shares_beside(Ui& ui, const std::vector<ShareBar>& bars, std::string_view title, double mark,
                        std::string_view words, const Rect& r) {
    const Theme& theme = *ui.theme;
    ui.text(r.x, r.y + 10, title, {.size = 14, .weight = 600, .width = r.w});
    double most = 1e-9;
    float names = 40;
    for (const ShareBar& bar : bars) {
        most = std::max({most, bar.value, mark});
        names = std::max(names, ui.text_width(bar.name, {.size = 13}) + 12);
    }
    const float below = mark > 0 ? 20 : 0, pitch = std::min(46.0f, (r.h - 24 - below) / static_cast<float>(bars.size()));
    const float room = std::min(r.w - names - 56, 420.0f);
    if (pitch < 12 || room < 40) return;
    for (size_t i = 0; i < bars.size(); ++i) {
        const float y = r.y + 24 + pitch * static_cast<float>(i), thick = std::min(26.0f, pitch - 4);
        const bool enough = mark <= 0 || bars[i].value >= mark;
        ui.text(r.x, y + pitch / 2 + 4, bars[i].name, {.size = 13, .color = theme.ink2, .width = names - 6});
        const Rect at{r.x + names, y + (pitch - thick) / 2, std::max(2.0f, room * static_cast<float>(bars[i].value / most)),
                      thick};
        if (enough)
            ui.rect(at, data::green);
        else
            ui.hatch(at, data::grey, Hatch::diagonal);
        ui.text(at.right() + 8, y + pitch / 2 + 4, fmt::format("{:.3g} %", bars[i].value), {.size = 13, .weight = 600});
    }
    if (mark <= 0) return;
    const float x = r.x + names + room * static_cast<float>(mark / most),
                end = r.y + 24 + pitch * static_cast<float>(bars.size());
    const Point line[] = {{x, r.y + 22}, {x, end + 4}};
    ui.polyline(line, theme.ink, 1.5f, 6, 4);
    const bool turned = x + ui.text_width(words, {.size = 12}) > r.right();
    ui.text(x, end + 18, words, {.size = 12, .color = theme.ink2, .align = turned ? Align::right : Align::left});
}

std::string sum_text(double value) {  // 3,574 or 4.67
    return readable_number(value < 100 && value != std::round(value) ? fmt::format("{:.2f}", value)
                                                                     : fmt::format("{:.0f}", value));
}
// A run's loss by step, where it says what the picture beside it cannot: how it came to rest.
// `least`: what other runs came to, a dashed line; 0: not known.
void draw_rest(Ui& ui, const Curve& curve, std::string_view title, double least, const Rect& r, bool rounds = true) {
    const Theme& theme = *ui.theme;
    ui.text(r.x, r.y + 10, title, {.size = 14, .weight = 600, .width = r.w});
    double most = 0;
    for (const double loss : curve.loss) most = std::max(most, loss);
    const Rect plot{r.x + 52, r.y + 28, std::min(r.w, 520.0f) - 60, r.h - 28 - 22};
    if (!(most > 0) || plot.w < 80 || plot.h < 40) return;
    const auto at = [&](size_t step, double loss) {
        return Point{
            plot.x + plot.w * static_cast<float>(step) / static_cast<float>(std::max<size_t>(1, curve.loss.size() - 1)),
            plot.bottom() - plot.h * static_cast<float>(loss / most)};
    };
    const double unit = rounded(most / 4);
    for (double mark = 0; mark <= most * 1.001; mark += unit) {
        ui.line({plot.x, at(0, mark).y}, {plot.right(), at(0, mark).y}, theme.grid);
        ui.text(plot.x - 8, at(0, mark).y + 4, sum_text(mark),
                {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
    }
    if (least > 0) {
        const float y = at(0, least).y;
        const Point ends[] = {{plot.x, y}, {plot.right(), y}};
        ui.polyline(ends, theme.ink, 1.5f, 6, 4);
        ui.text(plot.x + 4, y + 18, fmt::format("best of 50 plain starts: {}", with_commas(std::llround(least))),
                {.size = 13, .color = theme.ink2});
    }
    std::vector<Point> line;
    for (size_t step = 0; step < curve.loss.size(); ++step) line.push_back(at(step, curve.loss[step]));
    ui.polyline(line, data::orange, 2.5f);
    for (size_t step = 1; step + 1 < curve.loss.size(); ++step) {  // a sum only rises where centres are placed anew
        if (curve.loss[step] <= 1.05 * curve.loss[step - 1]) continue;
        const Point top = at(step, curve.loss[step]);
        ui.circle(top, 4, data::orange);
        ui.text(top.x - 8, top.y + 12, fmt::format("a new start, round {}", step + 1),
                {.size = 13, .align = Align::right, .weight = 600});
    }
    ui.circle(line.back(), 4.5f, data::orange);
    ui.text(line.back().x - 4, line.back().y + 22, sum_text(curve.loss.back()),
            {.size = 14, .align = Align::right, .weight = 700});
    ui.text(plot.x, plot.bottom() + 16, rounds ? "round 1" : "step 1", {.size = 12, .color = theme.quiet});
    ui.text(plot.right(), plot.bottom() + 16, fmt::format("{}", curve.loss.size()),
            {.size = 12, .color = theme.quiet, .align = Align::right});
}

}  // namespace

// The newest measure of the first run that is not younger than the step on show; null: there is none.
const nn::Evaluation* measured_at(const Snapshot& snapshot) {
    if (snapshot.training.curves.empty() || !snapshot.training.step) return nullptr;
    const nn::Evaluation* newest = nullptr;
    for (const nn::Evaluation& one : snapshot.training.curves.front().accuracy)
        if (one.step <= snapshot.training.step->step + 1) newest = &one;
    return newest;
}

void draw_losses_below(Ui& ui, const Snapshot& snapshot, const Rect& r) {
    if (snapshot.training.curves.empty() || snapshot.training.curves.front().loss.size() < 3) return;
    const Curve& curve = snapshot.training.curves.front();
    draw_rest(ui, curve, fmt::format("training loss by step, from {:.2f} on", curve.loss.front()), 0, r, false);
}

bool draw_beside(Ui& ui, const Snapshot& snapshot, const Exhibit& it, const Rect& r) {
    if (!snapshot.training.step || snapshot.training.curves.empty()) return false;
    const Curve& curve = snapshot.training.curves.front();
    const std::string& model = snapshot.training.step->model;
    const nn::Evaluation* const measured = measured_at(snapshot);
    if (model == "kmeans" && curve.loss.size() > 2)
        return draw_rest(ui, curve, "sum of squared distances, by round",
                         measured != nullptr && measured->measures.size() > 1 ? measured->measures[1].value : 0, r),
               true;
    if (model == "gan" && measured != nullptr && !measured->parts.empty()) {
        std::vector<ShareBar> bars;
        for (size_t i = 0; i < measured->parts.size(); ++i)
            bars.push_back({fmt::format("clump {}", i + 1), 100 * measured->parts[i]});
        const double enough = 100.0 / 4 / static_cast<double>(bars.size());  // a quarter of an equal share
        draw_shares_beside(ui, bars, "made points in each clump, of those judged", enough,
                           fmt::format("{:.0f} %: covered", enough), r);
        return true;
    }
    if (model != "gcn" || measured == nullptr || it.clouds.empty()) return false;
    size_t nodes = 0;
    for (size_t c = 0; c + 1 < it.clouds.size(); ++c) nodes += it.clouds[c].dots.size();
    const double known =
        100 * static_cast<double>(it.clouds.back().dots.size()) / static_cast<double>(std::max<size_t>(1, nodes));
    const double classes = static_cast<double>(it.clouds.size() - 1);
    const std::vector<ShareBar> bars = {
        {"have a label", known}, {"a guess reads right", 100 / classes}, {"others read right", 100 * measured->accuracy}};
    const bool room = r.h > 300 && !it.edges.empty();
    draw_shares_beside(ui, bars, "of the nodes", 0, {}, {r.x, r.y, r.w, std::min(r.h, room ? 180.0f : 162.0f)});
    if (!room) return true;
    const auto alike = std::count_if(it.edges.begin(), it.edges.end(), [](const auto& edge) { return edge.color >= 0; });
    const double inside = 100 * static_cast<double>(alike) / static_cast<double>(it.edges.size());
    draw_shares_beside(ui, {{"join nodes read alike", inside}, {"join unlike nodes", 100 - inside}}, "of the edges", 0, {},
                       {r.x, r.y + 200, r.w, 130});
    return true;
}

void draw_returns(Ui& ui, const Snapshot& snapshot, const Rect& r) {
    const nn::Evaluation* const measured = measured_at(snapshot);
    if (measured == nullptr || measured->measures.size() < 2 || r.w < 170 || r.h < 88) return;
    const Theme& theme = *ui.theme;
    struct Bar {
        std::string_view name;
        double value;
        Color color;
    };
    const nn::GridWorld world = nn::grid_world();
    const Bar bars[] = {{"by chance", nn::random_return(world), data::grey},
                        {"this agent", measured->measures[0].value, data::orange},
                        {"the best", measured->measures[1].value, data::green}};
    ui.text(r.x, r.y + 10, "mean return of a walk", {.size = 14, .weight = 600, .width = r.w});
    double low = 0, high = 0;
    float names = 0;
    for (const Bar& bar : bars) {
        low = std::min(low, bar.value), high = std::max(high, bar.value);
        names = std::max(names, ui.text_width(bar.name, {.size = 13}) + 12);
    }
    const float pitch = std::min(40.0f, (r.h - 24 - 18) / 3), left = r.x + names, value = 42,
                room = std::min(r.right(), r.x + 460) - left - 2 * value;
    const auto at = [&](double x) { return left + value + room * static_cast<float>((x - low) / (high - low)); };
    if (!(high > low) || room < 40) return;
    float y = r.y + 22;
    for (const Bar& bar : bars) {
        const float thick = std::min(22.0f, pitch - 5), top = y + (pitch - thick) / 2;
        ui.text(r.x, y + pitch / 2 + 4, bar.name, {.size = 13, .color = theme.ink2});
        ui.rect({std::min(at(0), at(bar.value)), top, std::max(2.0f, std::abs(at(bar.value) - at(0))), thick}, bar.color);
        ui.text(at(bar.value) + (bar.value < 0 ? -6.0f : 6.0f), top + thick / 2 + 5, fmt::format("{:.2f}", bar.value),
                {.size = 13, .align = bar.value < 0 ? Align::right : Align::left, .weight = 600});
        y += pitch;
    }
    ui.line({at(0), r.y + 20}, {at(0), y + 2}, theme.ink2, 1.5f);
    ui.text(at(0), y + 15, "0", {.size = 12, .color = theme.ink2, .align = Align::center, .mono = true});
    if (r.bottom() - y > 40)
        ui.text(
            r.x, y + 36,
            fmt::format("goal {:+.0f}, pit {:+.0f}, a step {:+.2f}", world.goal_reward, world.pit_reward, world.step_reward),
            {.size = 13, .color = theme.ink2, .width = r.w});
}

}  // namespace lockstep::gui
