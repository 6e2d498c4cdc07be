// A tensor program op by op: a bar as long as what the op costs going forward, of several programs on one scale, so that one
// sees at a glance which op a change spares. The view `arithmetic` counts arithmetic, `traffic` bytes, where what one kernel
// writes for the next to read is hatched.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "app/gui/view.h"
#include "app/gui/views/tensor/costs/op_costs.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

using Programs = std::vector<ProgramCosts>;

constexpr std::string_view costs_hidden = "What each op costs stays hidden until you lock an answer.";
constexpr float least_pitch = 17, most_pitch = 110;

class OpCostsView final : public View {
  public:
    explicit OpCostsView(bool of_bytes) : of_bytes_(of_bytes) {}

    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        Programs programs = op_costs_shown(*snapshot);
        for (ProgramCosts& program : programs)
            for (const size_t row : costly_rows(program, of_bytes_)) program.rows[row].costly = true;
        if (programs.empty()) {
            const Rect body = ui.panel(area, {.title = title()});
            return ui.say_nothing_yet(body, "No tensor program has run yet.", snapshot->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = hidden ? std::string(costs_hidden) : caption_of(programs);
        const Rect body = ui.panel(area, {.title = title(),
                                          .right = programs.size() > 1 ? "forward, on one scale" : "forward",
                                          .badge = hidden ? Provenance::none : Provenance::derived,
                                          .caption = caption});
        const bool low = body.h < 260;
        float y = body.y;
        if (!hidden) {
            ui.text(body.x, y + (low ? 17.0f : 22.0f), op_costs_headline(programs, of_bytes_),
                    {.size = low ? 16.0f : 20.0f, .weight = 700, .width = body.w});
            if (!low)
                ui.text(body.x, y + 44, op_costs_second(programs, of_bytes_) + asked_words(session, programs.front()),
                        {.size = 14, .color = ui.theme->ink2, .width = body.w});
            y += low ? 26 : 58;
        }
        draw_programs(ui, low ? shortened(programs) : programs, hidden,
                      {body.x, y, body.w, body.bottom() - y - (of_bytes_ && !hidden ? 24.0f : 0.0f)});
        if (!of_bytes_ || hidden) return;
        float x = ui.legend(body.x, body.bottom() - 6, data::orange, Hatch::diagonal, "from one kernel to a later one");
        if (x + 200 < body.right()) ui.legend(x, body.bottom() - 6, data::sky, Hatch::solid, "from outside, or the result");
    }

    std::string describe(const Session& session, const Focus&) const override {
        const Programs programs = op_costs_shown(*session.snapshot());
        if (programs.empty()) return std::string(title()) + ": no tensor program has run yet.\n";
        std::string text = fmt::format("{} (derived)\n", title());
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(costs_hidden) + "\n";
        for (const ProgramCosts& program : programs) {
            text += fmt::format("  {}: {}\n", program.name, number(program.cost(of_bytes_)));
            for (const OpCostRow& row : program.rows) text += fmt::format("    {}: {}\n", row.name, number(cost(row)));
        }
        return text + "  " + op_costs_headline(programs, of_bytes_) + ". " + op_costs_second(programs, of_bytes_) + " " +
               caption_of(programs) + "\n";
    }

  private:
    bool of_bytes_;

    std::string_view title() const { return of_bytes_ ? "Bytes moved, op by op" : "Operations, op by op"; }
    double cost(const OpCostRow& row) const { return of_bytes_ ? row.bytes : row.operations; }
    std::string number(double value) const { return of_bytes_ ? bytes_si(value) : whole_number(std::llround(value)); }
    // What the step's exercise allows at most: " Asked: 24,211 operations or fewer."; "" where it asks nothing of the kind.
    std::string asked_words(const Session& session, const ProgramCosts& program) const {
        const LessonState& state = session.lesson;
        const auto at = static_cast<size_t>(std::max(0, state.step));
        if (session.workspace != Workspace::learn || !state.lesson || at >= state.lesson->steps.size()) return {};
        const std::string_view figure = of_bytes_ ? "bytes_moved" : "operations";
        for (const lessons::Exercise& exercise : state.lesson->steps[at].exercises)
            for (const scene::Expression& clause : exercise.check.clauses()) {
                if (!clause.text().starts_with(figure) || clause.text().find("<=") == std::string::npos) continue;
                const auto most = clause.sides().second.evaluate([&](const scene::FigureName& name) -> Result<double> {
                    if (name.base == figure) return program.cost(of_bytes_);
                    return Diagnostic{.message = "not known here"};
                });
                if (most)
                    return fmt::format(" Asked: {}{} or fewer.", number(std::floor(most.value())),
                                       of_bytes_ ? "" : " operations");
            }
        return {};
    }
    std::string caption_of(const Programs& programs) const {
        std::string text = of_bytes_ ? "Each buffer counts once a kernel that reads or writes it."
                                     : "A multiply-add counts as two operations.";
        if (programs.size() > 1) text += " Both programs stand on one scale.";
        return text;
    }

    // In little room two programs show their costliest ops, and the others as one row.
    Programs shortened(Programs programs) const {
        if (programs.size() < 2) return programs;
        constexpr size_t kept = 3;
        for (ProgramCosts& program : programs) {
            if (program.rows.size() <= kept + 1) continue;
            std::vector<double> costs;
            for (const OpCostRow& row : program.rows) costs.push_back(cost(row));
            std::nth_element(costs.begin(), costs.begin() + kept - 1, costs.end(), std::greater<>());
            const double least = costs[kept - 1];
            OpCostRow rest;
            std::vector<OpCostRow> rows;
            size_t others = 0;
            for (OpCostRow& row : program.rows)
                if (cost(row) >= least && rows.size() < kept) {
                    rows.push_back(std::move(row));
                } else {
                    rest.operations += row.operations, rest.bytes += row.bytes, rest.between += row.between;
                    others += shown(row);
                }
            rest.name = fmt::format("{} others", others);
            rows.push_back(std::move(rest));
            program.rows = std::move(rows);
        }
        return programs;
    }

    void draw_programs(Ui& ui, const Programs& programs, bool hidden, const Rect& r) const {
        const Theme& theme = *ui.theme;
        size_t rows = 0;
        double most = 1e-9;
        float names = 60;
        const TextStyle mono{.size = 13, .mono = true};
        for (const ProgramCosts& program : programs) {
            for (const OpCostRow& row : program.rows) {
                rows += shown(row);
                most = std::max(most, cost(row));
                if (shown(row)) names = std::max(names, ui.text_width(row.name, mono) + 14);
            }
            rows += programs.size() > 1 ? 1 : 0;
        }
        if (rows == 0) return;
        names = std::min(names, r.w * 0.34f);
        const float gap = programs.size() > 1 ? 8 : 0;
        const float pitch = std::clamp((r.h - gap * static_cast<float>(programs.size() - 1)) / static_cast<float>(rows),
                                       least_pitch, most_pitch);
        const float shapes = r.w > 520 ? 84 : 0, left = r.x + names + shapes, numbers = 92;
        float y = r.y;
        for (const ProgramCosts& program : programs) {
            if (programs.size() > 1) {
                if (y + pitch > r.bottom() + 1) return;
                ui.text(r.x, y + pitch / 2 + 5, program.name, {.size = 14, .weight = 700, .width = names});
                if (!hidden)
                    ui.text(left, y + pitch / 2 + 5,
                            number(program.cost(of_bytes_)) + (of_bytes_ ? " moved in all" : " operations in all"),
                            {.size = 14, .weight = 700});
                y += pitch;
            }
            for (const OpCostRow& row : program.rows) {
                if (!shown(row)) continue;
                if (y + pitch > r.bottom() + 1) return;
                ui.text(r.x, y + pitch / 2 + 5, row.name, {.size = 13, .mono = true, .width = names - 8});
                if (shapes > 0)
                    ui.text(left - 14, y + pitch / 2 + 5, row.shape,
                            {.size = 12, .color = theme.quiet, .align = Align::right, .width = shapes - 14});
                const Rect track{left, y + 2, r.right() - numbers - left,
                                 std::max(8.0f, pitch - std::max(5.0f, pitch * 0.25f))};
                if (hidden) {
                    ui.dashed({track.x, track.y, track.w, track.h}, theme.ink3, 3, 3);
                    ui.text(track.right() + 10, y + pitch / 2 + 5, "?", {.size = 14, .weight = 700});
                } else {
                    bar(ui, row, most, track);
                    ui.text(r.right(), y + pitch / 2 + 5, number(cost(row)),
                            {.size = 13, .align = Align::right, .weight = row.costly ? 700 : 400});
                }
                y += pitch;
            }
            y += gap;
        }
    }
    bool shown(const OpCostRow& row) const { return cost(row) > 0; }

    void bar(Ui& ui, const OpCostRow& row, double most, const Rect& track) const {
        const auto length = [&](double value) { return track.w * static_cast<float>(value / most); };
        ui.rect(track, ui.theme->grid);
        if (!of_bytes_) {
            ui.rect({track.x, track.y, std::max(1.5f, length(cost(row))), track.h}, row.costly ? data::orange : data::sky);
            return;
        }
        const float between = length(row.between), outer = length(row.bytes - row.between);
        if (between > 0) {
            ui.rect({track.x, track.y, between, track.h}, mix(ui.theme->panel, data::orange, 0.45f));
            for (float x = 0; x < between; x += 440)  // a hatched quad is that wide at most
                ui.hatch({track.x + x, track.y, std::min(440.0f, between - x), track.h}, data::orange, Hatch::diagonal);
        }
        if (outer > 0) ui.rect({track.x + between, track.y, std::max(1.5f, outer), track.h}, data::sky);
    }
};

}  // namespace

std::unique_ptr<View> make_arithmetic_view() {
    return std::make_unique<OpCostsView>(false);
}
std::unique_ptr<View> make_traffic_view() {
    return std::make_unique<OpCostsView>(true);
}

}  // namespace lockstep::gui
