#include "app/gui/views/build/recap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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
    const BuiltDesign* without = nullptr;  // the learner's design with this figure as the first one had it
};
std::vector<RecapFigure> figures_of_recap(const Recap& recap) {
    std::vector<RecapFigure> figures;
    for (const lessons::Puzzle::Free& free : recap.state->task->puzzle->free) {
        RecapFigure figure{label_of(free.field), {}};
        for (const PutBack& back : recap.state->put_back)
            if (back.field == free.field && recap.yours->number == recap.state->newest()->number)
                figure.without = back.design.get();
        size_t i = 0;
        for (const BuiltDesign* design : {recap.first, recap.yours, recap.reference})
            figure.values[i++] = value_of_row(design->gpu, free.field).first;
        if (const std::string_view unit = value_of_row(recap.first->gpu, free.field).second; !unit.empty())
            figure.label += "," + std::string(unit);
        if (figure.values[1] != figure.values[0] || figure.values[2] != figure.values[0]) figures.push_back(figure);
    }
    // What costs most when it is put back comes first: that is what made it gold.
    std::ranges::stable_sort(figures, std::greater<>(), [](const RecapFigure& figure) {
        return figure.without != nullptr ? figure.without->time_us : 0;
    });
    return figures;
}

// "1.98x as long", "18.2 mm2 too large"; a change may only have paid for others.
std::string put_back_words(const Recap& recap, const BuiltDesign& without) {
    const BuildTask& task = *recap.state->task;
    if (!without.ran()) return "does not run";
    if (task.most_mm2 > 0 && without.area.mm2 > task.most_mm2)
        return fmt::format("{:.3g} mm\xC2\xB2 over", without.area.mm2 - task.most_mm2);
    if (task.most_watts > 0 && without.watts > task.most_watts)
        return fmt::format("{:.2f} W over", without.watts - task.most_watts);
    const double times = without.time_us / recap.yours->time_us;
    if (std::fabs(times - 1) < 0.005) return "as fast";
    return fmt::format("{:.2f}\xC3\x97 as long", times);
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
    constexpr float names = 112, gap = 14, numbers = 58;
    float table = 0;
    const auto bars_beside = [&] { return (box.w - names - table - 2 * gap - 2 * numbers) / 2; };
    for (const float share : {0.55f, 0.38f, 0.0f}) {  // where there is none, the kit has the figures too
        table = std::min(box.w * share, 470.0f);
        if (bars_beside() >= 42) break;
    }
    const float bars = bars_beside();
    if (bars < 30) return;
    const float ground = box.x + names, time = ground + bars + numbers + gap, right = time + bars + numbers + gap;
    const TextStyle head{.size = 12, .color = theme.ink2};
    ui.text(ground, box.y + 12, "mm\xC2\xB2, estimate", head);
    ui.text(time, box.y + 12, "time; green: busy", head);
    const float pitch = std::min(46.0f, (box.h - 50) / 3), bar_h = std::clamp(pitch - 18, 8.0f, 22.0f);
    for (size_t i = 0; i < rows.size(); ++i) {
        const BuiltDesign& design = *rows[i].design;
        const float y = box.y + 22 + pitch * static_cast<float>(i), line = y + bar_h / 2 + 4.5f;
        ui.text(box.x, line, rows[i].name, {.size = 13, .weight = i == 1 ? 700 : 400, .width = names - 8});
        draw_ground(ui, design, most_mm2, budget, {ground, y, bars, bar_h});
        ui.text(ground + bars + 6, line, fmt::format("{:.1f}", design.area.mm2), {.size = 13, .weight = 600});
        draw_time(ui, design, most_us, {time, y, bars, bar_h});
        ui.text(time + bars + 6, line, time_text(design.time_us, {.significant = 3}), {.size = 13, .weight = 600});
        const std::string_view part = design.part.substr(design.part.starts_with("the ") ? 4 : 0);
        ui.text(time, y + bar_h + 13, fmt::format("{:.0f} %: {}", 100 * design.busy, part),
                {.size = 12, .color = theme.ink2, .width = bars + numbers + gap - 4});
    }
    if (table <= 0) return;
    constexpr float column = 38;
    const float back = table >= 380 ? 150.0f : 0;  // the column of what a change is worth
    const float label = std::max(60.0f, table - 3 * column - back);
    static constexpr std::string_view heads[] = {"first", "yours", "ref."};
    for (size_t k = 0; k < 3; ++k)
        ui.text(right + label + column * static_cast<float>(k + 1), box.y + 12, heads[k],
                {.size = 12, .color = theme.ink2, .align = Align::right});
    const float bar = right + label + 3 * column + 14;
    double slowest = recap.yours->time_us;
    for (const RecapFigure& figure : figures)
        if (figure.without != nullptr && figure.without->ran()) slowest = std::max(slowest, figure.without->time_us);
    if (back > 0) ui.text(bar, box.y + 12, recap.state->put_back.empty() ? "" : "put back alone", head);
    for (size_t i = 0; i < figures.size(); ++i) {
        const float y = box.y + 31 + 18 * static_cast<float>(i);
        if (y > box.bottom() - 2) break;
        ui.text(right, y, figures[i].label, {.size = 12, .width = label - 6});
        for (size_t k = 0; k < 3; ++k)
            ui.text(right + label + column * static_cast<float>(k + 1), y, figures[i].values[k],
                    {.size = 13, .align = Align::right, .weight = k == 1 ? 700 : 400, .mono = true});
        if (back <= 0 || figures[i].without == nullptr) continue;
        const BuiltDesign& without = *figures[i].without;
        const std::string words = put_back_words(recap, without);
        constexpr float wide = 34;
        if (without.ran()) {
            const float w = wide * static_cast<float>(without.time_us / slowest);
            ui.rect({bar, y - 9, wide, 9}, theme.grid);
            ui.hatch({bar, y - 9, w, 9}, faded(data::orange, 0.75f), Hatch::diagonal);
            ui.rect({bar, y - 9, wide * static_cast<float>(std::min(without.time_us, recap.yours->time_us) / slowest), 9},
                    data::green);
        }
        ui.text(bar + wide + 8, y, words,
                {.size = 13,
                 .color = words.ends_with("over") ? theme.wrong : theme.ink,
                 .weight = i == 0 ? 700 : 400,
                 .width = back - wide - 20});
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
        text += fmt::format("    {}: first {}, yours {}, reference {}{}\n", figure.label, figure.values[0], figure.values[1],
                            figure.values[2],
                            figure.without == nullptr ? std::string()
                            : figure.without->ran()
                                ? fmt::format("; put back alone: {} (simulated), {}", time_text(figure.without->time_us),
                                              put_back_words(recap, *figure.without))
                                : "; put back alone it does not run");
    return text;
}

}  // namespace lockstep::gui
