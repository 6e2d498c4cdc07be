// Second derivatives as slopes: a field for every pair of parameters shows how the row's gradient moves while the column's
// parameter does, by the tangent at the place where the program stands, with its number. A click, A, D, W and S pick a
// field. Fields that mirror each other at the diagonal are alike. While a question is open only the names are shown.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

using scene::TapeHessian;

constexpr std::string_view hessian_title = "Second derivatives: how each gradient changes";
constexpr std::string_view hessian_hidden = "The second derivatives are hidden until you lock an answer.";
constexpr size_t most_fields = 6;  // a side

std::string second_number(double value) {
    return element_number(value, 3, 5e-7);
}

class HessianView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const TapeHessian* hessian = found(*snapshot);
        if (hessian == nullptr) {
            const Rect body = ui.panel(area, {.title = hessian_title});
            return ui.say_nothing_yet(body, "No second derivatives have been worked out.",
                                      "They are where a tensor program has a line `hessian`.");
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const size_t side = std::min(hessian->in.size(), most_fields);
        pick(ui, side, area);
        const std::string caption = caption_of(*hessian, hidden);
        const Rect body =
            ui.panel(area, {.title = hessian_title,
                            .right = side < hessian->in.size()
                                         ? fmt::format("the first {} of {} parameters", side, hessian->in.size())
                                         : fmt::format("of {} in {} parameters", hessian->of, hessian->in.size()),
                            .badge = hidden ? Provenance::none : Provenance::executed,
                            .caption = caption});
        float y = body.y;
        if (!hidden && body.h > 230) {
            ui.text(body.x, y + 20, headline_of(*hessian), {.size = 20, .weight = 700, .width = body.w});
            y += 34;
        }
        draw_fields(ui, *snapshot, *hessian, side, hidden, {body.x, y, body.w, body.bottom() - y});
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const TapeHessian* hessian = found(*snapshot);
        if (hessian == nullptr) return "Second derivatives: none have been worked out.\n";
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("{} (executed), of {}\n", hessian_title, hessian->of);
        const size_t side = std::min(hessian->in.size(), most_fields);
        for (size_t row = 0; row < side && !hidden; ++row)
            for (size_t column = 0; column < side; ++column)
                text += fmt::format("  d{}/d{} as {} moves: {}\n", hessian->of, hessian->in[row], hessian->in[column],
                                    second_number(hessian->at(row, column)));
        return text + "  " + (hidden ? std::string() : headline_of(*hessian) + ". ") + caption_of(*hessian, hidden) + "\n";
    }

    float needs(Ui&, Session& session, Focus&, const Rect&) override {
        const TapeHessian* hessian = found(*session.snapshot());
        return hessian == nullptr ? 0 : 130 + 90 * static_cast<float>(std::min(hessian->in.size(), most_fields));
    }

  private:
    size_t row_ = 0, column_ = 1;  // the field that the headline tells

    static const TapeHessian* found(const Snapshot& snapshot) {
        return snapshot.tape && !snapshot.tape->hessians.empty() && !snapshot.tape->hessians.front().in.empty()
                   ? &snapshot.tape->hessians.front()
                   : nullptr;
    }
    void pick(Ui& ui, size_t side, const Rect& area) {
        const auto moved = [&](size_t at, Key back, Key on) {
            if (ui.pressed(back, area) && at > 0) --at;
            if (ui.pressed(on, area)) ++at;
            return std::min(at, side - 1);
        };
        row_ = moved(row_, Key::w, Key::s);
        column_ = moved(column_, Key::a, Key::d);
    }
    static std::string gradient_name(const TapeHessian& hessian, size_t row) {
        return fmt::format("d{}/d{}", hessian.of, hessian.in[row]);
    }
    std::string headline_of(const TapeHessian& hessian) const {
        const size_t row = std::min(row_, hessian.in.size() - 1), column = std::min(column_, hessian.in.size() - 1);
        const double value = hessian.at(row, column);
        if (std::abs(value) < 5e-7)
            return fmt::format("{} stays while {} moves", gradient_name(hessian, row), hessian.in[column]);
        return fmt::format("As {} grows, {} {}, by {:.3g} for each 1 at first", hessian.in[column],
                           gradient_name(hessian, row), value > 0 ? "grows" : "falls", std::abs(value));
    }
    // How far numbers that mirror each other at the diagonal are apart, of the largest.
    static double asymmetry(const TapeHessian& hessian) {
        double most = 1e-300, apart = 0;
        for (size_t row = 0; row < hessian.in.size(); ++row)
            for (size_t column = 0; column < hessian.in.size(); ++column) {
                most = std::max(most, std::abs(hessian.at(row, column)));
                apart = std::max(apart, std::abs(hessian.at(row, column) - hessian.at(column, row)));
            }
        return apart / most;
    }
    static std::string caption_of(const TapeHessian& hessian, bool hidden) {
        if (hidden) return std::string(hessian_hidden);
        std::string text = "Each gradient's own graph was walked back, in double precision.";
        if (hessian.in.size() > 1 && asymmetry(hessian) < 1e-9)
            text += " Fields that mirror each other hold one number: it makes no difference which moves first.";
        return text;
    }
    // Of the parameter, as the step recorded it; NaN: it is one element of a larger one, or not kept.
    static double gradient_of(const Snapshot& snapshot, const std::string& name) {
        if (!snapshot.training.step) return NAN;
        for (const nn::GraphNode& node : snapshot.training.step->nodes)
            if (node.name == name && node.gradient && node.gradient->size() == 1)
                return static_cast<double>(node.gradient->front());
        return NAN;
    }

    void draw_fields(Ui& ui, const Snapshot& snapshot, const TapeHessian& hessian, size_t side, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const auto count = static_cast<float>(side);
        const float names = std::min(150.0f, r.w * 0.24f), head = 24, gap = side > 3 ? 6.0f : 12.0f;
        const float w = (r.w - names - gap * (count - 1)) / count, h = (r.h - head - gap * (count - 1)) / count;
        if (w < 50 || h < 28) return;
        double most = 1e-300;
        for (size_t row = 0; row < side; ++row)
            for (size_t column = 0; column < side; ++column) most = std::max(most, std::abs(hessian.at(row, column)));
        for (size_t column = 0; column < side; ++column)
            ui.text(r.x + names + (w + gap) * static_cast<float>(column) + w / 2, r.y + 14,
                    fmt::format("as {} moves", hessian.in[column]),
                    {.size = 14, .align = Align::center, .weight = 600, .width = w});
        for (size_t row = 0; row < side; ++row) {
            const float y = r.y + head + (h + gap) * static_cast<float>(row);
            const float middle = y + h / 2;
            const double gradient = gradient_of(snapshot, hessian.in[row]);
            ui.text(r.x, middle - 2, gradient_name(hessian, row), {.size = 15, .weight = 700, .width = names - 10});
            if (!hidden && std::isfinite(gradient))
                ui.text(r.x, middle + 17, fmt::format("now {:+.4g}", gradient),
                        {.size = 13, .color = theme.ink2, .width = names - 10});
            for (size_t column = 0; column < side; ++column) {
                const Rect field{r.x + names + (w + gap) * static_cast<float>(column), y, w, h};
                if (hidden)
                    ui.dashed(field, theme.ink3, 3, 3);
                else
                    draw_field(ui, hessian, row, column, most, field);
            }
        }
    }

    void draw_field(Ui& ui, const TapeHessian& hessian, size_t row, size_t column, double most, const Rect& at) {
        const Theme& theme = *ui.theme;
        const double value = hessian.at(row, column);
        const bool here = row == row_ && column == column_, mirror = row == column_ && column == row_;
        const Color ink = value < 0 ? data::orange : data::sky;
        ui.rect(at, theme.panel2, 4);
        ui.frame(at, here ? theme.accent : mirror ? theme.ink2 : theme.line, here || mirror ? 2.0f : 1.0f, 4);
        const Point middle{at.x + at.w / 2, at.y + at.h / 2};
        const float reach = at.w * 0.36f, rise = at.h * 0.36f * static_cast<float>(value / most);
        const Point level[] = {{at.x + 10, middle.y}, {at.right() - 10, middle.y}};
        ui.polyline(level, theme.ink3, 1, 4, 4);
        const Point tangent[] = {{middle.x - reach, middle.y + rise}, {middle.x + reach, middle.y - rise}};
        ui.polyline(tangent, ink, 3);
        ui.circle(middle, 5, theme.panel);
        ui.circle(middle, 4, theme.ink);
        const TextStyle number{.size = at.h > 60 ? 18.0f : 14.0f, .weight = 700};
        // A falling line leaves the upper right free, a rising one the lower right.
        const float baseline = value < 0 ? at.y + (at.h > 60 ? 24.0f : 16.0f) : at.bottom() - (at.h > 60 ? 12.0f : 6.0f);
        ui.text(at.right() - 12, baseline, second_number(value),
                {.size = number.size, .align = Align::right, .weight = number.weight});
        if (ui.clicked(at)) row_ = row, column_ = column;
        if (ui.hovered(at))
            ui.tooltip(fmt::format("{} as {} moves: {:.9g}", gradient_name(hessian, row), hessian.in[column], value));
    }
};

}  // namespace

std::unique_ptr<View> make_hessian_view() {
    return std::make_unique<HessianView>();
}

}  // namespace lockstep::gui
