// One layer of each Llama 3, its seven matrices to scale side by side: as high as the model is wide, so that a matrix that
// grows along both sides is seen to. Below each what its layer, and all of its layers, come to. What a question asks about
// waits for its answer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/gui/view.h"
#include "app/gui/views/tensor/llama_block_data.h"
#include "app/gui/views/tensor/tensor_text.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view layer_sizes_title = "One layer of each Llama 3, to scale";

struct LayerSize {
    std::string label;  // "405B"
    LlamaBlock block;
    const nn::ModelShape& shape() const { return block.shape; }
    double keys() const { return static_cast<double>(shape().kv_heads * shape().head_size()); }
    double layer() const { return static_cast<double>(block.block_parameters); }
    double all() const { return static_cast<double>(block.all_parameters()); }
};
const std::vector<LayerSize>& layer_sizes() {
    static const std::vector<LayerSize> sizes = [] {
        std::vector<LayerSize> made;
        for (const char* name : {"8b", "70b", "405b"}) {
            std::string label = name;
            label.back() = 'B';
            made.push_back({label, llama_block(*nn::find_shape(fmt::format("llama3-{}", name)), 1)});
        }
        return made;
    }();
    return sizes;
}

std::string size_text(double count) {  // "3.19 billion", "218 million"
    return count >= 1e9 ? fmt::format("{:.3g} billion", count / 1e9) : fmt::format("{:.3g} million", count / 1e6);
}

// The step that asks about what is drawn here; 0: none is open.
int step_asking_sizes(const Session& session) {
    for (const std::string_view words : {"model.ffn_parameters@model:llama3_8b", "parameters@model:llama3_405b"})
        if (const int step = step_waiting_for(session, words); step > 0) return step;
    return 0;
}

