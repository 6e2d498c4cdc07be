// The table of runs of the roofline: a row a run, its numbers or why it has none.
#include <fmt/format.h>

#include <cmath>

#include "app/gui/views/roofline/roofline_picture.h"

namespace lockstep::gui {

namespace {

constexpr float number_width = 30, column_width = 70, narrow_column = 54;

// Where the whole label is too long: what tells the run from the others of its kernel.
std::string label_in(const Ui& ui, const RoofRun& run, const TextStyle& style) {
    const bool told = run.label.size() > run.name.size() + 2 && run.label.starts_with(run.name);
    return !told || ui.text_width(run.label, style) <= style.width ? run.label : run.label.substr(run.name.size() + 2);
}

}  // namespace

void draw_runs(Ui& ui, const RoofScene& scene, std::span<const RoofRun* const> rows, const Rect& box) {
    const Theme& theme = *ui.theme;
    const RoofRun& now = *scene.trail.current();
    ui.rect(box, theme.panel2, 4);
    ui.frame(box, theme.line, 1, 4);
    const TextStyle head{.size = 12, .color = theme.ink2, .align = Align::right};
    float y = box.y + 17;
    const bool narrow = box.w <= narrow_table;
    const float column = narrow ? narrow_column : column_width, end = box.right() - (narrow ? 8.0f : 12.0f);
    const float at[] = {end - 2 * column - (narrow ? 4 : 10), end - column, end};
    ui.text(box.x + number_width + 6, y, "run", {.size = 12, .color = theme.ink2});
    ui.text(at[0], y, "FLOP/B", head);
    ui.text(at[1], y, "GFLOP/s", head);
    ui.text(at[2], y, narrow ? "of roof" : "of its roof", head);
    for (const RoofRun* run : rows) {
        y += table_pitch;
        const bool current = run == &now;
        ui.text(box.x + 12, y, run->number > 0 ? std::to_string(run->number) : "-",
                {.size = 12, .color = current ? theme.accent : theme.ink, .weight = 600});
        const TextStyle digits{.size = 12, .align = Align::right, .weight = current ? 700 : 400, .mono = true};
        const auto number = [&](float x, const std::string& text) { return ui.text(x, y, text, digits); };
        const auto label = [&](float until) {
            const float x = box.x + number_width + 6;
            const TextStyle style{.size = 13, .weight = current ? 600 : 400, .width = until - 10 - x};
            ui.text(x, y, label_in(ui, *run, style), style);
        };
        if (current && scene.hidden) {
            label(number(at[0], "?"));
            number(at[1], "?"), number(at[2], "?");
            continue;
        }
        if (!run->point.plotted(scene.level)) {  // it stands nowhere in the plot: why, in place of the figures
            label(number(at[2], run->point.faulted        ? "fault"
                                : run->point.flop == 0    ? "no FLOP"
                                : run->point.seconds == 0 ? "no time"
                                                          : "no bytes"));
            continue;
        }
        label(number(at[0], fmt::format("{:.3g}", run->point.intensity(scene.level))));
        const double giga = run->point.flop_per_second() / 1e9;
        number(at[1],
               giga >= 1000 ? with_commas(std::llround(giga)) : fmt::format("{:.{}g}", giga, narrow && giga < 0.1 ? 3 : 4));
        const double room = model::headroom(scene.roofline, run->point, scene.level);
        number(at[2], room > 0 ? share_text(100 / room) : "-");
    }
}

}  // namespace lockstep::gui
