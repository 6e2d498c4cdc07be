// Lines first, then the dots, then the table where it hides none of them, and the names last: the headroom, what binds the
// run, and the rest as far as there is room.
#include "app/gui/views/roofline/roofline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lockstep::gui {

using model::RoofLevel;
using model::RoofPoint;

namespace {

struct Picture {
    Ui& ui;
    const RoofPlot& plot;
    const RoofScene& scene;
    Labels& labels;
    const Theme& theme = *ui.theme;
    const Rect& r = plot.box;
    const RoofRun& now = *scene.trail.current();
    const model::Peak& own = own_peak();  // of the units that the run uses

    const std::vector<const model::Peak*> drawn = drawn_peaks();  // fastest first

    std::vector<const model::Peak*> drawn_peaks() const {  // a rare one where the run uses it
        std::vector<const model::Peak*> list;
        for (const model::Peak& peak : scene.roofline.peaks) list.push_back(&peak);
        if (std::find(list.begin(), list.end(), &own) == list.end()) list.push_back(&own);
        std::stable_sort(list.begin(), list.end(), [](auto* a, auto* b) { return a->flop_per_second > b->flop_per_second; });
        return list;
    }
    const model::Peak& own_peak() const {
        const model::Peak* const peak = scene.roofline.peak(now.point.peak);
        return peak != nullptr ? *peak : scene.roofline.peaks.front();
    }
    bool shown(const RoofRun& run) const {
        return run.gpu == now.gpu && run.point.plotted(scene.level) && !(&run == &now && scene.hidden);
    }
    Point place(const RoofRun& run) const {
        return {plot.x(run.point.intensity(scene.level)), plot.y(run.point.flop_per_second())};
    }

    // Roofs up to the peak of the units that the run uses; beyond it, dashed, for faster units.
    void lines() {
        ui.clip({r.x, r.y - 14, r.w + 12, r.h + 16});
        for (const model::Peak* const each : drawn) {
            const model::Peak& peak = *each;
            const bool is_own = &peak == &own;
            const model::Roof& from = scene.roofline.roof(is_own ? RoofLevel::l1 : scene.level);
            const Point line[] = {{plot.x(model::ridge(from, peak)), plot.y(peak.flop_per_second)},
                                  {r.right(), plot.y(peak.flop_per_second)}};
            ui.polyline(line, is_own ? theme.ink : theme.quiet, is_own ? 2.0f : 1.2f, is_own ? 0.f : 5.f,
                        is_own ? 0.f : 4.f);
        }
        const double low = std::pow(10, plot.axes.x_low);
        for (const model::Roof& roof : scene.roofline.roofs) {
            const bool chosen = roof.level == scene.level;
            const Color color = chosen ? theme.accent : theme.quiet;
            const Point line[] = {{plot.x(low), plot.y(roof.bytes_per_second * low)},
                                  {plot.x(model::ridge(roof, own)), plot.y(own.flop_per_second)}};
            ui.polyline(line, color, chosen ? 2.6f : 1.4f);
            const model::Peak& most = *drawn.front();
            if (chosen && most.flop_per_second > own.flop_per_second) {
                const Point more[] = {line[1], {plot.x(model::ridge(roof, most)), plot.y(most.flop_per_second)}};
                ui.polyline(more, color, 1.4f, 5, 4);
            }
            ui.line({line[1].x, line[1].y - 5}, {line[1].x, line[1].y + 5}, theme.ink, 1.5f);
        }
        ui.unclip();
    }

    float radius(const RoofRun& run, double longest) const {
        const double share = longest > 0 ? std::sqrt(run.point.seconds / longest) : 0;
        return std::max(8.0f, 4.5f + 8.5f * static_cast<float>(share));
    }

    double longest() const {  // seconds
        double most = 0;
        for (const RoofRun& run : scene.trail.runs())
            if (shown(run)) most = std::max(most, run.point.seconds);
        return most;
    }

