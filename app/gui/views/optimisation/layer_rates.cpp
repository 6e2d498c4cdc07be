// Each of a model's parameters in a step that was executed: how long its weights are and how long its gradient is, on one
// log axis, so that a bar's length is their ratio, which is what a rate for each layer follows. Beside it how much of its
// length a step of one rate for all moves each. The pointer tells the numbers; a click or Up and Down pick a parameter.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/training/training_data.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view layer_rates_title = "A rate for each layer";

struct LayerLengths {
    std::string name, shape;
    double weights = 0, gradient = 0;  // norms
    double ratio() const { return weights / gradient; }
};

double norm_of(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) sum += static_cast<double>(value) * value;
    return std::sqrt(sum);
}

std::vector<LayerLengths> layer_lengths(const nn::StepRecord& step) {
    std::vector<LayerLengths> layers;
    for (const nn::GraphNode& node : step.nodes) {
        if (node.kind != nn::GraphNode::Kind::parameter || !node.value || !node.gradient) continue;
        const LayerLengths one{node.name, shape_text(node.shape), norm_of(*node.value), norm_of(*node.gradient)};
        if (one.weights > 0 && one.gradient > 0 && layers.size() < 12) layers.push_back(one);
    }
    return layers;
}

class LayerRatesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        adopt(snapshot->training.step);
        if (layers_.empty()) {
            const Rect body = ui.panel(area, {.title = layer_rates_title});
            return ui.say_nothing_yet(body, "No step with gradients has been kept.", snapshot->busy);
        }
        const std::string caption = caption_of();
        const Rect body = ui.panel(area, {.title = layer_rates_title,
                                          .right = fmt::format("step {} of the first run", seen_->step + 1),
                                          .badge = Provenance::executed,
                                          .caption = caption});
        const int count = static_cast<int>(layers_.size());
        if (const int by = (ui.pressed(Key::down, area) ? 1 : 0) - (ui.pressed(Key::up, area) ? 1 : 0); by != 0)
            picked_ = std::clamp(picked_ + by, 0, count - 1);
        float y = body.y;
        if (body.h > 240) {
            ui.text(body.x, y + 20, headline_of(), {.size = 20, .weight = 700, .width = body.w});
            y += 34;
        }
        draw_rows(ui, {body.x, y, body.w, body.bottom() - 26 - y});
        const float at = body.bottom() - 5;
        ui.rect({body.x, at - 12, 4, 14}, data::orange);
        float x = ui.text(body.x + 10, at, "|g|, length of the gradient", {.size = 13, .color = ui.theme->ink2}) + 22;
        ui.rect({x, at - 12, 4, 14}, ui.theme->ink);
        x = ui.text(x + 10, at, "|w|, length of the weights", {.size = 13, .color = ui.theme->ink2}) + 22;
        ui.rect({x, at - 11, 16, 12}, data::grey);
        ui.hatch({x, at - 11, 16, 12}, faded(data::black, 0.42f), Hatch::diagonal);
        ui.text(x + 22, at, "moved by a step of rate 1",
                {.size = 13, .color = ui.theme->ink2, .width = body.right() - x - 22});
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        LayerRatesView fresh;
        fresh.adopt(snapshot->training.step);
        if (fresh.layers_.empty()) return std::string(layer_rates_title) + ": no step with gradients has been kept.\n";
        std::string text =
            fmt::format("{} (executed), step {}\n  {}\n", layer_rates_title, fresh.seen_->step + 1, fresh.headline_of());
        for (const LayerLengths& layer : fresh.layers_)
            text += fmt::format("  {} ({}): |w| {:.3g}, |g| {:.3g}, ratio {:.3g}\n", layer.name, layer.shape, layer.weights,
                                layer.gradient, layer.ratio());
        return text + "  " + fresh.caption_of() + "\n";
    }

  private:
    std::shared_ptr<const nn::StepRecord> seen_;
    std::vector<LayerLengths> layers_;
    int picked_ = 0;

    void adopt(const std::shared_ptr<const nn::StepRecord>& step) {
        if (step == seen_) return;
        seen_ = step;
        layers_ = step ? layer_lengths(*step) : std::vector<LayerLengths>();
        picked_ = 0;
    }
    const LayerLengths& longest() const {
        return *std::max_element(layers_.begin(), layers_.end(),
                                 [](const auto& a, const auto& b) { return a.ratio() < b.ratio(); });
    }
    const LayerLengths& shortest() const {
        return *std::min_element(layers_.begin(), layers_.end(),
                                 [](const auto& a, const auto& b) { return a.ratio() < b.ratio(); });
    }
    std::string headline_of() const {
        return fmt::format("One rate moves {} by {:.0f} times as much of its length as {}", shortest().name,
                           longest().ratio() / shortest().ratio(), longest().name);
    }
    std::string caption_of() const {
        return fmt::format(
            "|w| / |g| goes from {:.3g} for {} to {:.3g} for {}: a rate in proportion to it moves every layer by "
            "the same share of its length.",
            shortest().ratio(), shortest().name, longest().ratio(), longest().name);
    }

    void draw_rows(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        double low = 1e18, high = 0, most = 0;
        for (const LayerLengths& layer : layers_) {
            low = std::min({low, layer.gradient, layer.weights}), high = std::max({high, layer.weights, layer.gradient});
            most = std::max(most, 1 / layer.ratio());
        }
        low = std::pow(10.0, std::floor(std::log10(low) - 0.05)), high = std::pow(10.0, std::ceil(std::log10(high) + 0.05));
        const float names = std::min(150.0f, r.w * 0.22f), moved = r.w > 560 ? std::floor(r.w * 0.27f) : 0;
        const Rect plot{r.x + names, r.y + 28, r.w - names - moved - (moved > 0 ? 44 : 12), r.h - 28 - 22};
        if (plot.w < 100 || plot.h < 40) return;
        const auto x_of = [&](double value) {
            return plot.x + plot.w * static_cast<float>(std::log(value / low) / std::log(high / low));
        };
        ui.text(plot.x, r.y + 14, "from |g| to |w|, log: the longer the bar, the higher the rate may be",
                {.size = 13, .color = theme.ink2, .width = plot.w});
        for (double mark = low; mark < high * 1.01; mark *= 10) {
            ui.line({x_of(mark), plot.y}, {x_of(mark), plot.bottom()}, theme.grid);
            ui.text(x_of(mark), plot.bottom() + 16, fmt::format("{:g}", mark),
                    {.size = 12, .color = theme.quiet, .align = Align::center, .mono = true});
        }
        const Rect side{plot.right() + 44, plot.y, moved - 60, plot.h};
        if (moved > 0)
            ui.text(side.x, r.y + 14, "share of |w|, %", {.size = 13, .color = theme.ink2, .width = r.right() - side.x});
        const float pitch = plot.h / static_cast<float>(layers_.size()), bar = std::min(34.0f, pitch * 0.5f);
        for (size_t i = 0; i < layers_.size(); ++i) {
            const LayerLengths& layer = layers_[i];
            const Rect row{r.x - 4, plot.y + pitch * static_cast<float>(i), r.w + 4, pitch};
            if (static_cast<int>(i) == picked_) ui.rect({row.x, row.y + 1, row.w, row.h - 2}, theme.selected, 3);
            const float middle = row.y + row.h / 2, top = middle - bar / 2 - (pitch > 52 ? 6.0f : 0.0f);
            ui.text(r.x + 2, middle, layer.name, {.size = 14, .weight = 600, .width = names - 10});
            if (pitch >= 34) ui.text(r.x + 2, middle + 16, layer.shape, {.size = 12, .color = theme.quiet});
            const float g = x_of(layer.gradient), w = x_of(layer.weights);
            const Rect box{std::min(g, w), top, std::abs(w - g), bar};
            ui.rect(box, data::blue);
            ui.rect({g - 2, top - 3, 4, bar + 6}, data::orange);
            ui.rect({w - 2, top - 3, 4, bar + 6}, theme.ink);
            const std::string times = fmt::format("× {:.3g}", layer.ratio());
            const TextStyle strong{.size = 14, .color = text_on(data::blue), .align = Align::center, .weight = 700};
            if (ui.text_width(times, strong) + 12 < box.w)
                ui.text(box.x + box.w / 2, top + bar / 2 + 5, times, strong);
            else
                ui.text(box.right() + 8, top + bar / 2 + 5, times, {.size = 14, .weight = 700});
            if (pitch > 52)
                ui.text(box.x, top + bar + 17, fmt::format("|g| {:.3g}   |w| {:.3g}", layer.gradient, layer.weights),
                        {.size = 12, .color = theme.ink2, .mono = true});
            if (moved > 0) {
                const double share = 1 / layer.ratio();
                const Rect part{side.x, top, std::max(2.0f, side.w * static_cast<float>(share / most)), bar};
                ui.rect(part, data::grey);
                ui.hatch(part, faded(data::black, 0.42f), Hatch::diagonal);
                ui.text(part.right() + 8, top + bar / 2 + 5, fmt::format("{:.3g}", 100 * share),
                        {.size = 13, .weight = 600});
            }
            if (ui.hovered(row))
                ui.tooltip(
                    fmt::format("{}: weights {:.4g}, gradient {:.4g} long; a step of rate 1 moves it by {:.3g} % of its "
                                "length",
                                layer.name, layer.weights, layer.gradient, 100 / layer.ratio()));
            if (ui.clicked(row)) picked_ = static_cast<int>(i);
        }
    }
};

}  // namespace

std::unique_ptr<View> make_layer_rates_view() {
    return std::make_unique<LayerRatesView>();
}

}  // namespace lockstep::gui
