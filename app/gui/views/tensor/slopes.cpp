// gradcheck element by element: what backward gave beside the slope that was measured by moving the element up and down a
// little, on one axis, and how far they are apart. A click picks an element. While it is asked how many differ, only the
// elements are named.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

using tensor::GradcheckPair;
using tensor::GradcheckResult;

constexpr std::string_view slopes_title = "gradcheck: backward beside the measured slope";
constexpr std::string_view slopes_hidden = "Both numbers of every element are hidden until you lock an answer.";

std::string slope_number(double value) {
    return element_number(value, 4, 5e-7);
}
std::string element_of(const GradcheckPair& pair) {
    std::string text = pair.input;
    for (size_t i = 0; i < pair.at.size(); ++i) text += fmt::format("{}{}", i == 0 ? "[" : ",", pair.at[i]);
    return text + (pair.at.empty() ? "" : "]");
}

class SlopesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const GradcheckResult* check = checked(*snapshot);
        if (check == nullptr) {
            const Rect body = ui.panel(area, {.title = slopes_title});
            return ui.say_nothing_yet(body, "No gradients have been checked.",
                                      "They are where a tensor program has a line `gradcheck`.");
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const std::string caption = caption_of(*check, hidden);
        const Rect body = ui.panel(area, {.title = slopes_title,
                                          .right = fmt::format("{} elements, in double", check->compared),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        float y = body.y;
        if (body.h > 230) {
            ui.text(body.x, y + 20, headline_of(*check, hidden), {.size = 20, .weight = 700, .width = body.w});
            y += 36;
        }
        draw_pairs(ui, *check, hidden, {body.x, y, body.w, body.bottom() - 26 - y});
        const float at = body.bottom() - 6;
        float x = ui.legend(body.x, at, data::sky, Hatch::solid, "backward");
        x = ui.legend(x, at, data::grey, Hatch::diagonal, "measured slope");
        if (!hidden && x + 90 < body.right()) {
            ui.frame({x, at - 11, 14, 13}, data::vermillion, 2.5f);
            ui.text(x + 20, at, "they differ", {.size = 13, .color = ui.theme->ink2});
        }
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const GradcheckResult* check = checked(*snapshot);
        if (check == nullptr) return "gradcheck: no gradients have been checked.\n";
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text = fmt::format("{} (executed)\n  {}\n", slopes_title, headline_of(*check, hidden));
        for (const GradcheckPair& pair : check->pairs)
            text += hidden ? fmt::format("  {}\n", element_of(pair))
                           : fmt::format("  {}: backward {}, slope {}{}\n", element_of(pair), slope_number(pair.backward),
                                         slope_number(pair.numeric), pair.agree() ? "" : ": they differ");
        return text + "  " + caption_of(*check, hidden) + "\n";
    }

    float needs(Ui&, Session& session, Focus&, const Rect&) override {
        const GradcheckResult* check = checked(*session.snapshot());
        return check == nullptr ? 0 : 200 + 22 * static_cast<float>(std::min<size_t>(check->pairs.size(), 24));
    }

  private:
    static const GradcheckResult* checked(const Snapshot& snapshot) {
        return snapshot.tape && !snapshot.tape->checks.empty() && !snapshot.tape->checks.front().pairs.empty()
                   ? &snapshot.tape->checks.front()
                   : nullptr;
    }
    static std::string headline_of(const GradcheckResult& check, bool hidden) {
        if (hidden) return fmt::format("{} elements, each moved up and down", check.compared);
        return check.ok() ? fmt::format("All {} gradients agree with the slope", check.compared)
                          : fmt::format("{} of {} gradients are wrong", check.mismatches.size(), check.compared);
    }
    static std::string caption_of(const GradcheckResult& check, bool hidden) {
        if (hidden) return std::string(slopes_hidden);
        if (check.ok())
            return "The slope of an element is (f(x + ε) - f(x - ε)) / 2ε with ε a millionth; backward gave the same.";
        const tensor::GradcheckMismatch& first = check.mismatches.front();
        GradcheckPair at{first.input, first.at, first.backward, first.numeric, 2};
        return fmt::format(
            "The first is {}: backward gave {}, but moving it by a millionth up and down changes the result as "
            "{} would.",
            element_of(at), slope_number(first.backward), slope_number(first.numeric));
    }

    void draw_pairs(Ui& ui, const GradcheckResult& check, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float head = 22,
                    pitch = std::floor(std::clamp((r.h - head) / static_cast<float>(check.pairs.size()), 18.0f, 40.0f));
        const float label = 64, numbers = r.w > 560 ? 250 : 170;
        const Rect plot{r.x + label, r.y + head, r.w - label - numbers - 16, r.h - head};
        if (plot.w < 60) return;
        double low = 0, high = 1e-9;
        for (const GradcheckPair& pair : check.pairs)
            for (const double value : {pair.backward, pair.numeric})
                if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
        const auto x_of = [&](double value) {
            return plot.x + plot.w * static_cast<float>((std::clamp(value, low, high) - low) / (high - low));
        };
        const float zero = x_of(0), column = numbers / 3;
        const auto right_of = [&](int i) { return r.right() - numbers + column * static_cast<float>(i + 1); };
        const std::string_view names[] = {"backward", "slope", "apart"};
        for (int i = 0; i < 3; ++i)
            if (ui.text_width(names[i], {.size = 12}) < column)
                ui.text(right_of(i), r.y + 12, names[i], {.size = 12, .color = theme.quiet, .align = Align::right});
        ui.line({zero, plot.y - 4}, {zero, plot.y + pitch * static_cast<float>(check.pairs.size())}, theme.ink3);
        ui.text(zero, plot.y - 8, "0", {.size = 12, .color = theme.quiet, .align = Align::center});
        float y = plot.y;
        std::string_view input;
        for (size_t i = 0; i < check.pairs.size(); ++i, y += pitch) {
            const GradcheckPair& pair = check.pairs[i];
            if (y + pitch > r.bottom() + 2) break;
            if (i > 0 && input != pair.input) ui.line({r.x, y}, {r.right(), y}, theme.line);
            input = pair.input;
            const float mid = y + pitch / 2;
            const Rect row{r.x, y + 1, r.w, pitch - 2};
            if (ui.clicked(row)) picked_ = static_cast<int>(i);
            if (picked_ == static_cast<int>(i)) ui.rect(row, theme.selected, 3);
            ui.text(r.x + 6, mid + 4.5f, element_of(pair), {.size = 13, .weight = 600, .mono = true});
            if (hidden) {
                ui.dashed({plot.x, mid - 7, plot.w, 14}, theme.ink3, 3, 3);
                continue;
            }
            const float half = std::min(11.0f, pitch / 2 - 3);
            const auto bar = [&](double value, float top, Color color, Hatch hatch) {
                if (!std::isfinite(value)) return;
                const float to = x_of(value);
                ui.hatch({std::min(zero, to), top, std::max(2.0f, std::abs(to - zero)), half - 1}, color, hatch);
            };
            bar(pair.backward, mid - half, data::sky, Hatch::solid);
            bar(pair.numeric, mid + 1, data::grey, Hatch::diagonal);
            const bool wrong = !pair.agree();
            if (wrong) {
                const float from = std::min({zero, x_of(pair.backward), x_of(pair.numeric)}),
                            to = std::max({zero, x_of(pair.backward), x_of(pair.numeric)});
                ui.frame({from - 3, mid - half - 3, to - from + 6, 2 * half + 6}, data::vermillion, 2.5f);
            }
            const std::string texts[] = {slope_number(pair.backward), slope_number(pair.numeric),
                                         slope_number(std::abs(pair.backward - pair.numeric))};
            for (int n = 0; n < 3; ++n)
                ui.text(right_of(n), mid + 4.5f, texts[n],
                        {.size = 13,
                         .color = wrong && n != 1 ? theme.wrong : theme.ink,
                         .align = Align::right,
                         .weight = wrong ? 700 : 400,
                         .mono = true});
            if (ui.hovered(row))
                ui.tooltip(fmt::format("{}: backward {:.9g}, slope {:.9g}{}", element_of(pair), pair.backward, pair.numeric,
                                       wrong ? "" : "; within the tolerance"));
        }
    }

    int picked_ = -1;
};

}  // namespace

std::unique_ptr<View> make_slopes_view() {
    return std::make_unique<SlopesView>();
}

}  // namespace lockstep::gui