    std::vector<const RoofRun*> covered;  // runs whose number another dot would hide

    void keep_dots_free() {
        for (const RoofRun& run : scene.trail.runs()) {
            if (!shown(run)) continue;
            const Point at = place(run);
            const float size = radius(run, longest());
            labels.keep_free({at.x - size - 1, at.y - size - 1, 2 * size + 2, 2 * size + 2});
        }
    }

    void dots() {
        std::vector<const RoofRun*> runs;                      // the one on show last
        std::map<std::string_view, std::vector<Point>> lines;  // of each kernel, from one of its runs to the next
        for (const RoofRun& run : scene.trail.runs()) {
            if (!shown(run)) continue;
            if (&run != &now) runs.push_back(&run);
            lines[run.name].push_back(place(run));
        }
        if (shown(now)) runs.push_back(&now);
        for (const auto& [name, line] : lines)
            if (line.size() > 1) ui.polyline(line, theme.quiet, 1);
        keep_dots_free();
        for (size_t i = 0; i < runs.size(); ++i) {
            const RoofRun& run = *runs[i];
            const Point at = place(run);
            const float size = radius(run, longest());
            const bool current = &run == &now;
            ui.circle(at, size, current ? theme.accent : theme.panel);
            if (!current) ui.ring(at, size, theme.ink, 1.4f);
            const bool hides = std::any_of(runs.begin() + static_cast<std::ptrdiff_t>(i) + 1, runs.end(), [&](auto* later) {
                const Point other = place(*later);
                return std::abs(other.x - at.x) < 18 && std::abs(other.y - at.y) < 14;
            });
            if (hides)
                covered.push_back(&run);
            else
                ui.text(at.x, at.y + 4, std::to_string(run.number),
                        {.size = 12, .color = current ? theme.on_accent : theme.ink, .align = Align::center, .weight = 600});
            if (ui.hovered({at.x - size, at.y - size, 2 * size, 2 * size})) {
                ui.ring(at, size + 1.5f, data::black, 3.5f);  // the double line of what the pointer is on, as a circle
                ui.ring(at, size + 1.5f, data::white, 1.5f);
                ui.tooltip(fmt::format("run {}: {}\n{:.3g} FLOP/B, {}\n{}", run.number, run.label,
                                       run.point.intensity(scene.level), flops_text(run.point.flop_per_second()),
                                       lockstep::time_text(1e6 * run.point.seconds, {.significant = 4})));
            }
        }
    }

    // Of dots that lie under others: the numbers stand beside them.
    void numbers() {
        for (const RoofRun* run : covered) {
            const Point at = place(*run);
            const float out = radius(*run, longest()) + 4;
            std::vector<Spot> spots;
            for (const float more : {0.0f, 12.0f, 24.0f}) {
                spots.push_back({at.x - out - more, at.y + 4, Align::right});
                spots.push_back({at.x + out + more, at.y + 4, Align::left});
                spots.push_back({at.x, at.y - out - more, Align::center});
                spots.push_back({at.x, at.y + out + 9 + more, Align::center});
                spots.push_back({at.x - out - more, at.y - out, Align::right});
                spots.push_back({at.x + out + more, at.y - out, Align::left});
            }
            labels.write(ui, std::to_string(run->number), {.size = 12, .weight = 600}, spots);
        }
    }

