#include "app/gui/views/build/recap.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/build/build_data.h"

namespace lockstep::gui {
namespace {

constexpr model::PartGroup recap_groups[] = {model::PartGroup::sms, model::PartGroup::l2, model::PartGroup::memory,
                                             model::PartGroup::rest};

struct RecapRow {
    std::string name;
    const BuiltDesign* design;
};
std::vector<RecapRow> rows_of(const Recap& recap) {
    return {{"first design", recap.first},
            {fmt::format("yours, design {}", recap.yours->number), recap.yours},
            {"reference", recap.reference}};
}

// Figures that are other in the learner's design or in the reference, as "SMs 2 | 4 | 4".
struct RecapFigure {
    std::string label, values[3];
};
std::vector<RecapFigure> figures_of_recap(const Recap& recap) {
    std::vector<RecapFigure> figures;
    for (const lessons::Puzzle::Free& free : recap.state->task->free) {
        RecapFigure figure{label_of(free.field), {}};
        size_t i = 0;
        for (const BuiltDesign* design : {recap.first, recap.yours, recap.reference})
            figure.values[i++] = value_of_row(design->gpu, free.field).first;
        if (const std::string_view unit = value_of_row(recap.first->gpu, free.field).second; !unit.empty())
            figure.label += "," + std::string(unit);
        if (figure.values[1] != figure.values[0] || figure.values[2] != figure.values[0]) figures.push_back(figure);
    }
    return figures;
}

// Groups of a die on an axis of area that all three share, with the budget's line.
void draw_ground(Ui& ui, const BuiltDesign& design, double most, double budget, const Rect& bar) {
    ui.rect(bar, ui.theme->grid);
    double sum = 0;
    for (const model::PartGroup group : recap_groups) {
        const double part = design.area.of(group);
        const float x = bar.x + bar.w * static_cast<float>(sum / most), w = bar.w * static_cast<float>(part / most);
        if (w >= 1) group_box(ui, {x, bar.y, w - 1, bar.h}, group);
        sum += part;
    }
    if (budget > 0) ui.rect({bar.x + bar.w * static_cast<float>(budget / most) - 1, bar.y - 3, 2, bar.h + 6}, ui.theme->ink);
}

// Its time, as far as its busiest part was busy in full colour.
void draw_time(Ui& ui, const BuiltDesign& design, double most, const Rect& bar) {
    const Theme& theme = *ui.theme;
    const float w = bar.w * static_cast<float>(design.time_us / most);
    ui.rect(bar, theme.grid);
    ui.hatch({bar.x, bar.y, std::min(w, 439.0f), bar.h}, faded(data::orange, 0.55f), Hatch::diagonal);
    ui.rect({bar.x, bar.y, w * static_cast<float>(design.busy), bar.h}, data::green);
    ui.frame({bar.x, bar.y, w, bar.h}, theme.ink3, 1);
}

}  // namespace

std::optional<Recap> recap_of(const Session& session, const Snapshot& snapshot) {
    const BuiltDesign* const shown = shown_design(session, snapshot);
    if (shown == nullptr || shown->medal != lessons::Medal::gold || !snapshot.build->task->puzzle) return std::nullopt;
    const auto reference = snapshot.build->references.find(lessons::Medal::gold);
    if (reference == snapshot.build->references.end()) return std::nullopt;
    const BuiltDesign* const first = snapshot.build->designs.front().get();
    if (!first->ran() || first == shown) return std::nullopt;
    return Recap{snapshot.build, first, shown, reference->second.get()};
}

std::string recap_sentence(const Recap& recap) {
    return recap.state->task->puzzle->recap;
}

void draw_recap(Ui& ui, const Recap& recap, const Rect& box) {
    const Theme& theme = *ui.theme;
    const std::vector<RecapRow> rows = rows_of(recap);
    const std::vector<RecapFigure> figures = figures_of_recap(recap);
    const double budget = recap.state->task->most_mm2;
    double most_mm2 = budget, most_us = 0;
    for (const RecapRow& row : rows)
        most_mm2 = std::max(most_mm2, row.design->area.mm2), most_us = std::max(most_us, row.design->time_us);
    most_mm2 *= 1.03;
    constexpr float names = 112, gap = 16, numbers = 62;
    float table = std::min(box.w * 0.38f, 330.0f);
    const auto bars_beside = [&] { return (box.w - names - table - 2 * gap - 2 * numbers) / 2; };
    if (bars_beside() < 60) table = 0;  // the kit has the figures too
    const float bars = bars_beside();
    if (bars < 30) return;
    const float ground = box.x + names, time = ground + bars + numbers + gap, right = time + bars + numbers + gap;
    const TextStyle head{.size = 12, .color = theme.ink2};
    ui.text(ground, box.y + 12, "ground, mm\xC2\xB2 (estimate)", head);
    ui.text(time, box.y + 12, "time; green: its busiest part is busy", head);
    const float pitch = std::min(46.0f, (box.h - 50) / 3), bar_h = std::clamp(pitch - 18, 8.0f, 22.0f);
    for (size_t i = 0; i < rows.size(); ++i) {
        const BuiltDesign& design = *rows[i].design;
        const float y = box.y + 22 + pitch * static_cast<float>(i), line = y + bar_h / 2 + 4.5f;
        ui.text(box.x, line, rows[i].name, {.size = 13, .weight = i == 1 ? 700 : 400, .width = names - 8});
        draw_ground(ui, design, most_mm2, budget, {ground, y, bars, bar_h});
        ui.text(ground + bars + 6, line, fmt::format("{:.1f}", design.area.mm2), {.size = 13, .weight = 600});
        draw_time(ui, design, most_us, {time, y, bars, bar_h});
        ui.text(time + bars + 6, line, time_text(design.time_us, {.significant = 3}), {.size = 13, .weight = 600});
        ui.text(time, y + bar_h + 13, fmt::format("{:.0f} %: {}", 100 * design.busy, design.part),
                {.size = 12, .color = theme.ink2, .width = bars + numbers});
    }
    if (table <= 0) return;
    constexpr float column = 42;
    const float label = std::max(60.0f, table - 3 * column);
    static constexpr std::string_view heads[] = {"first", "yours", "ref."};
    for (size_t k = 0; k < 3; ++k)
        ui.text(right + label + column * static_cast<float>(k + 1), box.y + 12, heads[k],
                {.size = 12, .color = theme.ink2, .align = Align::right});
    for (size_t i = 0; i < figures.size(); ++i) {
        const float y = box.y + 31 + 18 * static_cast<float>(i);
        if (y > box.bottom() - 2) break;
        ui.text(right, y, figures[i].label, {.size = 13, .width = label - 6});
        for (size_t k = 0; k < 3; ++k)
            ui.text(right + label + column * static_cast<float>(k + 1), y, figures[i].values[k],
                    {.size = 13, .align = Align::right, .weight = k == 1 ? 700 : 400, .mono = true});
    }
}

std::string recap_text(const Recap& recap) {
    std::string text = "  recap: " + recap_sentence(recap) + "\n";
    for (const RecapRow& row : rows_of(recap)) {
        text += fmt::format("    {}: {:.2f} mm2 (estimate):", row.name, row.design->area.mm2);
        for (const model::PartGroup group : recap_groups)
            text += fmt::format(" {} {:.2f}", code_of(group).letter, row.design->area.of(group));
        text += fmt::format("; {} (simulated), {} {:.0f} %\n", time_text(row.design->time_us), row.design->part,
                            100 * row.design->busy);
    }
    for (const RecapFigure& figure : figures_of_recap(recap))
        text += fmt::format("    {}: first {}, yours {}, reference {}\n", figure.label, figure.values[0], figure.values[1],
                            figure.values[2]);
    return text;
}

}  // namespace lockstep::gui
