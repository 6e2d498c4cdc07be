// A gate at work, as in SwiGLU: silu(gate) = gate · sigmoid(gate) on its curve, where the run's gate stands, and how much of
// the content comes through; below, the same content behind other gates. The gate can be dragged along the curve, or moved
// by A and D: what was not run is worked out by the same rule, and says so.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view gate_title = "A gate: how much of the content passes";
constexpr double gate_low = -6, gate_high = 6;  // of the curve's axis
constexpr std::array other_gates = {-4.0, -1.0, 0.0, 1.0, 2.0, 4.0};

double sigmoid_of(double x) {
    return 1 / (1 + std::exp(-x));
}
double silu_of(double x) {
    return x * sigmoid_of(x);
}
std::string gate_number(double value) {
    return element_number(value, 3);
}

// The first element of the last SwiGLU that the step ran.
struct Gate {
    std::string gate_name, content_name, made_name;
    double gate = 0, content = 0, made = 0;
    int64_t elements = 1;
};
std::optional<Gate> gate_of(const nn::StepRecord& step) {
    for (size_t i = step.nodes.size(); i-- > 0;) {
        const nn::GraphNode& node = step.nodes[i];
        if (node.op != "swiglu" || node.inputs.size() != 2 || !node.value || node.value->empty()) continue;
        const nn::GraphNode &gate = step.nodes[static_cast<size_t>(node.inputs[0])],
                            &content = step.nodes[static_cast<size_t>(node.inputs[1])];
        if (!gate.value || !content.value || gate.value->empty() || content.value->empty()) continue;
        return Gate{gate.name,
                    content.name,
                    node.name,
                    static_cast<double>(gate.value->front()),
                    static_cast<double>(content.value->front()),
                    static_cast<double>(node.value->front()),
                    static_cast<int64_t>(node.value->size())};
    }
    return std::nullopt;
}

