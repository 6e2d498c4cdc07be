// A row of weights as whole numbers from -127 to 127: where each stands between them by the right scale (the largest
// magnitude over 127), the whole number that it should become, and the one that the kernel made. The kernel's first argument
// is the row, its first output the whole numbers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/scene/arguments/kernel_arguments.h"
#include "core/scene/scene.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view levels_title = "A row of weights in eight bits";
constexpr double last_level = 127;

struct Level {
    double weight = 0, exact = 0, wanted = 0, made = 0;
    bool right() const { return wanted == made; }
};
struct Levels {
    double scale = 1;
    std::vector<Level> weights;
    size_t wrong() const {
        return static_cast<size_t>(
            std::count_if(weights.begin(), weights.end(), [](const Level& one) { return !one.right(); }));
    }
};

Levels levels_of(const Session& session) {
    Levels levels;
    const scene::Scene* const scene = drawn_scene(session);
    const auto outputs = session.snapshot()->kernel.outputs;
    if (scene == nullptr || scene->arguments.empty() || !outputs || outputs->empty()) return levels;
    const auto argument = scene::parse_argument(scene->arguments.front());
    const Array& made = outputs->front();
    if (!argument || argument.value().values.dtype != DType::f32 || made.dtype != DType::f32) return levels;
    const Array& row = argument.value().values;
    float largest = 0;
    for (size_t i = 0; i < row.count(); ++i) largest = std::max(largest, std::abs(row.as<float>()[i]));
    const float step = largest > 0 ? largest / static_cast<float>(last_level) : 1.0f;
    levels.scale = static_cast<double>(step);
    for (size_t i = 0; i < std::min(row.count(), made.count()); ++i) {
        const float exact = row.as<float>()[i] / step;
        levels.weights.push_back({static_cast<double>(row.as<float>()[i]), static_cast<double>(exact),
                                  static_cast<double>(std::nearbyint(exact)), static_cast<double>(made.as<float>()[i])});
    }
    return levels;
}

std::string levels_headline(const Levels& levels) {
    if (levels.wrong() == 0) return fmt::format("All {} weights are at their nearest level", levels.weights.size());
    const auto off = [](const Level& one) { return std::abs(one.made - one.wanted); };
    const Level& worst = *std::max_element(levels.weights.begin(), levels.weights.end(),
                                           [&](const Level& a, const Level& b) { return off(a) < off(b); });
    return fmt::format("{} of {} come out wrong: {:g} becomes {:g}{}", levels.wrong(), levels.weights.size(),
                       std::stod(fmt::format("{:.4g}", worst.weight)), worst.made,
                       std::abs(worst.made) > last_level ? ", beyond 127 in size" : fmt::format(", not {:g}", worst.wanted));
}
std::string levels_caption(const Levels& levels) {
    return fmt::format("By the largest magnitude over 127 a level is {:.3g} wide; each weight belongs to the nearest one.",
                       levels.scale);
}

class Int8LevelsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const Levels levels = levels_of(session);
        if (levels.weights.empty()) {
            const Rect body = ui.panel(area, {.title = levels_title});
            return ui.say_nothing_yet(body, "No row of weights has been run yet.", session.snapshot()->busy);
        }
        const std::string caption = levels_caption(levels);
        const Rect body = ui.panel(area, {.title = levels_title,
                                          .right = "each at its place from -127 to 127",
                                          .badge = Provenance::executed,
                                          .caption = caption});
        ui.text(body.x, body.y + 22, levels_headline(levels), {.size = 20, .weight = 700, .width = body.w});
        draw_rows(ui, levels, {body.x, body.y + 40, body.w, body.h - 40 - 26});
        float x = ui.legend(body.x, body.bottom() - 6, data::sky, Hatch::solid, "nearest level");
        x = ui.legend(x, body.bottom() - 6, data::vermillion, Hatch::diagonal, "what the kernel made instead");
    }

    std::string describe(const Session& session, const Focus&) const override {
        const Levels levels = levels_of(session);
        if (levels.weights.empty()) return std::string(levels_title) + ": no row of weights has been run yet.\n";
        std::string text = fmt::format("{} (executed)\n", levels_title);
        for (const Level& one : levels.weights)
            text += fmt::format("  {:.4g}: level {:.2f}, nearest {:g}, made {:g}\n", one.weight, one.exact, one.wanted,
                                one.made);
        return text + fmt::format("  {}. {}\n", levels_headline(levels), levels_caption(levels));
    }

  private:
    static void draw_rows(Ui& ui, const Levels& levels, const Rect& r) {
        const Theme& theme = *ui.theme;
        double reach = last_level;
        for (const Level& one : levels.weights)
            if (std::isfinite(one.made)) reach = std::max(reach, std::abs(one.made));
        reach = std::min(reach, 4 * last_level) * 1.06;
        const float names = 74, numbers = 250, head = 24;
        const Rect field{r.x + names, r.y + head, r.w - names - numbers, r.h - head - 20};
        if (field.w < 120) return;
        const auto at = [&](double level) {
            return field.x + field.w * static_cast<float>((std::clamp(level, -reach, reach) + reach) / (2 * reach));
        };
        const float pitch = std::min(46.0f, field.h / static_cast<float>(levels.weights.size()));
        const float bottom = field.y + pitch * static_cast<float>(levels.weights.size());
        ui.rect({at(-last_level), field.y, at(last_level) - at(-last_level), bottom - field.y}, theme.panel2);
        for (const double mark : {-last_level, 0.0, last_level}) {
            ui.line({at(mark), field.y}, {at(mark), bottom}, theme.ink3);
            ui.text(at(mark), bottom + 16, fmt::format("{:g}", mark),
                    {.size = 12, .color = theme.ink2, .align = Align::center});
        }
        const TextStyle title{.size = 13, .color = theme.ink2, .align = Align::right};
        const float exact = field.right() + 80, wanted = field.right() + 160, made = r.right();
        ui.text(r.x, r.y + 14, "weight", {.size = 13, .color = theme.ink2});
        ui.text(exact, r.y + 14, "in levels", title);
        ui.text(wanted, r.y + 14, "nearest", title);
        ui.text(made, r.y + 14, "kernel", title);
        for (size_t i = 0; i < levels.weights.size(); ++i) {
            const Level& one = levels.weights[i];
            const float y = field.y + pitch * (static_cast<float>(i) + 0.5f);
            const TextStyle number{.size = 13, .align = Align::right, .mono = true};
            TextStyle told = number;
            told.weight = 700;
            if (!one.right()) told.color = theme.wrong;
            ui.text(r.x, y + 5, fmt::format("{:.4g}", one.weight), {.size = 13, .mono = true});
            ui.line({field.x, y}, {field.right(), y}, theme.grid);
            if (!one.right()) {
                ui.line({at(one.wanted), y}, {at(one.made), y}, data::vermillion, 2);
                ui.rect({at(one.made) - 5, y - 8, 10, 16}, theme.panel);
                ui.hatch({at(one.made) - 5, y - 8, 10, 16}, data::vermillion, Hatch::diagonal);
                ui.frame({at(one.made) - 5, y - 8, 10, 16}, data::vermillion, 1.5f);
            }
            ui.circle({at(one.wanted), y}, 6, data::sky);
            ui.text(exact, y + 5, fmt::format("{:.2f}", one.exact), number);
            ui.text(wanted, y + 5, fmt::format("{:g}", one.wanted), number);
            ui.text(made, y + 5, fmt::format("{:g}", one.made), told);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_int8_levels_view() {
    return std::make_unique<Int8LevelsView>();
}

}  // namespace lockstep::gui