    // The same operations and bytes in the time that the real GPU took: a square, joined with the run's dot.
    void silicon() {
        if (!scene.measured || !shown(now) || !(now.point.seconds > 0)) return;
        const double seconds = scene.measured->time_us * 1e-6;
        const Point dot = place(now), at{dot.x, plot.y(now.point.flop / seconds)};
        if (at.y < r.y - 12 || at.y > r.bottom()) return;
        const Color color = color_of(Provenance::measured, theme);
        ui.line(dot, at, color, 1.4f);
        const Rect box{at.x - 6, at.y - 6, 12, 12};
        ui.rect(box, theme.panel);
        ui.frame(box, color, 2.5f);
        labels.keep_free({box.x - 1, box.y - 1, 14, 14});
        std::vector<Spot> spots;
        for (const float up : {4.0f, -12.0f, 20.0f, -26.0f, 34.0f}) {
            spots.push_back({at.x + 12, at.y + up, Align::left});
            spots.push_back({at.x - 12, at.y + up, Align::right});
        }
        labels.write(
            ui,
            fmt::format("{} {}", scene.measured->gpu->real() ? "measured" : "made up", time_text(scene.measured->time_us)),
            {.size = 12, .color = color, .weight = 600}, spots);
        if (!ui.hovered(box)) return;
        ui.outline(box, 2);
        ui.tooltip(measured_sentence(*scene.measured, 1e6 * now.point.seconds));
    }

    // A dotted line from the roof through the run on show down to the axis.
    void drop() {
        if (!shown(now) || scene.roofline.peak(now.point.peak) == nullptr) return;
        const double intensity = now.point.intensity(scene.level);
        const Point at = place(now);
        const float top = plot.y(model::attainable(scene.roofline.roof(scene.level), own, intensity));
        if (at.y - top <= 3) return;
        const Point line[] = {{at.x, top}, {at.x, r.bottom()}};
        ui.polyline(line, theme.wrong, 1.4f, 2, 3);
        ui.line({at.x - 4, top}, {at.x + 4, top}, theme.wrong, 1.5f);
        labels.keep_free({at.x - 3, top - 3, 6, at.y - top});
    }

    bool headroom() {  // true: written, or there is none
        if (!shown(now) || scene.roofline.peak(now.point.peak) == nullptr) return true;
        const double intensity = now.point.intensity(scene.level);
        const Point at = place(now);
        const float top = plot.y(model::attainable(scene.roofline.roof(scene.level), own, intensity));
        if (at.y - top <= 3) return true;
        std::vector<Spot> spots;
        for (const float reach : {12.0f, 20.0f, 32.0f})
            for (const float y : {(top + at.y) / 2 + 4, at.y + 4, top + 18, at.y + 22, at.y + 40, top - 6}) {
                spots.push_back({at.x + reach, y, Align::left});
                spots.push_back({at.x - reach, y, Align::right});
            }
        return labels.write(ui, times_text(model::headroom(scene.roofline, now.point, scene.level)) + " headroom",
                            {.size = 13, .color = theme.wrong, .weight = 600}, spots);
    }

    enum class Figure : uint8_t { whole, brief, none };  // "125 TFLOP/s", "125 T"

    bool name(const model::Peak& peak, Figure figure) {  // true: written
        const bool is_own = &peak == &own;
        const float from = plot.x(model::ridge(scene.roofline.roof(is_own ? RoofLevel::l1 : scene.level), peak)),
                    y = plot.y(peak.flop_per_second);
        std::vector<Spot> spots;
        for (float right = r.right(); right > from + 40; right -= 24) {
            spots.push_back({right, y - 6, Align::right});
            spots.push_back({right, y + 16, Align::right});
        }
        for (float right = r.right(); right > from + 40; right -= 24) spots.push_back({right, y - 9, Align::right});
        const std::string all = " " + flops_text(peak.flop_per_second), brief = all.substr(0, all.find("FLOP"));
        return labels.write(ui,
                            fmt::format("{}{}", peak.name,
                                        figure == Figure::whole   ? all
                                        : figure == Figure::brief ? brief
                                                                  : std::string()),
                            {.size = 12, .color = is_own ? theme.ink : theme.ink2, .weight = is_own ? 600 : 400}, spots);
    }

