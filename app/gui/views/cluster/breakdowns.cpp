// What breaks in a large training run: the unplanned stops of Llama 3 405B's by their cause, as they were published, and how
// long a run on so many GPUs goes on until its first stop, were stops in proportion to GPUs. The machine is the one of the
// scene's first plan.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "core/base/units.h"
#include "core/scene/cluster/cluster.h"
#include "core/scene/cluster/parallel_scene.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view breakdowns_title = "What breaks, and how often";
// The Llama 3 Herd of Models (Meta, 2024), table 5: 54 days of pre-training on 16,384 H100s.
constexpr double published_days = 54, published_gpus = 16384;
struct BreakdownCause {
    std::string_view name;
    int stops;
    bool gpu;  // of a GPU or its memory
};
constexpr BreakdownCause causes[] = {{"a GPU fails", 148, true},       {"a GPU's memory", 72, true},
                                     {"software", 54, false},          {"network switch, cable", 35, false},
                                     {"a server's upkeep", 32, false}, {"all else", 78, false}};

int all_stops() {
    int all = 0;
    for (const BreakdownCause& cause : causes) all += cause.stops;
    return all;
}

double hours_to_first(double gpus) {
    return published_days * 24 * published_gpus / all_stops() / gpus;
}

std::string hours_text(double hours) {
    if (hours >= 24 * 365) return fmt::format("{:.2g} years", hours / 24 / 365);
    if (hours >= 48) return fmt::format("{:.3g} days", hours / 24);
    return hours >= 1 ? fmt::format("{:.2g} hours", hours) : fmt::format("{:.2g} minutes", hours * 60);
}

double planned_gpus(const Snapshot& snapshot) {
    if (snapshot.cluster && snapshot.cluster->ran)
        for (const scene::ParallelRow& row : snapshot.cluster->ran->rows)
            if (row.plan && row.split.ranks() > 1) return row.split.ranks();
    return published_gpus;
}

std::vector<double> machines(double own) {  // one GPU up to many, the plan's own among them
    std::vector<double> all = {1, 8, 64, 1024};
    if (std::find(all.begin(), all.end(), own) == all.end()) all.push_back(own);
    std::sort(all.begin(), all.end());
    return all;
}

std::string breakdowns_headline(double gpus) {
    return fmt::format("On {} GPUs something breaks every {}", with_commas(std::llround(gpus)),
                       hours_text(hours_to_first(gpus)));
}

constexpr std::string_view breakdowns_caption =
    "Published: The Llama 3 Herd of Models, 2024, table 5: 419 unplanned stops in 54 days on 16,384 H100s. Derived: the "
    "right half, with stops in proportion to GPUs.";

class BreakdownsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const double own = planned_gpus(*session.snapshot());
        const Rect body = ui.panel(area, {.title = breakdowns_title,
                                          .right = "Llama 3 405B, 2024",
                                          .badge = Provenance::derived,
                                          .caption = breakdowns_caption});
        ui.push_scope("breakdowns");
        ui.text(body.x, body.y + 22, breakdowns_headline(own), {.size = 22, .weight = 700, .width = body.w});
        const Rect rest{body.x, body.y + 46, body.w, body.h - 46};
        const float half = std::floor((rest.w - 32) / 2);
        draw_causes(ui, {rest.x, rest.y, half, rest.h});
        draw_first(ui, own, {rest.x + half + 32, rest.y, half, rest.h});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const double own = planned_gpus(*session.snapshot());
        std::string text = fmt::format("{} (derived)\n", breakdowns_title);
        for (const BreakdownCause& cause : causes) text += fmt::format("  {}: {}\n", cause.name, cause.stops);
        for (const double gpus : machines(own))
            text += fmt::format("  {}: first stop after {}\n", counted(std::llround(gpus), "GPU"),
                                hours_text(hours_to_first(gpus)));
        return text + fmt::format("  {}\n  {}\n", breakdowns_headline(own), breakdowns_caption);
    }

  private:
    static constexpr float head = 30, most_pitch = 104;

    static void draw_causes(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, fmt::format("{} unplanned stops in 54 days; orange: of GPUs", all_stops()),
                {.size = 14, .weight = 600, .width = r.w});
        const float pitch = std::min(most_pitch, (r.h - head) / static_cast<float>(std::size(causes)));
        const float names = std::min(160.0f, r.w * 0.4f), track = r.w - names - 44;
        for (size_t i = 0; i < std::size(causes); ++i) {
            const BreakdownCause& cause = causes[i];
            const Rect bar{r.x + names, r.y + head + pitch * static_cast<float>(i),
                           track * static_cast<float>(cause.stops) / 148.0f, pitch * 0.6f};
            ui.text(r.x, bar.y + bar.h / 2 + 5, cause.name, {.size = 13, .width = names - 8});
            ui.rect(bar, cause.gpu ? data::vermillion : data::sky);
            if (!cause.gpu) ui.hatch(bar, faded(data::black, 0.45f), Hatch::diagonal);
            ui.text(bar.right() + 8, bar.y + bar.h / 2 + 5, std::to_string(cause.stops),
                    {.size = 14, .color = theme.ink, .weight = 700});
        }
    }

    static void draw_first(Ui& ui, double own, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, "How long until the first stop, on powers of ten", {.size = 14, .weight = 600, .width = r.w});
        // A dot a machine on powers of ten: a bar would have no zero to begin at.
        const std::vector<double> all = machines(own);
        constexpr float foot = 24;
        const float pitch = std::min(most_pitch, (r.h - head - foot) / static_cast<float>(all.size()));
        const float names = std::min(110.0f, r.w * 0.3f);
        const Rect plot{r.x + names, r.y + head, r.w - names - 12, pitch * static_cast<float>(all.size())};
        constexpr std::pair<double, std::string_view> marks[] = {
            {1, "1 hour"}, {24, "1 day"}, {24 * 30, "30 days"}, {24 * 365, "1 year"}, {24 * 3650, ""}};
        const double least = 1, most = marks[4].first;
        const auto x_of = [&](double hours) {
            return plot.x + plot.w * static_cast<float>(std::log(hours / least) / std::log(most / least));
        };
        for (const auto& [hours, words] : marks) {
            ui.rect({x_of(hours), plot.y, 1, plot.h}, theme.grid);
            ui.text(x_of(hours), plot.bottom() + 16, words,
                    {.size = 12, .color = theme.quiet, .align = hours > least ? Align::center : Align::left});
        }
        ui.rect({plot.x, plot.bottom(), plot.w, 1}, theme.line);
        Point before;
        for (size_t i = 0; i < all.size(); ++i) {
            const double hours = hours_to_first(all[i]);
            const bool here = all[i] == own;
            const Point at{x_of(hours), plot.y + pitch * (static_cast<float>(i) + 0.5f)};
            ui.text(r.x, at.y + 5, counted(std::llround(all[i]), "GPU"),
                    {.size = 13, .weight = here ? 700 : 400, .width = names - 8});
            if (i > 0) ui.line(before, at, faded(data::green, 0.5f), 1.5f);
            before = at;
        }
        for (size_t i = 0; i < all.size(); ++i) {
            const double hours = hours_to_first(all[i]);
            const bool here = all[i] == own;
            const Point at{x_of(hours), plot.y + pitch * (static_cast<float>(i) + 0.5f)};
            const std::string words = hours_text(hours);
            const TextStyle style{.size = 14, .color = theme.ink, .weight = here ? 700 : 600};
            const float width = ui.text_width(words, style);
            ui.circle(at, here ? 7 : 5, here ? data::vermillion : data::green);
            // On the side where the line to the next is not.
            const bool right = at.x + 14 + width < plot.right();
            const float x = right ? at.x + 12 : at.x - 12 - width;
            ui.rect({x - 3, at.y - 9, width + 6, 18}, theme.panel);
            ui.text(x, at.y + 5, words, style);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_breakdowns_view() {
    return std::make_unique<BreakdownsView>();
}

}  // namespace lockstep::gui