class GateView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto& step = session.snapshot()->training.step;
        const auto found = step ? gate_of(*step) : std::nullopt;
        if (!found) {
            const Rect body = ui.panel(area, {.title = gate_title});
            return ui.say_nothing_yet(body, "No gate is on show.", "It appears where a tensor program has a `swiglu`.");
        }
        if (step != seen_) seen_ = step, tried_.reset();
        move_by_keys(ui, *found, area);
        const Gate gate = shown(*found);
        const std::string caption = caption_of(gate);
        const Rect body = ui.panel(
            area, {.title = gate_title,
                   .right = found->elements == 1 ? std::string("one number each")
                                                 : fmt::format("the first of {} numbers", whole_number(found->elements)),
                   .badge = tried_ ? Provenance::derived : Provenance::executed,
                   .caption = caption});
        ui.push_scope("gate");
        float y = body.y;
        if (body.h > 200) {
            ui.text(body.x, y + 20, headline_of(gate), {.size = 20, .weight = 700, .width = body.w - 110});
            float x = body.right() - ui.chip_width("as it ran");
            if (tried_ && ui.chip(x, y, "as it ran")) tried_.reset();
            y += 36;
        }
        const bool chain = body.w > 620;
        const float side = chain ? std::min(250.0f, body.w * 0.3f) : 0;
        const float below = body.bottom() - y > 290 ? 84.0f : 0.0f;
        draw_curve(ui, gate, {body.x, y, body.w - side - (chain ? 30 : 0), body.bottom() - y - below});
        if (chain) draw_chain(ui, gate, {body.right() - side, y, side, body.bottom() - y - below});
        if (below > 0) draw_others(ui, gate, {body.x, body.bottom() - below + 12, body.w, below - 12});
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto& step = session.snapshot()->training.step;
        const auto found = step ? gate_of(*step) : std::nullopt;
        if (!found) return std::string(gate_title) + ": none is on show.\n";
        const Gate gate = shown(*found);
        return fmt::format("{} ({})\n  {}\n  {}\n", gate_title, name_of(tried_ ? Provenance::derived : Provenance::executed),
                           headline_of(gate), caption_of(gate));
    }

  private:
    std::shared_ptr<const nn::StepRecord> seen_;
    std::optional<double> tried_;  // a gate in place of the run's

    Gate shown(const Gate& found) const {
        Gate gate = found;
        if (tried_) gate.gate = *tried_, gate.made = silu_of(*tried_) * gate.content;
        return gate;
    }
    void move_by_keys(Ui& ui, const Gate& found, const Rect& area) {
        const double by = 0.5 * ((ui.pressed(Key::d, area) ? 1 : 0) - (ui.pressed(Key::a, area) ? 1 : 0));
        if (by != 0) tried_ = std::clamp(tried_.value_or(found.gate) + by, gate_low, gate_high);
    }
    static std::string headline_of(const Gate& gate) {
        return fmt::format("Gate {}: {} times the content passes, {} becomes {}", gate_number(gate.gate),
                           gate_number(silu_of(gate.gate)), gate_number(gate.content), gate_number(gate.made));
    }
    static std::string caption_of(const Gate& gate) {
        return fmt::format(
            "silu(gate) = gate · sigmoid(gate): near 0 left of -4, nearly the gate itself right of 4. Here sigmoid is {}. "
            "Drag along the curve for another gate.",
            gate_number(sigmoid_of(gate.gate)));
    }

    void draw_curve(Ui& ui, const Gate& gate, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Rect plot{r.x + 30, r.y + 8, r.w - 40, r.h - 48};
        if (plot.w < 80 || plot.h < 50) return;
        const double low = -1, high = 6;
        const auto x_of = [&](double x) {
            return plot.x + plot.w * static_cast<float>((x - gate_low) / (gate_high - gate_low));
        };
        const auto y_of = [&](double y) { return plot.bottom() - plot.h * static_cast<float>((y - low) / (high - low)); };
        for (const int mark : {0, 2, 4, 6}) {
            ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, mark == 0 ? theme.ink3 : theme.grid);
            ui.text(plot.x - 8, y_of(mark) + 4, std::to_string(mark),
                    {.size = 12, .color = theme.ink2, .align = Align::right});
        }
        for (const int mark : {-6, -4, -2, 0, 2, 4, 6})
            ui.text(x_of(mark), plot.bottom() + 16, std::to_string(mark),
                    {.size = 12, .color = theme.ink2, .align = Align::center});
        ui.text(plot.x + plot.w / 2, plot.bottom() + 34, "gate", {.size = 13, .weight = 600});
        const Point all[] = {{x_of(0), y_of(0)}, {x_of(6), y_of(6)}};
        ui.polyline(all, theme.ink3, 1.5f, 5, 4);
        std::vector<Point> curve;
        for (int i = 0; i <= 96; ++i) {
            const double x = gate_low + (gate_high - gate_low) * i / 96;
            curve.push_back({x_of(x), y_of(silu_of(x))});
        }
        ui.polyline(curve, data::sky, 3);
        float x = ui.legend_line(plot.x + 12, plot.y + 12, data::sky, false, "silu(gate)");
        ui.legend_line(x, plot.y + 12, theme.ink3, true, "the gate itself");
        const double here = std::clamp(gate.gate, gate_low, gate_high), passes = std::min(silu_of(here), high);
        const Point at{x_of(here), y_of(passes)};
        const Point down[] = {{at.x, plot.bottom()}, {at.x, at.y}}, left[] = {{plot.x, at.y}, at};
        ui.polyline(down, data::orange, 1.5f, 4, 3);
        ui.polyline(left, data::orange, 1.5f, 4, 3);
        ui.circle(at, 7, theme.panel);
        ui.circle(at, 5.5f, data::orange);
        const bool right = at.x < plot.right() - 90;
        ui.text(at.x + (right ? 12 : -12), at.y + 16, gate_number(silu_of(gate.gate)),
                {.size = 16, .align = right ? Align::left : Align::right, .weight = 700});
        const Drag drag = ui.drag("gate", plot);
        if (!drag.active && !drag.started) return;
        const double wish = gate_low + (gate_high - gate_low) * static_cast<double>((drag.at.x - plot.x) / plot.w);
        tried_ = std::clamp(std::round(wish * 10) / 10, gate_low, gate_high);
    }

    // From the two numbers that come in to the one that goes on.
    static void draw_chain(Ui& ui, const Gate& gate, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float gap = 26, high = std::min(52.0f, (r.h - 2 * gap) / 3), wide = (r.w - 24) / 2;
        if (high < 30) return;
        const auto box = [&](float x, float y, float w, std::string_view head, const std::string& number, Color edge) {
            ui.rect({x, y, w, high}, theme.panel2, 4);
            ui.frame({x, y, w, high}, edge, 1.5f, 4);
            ui.text(x + 10, y + high / 2 - 3, head, {.size = 12, .color = theme.ink2, .width = w - 14});
            ui.text(x + 10, y + high / 2 + 15, number, {.size = 15, .weight = 700, .width = w - 14});
        };
        const auto arrow = [&](float x, float from, float to) {
            ui.line({x, from}, {x, to - 4}, theme.ink2, 1.5f);
            ui.arrow_head({x, to - 1}, Way::down, theme.ink2, 5);
        };
        const float right = r.x + wide + 24, second = r.y + high + gap, third = second + high + gap;
        box(r.x, r.y, wide, gate.gate_name, gate_number(gate.gate), data::orange);
        box(right, r.y, wide, gate.content_name + ", content", gate_number(gate.content), theme.line);
        arrow(r.x + wide / 2, r.y + high, second);
        box(r.x, second, wide, "· sigmoid", gate_number(silu_of(gate.gate)), data::sky);
        const float join = third - gap / 2;
        ui.line({right + wide / 2, r.y + high}, {right + wide / 2, join}, theme.ink2, 1.5f);
        ui.line({r.x + wide / 2, second + high}, {r.x + wide / 2, join}, theme.ink2, 1.5f);
        ui.line({r.x + wide / 2, join}, {right + wide / 2, join}, theme.ink2, 1.5f);
        arrow(r.x + r.w / 2, join, third);
        ui.circle({r.x + r.w / 2, join}, 9, theme.panel);
        ui.ring({r.x + r.w / 2, join}, 9, theme.ink2, 1.5f);
        ui.text(r.x + r.w / 2, join + 5, "×", {.size = 14, .align = Align::center, .weight = 700});
        box(r.x + r.w / 2 - wide / 2, third, wide, gate.made_name, gate_number(gate.made), data::green);
    }

    // What becomes of the content behind other gates, a bar each.
    static void draw_others(Ui& ui, const Gate& gate, const Rect& r) {
        const Theme& theme = *ui.theme;
        ui.line({r.x, r.y - 6}, {r.right(), r.y - 6}, theme.line);
        ui.text(r.x, r.y + 14, fmt::format("What becomes of {} behind other gates", gate_number(gate.content)),
                {.size = 13, .weight = 600});
        const float badge = ui.text_width(fmt::format("What becomes of {} behind other gates", gate_number(gate.content)),
                                          {.size = 13, .weight = 600});
        ui.badge(r.x + badge + 10, r.y + 14, Provenance::derived);
        double most = 1e-9;
        for (const double other : other_gates) most = std::max(most, std::abs(silu_of(other) * gate.content));
        const float pitch = r.w / static_cast<float>(other_gates.size());
        for (size_t i = 0; i < other_gates.size(); ++i) {
            const double made = silu_of(other_gates[i]) * gate.content;
            const float x = r.x + pitch * static_cast<float>(i), y = r.y + 28, room = pitch - 86;
            ui.text(x, y + 13, fmt::format("{:g}:", other_gates[i]), {.size = 13, .color = theme.ink2});
            const float wide = std::max(2.0f, room * static_cast<float>(std::abs(made) / most));
            ui.hatch({x + 26, y, wide, 16}, made < 0 ? data::orange : data::green,
                     made < 0 ? Hatch::diagonal : Hatch::solid);
            ui.text(x + 26 + wide + 6, y + 13, gate_number(made), {.size = 13, .weight = 600});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_gate_view() {
    return std::make_unique<GateView>();
}

}  // namespace lockstep::gui