    // Below its line, less than half of the way to the first ridge; else along the line, below or above.
    void name(const model::Roof& roof) {
        const bool chosen = roof.level == scene.level;
        const float end = plot.x(model::ridge(roof, own)),
                    first = plot.x(model::ridge(scene.roofline.roof(RoofLevel::l1), own));
        std::vector<Spot> spots;
        const auto below = [&](float x) {
            spots.push_back({x + 8, plot.y(roof.bytes_per_second * plot.intensity(x)) + 15, Align::left});
        };
        const auto above = [&] {
            for (const float share : {0.75f, 0.85f, 0.65f, 0.5f, 0.4f, 0.9f}) {
                const float x = r.x + (end - r.x) * share;
                spots.push_back({x - 6, plot.y(roof.bytes_per_second * plot.intensity(x)) - 4, Align::right});
            }
        };
        if (roof.level == RoofLevel::l1) above();  // nothing is there: below, it would lie on the others
        below(r.x + (first - r.x) * 0.42f);
        for (const float share : {0.3f, 0.5f, 0.2f, 0.6f, 0.1f, 0.7f, 0.8f, 0.02f}) below(r.x + (end - r.x) * share);
        if (roof.level != RoofLevel::l1) above();
        const TextStyle style{.size = 12, .color = chosen ? theme.accent : theme.ink2, .weight = chosen ? 600 : 400};
        const std::string figure = bandwidth_text(roof.bytes_per_second);
        if (labels.write(ui, fmt::format("{} {}", roof.name, figure), style, spots)) return;
        // Between lines that run close: on its own, and shorter.
        std::vector<Spot> on;
        for (const float share : {0.42f, 0.5f, 0.34f, 0.58f, 0.26f, 0.66f, 0.74f, 0.82f, 0.18f, 0.12f}) {
            const float x = r.x + (end - r.x) * share;
            on.push_back({x, plot.y(roof.bytes_per_second * plot.intensity(x)) + 4, Align::center});
        }
        const std::string brief = fmt::format("{} {}", roof.name.substr(0, roof.name.find(',')), figure);
        if (labels.write(ui, brief, style, on, group_of(roof)) || labels.write(ui, brief, style, spots)) return;
        const float over = plot.y(own.flop_per_second) - 26;  // or where it ends, over the ridge's number
        const Spot ends[] = {{end, over, Align::center}, {end - 4, over, Align::left}, {end + 4, over, Align::right}};
        if (labels.write(ui, brief, style, ends)) return;
        labels.write(ui, roof.name, style, spots);
    }
    static int group_of(const model::Roof& roof) { return 1 + static_cast<int>(roof.level); }

    void ridge(const model::Roof& roof) {
        const bool chosen = roof.level == scene.level;
        const double at = model::ridge(roof, own);
        const float x = plot.x(at), y = plot.y(own.flop_per_second) - 9;
        const Spot spots[] = {{x, y, Align::center}, {x - 4, y, Align::right}, {x + 4, y, Align::left}};
        const std::string figure = fmt::format("{:.3g}", at);
        const TextStyle style{.size = 12, .color = chosen ? theme.ink : theme.ink2, .weight = chosen ? 600 : 400};
        if (roof.level == RoofLevel::l1 && labels.write(ui, "ridge " + figure, style, spots)) return;
        labels.write(ui, figure, style, spots);
    }

    void keep_ticks_free() {
        const float y = plot.y(own.flop_per_second);
        for (const model::Roof& roof : scene.roofline.roofs)
            labels.keep_free({plot.x(model::ridge(roof, own)) - 3, y - 4, 6, 10});
    }

    // Roofs and the peak of the units that the run uses stay whole: a name on another roof's line would be taken for its
    // own.
    void keep_lines_free() {
        const float y = plot.y(own.flop_per_second), from = plot.x(model::ridge(scene.roofline.roof(RoofLevel::l1), own));
        labels.keep_free({from, y - 1, r.right() - from, 2});
        for (const model::Roof& roof : scene.roofline.roofs)
            for (float x = r.x; x < plot.x(model::ridge(roof, own)); x += 6)
                labels.keep_free({x, plot.y(roof.bytes_per_second * plot.intensity(x)) - 3, 6, 6}, group_of(roof));
    }