class LayerSizesView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus&, const Rect& area) override {
        const int asking = step_asking_sizes(session);
        const std::string caption = caption_of(asking);
        const Rect body = ui.panel(area, {.title = layer_sizes_title,
                                          .right = "rows and columns of its seven matrices",
                                          .badge = asking > 0 ? Provenance::none : Provenance::derived,
                                          .caption = caption});
        float y = body.y;
        const bool low = body.h < 260;
        ui.text(body.x, y + (low ? 16.0f : 20.0f), headline_of(asking),
                {.size = low ? 16.0f : 20.0f, .weight = 700, .width = body.w});
        y += low ? 24 : 36;
        if (asking > 0) {
            ui.dashed({body.x, y, body.w, body.bottom() - y}, ui.theme->ink3, 4, 4);
            return;
        }
        const bool legend = body.h > 200;
        draw_layers(ui, {body.x, y, body.w, body.bottom() - (legend ? 28 : 0) - y});
        if (!legend) return;
        const float x = ui.legend(body.x, body.bottom() - 6, data::sky, Hatch::solid, "feed forward: gate, up, down");
        ui.legend(x, body.bottom() - 6, data::purple, Hatch::cross, "attention: q, o, k, v");
    }

    std::string describe(const Session& session, const Focus&) const override {
        const int asking = step_asking_sizes(session);
        std::string text = fmt::format("{} (derived)\n  {}\n", layer_sizes_title, headline_of(asking));
        if (asking == 0)
            for (const LayerSize& one : layer_sizes())
                text += fmt::format("  {}: {}, {}, {}\n", one.label, words_of(one)[0], words_of(one)[1], words_of(one)[2]);
        return text + "  " + caption_of(asking) + "\n";
    }

  private:
    static std::string headline_of(int asking) {
        const std::vector<LayerSize>& sizes = layer_sizes();
        if (asking > 0) return "One block at three sizes";
        return fmt::format("Twice as wide, {:.2f} times the numbers: a matrix grows along both sides",
                           sizes[2].layer() / sizes[1].layer());
    }
    static std::string caption_of(int asking) {
        if (asking > 0) return fmt::format("The sizes wait for the question of step {}.", asking);
        const std::vector<LayerSize>& sizes = layer_sizes();
        return fmt::format(
            "A layer of 405B has {:.2f} times the parameters of one of 70B, which has {:.2f} times those of 8B. All layers "
            "and tables: {:.2f} times 70B's.",
            sizes[2].layer() / sizes[1].layer(), sizes[1].layer() / sizes[0].layer(), sizes[2].all() / sizes[1].all());
    }
    static std::array<std::string, 3> words_of(const LayerSize& one) {
        return {fmt::format("{} a layer", size_text(one.layer())),
                fmt::format("{} wide, {} inside", whole_number(one.shape().width), whole_number(one.shape().ffn)),
                fmt::format("{} layers, {} in all", one.shape().layers, size_text(one.all()))};
    }

    static void draw_layers(Ui& ui, const Rect& r) {
        const Theme& theme = *ui.theme;
        const std::vector<LayerSize>& sizes = layer_sizes();
        const bool few = r.h < 190;  // the words need a line, not three
        const float words = few ? 38 : 82, gap = 26;
        double across = 0, high = 0;
        for (const LayerSize& one : sizes) {
            across += static_cast<double>(one.shape().width + one.shape().ffn);
            high = std::max(high, 3.0 * static_cast<double>(one.shape().width));
        }
        // A column is no narrower than its words.
        const float least = std::min(ui.text_width("126 layers, 406 billion in all", {.size = 13}) + 4, r.w / 3 - gap);
        double unit =
            std::min(static_cast<double>(r.h - words - 8) / high, static_cast<double>(r.w - 2 * gap - 24) / across);
        const auto wide = [&](const LayerSize& one) {
            return static_cast<float>(unit * static_cast<double>(one.shape().width + one.shape().ffn)) + 6;
        };
        const auto needed = [&] {
            float sum = 2 * gap;
            for (const LayerSize& one : sizes) sum += std::max(least, wide(one));
            return sum;
        };
        while (needed() > r.w && unit > 1e-5) unit *= 0.97;
        const float base = r.y + static_cast<float>(unit * high) + 8;
        // What is left over goes between the columns.
        const float spare = std::max(0.0f, (r.w - needed()) / 2);
        float x = r.x;
        for (const LayerSize& one : sizes) {
            draw_layer(ui, one, x, base, unit);
            const std::array<std::string, 3> lines = words_of(one);
            const float title = ui.text(x, base + 20, one.label, {.size = 16, .weight = 700});
            if (few) {
                ui.text(title + 10, base + 20, lines[0], {.size = 13, .width = std::max(least, wide(one)) - title + x - 10});
            } else {
                ui.text(title + 10, base + 20, lines[0], {.size = 14, .weight = 600});
                ui.text(x, base + 42, lines[1], {.size = 13, .color = theme.ink2});
                ui.text(x, base + 62, lines[2], {.size = 13, .color = theme.ink2});
            }
            x += std::max(least, wide(one)) + gap + std::min(spare, 60.0f);
        }
    }
    // Attention's four below each other, the three of the feed-forward half beside them; all stand on `base`.
    static void draw_layer(Ui& ui, const LayerSize& one, float x, float base, double unit) {
        const auto side = static_cast<float>(unit * static_cast<double>(one.shape().width)),
                   keys = std::max(2.0f, static_cast<float>(unit * one.keys())),
                   ffn = static_cast<float>(unit * static_cast<double>(one.shape().ffn));
        const Point places[] = {
            {x, base - 2 * side - 2 * keys}, {x, base - side - 2 * keys}, {x, base - 2 * keys}, {x, base - keys}};
        const std::array<std::string_view, 4> names = {"q", "o", "k", "v"};
        for (size_t i = 0; i < 4; ++i) {
            const Rect at{places[i].x, places[i].y, side, (i < 2 ? side : keys) - 1};
            tiles(ui, at, data::purple, Hatch::cross);
            named(ui, at, names[i]);
            if (ui.hovered(at))
                ui.tooltip(fmt::format("{}, {}: {} x {}", one.label, names[i],
                                       whole_number(i < 2 ? one.shape().width : static_cast<int64_t>(one.keys())),
                                       whole_number(one.shape().width)));
        }
        const std::array<std::string_view, 3> halves = {"gate", "up", "down"};
        for (size_t i = 0; i < 3; ++i) {
            const Rect at{x + side + 6, base - side * static_cast<float>(3 - i), ffn, side - 1};
            tiles(ui, at, data::sky, Hatch::solid);
            named(ui, at, halves[i]);
            if (ui.hovered(at))
                ui.tooltip(fmt::format("{}, {}: {} x {}", one.label, halves[i], whole_number(one.shape().width),
                                       whole_number(one.shape().ffn)));
        }
    }
    static void tiles(Ui& ui, const Rect& at, Color color, Hatch hatch) {  // a hatched quad has its greatest size
        if (hatch == Hatch::solid) return ui.rect(at, color);
        for (float y = at.y; y < at.bottom(); y += 56)
            ui.hatch({at.x, y, at.w, std::min(56.0f, at.bottom() - y)}, color, hatch);
    }
    static void named(Ui& ui, const Rect& at, std::string_view name) {
        const float w = ui.text_width(name, {.size = 13, .weight = 700});
        if (at.w < w + 14 || at.h < 20) return;
        ui.rect({at.x + at.w / 2 - w / 2 - 5, at.y + at.h / 2 - 9, w + 10, 18}, ui.theme->panel, 2);
        ui.text(at.x + at.w / 2, at.y + at.h / 2 + 5, name, {.size = 13, .align = Align::center, .weight = 700});
    }
};

}  // namespace

std::unique_ptr<View> make_layer_sizes_view() {
    return std::make_unique<LayerSizesView>();
}

}  // namespace lockstep::gui
