// The kit: budget bars of area and power, and a row a figure with what it takes of both; a free one has a handle. Whatever
// the handle is moved to runs at once. The row that limits the run is marked; so is, on a handle's way, where the design
// before had it (hollow), and where the change that gains most would have it (a diamond, or an arrow that way at first).
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "app/gui/views/build/build_data.h"
#include "app/gui/views/build/list_pin.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {
namespace {

constexpr float kit_head = 28, kit_fixed = 24, kit_note = 20;

// A row with a handle below its name; that of a "what if" stands beside it, where others have what they take.
bool tall(const BuildTask& task, const KitRow& row) {
    return row.free != nullptr && !task.costs_the_medal(row.field);
}

std::string number_of(double value) {
    return value >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}
// Of what is left or too much: never 0.0 where there is some.
std::string rest_of(double value) {
    return value < 0.095 && value > 0 ? fmt::format("{:.2g}", value) : number_of(value);
}

struct Columns {
    float left, right, mm2, watts, slider;
};
Columns columns_of(const Rect& body) {
    return {body.x, body.right(), body.right() - 68, body.right(), std::max(60.0f, body.w - 148)};
}

// The groups side by side, as long as their share of the budget; what is over it lies behind the line. `proposed`: the total
// of the proposed change, as an outline; 0: there is none.
void budget_bar(Ui& ui, const Rect& box, const std::vector<KitGroup>& groups, bool watts, double total, double budget,
                double proposed) {
    const Theme& theme = *ui.theme;
    const double most = std::max({total, budget, proposed}) * 1.04;
    ui.rect(box, theme.grid);
    for (const GroupShare& share : shares_of_groups(groups, watts, total, most)) {
        const float x = box.x + box.w * static_cast<float>(share.from);
        const float w = box.w * static_cast<float>(share.to - share.from);
        if (w >= 1) group_box(ui, {x, box.y, w - 1, box.h}, share.group);
    }
    if (proposed > 0) {
        const float from = box.x + box.w * static_cast<float>(std::min(total, proposed) / most);
        const float to = box.x + box.w * static_cast<float>(std::max(total, proposed) / most);
        if (to - from >= 2) {
            ui.frame({from, box.y, to - from, box.h}, theme.accent, 2);
            if (proposed < total) ui.hatch({from, box.y, to - from, box.h}, faded(theme.accent, 0.6f), Hatch::dots);
        }
    }
    if (budget <= 0) return;
    const float limit = box.x + box.w * static_cast<float>(budget / most);
    const float end = box.x + box.w * static_cast<float>(total / most);
    if (end > limit + 1) ui.hatch({limit, box.y, end - limit, box.h}, theme.wrong, Hatch::diagonal);
    ui.rect({limit - 1, box.y - 3, 2, box.h + 6}, theme.ink);
}

// Lanes that take ground and that the run never issued to.
bool never_used(const KitRow& row, const BuiltDesign* shown) {
    if (shown == nullptr || !shown->ran() || shown->sampled > 0 || row.mm2 <= 0 || row.free == nullptr) return false;
    return (row.field == "fp64_lanes" && shown->use.fp64 <= 0) || (row.field == "tensor_fmas" && shown->use.tensor <= 0);
}

struct KitMarks {  // on the handles' ways
    const BuiltDesign* shown = nullptr;
    const BuiltDesign* earlier = nullptr;
    const BuiltDesign* next = nullptr;
};

// Where a budget is of watts, the parts tell those of the run; else those of a part that is busy in every cycle.
bool tells_the_run(const BuildTask& task, const BuiltDesign* shown) {
    return task.most_watts > 0 && shown != nullptr && shown->ran();
}

model::AreaEstimate estimate_told(const BuildDesk& desk, const BuiltDesign* shown) {
    return tells_the_run(*desk.task(), shown) ? with_watts_of(desk.area(), *shown) : desk.area();
}

size_t nearest_stop(const std::vector<double>& stops, double value) {
    size_t at = 0;
    for (size_t i = 0; i < stops.size(); ++i)
        if (std::fabs(stops[i] - value) < std::fabs(stops[at] - value)) at = i;
    return at;
}

class KitView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        BuildDesk& desk = session.build;
        // What a drag ends on comes in the frame in which it is let go, however late that is.
        if (!std::exchange(was_down_, ui.state->mouse_down) && Clock::now() > held_until_) desk.release();
        const Rect body = ui.panel(area, {.title = "Your GPU",
                                          .right = "a handle runs it at once",
                                          .badge = Provenance::derived,
                                          .caption = caption(desk, shown_design(session, *snapshot))});
        if (!desk.task()) return ui.say_nothing_yet(body, snapshot->busy.empty() ? "No puzzle is open." : snapshot->busy);
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        ui.push_scope("kit");
        const KitMarks marks{shown, earlier_design(session, *snapshot), proposed_design(session, *snapshot)};
        const model::AreaEstimate estimate = estimate_told(desk, shown);
        const std::vector<KitGroup> groups = kit_of(*desk.task(), desk.gpu(), estimate);
        const float top = budgets(ui, desk, marks, groups, body);
        all_watts_ = estimate.watts;
        rows(ui, session, marks, groups, {body.x, top, body.w, body.bottom() - top});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const BuildDesk& desk = session.build;
        if (!desk.task()) return "Your GPU: no puzzle is open\n";
        const auto snapshot = session.snapshot();
        const BuiltDesign* const shown = shown_design(session, *snapshot);
        const BuildTask& task = *desk.task();
        std::string text =
            fmt::format("Your GPU, design {} (areas and watts are estimates, {})\n", desk.number(), task.process->name);
        text += fmt::format("  {:.2f} mm2{}, {:.2f} W with every part busy{}\n", desk.area().mm2,
                            task.most_mm2 > 0 ? fmt::format(" of {:g}", task.most_mm2) : "", desk.area().watts,
                            task.most_watts > 0 ? fmt::format(", budget {:g} W in the run", task.most_watts) : "");
        if (tells_the_run(task, shown))
            text += fmt::format("  {:.2f} W in this run, on average, which the parts below took\n", shown->watts);
        for (const KitGroup& group : kit_of(task, desk.gpu(), estimate_told(desk, shown))) {
            text += fmt::format("  {} {}: {:.2f} mm2, {:.2f} W\n", code_of(group.group).letter, title_of(group.group),
                                group.mm2, group.watts);
            for (const KitRow& row : group.rows) {
                text += fmt::format("    {}{}{}: {:.2f} mm2, {:.2f} W", row.label, row.value.empty() ? "" : " ", row.value,
                                    row.mm2, row.watts);
                if (row.free != nullptr) text += fmt::format(", free from {:g} to {:g}", row.free->least, row.free->most);
                text += is_limit(row, shown) ? ", limits" : never_used(row, shown) ? ", not used" : "";
                text += marked(row, earlier_design(session, *snapshot), proposed_design(session, *snapshot), desk) + "\n";
            }
        }
        text += fmt::format("  {:.0f} USD, {:.0f} to {:.0f} (estimate):", desk.area().usd, desk.area().usd_low,
                            desk.area().usd_high);
        for (const model::PricePart& part : desk.area().prices) text += fmt::format(" {} {:.0f}", part.part, part.usd);
        text += "\n";
        if (!desk.impossible().empty()) text += "  impossible: " + desk.impossible() + "\n";
        return text;
    }

  private:
    // ", 2 before, 4 proposed"
    static std::string marked(const KitRow& row, const BuiltDesign* earlier, const BuiltDesign* next,
                              const BuildDesk& desk) {
        if (row.free == nullptr) return "";
        const double now = desk.value_of(row.free->field);
        std::string text;
        if (const double before = earlier != nullptr ? figure_of(earlier->gpu, row.free->field) : now; before != now)
            text += fmt::format(", {:.4g} before", before);
        const double then = next != nullptr ? figure_of(next->gpu, row.free->field) : now;
        if (then == now) return text;
        return text + (tells_values(desk) ? fmt::format(", {:.4g} proposed", then)
                                          : fmt::format(", {} proposed", then > now ? "more" : "less"));
    }

    static std::string caption(const BuildDesk& desk, const BuiltDesign* shown) {
        if (!desk.task()) return "";
        if (!desk.impossible().empty()) return "No such GPU: " + desk.impossible();
        const model::AreaEstimate& area = desk.area();
        double sum = 0;
        for (const model::PartArea& part : area.rows) sum += part.watts;
        const std::string_view of = tells_the_run(*desk.task(), shown) ? "W of this run, on average"
                                    : sum > area.watts * 1.0001
                                        ? "W with the part busy in every cycle, the sum with tensor cores or FP32 lanes"
                                        : "W with the part busy in every cycle";
        return fmt::format("mm\xC2\xB2 and W are estimates for {}; {}.", desk.task()->process->name, of);
    }

    static float budgets(Ui& ui, const BuildDesk& desk, const KitMarks& marks, const std::vector<KitGroup>& groups,
                         const Rect& body) {
        const BuiltDesign* const shown = marks.shown;
        const Theme& theme = *ui.theme;
        const BuildTask& task = *desk.task();
        float y = body.y;
        const auto bar = [&](bool watts, double total, double budget, double proposed, const std::string& unit,
                             const std::string& beside) {
            const bool over = budget > 0 && total > budget;
            const float x = ui.text(body.x, y + 17, number_of(total),
                                    {.size = 20, .color = over ? theme.wrong : theme.ink, .weight = 700});
            const float end = ui.text(x + 6, y + 17, budget > 0 ? fmt::format("of {:g} {}", budget, unit) : unit,
                                      {.size = 13, .color = theme.ink2});
            const std::string right = over ? fmt::format("{} over", rest_of(total - budget)) : beside;
            ui.text(body.right(), y + 17, right,
                    {.size = 13,
                     .color = over ? theme.wrong : theme.ink2,
                     .align = Align::right,
                     .weight = over ? 600 : 400,
                     .width = body.right() - end - 10});
            budget_bar(ui, {body.x, y + 26, body.w, 18}, groups, watts, total, budget, proposed);
            y += 54;
        };
        bar(false, desk.area().mm2, task.most_mm2, marks.next != nullptr ? marks.next->area.mm2 : 0, "mm\xC2\xB2",
            fmt::format("{}estimate",
                        task.most_mm2 > 0 ? rest_of(task.most_mm2 - desk.area().mm2) + " free, " : std::string()));
        const bool of_run = shown != nullptr && shown->ran();
        const bool by_run = tells_the_run(task, shown);
        const double next_watts = marks.next == nullptr ? 0 : by_run ? marks.next->watts : marks.next->area.watts;
        bar(true, by_run ? shown->watts : desk.area().watts, task.most_watts, next_watts, "W",
            of_run ? fmt::format("{} W in this run, estimate", number_of(shown->watts)) : "all busy, estimate");
        const model::AreaEstimate& area = desk.area();
        ui.text(body.x, y + 8, fmt::format("{:.0f} USD, {:.0f} to {:.0f}, estimate", area.usd, area.usd_low, area.usd_high),
                {.size = 12, .color = theme.ink2, .width = columns_of(body).mm2 - 40 - body.x});
        ui.text(columns_of(body).mm2, y + 8, "mm\xC2\xB2", {.size = 12, .color = theme.ink2, .align = Align::right});
        ui.text(body.right(), y + 8, "W", {.size = 12, .color = theme.ink2, .align = Align::right});
        return y + 14;
    }

    void rows(Ui& ui, Session& session, const KitMarks& marks, const std::vector<KitGroup>& groups, const Rect& box) {
        const Theme& theme = *ui.theme;
        float free_rows = 0, fixed_rows = 0;
        for (const KitGroup& group : groups)
            for (const KitRow& row : group.rows) (tall(*session.build.task(), row) ? free_rows : fixed_rows) += 1;
        const float heads = kit_head * static_cast<float>(groups.size()) + kit_note;
        const float pitch = std::clamp((box.h - heads - fixed_rows * kit_fixed) / std::max(1.0f, free_rows), 40.0f, 48.0f);
        const float height = heads + fixed_rows * kit_fixed + free_rows * pitch;
        const Rect view{box.x - 10, box.y, box.w + 20, box.h};
        const float offset = ui.scroll("rows", {box.x, box.y, box.w + 11, box.h}, height);
        std::vector<ListPlace> placed;
        float y = 0;
        for (const KitGroup& group : groups) {
            y += kit_head;
            for (const KitRow& row : group.rows) {
                placed.push_back({is_limit(row, marks.shown) ? marks.shown->limits : row.field, y,
                                  tall(*session.build.task(), row) ? pitch : kit_fixed});
                y += placed.back().h;
            }
        }
        const bool ran = marks.shown != nullptr && marks.shown->ran();
        const std::optional<PinnedRow> pin =
            pin_.place(ui, ran ? marks.shown->limits : std::string_view(), placed, view, offset);
        Rect rest = view;
        if (pin && pin->below) rest.h = pin->at.y - rest.y;
        if (pin && !pin->below) rest = {view.x, pin->at.bottom(), view.w, view.bottom() - pin->at.bottom()};
        if (pin && height > box.h) ui.state->scrolled.back().view = rest;  // what Tab comes to is not hidden beneath it
        ui.clip(rest);
        y = box.y - offset;
        auto next = placed.begin();
        for (const KitGroup& group : groups) {
            ui.line({box.x - 8, y}, {box.right() + 8, y}, theme.line);
            group_box(ui, {box.x, y + 6, 18, 16}, group.group);
            const Columns at = columns_of(box);
            ui.text(box.x + 26, y + 19, title_of(group.group),
                    {.size = 13, .weight = 600, .width = at.mm2 - 54 - box.x - 26});
            figures(ui, at, y + 19, group.mm2, group.watts, true);
            y += kit_head;
            for (const KitRow& row : group.rows) {
                const auto [field, from, h] = *next++;
                if (pin && field == pin_.field()) {  // in its turn, so that Tab comes to it as it always does
                    ui.unclip();
                    ui.clip(pin->at);
                    draw_row(ui, session, row, marks, {box.x, pin->at.y, box.w, h});
                    const float edge = pin->below ? pin->at.y : pin->at.bottom() - 1;
                    ui.rect({box.x - 8, edge, box.w + 16, 1}, theme.ink3);
                    ui.unclip();
                    ui.clip(rest);
                } else {
                    draw_row(ui, session, row, marks, {box.x, y, box.w, h});
                }
                y += h;
            }
        }
        ui.unclip();
    }

    static void figures(Ui& ui, const Columns& at, float baseline, double mm2, double watts, bool bold) {
        const auto write = [&](float right, double value) {
            ui.text(right, baseline, value < 0.05 ? (value > 0 ? "<0.1" : "0") : number_of(value),
                    {.size = 13,
                     .color = value > 0 ? ui.theme->ink : ui.theme->quiet,
                     .align = Align::right,
                     .weight = bold ? 700 : 400,
                     .mono = true});
        };
        write(at.mm2, mm2);
        write(at.watts, watts);
    }

    void draw_row(Ui& ui, Session& session, const KitRow& row, const KitMarks& marks, const Rect& line) {
        const BuiltDesign* const shown = marks.shown;
        const Theme& theme = *ui.theme;
        BuildDesk& desk = session.build;
        const Columns at = columns_of(line);
        const bool limits = is_limit(row, shown);
        const Rect ground{line.x - 8, line.y, line.w + 12, line.h};
        if (limits) {
            ui.rect(ground, mix(theme.panel, data::orange, theme.dark ? 0.2f : 0.22f));
            ui.rect({ground.x, ground.y, 4, ground.h}, data::orange);
        } else if (!row.field.empty() && desk.row == row.field) {
            ui.rect(ground, theme.selected);
        }
        const float value_right = at.left + at.slider;
        const float width = ui.text_width(row.value, {.size = 13, .weight = 700});
        const bool never = never_used(row, shown);
        const std::string_view word = limits ? "limits" : never ? "not used" : "";
        const TextStyle word_style{
            .size = limits ? 13.0f : 12.0f, .color = limits ? theme.ink : theme.wrong, .weight = limits ? 700 : 600};
        const float room = value_right - width - line.x - 8;
        const TextStyle label_style{.size = 13,
                                    .color = row.free != nullptr || limits ? theme.ink : theme.ink2,
                                    .weight = limits ? 600 : 400,
                                    .width = room};
        // Where both have no room, "a sub-core" goes, or "an SM".
        const float for_word = word.empty() ? 0 : ui.text_width(word, word_style) + 14;
        std::string label = row.label;
        for (const std::string_view per : {" a sub-core", ", an SM", " an SM"})
            if (for_word > 0 && label.ends_with(per) && ui.text_width(label, label_style) + for_word > room)
                label.resize(label.size() - per.size());
        const float end = ui.text(line.x, line.y + 16, label, label_style);
        if (end + for_word < value_right - width) ui.text(end + 8, line.y + 16, word, word_style);
        ui.text(value_right, line.y + 16, row.value,
                {.size = 13,
                 .color = row.free != nullptr ? theme.ink : theme.ink2,
                 .align = Align::right,
                 .weight = row.free != nullptr ? 700 : 400});
        if (row.free != nullptr && !tall(*desk.task(), row)) {
            handle(ui, session, row, marks, line, {value_right + 20, line.y + 4, line.right() - value_right - 28, 16});
            if (ui.hovered(ground)) ui.tooltip("what if: free to move, but no medal for it");
            return;
        }
        figures(ui, at, line.y + 16, row.mm2, row.watts, false);
        if (row.free == nullptr) return;
        const auto bar = [&](float right, double share) {
            ui.rect({right - 52, line.y + 26, 52, 5}, theme.grid);
            ui.rect({right - 52, line.y + 26, 52 * static_cast<float>(std::clamp(share, 0.0, 1.0)), 5},
                    limits ? data::orange : data::grey);
        };
        bar(at.mm2, row.mm2 / std::max(1e-9, desk.area().mm2));
        bar(at.watts, row.watts / std::max(1e-9, all_watts_));
        handle(ui, session, row, marks, line, {line.x + 8, line.y + 22, at.slider - 16, 16});
    }

    // Which stops make a GPU depends on the other handles: worked out anew when one has moved.
    const std::vector<double>& stops_for(const BuildDesk& desk, const lessons::Puzzle::Free& free) {
        if (desk.task() != stops_task_ || desk.figures() != stops_figures_) {
            stops_task_ = desk.task();
            stops_figures_ = desk.figures();
            stops_.clear();
        }
        std::vector<double>& stops = stops_[free.field];
        if (stops.empty()) stops = possible_stops(*desk.task(), desk.figures(), free);
        return stops;
    }
    std::shared_ptr<const BuildTask> stops_task_;
    lessons::Figures stops_figures_;
    std::map<std::string, std::vector<double>> stops_;
    ListPin pin_;

    using Clock = std::chrono::steady_clock;
    Clock::time_point held_until_{};  // by keys
    bool was_down_ = false;           // the mouse, in the frame before
    double all_watts_ = 0;            // that the rows' watts are shares of

    // `line`: of the whole row, whose name is to be read while its handle has the keyboard.
    void handle(Ui& ui, Session& session, const KitRow& row, const KitMarks& marks, const Rect& line, const Rect& box) {
        BuildDesk& desk = session.build;
        const std::vector<double>& stops = stops_for(desk, *row.free);
        const size_t at = nearest_stop(stops, desk.value_of(row.free->field));
        const auto last = static_cast<float>(std::max<size_t>(1, stops.size() - 1));
        const float to = ui.slider(row.field, box, static_cast<float>(at) / last, static_cast<int>(stops.size()));
        if (ui.state->focused == ui.state->id_of(row.field)) bring_into_view(ui, line);
        const auto wanted = static_cast<size_t>(std::lround(to * last));
        draw_marks(ui, row, marks, stops, at, box, tells_values(desk));
        if (wanted != at && wanted < stops.size()) {
            // One key after the other on one handle is one change, as a drag is.
            if (desk.row != row.field) desk.release();
            desk.row = row.field;
            held_until_ = Clock::now() + std::chrono::seconds(1);
            desk.set(session, row.free->field, stops[wanted], true);
        }
    }

    // The value before as a hollow handle, the proposal as a diamond with a dashed way to it; as long as its value is not
    // told, as an arrow that says up or down.
    static void draw_marks(Ui& ui, const KitRow& row, const KitMarks& marks, const std::vector<double>& stops, size_t at,
                           const Rect& box, bool values) {
        const Theme& theme = *ui.theme;
        const auto last = static_cast<float>(std::max<size_t>(1, stops.size() - 1));
        const float y = box.y + box.h / 2;
        const auto place = [&](size_t stop) { return box.x + box.w * static_cast<float>(stop) / last; };
        const auto stop_in = [&](const BuiltDesign& design) {
            return nearest_stop(stops, figure_of(design.gpu, row.free->field));
        };
        if (marks.earlier != nullptr)
            if (const size_t before = stop_in(*marks.earlier); before != at) {
                ui.rect({place(before) - 4, y - 7, 8, 14}, theme.panel, 2);
                ui.frame({place(before) - 4, y - 7, 8, 14}, theme.ink2, 1.5f, 2);
            }
        if (marks.next == nullptr) return;
        const size_t next = stop_in(*marks.next);
        if (next == at) return;
        const float side = next > at ? 1.0f : -1.0f;
        if (!values) {
            const float tip = std::clamp(place(at) + side * 24, box.x - 8, box.right() + 8), back = tip - side * 8;
            ui.polygon({{tip, y}, {back, y - 6}, {back, y + 6}}, theme.accent);
            if (ui.hovered({std::min(tip, back) - 4, y - 8, 16, 16}))
                ui.tooltip(side > 0 ? "proposed: more of it" : "proposed: less of it");
            return;
        }
        const float x = place(next), from = place(at) + side * 8;
        const Point way[] = {{from, y}, {x, y}};
        ui.polyline(way, theme.accent, 2, 3, 3);
        ui.polygon({{x, y - 7}, {x + 7, y}, {x, y + 7}, {x - 7, y}}, theme.panel);
        ui.polygon({{x, y - 5.5f}, {x + 5.5f, y}, {x, y + 5.5f}, {x - 5.5f, y}}, theme.accent);
        if (ui.hovered({x - 8, y - 8, 16, 16}))
            ui.tooltip(fmt::format("proposed: {:.4g}; Try it takes it", figure_of(marks.next->gpu, row.free->field)));
    }
};

}  // namespace

std::unique_ptr<View> make_kit_view() {
    return std::make_unique<KitView>();
}

}  // namespace lockstep::gui