    // The dashed ones too, where that leaves a spot.
    void keep_dashes_free() {
        for (const model::Peak* const peak : drawn) {
            const float from = plot.x(model::ridge(scene.roofline.roof(scene.level), *peak));
            if (peak != &own && from < r.right())
                labels.keep_free({from, plot.y(peak->flop_per_second) - 1, r.right() - from, 2});
        }
    }

    void name_shorter(const model::Peak& peak) {  // as far as need be
        for (const Figure figure : {Figure::whole, Figure::brief, Figure::none})
            if (name(peak, figure)) return;
    }

    void names() {
        keep_ticks_free();
        const Labels before = labels;
        keep_lines_free();
        if (!headroom()) {  // on a line rather than not at all
            labels = before;
            headroom();
            keep_lines_free();
        }
        numbers();
        ridge(scene.roofline.roof(scene.level));
        for (const model::Roof& roof : scene.roofline.roofs)
            if (roof.level != scene.level) ridge(roof);
        const Labels solid = labels;
        keep_dashes_free();
        if (!name(own, Figure::whole)) {
            labels = solid;
            name_shorter(own);
            keep_dashes_free();
        }
        name(scene.roofline.roof(scene.level));
        for (const model::Peak* const peak : drawn)
            if (peak != &own) name_shorter(*peak);
        for (const model::Roof& roof : scene.roofline.roofs)
            if (roof.level != scene.level) name(roof);
    }

    // The ridges' ticks and the numbers above them.
    bool hides_ridge(const Rect& box) const {
        const float y = plot.y(own.flop_per_second);
        return std::any_of(scene.roofline.roofs.begin(), scene.roofline.roofs.end(), [&](const model::Roof& roof) {
            const float x = plot.x(model::ridge(roof, own));
            return box.x < x + 22 && box.right() > x - 22 && box.y < y + 8 && box.bottom() > y - 24;
        });
    }

    // Whether a roof or the peak of the run's units goes through the box: straight lines, as both axes are logarithmic.
    bool crosses(const Rect& box) const {
        const float peak = plot.y(own.flop_per_second);
        const bool level = peak >= box.y && peak <= box.bottom();
        if (level && box.right() >= plot.x(model::ridge(scene.roofline.roof(RoofLevel::l1), own))) return true;
        for (const model::Roof& roof : scene.roofline.roofs) {
            const float right = std::min(box.right(), plot.x(model::ridge(roof, own)));
            if (right < box.x) continue;
            const float from = plot.y(roof.bytes_per_second * plot.intensity(box.x));
            const float to = plot.y(roof.bytes_per_second * plot.intensity(right));
            if (to <= box.bottom() && from >= box.y) return true;
        }
        return false;
    }

    std::vector<const RoofRun*> runs_of_gpu() const {
        std::vector<const RoofRun*> runs;
        for (const RoofRun& run : scene.trail.runs())
            if (run.gpu == now.gpu) runs.push_back(&run);
        return runs;
    }

    static constexpr size_t most_rows = 10;
    struct Table {
        Rect box;  // width 0: there is no room
        std::vector<const RoofRun*> rows = {};
    };

    void table() {
        Table found;
        if (plot.table.w > 0) {
            found = {plot.table, runs_of_gpu()};
            const auto most = static_cast<size_t>(std::max(2.0f, (plot.table.h - 12) / table_pitch - 1));
            keep(found.rows, most);
            found.box.h = table_pitch * static_cast<float>(found.rows.size() + 1) + 12;
        } else {
            found = table_inside();
        }
        if (found.box.w <= 0) return;
        labels.keep_free(found.box);
        draw_runs(ui, scene, found.rows, found.box);
    }

    // The first run stays, later ones are compared with it; of those between, the oldest go.
    void keep(std::vector<const RoofRun*>& rows, size_t most) const {
        while (rows.size() > most) rows.erase(rows.begin() + (rows[1] == &now ? 2 : 1));
    }

