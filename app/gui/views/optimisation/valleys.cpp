// Losses of one weight as curves, from a tensor program that works them out at many places of it at once: `w` holds the
// places, and the losses are lines of the same length. A line called "X_shifted" is X on other data; it stands beside X,
// dashed. Where X is least training ended: what the other data cost there is the gap. The pointer reads both curves at a
// place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view valleys_title = "Flat and sharp minima";
constexpr std::string_view shifted_mark = "_shifted";

struct Valley {
    std::string name;
    std::vector<float> trained, shifted;
    size_t bottom = 0, other_bottom = 0;  // where each is least
    double gap() const { return static_cast<double>(shifted[bottom]) - shifted[other_bottom]; }
};
struct Valleys {
    std::vector<float> places;
    std::vector<Valley> all;
};

const nn::GraphNode* node_of(const nn::StepRecord& step, const std::string& name, size_t length) {
    for (const nn::GraphNode& node : step.nodes)
        if (node.name == name && node.value && node.value->size() == length) return &node;
    return nullptr;
}

Valleys valleys_of(const nn::StepRecord& step) {
    Valleys it;
    for (const nn::GraphNode& node : step.nodes)
        if (node.name == "w" && node.value && node.value->size() > 8) {
            it.places = *node.value;
            break;
        }
    if (it.places.empty()) return it;
    for (const nn::GraphNode& node : step.nodes) {
        const nn::GraphNode* other = node_of(step, node.name + std::string(shifted_mark), it.places.size());
        if (other == nullptr || !node.value || node.value->size() != it.places.size()) continue;
        Valley valley{node.name, *node.value, *other->value};
        const auto least = [](const std::vector<float>& values) {
            return static_cast<size_t>(std::min_element(values.begin(), values.end()) - values.begin());
        };
        valley.bottom = least(valley.trained), valley.other_bottom = least(valley.shifted);
        it.all.push_back(std::move(valley));
    }
    return it;
}

