// Runs by seed: a dot a run at what it reads of unseen examples, a bar at the mean of those that differ by their seed alone;
// beside it the mean of their losses. What one seed would have told by chance is seen at once. Groups that a question asks
// about keep their place, without dots.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/training/given_curves.h"
#include "app/gui/views/training/seed_groups.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view seeds_title = "Accuracy by seed";
constexpr double far_apart = 0.4;  // of the accuracies of runs that differ by their seed alone: some learn, some do not

Color seed_color(size_t group) {
    constexpr Color colors[] = {data::orange, data::sky, data::green, data::purple, data::yellow, data::vermillion};
    return colors[group % std::size(colors)];
}

class SeedsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const std::vector<SeedGroup> groups = groups_of(session);
        if (groups.empty()) {
            const Rect body = ui.panel(area, {.title = seeds_title});
            return ui.say_nothing_yet(body, "No runs have been measured.",
                                      "Dots appear where training runs are measured on examples that they have not seen.");
        }
        const std::string caption = caption_of(groups);
        const Rect body =
            ui.panel(area, {.title = seeds_title,
                            .right = fmt::format("{} runs, {}", count(groups), counted(groups.size(), "group")),
                            .badge = Provenance::executed,
                            .caption = caption});
        float y = body.y;
        const bool low = body.h <= 230;  // above a sketch
        const std::string head = headline_of(groups);
        const bool large = !low && ui.text_width(head, {.size = 20, .weight = 700}) <= body.w;
        ui.text(body.x, y + (low ? 14.0f : 20.0f), head, {.size = large ? 20.0f : 16.0f, .weight = 700, .width = body.w});
        y += low ? 22 : 36;
        const Rect room{body.x, y, body.w, body.bottom() - 26 - y};
        const bool losses = room.w > 720;
        const float left = losses ? room.w * 0.55f : room.w;
        draw_dots(ui, groups, asked_level(session), {room.x, room.y, left, room.h});
        if (losses) draw_losses(ui, groups, {room.x + left + 40, room.y, room.w - left - 40, room.h});
        const float at = body.bottom() - 6;
        ui.ring({body.x + 7, at - 4}, 5, ui.theme->ink2, 1.5f);
        float x = ui.text(body.x + 20, at, "a seed", {.size = 13, .color = ui.theme->ink2}) + 24;
        ui.rect({x, at - 6, 20, 4}, ui.theme->ink2);
        ui.text(x + 26, at, "mean", {.size = 13, .color = ui.theme->ink2});
    }

    std::string describe(const Session& session, const Focus&) const override {
        const std::vector<SeedGroup> groups = groups_of(session);
        if (groups.empty()) return "Accuracy by seed: no runs have been measured.\n";
        std::string text = fmt::format("{} (executed)\n  {}\n", seeds_title, headline_of(groups));
        for (const SeedGroup& group : groups) {
            if (group.kept_back) {
                text += fmt::format("  {}: waits for an answer\n", group.name);
                continue;
            }
            text += fmt::format("  {}: mean {:.1f} %, seeds", group.name, 100 * group.mean());
            for (const double one : group.accuracies) text += fmt::format(" {:.1f}", 100 * one);
            text += "\n";
        }
        return text + "  " + caption_of(groups) + "\n";
    }

  private:
    static std::vector<SeedGroup> groups_of(const Session& session) {
        std::vector<SeedGroup> groups = seed_groups(session.snapshot()->training.curves);
        std::erase_if(groups, [](const SeedGroup& group) { return group.accuracies.empty(); });
        for (SeedGroup& group : groups) group.kept_back = keeps_back(session, group.name);
        return groups;
    }
    static std::vector<SeedGroup> told(std::vector<SeedGroup> groups) {
        std::erase_if(groups, [](const SeedGroup& group) { return group.kept_back; });
        return groups;
    }
    // The accuracy that the step's exercise asks for; 0: it asks for none.
    static double asked_level(const Session& session) {
        const LessonState& state = session.lesson;
        const auto at = static_cast<size_t>(std::max(0, state.step));
        if (session.workspace != Workspace::learn || !state.lesson || at >= state.lesson->steps.size()) return 0;
        for (const lessons::Exercise& exercise : state.lesson->steps[at].exercises)
            for (const scene::Expression& clause : exercise.check.clauses()) {
                if (!clause.text().starts_with("accuracy") || clause.text().find(">=") == std::string::npos) continue;
                const auto level = clause.sides().second.evaluate(
                    [](const scene::FigureName&) -> Result<double> { return Diagnostic{.message = "not a number"}; });
                if (level) return level.value();
            }
        return 0;
    }
    // "batch 512", "SGD and LARS": those that wait for an answer; empty: none does.
    static std::string asked(const std::vector<SeedGroup>& groups) {
        std::vector<std::string> names;
        for (const SeedGroup& group : groups)
            if (group.kept_back) names.push_back(group.name);
        std::string all;
        for (size_t i = 0; i < names.size(); ++i) all += (i == 0 ? "" : i + 1 == names.size() ? " and " : ", ") + names[i];
        return all;
    }
    static size_t count(const std::vector<SeedGroup>& groups) {
        size_t runs = 0;
        for (const SeedGroup& group : groups) runs += group.accuracies.size();
        return runs;
    }
    static std::string headline_of(const std::vector<SeedGroup>& all) {
        const std::vector<SeedGroup> groups = told(all);
        const std::string waits = asked(all);
        const auto by_mean = [](const SeedGroup& a, const SeedGroup& b) { return a.mean() < b.mean(); };
        const auto [worst, best] = std::minmax_element(groups.begin(), groups.end(), by_mean);
        if (groups.empty()) return fmt::format("What do {} read?", waits);
        if (!waits.empty())
            return fmt::format("{} reads {:.1f} % on average; and {}?", capital(best->name), 100 * best->mean(), waits);
        if (groups.size() == 1 && best->high() - best->low() > far_apart)
            return fmt::format("Nothing but the seed differs: {:.1f} to {:.1f} % are read", 100 * best->low(),
                               100 * best->high());
        if (groups.size() == 1)
            return fmt::format("On average {} seeds read {:.1f} %", best->accuracies.size(), 100 * best->mean());
        if (groups.size() == 2 && worst->high() - worst->low() > far_apart && best->high() - best->low() < far_apart)
            return fmt::format("{}: every seed reads at least {:.1f} %; {}: one only {:.1f} %", capital(best->name),
                               100 * best->low(), worst->name, 100 * worst->low());
        if (groups.size() > 4)
            return fmt::format("{} reads {:.1f} % on average, {} {:.1f} %", capital(best->name), 100 * best->mean(),
                               worst->name, 100 * worst->mean());
        std::string text;
        for (const SeedGroup& group : groups)
            text += fmt::format("{}{}: {:.1f} %", text.empty() ? "" : ", ", group.name, 100 * group.mean());
        return capital(text) + " on average";
    }
    static std::string capital(std::string text) {
        if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
        return text;
    }
    static std::string caption_of(const std::vector<SeedGroup>& all) {
        const std::vector<SeedGroup> groups = told(all);
        if (const std::string waits = asked(all); !waits.empty())
            return fmt::format("All runs have ended; what {} read waits for your answer.", waits);
        const auto widest = std::max_element(groups.begin(), groups.end(), [](const SeedGroup& a, const SeedGroup& b) {
            return a.high() - a.low() < b.high() - b.low();
        });
        const size_t seeds = groups.front().accuracies.size();
        std::string text = fmt::format("Means of {}. Seeds of {} differ by {:.1f} points", counted(seeds, "seed"),
                                       widest->name, 100 * (widest->high() - widest->low()));
        if (groups.size() == 1) return text + ".";
        // Whether some seeds of two groups lie the other way round than their means.
        for (const SeedGroup& a : groups)
            for (const SeedGroup& b : groups)
                if (a.mean() > b.mean() && a.low() < b.high())
                    return text + fmt::format("; one seed alone could have put {} before {}.", b.name, a.name);
        return text + ": less than lies between the groups.";
    }

    // `asked`: what an exercise asks for, a dashed line; 0: nothing.
    static void draw_dots(Ui& ui, const std::vector<SeedGroup>& groups, double asked, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float head = ui.text(r.x, r.y + 14, "Accuracy", {.size = 14, .weight = 600});
        ui.text(head + 8, r.y + 14, "% of unseen examples",
                {.size = 13, .color = theme.quiet, .width = r.right() - head - 8});
        double low = 1, high = 0;
        for (const SeedGroup& group : groups) {  // an axis that fits what is kept back would tell it
            low = std::min(low, group.kept_back ? 0 : group.low());
            high = std::max(high, group.kept_back ? 1 : group.high());
        }
        if (asked > 0) high = std::max(high, asked);
        low = low < 0.35 ? 0 : std::floor(low * 10 - 0.2) / 10;
        high = std::min(1.0, std::ceil(high * 10 + 0.2) / 10);
        const Rect plot{r.x + 36, r.y + 34, r.w - 36, r.h - 34 - 40};
        if (plot.h < 40 || plot.w < 80) return;
        const auto y_of = [&](double value) {
            return plot.bottom() - plot.h * static_cast<float>((value - low) / (high - low));
        };
        const double step = high - low > 0.55 ? 0.2 : 0.1;
        for (double mark = low; mark < high + 0.01; mark += step) {
            ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, theme.grid);
            ui.text(plot.x - 8, y_of(mark) + 4, fmt::format("{:.0f}", 100 * mark),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        if (asked > 0) {
            const Point line[] = {{plot.x, y_of(asked)}, {plot.right(), y_of(asked)}};
            ui.polyline(line, theme.ink, 1.5f, 6, 4);
            ui.text(plot.right() - 2, y_of(asked) - 6, fmt::format("asked: {:.0f} on average", 100 * asked),
                    {.size = 13, .align = Align::right, .weight = 600});
        }
        const float column = plot.w / static_cast<float>(groups.size()), spread = std::clamp(column * 0.3f, 34.0f, 96.0f),
                    half = spread / 2 + 12;  // of the mean's line, which looks out from behind its dots
        for (size_t g = 0; g < groups.size(); ++g) {
            const SeedGroup& group = groups[g];
            const float middle = plot.x + column * (static_cast<float>(g) + 0.5f), mean = y_of(group.mean());
            draw_name(ui, group.name, middle, plot.bottom() + 18, column - 8);
            if (group.kept_back) {
                const Rect place{middle - 26, plot.y, 52, plot.h};
                ui.dashed(place, theme.ink3, 3, 3);
                ui.text(middle, plot.y + plot.h / 2 + 8, "?",
                        {.size = 24, .color = theme.ink2, .align = Align::center, .weight = 700});
                continue;
            }
            ui.rect({middle - half, mean - 2, 2 * half, 4}, seed_color(g));
            const auto seeds = static_cast<float>(group.accuracies.size());
            for (size_t s = 0; s < group.accuracies.size(); ++s) {
                const float x = middle + (seeds > 1 ? (static_cast<float>(s) / (seeds - 1) - 0.5f) * spread : 0);
                const Point at{x, y_of(group.accuracies[s])};
                ui.circle(at, 5, theme.panel);
                ui.ring(at, 5, seed_color(g), 2);
                if (ui.hovered({at.x - 8, at.y - 8, 16, 16}))
                    ui.tooltip(fmt::format("{}, run {}: {:.1f} %", group.name, s + 1, 100 * group.accuracies[s]));
            }
            const std::string text = fmt::format("{:.1f}", 100 * group.mean());
            if (column > 2 * half + 60)
                ui.text(middle + half + 8, mean + 5, text, {.size = 16, .weight = 700});
            else
                ui.text(middle, std::min(y_of(group.low()) + 24, plot.bottom() - 2), text,
                        {.size = 13, .align = Align::center, .weight = 700});
        }
    }
    // On two lines where it does not fit on one.
    static void draw_name(Ui& ui, const std::string& name, float middle, float y, float width) {
        const TextStyle style{.size = 13, .align = Align::center, .weight = 600};
        TextStyle fitted = style;
        fitted.width = width;
        const size_t space = name.rfind(' ');
        if (ui.text_width(name, style) <= width || space == std::string::npos) {
            const float w = std::min(width, ui.text_width(name, style));
            fitted.align = Align::left;
            ui.text(middle - w / 2, y, name, fitted);
            return;
        }
        for (const auto& [part, line] : {std::pair{name.substr(0, space), 0.0f}, std::pair{name.substr(space + 1), 17.0f}}) {
            const float w = std::min(width, ui.text_width(part, style));
            fitted.align = Align::left;
            ui.text(middle - w / 2, y + line, part, fitted);
        }
    }

    static void draw_losses(Ui& ui, const std::vector<SeedGroup>& groups, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float head = ui.text(r.x, r.y + 14, "Loss", {.size = 14, .weight = 600});
        const bool each = std::any_of(groups.begin(), groups.end(), [](const SeedGroup& group) {
            return !group.kept_back && group.high() - group.low() >= far_apart;
        });
        ui.text(head + 8, r.y + 14, each ? "mean over the seeds; thin: each seed" : "mean over the seeds, by step",
                {.size = 13, .color = theme.quiet, .width = r.right() - head - 8});
        double most = 0;
        for (const SeedGroup& group : groups)
            for (size_t i = 0; i < (group.kept_back ? std::min<size_t>(1, group.loss.size()) : group.loss.size()); ++i)
                if (std::isfinite(group.loss[i])) most = std::max(most, group.loss[i]);
        most = std::min(most, 4.0);
        if (!(most > 0)) return;
        // Names below the axis, as many beside each other as fit.
        constexpr float line_mark = 34, line_gap = 18, line_pitch = 19;
        int lines = 1;
        float taken = 0;
        std::vector<std::pair<int, float>> places;  // line, from the left
        for (const SeedGroup& group : groups) {
            const float w = ui.text_width(name_in_legend(group), {.size = 13}) + line_mark;
            if (taken > 0 && taken + w > r.w) ++lines, taken = 0;
            places.emplace_back(lines - 1, taken);
            taken += w + line_gap;
        }
        const Rect plot{r.x + 36, r.y + 34, r.w - 36 - 8, r.h - 34 - 24 - line_pitch * static_cast<float>(lines)};
        if (plot.h < 40) return;
        const double step = most > 2.5 ? 1 : 0.5;
        const auto y_of = [&](double loss) {
            return plot.bottom() - plot.h * static_cast<float>(std::clamp(loss / most, 0.0, 1.0));
        };
        for (double mark = 0; mark <= most; mark += step) {
            ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, theme.grid);
            ui.text(plot.x - 8, y_of(mark) + 4, fmt::format("{:.1f}", mark),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        // Where one group has runs of two kinds, a mean is none of them: each run is drawn, too.
        for (size_t g = 0; g < groups.size(); ++g) {
            if (groups[g].kept_back || groups[g].high() - groups[g].low() < far_apart) continue;
            for (const std::vector<double>& loss : groups[g].losses) {
                std::vector<Point> line;
                for (size_t i = 0; i < loss.size(); ++i)
                    if (std::isfinite(loss[i]))
                        line.push_back({plot.x + plot.w * static_cast<float>(i) /
                                                     static_cast<float>(std::max<size_t>(1, loss.size() - 1)),
                                        y_of(loss[i])});
                if (line.size() > 1) ui.polyline(line, faded(seed_color(g), 0.5f), 1.2f);
            }
        }
        for (size_t g = 0; g < groups.size(); ++g) {
            std::vector<Point> line;
            const size_t steps = groups[g].loss.size(), shown = groups[g].kept_back ? std::min<size_t>(1, steps) : steps;
            for (size_t i = 0; i < shown; ++i)
                if (std::isfinite(groups[g].loss[i]))
                    line.push_back(
                        {plot.x + plot.w * (steps > 1 ? static_cast<float>(i) / static_cast<float>(steps - 1) : 0),
                         y_of(groups[g].loss[i])});
            if (line.size() > 1) ui.polyline(line, seed_color(g), 2.5f, g % 2 == 1 ? 7.0f : 0.0f, g % 2 == 1 ? 4.0f : 0.0f);
            if (line.size() == 1) ui.circle(line.front(), 4, seed_color(g));
        }
        const bool alike = std::all_of(groups.begin(), groups.end(), [&](const SeedGroup& group) {
            return group.loss.size() == groups.front().loss.size();
        });
        ui.text(plot.x, plot.bottom() + 18, alike ? "step 1" : "first", {.size = 12, .color = theme.quiet});
        ui.text(plot.right(), plot.bottom() + 18,
                alike ? with_commas(static_cast<int64_t>(groups.front().loss.size())) : std::string("last"),
                {.size = 12, .color = theme.quiet, .align = Align::right});
        for (size_t g = 0; g < groups.size(); ++g)
            ui.legend_line(r.x + places[g].second, plot.bottom() + 38 + line_pitch * static_cast<float>(places[g].first),
                           seed_color(g), g % 2 == 1, name_in_legend(groups[g]));
    }
    static std::string name_in_legend(const SeedGroup& group) { return group.name + (group.kept_back ? ": ?" : ""); }
};

}  // namespace

std::unique_ptr<View> make_seeds_view() {
    return std::make_unique<SeedsView>();
}

}  // namespace lockstep::gui
