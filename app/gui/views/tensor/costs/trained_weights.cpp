// A tensor program's weights to scale: a rectangle has as many units across and down as the matrix has columns and rows.
// Those that are trained are filled, those that stay are hatched; below, how many numbers each are, as bars on one scale.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/tensor/costs/op_costs.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view weights_title = "Weights, to scale";
constexpr std::string_view weights_hidden = "How many weights are trained stays hidden until you lock an answer.";
constexpr std::string_view weights_caption =
    "A gradient, and what an optimiser remembers, are kept for trained weights alone.";

class TrainedWeightsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const auto tape = session.snapshot()->tape;
        const std::vector<WeightBox> boxes = tape ? weight_boxes(*tape) : std::vector<WeightBox>();
        if (boxes.empty()) {
            const Rect body = ui.panel(area, {.title = weights_title});
            return ui.say_nothing_yet(body, "No tensor program has run yet.", session.snapshot()->busy);
        }
        const bool hidden = session.learn.reveal_steps >= 0;
        const Rect body = ui.panel(area, {.title = weights_title,
                                          .right = "one unit each way a row and a column",
                                          .badge = Provenance::derived,
                                          .caption = hidden ? weights_hidden : weights_caption});
        if (!hidden) ui.text(body.x, body.y + 22, weights_headline(boxes), {.size = 20, .weight = 700, .width = body.w});
        const float bars = hidden ? 0 : 16 + bar_pitch * static_cast<float>(boxes.size()), top = body.y + 36;
        draw_boxes(ui, boxes, {body.x, top, body.w, body.bottom() - bars - 30 - top});
        if (!hidden) draw_bars(ui, boxes, {body.x, body.bottom() - bars - 18, body.w, bars});
        const float x = ui.legend(body.x, body.bottom() - 4, data::green, Hatch::solid, "trained");
        ui.legend(x, body.bottom() - 4, data::grey, Hatch::diagonal, "stays as it is");
    }

    std::string describe(const Session& session, const Focus&) const override {
        const auto tape = session.snapshot()->tape;
        if (!tape) return std::string(weights_title) + ": no tensor program has run yet.\n";
        std::string text = fmt::format("{} (derived)\n", weights_title);
        if (session.learn.reveal_steps >= 0) return text + "  " + std::string(weights_hidden) + "\n";
        const std::vector<WeightBox> boxes = weight_boxes(*tape);
        for (const WeightBox& box : boxes)
            text += fmt::format("  {}: {} by {}, {}\n", box.name, box.rows, box.columns, box.trained ? "trained" : "stays");
        return text + fmt::format("  {}. {}\n", weights_headline(boxes), weights_caption);
    }

  private:
    static constexpr float bar_pitch = 24, box_gap = 56;

    // A matrix that stays, and two thin ones whose product has its size: B beside it, A above it.
    struct Adapter {
        const WeightBox *stays = nullptr, *a = nullptr, *b = nullptr;
    };
    static Adapter adapter_of(const std::vector<WeightBox>& boxes) {
        Adapter it;
        if (boxes.size() != 3) return it;
        for (const WeightBox& box : boxes)
            if (!box.trained) it.stays = &box;
        for (const WeightBox& box : boxes) {
            if (it.stays == nullptr || !box.trained) continue;
            if (box.columns == it.stays->columns && box.rows < box.columns) it.a = &box;
            if (box.rows == it.stays->rows && box.columns < box.rows) it.b = &box;
        }
        if (it.a == nullptr || it.b == nullptr || it.a->rows != it.b->columns) it = {};
        return it;
    }
    static void hatched(Ui& ui, const Rect& at) {
        for (float up = 0; up < at.h; up += 56)  // a hatched quad is that high at most
            ui.hatch({at.x, at.y + up, std::min(at.w, 440.0f), std::min(56.0f, at.h - up)}, ui.theme->ink3, Hatch::diagonal);
        ui.frame(at, ui.theme->ink3, 1.5f);
    }
    static void draw_adapter(Ui& ui, const Adapter& it, const Rect& r) {
        const Theme& theme = *ui.theme;
        const float thin = 14, label = 24, plus = 56;  // the thin ones are drawn thicker than to scale
        const float h = std::min(r.h - label - thin - 8 - 24, (r.w - plus - thin - 100) / 2);
        if (h < 60) return;
        const float w = h * static_cast<float>(it.stays->columns) / static_cast<float>(it.stays->rows);
        const float y = r.y + label + thin + 8;
        const Rect stays{r.x + std::max(0.0f, (r.w - 2 * w - plus - thin - 90) / 2), y, w, h};
        const Rect made{stays.right() + plus + thin + 8, y, w, h};
        hatched(ui, stays);
        ui.text(stays.x + w / 2, stays.y - 10,
                fmt::format("{}  {}×{}, stays", it.stays->name, it.stays->rows, it.stays->columns),
                {.size = 14, .align = Align::center, .weight = 700});
        ui.text(stays.right() + plus / 2 - 2, y + h / 2 + 8, "+", {.size = 24, .align = Align::center, .weight = 700});
        ui.dashed(made, data::green, 5, 4);
        const std::string product = it.b->name + "·" + it.a->name;
        ui.text(made.x + w / 2, made.y + h / 2, product, {.size = 20, .align = Align::center, .weight = 700});
        ui.text(made.x + w / 2, made.y + h / 2 + 22, "what it learns, never stored",
                {.size = 13, .color = theme.ink2, .align = Align::center, .width = w - 8});
        const Rect a{made.x, made.y - thin - 8, w, thin}, b{made.x - thin - 8, made.y, thin, h};
        ui.rect(a, data::green);
        ui.rect(b, data::green);
        ui.text(a.x + w / 2, a.y - 7, fmt::format("{}  {}×{}", it.a->name, it.a->rows, it.a->columns),
                {.size = 14, .align = Align::center, .weight = 700});
        ui.text(b.x - 2, b.bottom() + 18, fmt::format("{}  {}×{}", it.b->name, it.b->rows, it.b->columns),
                {.size = 14, .weight = 700});
    }

    static void draw_boxes(Ui& ui, const std::vector<WeightBox>& boxes, const Rect& r) {
        if (const Adapter adapter = adapter_of(boxes); adapter.stays != nullptr) return draw_adapter(ui, adapter, r);
        const Theme& theme = *ui.theme;
        int64_t across = 0, down = 1;
        for (const WeightBox& box : boxes) across += box.columns, down = std::max(down, box.rows);
        const float gaps = box_gap * static_cast<float>(boxes.size()), label = 22;
        const float unit = std::min((r.w - gaps) / static_cast<float>(across), (r.h - label) / static_cast<float>(down));
        if (!(unit > 0.05f)) return;
        float x = r.x + std::max(0.0f, (r.w - gaps - unit * static_cast<float>(across)) / 2);
        for (const WeightBox& box : boxes) {
            const float w = std::max(2.0f, unit * static_cast<float>(box.columns)),
                        h = std::max(2.0f, unit * static_cast<float>(box.rows));
            ui.text(x, r.y + 14, fmt::format("{}  {}×{}", box.name, box.rows, box.columns), {.size = 14, .weight = 700});
            const Rect at{x, r.y + label, w, h};
            if (box.trained) {
                ui.rect(at, data::green);
            } else {
                for (float up = 0; up < h; up += 56)  // a hatched quad is that high at most
                    ui.hatch({at.x, at.y + up, std::min(w, 440.0f), std::min(56.0f, h - up)}, theme.ink3, Hatch::diagonal);
                ui.frame(at, theme.ink3, 1.5f);
            }
            x += std::max(w, ui.text_width(fmt::format("{}  {}×{}", box.name, box.rows, box.columns),
                                           {.size = 14, .weight = 700})) +
                 box_gap / 2;
        }
    }

    static void draw_bars(Ui& ui, const std::vector<WeightBox>& boxes, const Rect& r) {
        const Theme& theme = *ui.theme;
        int64_t most = 1;
        float names = 40;
        for (const WeightBox& box : boxes) {
            most = std::max(most, box.count());
            names = std::max(names, ui.text_width(box.name, {.size = 13, .mono = true}) + 12);
        }
        const float room = r.w - names - 190;
        for (size_t i = 0; i < boxes.size(); ++i) {
            const WeightBox& box = boxes[i];
            const float y = r.y + bar_pitch * static_cast<float>(i);
            const float length = std::max(2.0f, room * static_cast<float>(box.count()) / static_cast<float>(most));
            ui.text(r.x, y + 14, box.name, {.size = 13, .mono = true});
            if (box.trained)
                ui.rect({r.x + names, y + 2, length, 16}, data::green);
            else
                for (float x = 0; x < length; x += 440)
                    ui.hatch({r.x + names + x, y + 2, std::min(440.0f, length - x), 16}, theme.ink3, Hatch::diagonal);
            ui.text(r.x + names + length + 8, y + 15,
                    fmt::format("{} {}", whole_number(box.count()), box.trained ? "trained" : "stay"),
                    {.size = 13, .weight = 600});
        }
    }
};

}  // namespace

std::unique_ptr<View> make_trained_weights_view() {
    return std::make_unique<TrainedWeightsView>();
}

}  // namespace lockstep::gui