    // Where it hides no run and no line, as far down and right as that goes, with fewer rows if need be; else in a corner
    // where it hides no run.
    Table table_inside() const {
        if (r.w <= 430 || r.h <= 150) return {};
        std::vector<const RoofRun*> rows = runs_of_gpu();
        constexpr size_t few = 2;
        float w = std::min(376.0f, std::max(310.0f, r.w * 0.62f));
        const auto height = [&] { return table_pitch * static_cast<float>(rows.size() + 1) + 12; };
        const auto fits = [&](const Rect& box) {
            return box.y >= r.y && box.bottom() <= r.bottom() && !hides_ridge(box) &&
                   labels.is_free({box.x - 4, box.y - 4, box.w + 8, box.h + 8});
        };
        const std::vector<const RoofRun*> all = rows;
        const float widest = w;
        for (size_t most = std::clamp(rows.size(), few, most_rows); most >= few; --most) {
            keep(rows, most);
            constexpr float step = 20;
            for (const float width : {widest, std::min(widest, 310.0f), narrow_table}) {
                w = width;
                for (float y = r.bottom() - height() - 6; y > r.y; y -= step)
                    for (float x = r.right() - w; x > r.x; x -= width == narrow_table ? step / 4 : step)
                        if (const Rect box{x, y, w, height()}; !crosses(box) && fits(box)) return {box, rows};
            }
        }
        rows = all;
        if (rows.size() < 2) return {};  // the caption says as much
        w = widest;
        keep(rows, static_cast<size_t>(std::clamp((r.h * 0.5f - 30) / table_pitch, 2.0f, 6.0f)));
        const float low = r.bottom() - height() - 6, high = plot.y(own.flop_per_second) + 26;
        for (const Point& corner : {Point{r.right() - w, low}, Point{r.right() - w, high}, Point{r.x + 6, r.y + 4},
                                    Point{r.right() - w, (low + high) / 2}})
            if (const Rect box{corner.x, corner.y, w, height()}; fits(box)) return {box, rows};
        return {};
    }
};

}  // namespace

void make_room_for_table(Ui& ui, RoofPlot& plot, const RoofScene& scene) {
    constexpr float least_w = 300, least_h = 150, gap = 24;  // of the plot that is left; between the two
    Rect& box = plot.box;
    Labels labels(box);
    Picture picture{ui, plot, scene, labels};
    picture.keep_dots_free();
    const size_t runs = std::min(picture.runs_of_gpu().size(), Picture::most_rows);
    const Picture::Table inside = picture.table_inside();
    const size_t shown = inside.box.w > 0 ? inside.rows.size() : 0;
    if (runs < 2 || shown >= runs) return;
    const auto rows_in = [&](float h) {
        return std::min(runs, static_cast<size_t>(std::max(1.0f, (h - 12) / table_pitch)) - 1);
    };
    const bool wide = box.w >= least_w + gap + narrow_table && box.h > least_h;
    if (const float h = box.h + 36; wide && rows_in(h) > shown) {
        plot.table = {box.right() - narrow_table + 12, box.y, narrow_table, h};
        box.w -= narrow_table + gap - 12;
    } else if (const float room = box.h - least_h - 8; box.w >= least_w && rows_in(room) > shown) {
        const float height = table_pitch * static_cast<float>(rows_in(room) + 1) + 12;
        box.h -= height + 8;
        const float w = std::min(376.0f, box.w + 12);
        plot.table = {box.right() + 12 - w, box.bottom() + 44, w, height};
    }
}

void draw_roofline(Ui& ui, const RoofPlot& plot, const RoofScene& scene, Labels& labels) {
    Picture picture{ui, plot, scene, labels};
    draw_axes(ui, plot);
    picture.lines();
    picture.drop();
    picture.silicon();
    picture.dots();
    picture.table();
    picture.names();
}

}  // namespace lockstep::gui