class ValleysView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const Valleys valleys = snapshot->tape && snapshot->tape->step ? valleys_of(*snapshot->tape->step) : Valleys();
        if (valleys.all.empty()) {
            const Rect body = ui.panel(area, {.title = valleys_title});
            return ui.say_nothing_yet(body, "No program has worked out a valley and a shifted one.", snapshot->busy);
        }
        const std::string caption = caption_of(valleys);
        const Rect body = ui.panel(area, {.title = valleys_title,
                                          .right = fmt::format("{} places of one weight", valleys.places.size()),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        float y = body.y;
        if (body.h > 220) {
            ui.text(body.x, y + 20, headline_of(valleys), {.size = 20, .weight = 700, .width = body.w});
            y += 34;
        }
        double most = 0;
        for (const Valley& valley : valleys.all) most = std::max(most, 1.35 * valley.shifted[valley.bottom]);
        const Rect room{body.x, y, body.w, body.bottom() - 26 - y};
        const float gap = 36, width = (room.w - gap * static_cast<float>(valleys.all.size() - 1)) /
                                      static_cast<float>(valleys.all.size());
        for (size_t i = 0; i < valleys.all.size(); ++i)
            draw_valley(ui, valleys, valleys.all[i], most,
                        {room.x + (width + gap) * static_cast<float>(i), room.y, width, room.h});
        const float at = body.bottom() - 5;
        float x = ui.legend_line(body.x, at, data::sky, false, "training data") + 20;
        x = ui.legend_line(x, at, data::orange, true, "new data") + 20;
        ui.rect({x, at - 12, 10, 14}, faded(data::vermillion, 0.8f));
        ui.hatch({x, at - 12, 10, 14}, faded(data::black, 0.42f), Hatch::diagonal);
        ui.text(x + 16, at, "what new data cost where training ended",
                {.size = 13, .color = ui.theme->ink2, .width = body.right() - x - 16});
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const Valleys valleys = snapshot->tape && snapshot->tape->step ? valleys_of(*snapshot->tape->step) : Valleys();
        if (valleys.all.empty()) return std::string(valleys_title) + ": no program has worked out a valley.\n";
        std::string text = fmt::format("{} (executed)\n  {}\n", valleys_title, headline_of(valleys));
        for (const Valley& valley : valleys.all)
            text += fmt::format("  {}: least at w = {:.2g}; on new data {:.3g} there, least at w = {:.2g}\n", valley.name,
                                valleys.places[valley.bottom], valley.shifted[valley.bottom],
                                valleys.places[valley.other_bottom]);
        return text + "  " + caption_of(valleys) + "\n";
    }

  private:
    static std::string headline_of(const Valleys& valleys) {
        std::string text = "The same shift costs";
        for (size_t i = 0; i < valleys.all.size(); ++i)
            text += fmt::format("{} {:.2g} in the {} valley",
                                i == 0                       ? ""
                                : i + 1 < valleys.all.size() ? ","
                                                             : " and",
                                valleys.all[i].gap(), valleys.all[i].name);
        return text;
    }
    static std::string caption_of(const Valleys& valleys) {
        const Valley& one = valleys.all.front();
        return fmt::format(
            "Training ended at w = {:.2g}; new data have their least at w = {:.2g}. The gap is the loss on new "
            "data at the place where training ended. Curves go on above the frame.",
            valleys.places[one.bottom], valleys.places[one.other_bottom]);
    }

    static void draw_valley(Ui& ui, const Valleys& valleys, const Valley& valley, double most, const Rect& r) {
        const Theme& theme = *ui.theme;
        const Rect plot{r.x + 40, r.y + 30, r.w - 48, r.h - 30 - 38};
        if (plot.w < 80 || plot.h < 60) return;
        const double left = valleys.places.front(), right = valleys.places.back();
        const auto x_of = [&](double w) { return plot.x + plot.w * static_cast<float>((w - left) / (right - left)); };
        const auto y_of = [&](double loss) { return plot.bottom() - plot.h * static_cast<float>(loss / most); };
        const float name = ui.text(r.x, r.y + 14, valley.name, {.size = 15, .weight = 700});
        ui.text(name + 10, r.y + 14, "loss by weight", {.size = 13, .color = theme.ink2, .width = r.right() - name - 10});
        for (double mark = 0; mark <= most; mark += most > 0.6 ? 0.25 : 0.1) {
            ui.line({plot.x, y_of(mark)}, {plot.right(), y_of(mark)}, theme.grid);
            ui.text(plot.x - 8, y_of(mark) + 4, fmt::format("{:g}", mark),
                    {.size = 12, .color = theme.quiet, .align = Align::right, .mono = true});
        }
        for (const double mark : {left, (left + right) / 2, right})
            ui.text(x_of(mark), plot.bottom() + 17, fmt::format("{:.2g}", std::abs(mark) < 1e-6 ? 0 : mark),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        ui.text(plot.x + plot.w / 2, plot.bottom() + 34, "weight w",
                {.size = 13, .color = theme.ink2, .align = Align::center});
        const float at = x_of(valleys.places[valley.bottom]), high = y_of(valley.shifted[valley.bottom]),
                    low = y_of(valley.trained[valley.bottom]);
        const Rect cost{at - 7, high, 14, std::max(2.0f, low - high)};
        ui.rect(cost, faded(data::vermillion, 0.8f));
        for (float y = cost.y; y < cost.bottom(); y += 56)
            ui.hatch({cost.x, y, cost.w, std::min(56.0f, cost.bottom() - y)}, faded(data::black, 0.42f), Hatch::diagonal);
        ui.clip({plot.x, plot.y - 3, plot.w, plot.h + 6});
        for (const bool shifted : {false, true}) {
            std::vector<Point> line;
            const std::vector<float>& values = shifted ? valley.shifted : valley.trained;
            for (size_t i = 0; i < values.size(); ++i)
                if (values[i] < most * 1.2) line.push_back({x_of(valleys.places[i]), y_of(values[i])});
            if (line.size() > 1)
                ui.polyline(line, shifted ? data::orange : data::sky, 2.5f, shifted ? 7.0f : 0.0f, shifted ? 4.0f : 0.0f);
        }
        ui.unclip();
        ui.circle({at, low}, 6, data::sky);
        ui.ring({at, low}, 6, theme.panel, 1.5f);
        ui.circle({at, high}, 6, data::orange);
        ui.ring({at, high}, 6, theme.panel, 1.5f);
        ui.text(at + 14, high - 8, fmt::format("+{:.2g}", valley.gap()), {.size = 18, .weight = 700});
        if (!ui.hovered(plot)) return;
        const double w = left + (right - left) * static_cast<double>((ui.mouse.x - plot.x) / plot.w);
        const auto i = static_cast<size_t>(
            std::clamp(std::lround((w - left) / (right - left) * static_cast<double>(valleys.places.size() - 1)), 0L,
                       static_cast<long>(valleys.places.size()) - 1));
        ui.cursor_line(x_of(valleys.places[i]), plot.y, plot.bottom());
        ui.tooltip(fmt::format("w = {:.2f}: training data {:.3g}, new data {:.3g}", valleys.places[i], valley.trained[i],
                               valley.shifted[i]));
    }
};

}  // namespace

std::unique_ptr<View> make_valleys_view() {
    return std::make_unique<ValleysView>();
}

}  // namespace lockstep::gui
