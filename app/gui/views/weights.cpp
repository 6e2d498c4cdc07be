// D13, weights: one 28 x 28 picture for each unit of the first layer that looks at the image: the weights, their change
// since step 0, or their gradient. The unit that the graph follows is outlined.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/training_data.h"
#include "app/gui/views/training_views.h"

namespace lockstep::gui {
namespace {

const nn::GraphNode* image_weight(const nn::StepRecord& step) {
    const int64_t pixels = static_cast<int64_t>(step.image_rows) * step.image_columns;
    for (const nn::GraphNode& node : step.nodes)
        if (node.kind == nn::GraphNode::Kind::parameter && node.shape.size() == 2 &&
            (node.shape[0] == pixels || node.shape[1] == pixels))
            return &node;
    return nullptr;
}

class WeightsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const nn::GraphNode* weight = snapshot->step ? image_weight(*snapshot->step) : nullptr;
        if (!weight || !weight->value) {
            const Rect body = ui.panel(
                area, {.title = "Weights, layer 1", .badge = Provenance::executed, .caption = "No weights to show yet."});
            return ui.say_nothing_yet(body, "No weights to show yet.", "They appear with the first training step.");
        }
        const nn::StepRecord& step = *snapshot->step;
        refresh(*snapshot, step, *weight);
        const bool by_row = weight->shape[1] == static_cast<int64_t>(step.image_rows) * step.image_columns;
        const auto units = static_cast<int>(by_row ? weight->shape[0] : weight->shape[1]);
        const std::string right = fmt::format("{} units × {} × {}", units, step.image_rows, step.image_columns);
        const Rect body = ui.panel(
            area, {.title = "Weights, layer 1", .right = right, .badge = Provenance::executed, .caption = caption_});
        ui.push_scope("weights");
        float x = body.x;
        const int before = mode_;
        mode_ = ui.segmented(x, body.y, {"weights", "change since step 0", "gradient"}, mode_);
        if (mode_ != before) refresh(*snapshot, step, *weight);
        ui.pop_scope();

        const float cell = 30, top = body.y + 36, scale_height = 24;
        const int columns = std::clamp(static_cast<int>(body.w / cell), 1, 16);
        const int rows =
            std::clamp(static_cast<int>((body.bottom() - top - scale_height) / cell), 1, (units + columns - 1) / columns);
        const int w = step.image_columns, h = step.image_rows, tile_w = w + 2, tile_h = h + 2;
        const Color ground = ui.theme->dark ? rgb(0x101216) : rgb(0xDDE1E7);
        ui.picture("weights",
                   version_ * 64 + static_cast<uint64_t>(columns) * 4 + (ui.theme->dark ? 1u : 0u) +
                       static_cast<uint64_t>(rows) * 4096 * 1024,
                   columns * tile_w, rows * tile_h,
                   {body.x, top, cell * static_cast<float>(columns), cell * static_cast<float>(rows)},
                   [&](std::span<Color> pixels) {
                       std::fill(pixels.begin(), pixels.end(), ui.theme->panel);
                       for (int u = 0; u < std::min(units, rows * columns); ++u)
                           for (int p = 0; p < w * h; ++p) {
                               const size_t at = static_cast<size_t>(by_row ? u * w * h + p : p * units + u);
                               const float t = values_.empty() ? 0.5f : values_[at] / clip_ / 2 + 0.5f;
                               const int px = (u % columns) * tile_w + p % w, py = (u / columns) * tile_h + p / w;
                               pixels[static_cast<size_t>(py * columns * tile_w + px)] =
                                   values_.empty() ? ground : diverging(t, *ui.theme);
                           }
                   });
        if (unit_ >= 0 && unit_ < rows * columns)
            ui.outline({body.x + cell * static_cast<float>(unit_ % columns),
                        top + cell * static_cast<float>(unit_ / columns), 28, 28});
        const float y = top + cell * static_cast<float>(rows) + 6;
        float at = ui.text(body.x, y + 10, fmt::format("-{:.3g}", clip_), {.size = 12, .color = ui.theme->ink2}) + 8;
        for (int i = 0; i < 42; ++i)
            ui.rect({at + 4.f * static_cast<float>(i), y, 4, 12}, diverging(static_cast<float>(i) / 41.f, *ui.theme));
        ui.text(at + 176, y + 10, fmt::format("+{:.3g}", clip_), {.size = 12, .color = ui.theme->ink2});
        if (unit_ >= 0)
            ui.text(body.right(), y + 10, fmt::format("unit {} followed", unit_),
                    {.size = 12, .align = Align::right, .width = body.right() - at - 240});
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto snapshot = session.snapshot();
        const nn::GraphNode* weight = snapshot->step ? image_weight(*snapshot->step) : nullptr;
        if (!weight || !weight->value) return "Weights, layer 1: nothing to show yet.\n";
        WeightsView fresh;
        fresh.mode_ = mode_;
        fresh.refresh(*snapshot, *snapshot->step, *weight);
        return fmt::format("Weights, layer 1 (executed): {} {}\n  {}\n", weight->name, shape_text(weight->shape),
                           fresh.caption_);
    }

  private:
    int mode_ = 1;
    int seen_mode_ = -1;
    int64_t seen_step_ = -1;
    const void* seen_ = nullptr;
    uint64_t version_ = 0;
    std::vector<float> values_;  // empty: nothing to compare with
    float clip_ = 1;
    int unit_ = -1;
    std::string caption_;

    void refresh(const Snapshot& snapshot, const nn::StepRecord& step, const nn::GraphNode& weight) {
        if (&step == seen_ && step.step == seen_step_ && mode_ == seen_mode_) return;
        seen_ = &step;
        seen_step_ = step.step;
        seen_mode_ = mode_;
        ++version_;
        unit_ = probe_of(step).unit;
        values_.clear();
        if (mode_ == 0) values_ = *weight.value;
        if (mode_ == 2 && weight.gradient) values_ = *weight.gradient;
        if (mode_ == 1 && snapshot.first_step && snapshot.first_step->nodes.size() == step.nodes.size()) {
            const nn::GraphNode& first = snapshot.first_step->nodes[static_cast<size_t>(weight.id)];
            if (first.value && first.value->size() == weight.value->size()) {
                values_ = *weight.value;
                for (size_t i = 0; i < values_.size(); ++i) values_[i] -= (*first.value)[i];
            }
        }
        clip_ = clip_of(values_);
        if (values_.empty())
            caption_ = mode_ == 1 ? "The values of step 0 are not kept, so there is no change to show."
                                  : "This step kept no gradient.";
        else if (mode_ == 1 && step.step == 0)
            caption_ = "Step 0 is where the run began: nothing has changed yet.";
        else if (mode_ == 1)
            caption_ = fmt::format(
                "After {} steps: sky pixels count against the unit, orange ones for it. Colour clips at ±{:.3g}.", step.step,
                clip_);
        else
            caption_ = fmt::format("Each square is one unit's {} over the image at step {}. Colour clips at ±{:.3g}.",
                                   mode_ == 0 ? "weights" : "gradient", step.step, clip_);
    }
};

}  // namespace

std::unique_ptr<View> make_weights_view() {
    return std::make_unique<WeightsView>();
}

}  // namespace lockstep::gui
