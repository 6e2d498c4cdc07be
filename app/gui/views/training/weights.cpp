// D13, one tensor as pictures: a square for each unit of a layer that looks at the image, a feature map for each channel of
// the followed example, a filter each, or the matrix itself; or as a histogram. Its values, their change since step 0, or
// its gradient. Which tensor: the node that was clicked in the graph, else the first that says most.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/histogram.h"
#include "app/gui/views/training/tape_data.h"
#include "app/gui/views/training/training_data.h"
#include "core/nn/train/follow.h"

namespace lockstep::gui {
namespace {

using nn::GraphNode;
using nn::StepRecord;

constexpr int64_t widest_picture = 192;

int64_t image_pixels(const StepRecord& step) {
    return static_cast<int64_t>(step.image_rows) * step.image_columns;
}
bool tensor_is_op(const GraphNode& node) {
    return node.kind == GraphNode::Kind::op || node.kind == GraphNode::Kind::loss;
}
bool tensor_has_picture(const GraphNode& node) {
    return node.value && node.value->size() > 1 && node.dtype != DType::i32 && node.dtype != DType::i64;
}

bool looks_at_image(const StepRecord& step, const GraphNode& node) {  // weights with a value for each pixel
    const int64_t pixels = image_pixels(step);
    return node.kind == GraphNode::Kind::parameter && node.shape.size() == 2 && pixels > 0 &&
           (node.shape[0] == pixels || node.shape[1] == pixels);
}

const GraphNode* made_by_convolution(const StepRecord& step) {  // after its activation
    const GraphNode* found = nullptr;
    if (image_pixels(step) <= 0) return found;
    for (const GraphNode& node : step.nodes)
        if (tensor_is_op(node) && tensor_has_picture(node) && node.shape.size() == 4 &&
            (!found || (found->op != "relu" && node.op == "relu")))
            found = &node;
    return found;
}

const GraphNode* tensor_shown(const StepRecord& step, const Focus& focus) {
    const auto is_matrix = [](const GraphNode& node) { return tensor_has_picture(node) && node.shape.size() >= 2; };
    const auto first = [&](const auto& wanted) {
        const auto at = std::find_if(step.nodes.begin(), step.nodes.end(), wanted);
        return at == step.nodes.end() ? nullptr : &*at;
    };
    const auto chosen = static_cast<size_t>(focus.op);
    if (focus.op >= 0 && chosen < step.nodes.size() && is_matrix(step.nodes[chosen])) return &step.nodes[chosen];
    if (const GraphNode* node = first([&](const GraphNode& n) { return n.value && looks_at_image(step, n); })) return node;
    if (const GraphNode* node = made_by_convolution(step)) return node;
    if (const GraphNode* node =
            first([&](const GraphNode& n) { return n.kind == GraphNode::Kind::parameter && is_matrix(n); }))
        return node;
    return first(is_matrix);
}

struct TensorTiles {  // how a tensor is laid out as pictures
    int count = 1, w = 1, h = 1;
    int64_t base = 0, tile = 0, row = 0, column = 1;  // strides of the flat values
    int64_t every_row = 1, every_column = 1;          // a large matrix is sampled
    std::string unit = "tile";
    size_t at(int t, int x, int y) const {
        return static_cast<size_t>(base + tile * t + row * (every_row * y) + column * (every_column * x));
    }
};

TensorTiles tiles_of(const StepRecord& step, const GraphNode& node) {
    const auto& s = node.shape;
    TensorTiles tiles;
    const int64_t example = step.followed && !s.empty() ? std::min<int64_t>(step.followed->example, s[0] - 1) : 0;
    const auto matrix = [&](int64_t rows, int64_t columns) {
        tiles.every_row = (rows + widest_picture - 1) / widest_picture;
        tiles.every_column = (columns + widest_picture - 1) / widest_picture;
        tiles.h = static_cast<int>((rows + tiles.every_row - 1) / tiles.every_row);
        tiles.w = static_cast<int>((columns + tiles.every_column - 1) / tiles.every_column);
        tiles.row = columns;
    };
    if (looks_at_image(step, node)) {
        const bool by_row = s[1] == image_pixels(step);
        tiles.count = static_cast<int>(by_row ? s[0] : s[1]);
        tiles.w = step.image_columns;
        tiles.h = step.image_rows;
        tiles.tile = by_row ? s[1] : 1;
        tiles.column = by_row ? 1 : s[1];
        tiles.row = tiles.column * tiles.w;
        tiles.unit = "unit";
    } else if (s.size() == 4 && node.kind == GraphNode::Kind::parameter) {
        matrix(s[2], s[3]);
        tiles.count = static_cast<int>(s[0] * s[1]);
        tiles.tile = s[2] * s[3];
        tiles.unit = "filter";
    } else if (s.size() == 4) {
        matrix(s[2], s[3]);
        tiles.count = static_cast<int>(s[1]);
        tiles.base = example * s[1] * s[2] * s[3];
        tiles.tile = s[2] * s[3];
        tiles.unit = image_pixels(step) > 0 ? "channel" : "place";
    } else if (s.size() == 3) {
        matrix(s[1], s[2]);
        tiles.base = example * s[1] * s[2];
    } else if (s.size() == 2) {
        matrix(s[0], s[1]);
    } else {
        matrix(1, node.value ? static_cast<int64_t>(node.value->size()) : 1);
    }
    return tiles;
}

class WeightsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const auto snapshot = session.snapshot();
        const GraphNode* node = snapshot->training.step ? tensor_shown(*snapshot->training.step, focus) : nullptr;
        if (!node) return draw_none(ui, *snapshot, area);
        const StepRecord& step = *snapshot->training.step;
        refresh(*snapshot, *node);
        const Rect body = ui.panel(
            area,
            {.title = title(step, *node), .right = right(step, *node), .badge = Provenance::executed, .caption = caption_});
        ui.push_scope("weights");
        float x = body.x;
        const int before = mode_;
        const bool parameter = node->kind == GraphNode::Kind::parameter && compares_;
        if (parameter) {
            const std::string_view labels[] = {"weights", body.w > 420 ? "change since step 0" : "change", "gradient"};
            mode_ = ui.segmented(x, body.y, labels, mode_);
        } else {
            mode_ = ui.segmented(x, body.y, {"values", "gradient"}, mode_ == 2 ? 1 : 0) == 1 ? 2 : mode_ == 2 ? 0 : mode_;
        }
        if (x + 8 + ui.chip_width("histogram") <= body.right()) {
            x += 8;
            if (ui.chip(x, body.y, "histogram", histogram_on_)) histogram_on_ = !histogram_on_;
        }
        ui.pop_scope();
        if (mode_ != before) refresh(*snapshot, *node);
        const Rect room{body.x, body.y + 36, body.w, body.bottom() - body.y - 36};
        if (histogram_on_ && !values_.empty())
            return draw_histogram(ui, histogram_, name_of_mode(*node), session.learn.reveal_steps >= 0, room);
        pictures(ui, step, *node, room);
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const auto snapshot = session.snapshot();
        const GraphNode* node = snapshot->training.step ? tensor_shown(*snapshot->training.step, focus) : nullptr;
        if (!node) return "Weights, layer 1: nothing to show yet.\n";
        WeightsView fresh;
        fresh.mode_ = mode_;
        fresh.refresh(*snapshot, *node);
        return fmt::format("{} (executed): {} {}\n  {}\n", title(*snapshot->training.step, *node), node->name,
                           shape_text(node->shape), fresh.caption_);
    }

  private:
    int mode_ = 1;
    bool histogram_on_ = false;
    bool compares_ = true;  // step 0 was kept: not of a tensor program, which keeps its last step
    int seen_mode_ = -1, seen_node_ = -1;
    std::shared_ptr<const StepRecord> seen_;  // kept: no other one gets its address
    uint64_t version_ = 0;
    std::vector<float> values_;  // empty: nothing to compare with
    float clip_ = 1;
    int64_t followed_ = -1;
    Histogram histogram_;
    std::string caption_;

    static std::string title(const StepRecord& step, const GraphNode& node) {
        const TensorTiles tiles = tiles_of(step, node);
        if (tiles.unit == "unit") return "Weights, layer 1";
        if (tiles.unit == "channel") return "Feature maps, " + node.name;
        if (tiles.unit == "filter") return "Filters, " + node.name;
        return node.kind == GraphNode::Kind::parameter ? "Weights, " + node.name : "Activations, " + node.name;
    }
    static std::string right(const StepRecord& step, const GraphNode& node) {
        const TensorTiles tiles = tiles_of(step, node);
        if (tiles.count == 1) return shape_text(node.shape);
        return fmt::format("{} {}s × {} × {}", tiles.count, tiles.unit, tiles.h, tiles.w);
    }
    // Activations of two steps are of two batches: their change says nothing.
    static void draw_none(Ui& ui, const Snapshot& snapshot, const Rect& area) {
        const bool program = snapshot.tape && snapshot.training.step;
        const std::string caption =
            program ? snapshot.training.step->model + " has no layer of weights." : std::string("No weights to show yet.");
        const Rect body = ui.panel(area, {.title = "Weights, layer 1", .badge = Provenance::executed, .caption = caption});
        ui.say_nothing_yet(body, caption, "They appear with the first step of a training run.");
    }

    int mode_for(const GraphNode& node) const {
        return (node.kind == GraphNode::Kind::parameter && compares_) || mode_ != 1 ? mode_ : 0;
    }
    std::string name_of_mode(const GraphNode& node) const {
        const int mode = mode_for(node);
        return (mode == 0 ? "" : mode == 1 ? "change of " : "gradient of ") + node.name;
    }

    // Where the tiles stand: in rows and columns of `cell` high tiles, apart by a gap of their own pixels.
    struct TileGrid {
        Rect to;
        int columns = 1, rows = 1, shown = 1;
        int tile_w = 1, tile_h = 1;  // pixels, with the gap
        float wide = 0, cell = 0;

        Rect at(const TensorTiles& tiles, int t) const {
            return {to.x + wide * static_cast<float>(t % columns), to.y + cell * static_cast<float>(t / columns),
                    wide * static_cast<float>(tiles.w) / static_cast<float>(tile_w),
                    cell * static_cast<float>(tiles.h) / static_cast<float>(tile_h)};
        }
    };

    // The largest tile with which all fit, within reason.
    static TileGrid place_tiles(const TensorTiles& tiles, const Rect& r, float high) {
        TileGrid grid;
        const float shape = static_cast<float>(tiles.w) / static_cast<float>(tiles.h);
        const auto columns_at = [&](float size) { return std::max(1, static_cast<int>(r.w / (size * shape))); };
        const auto rows_at = [&](float size) { return std::max(1, static_cast<int>(high / size)); };
        float cell = std::min(high, 120.f);
        if (tiles.count == 1) cell = std::min(high, r.w / shape);
        while (tiles.count > 1 && cell > 30 && columns_at(cell) * rows_at(cell) < tiles.count) cell -= 2;
        grid.cell = cell;
        grid.columns = std::min(tiles.count, columns_at(cell));
        grid.rows = std::min(rows_at(cell), (tiles.count + grid.columns - 1) / grid.columns);
        grid.shown = std::min(tiles.count, grid.rows * grid.columns);
        const int gap = tiles.count > 1 ? std::max(1, tiles.w / 14) : 0;
        grid.tile_w = tiles.w + gap;
        grid.tile_h = tiles.h + gap;
        grid.wide = tiles.count > 1 ? cell * shape : std::min(r.w, std::max(cell * shape, 220.f));
        grid.to = {r.x, r.y, grid.wide * static_cast<float>(grid.columns), cell * static_cast<float>(grid.rows)};
        return grid;
    }

    void paint_tiles(std::span<Color> pixels, const Theme& theme, const TensorTiles& tiles, const TileGrid& grid) const {
        const Color ground = theme.dark ? rgb(0x101216) : rgb(0xDDE1E7);
        const int width = grid.columns * grid.tile_w;
        std::fill(pixels.begin(), pixels.end(), theme.panel);
        for (int t = 0; t < grid.shown; ++t)
            for (int y = 0; y < tiles.h; ++y)
                for (int x = 0; x < tiles.w; ++x) {
                    const size_t from = tiles.at(t, x, y);
                    const auto into = static_cast<size_t>(((t / grid.columns) * grid.tile_h + y) * width +
                                                          (t % grid.columns) * grid.tile_w + x);
                    if (into < pixels.size())
                        pixels[into] = from < values_.size() ? diverging(values_[from] / clip_ / 2 + 0.5f, theme) : ground;
                }
    }

    int picked_tile(const TensorTiles& tiles, int shown) const {  // with the element that is followed; -1: none
        if (followed_ < 0 || tiles.count <= 1) return -1;
        for (int t = 0; t < shown; ++t) {
            const int64_t within = followed_ - tiles.base - tiles.tile * t;
            const bool here = tiles.tile == 1 ? within % tiles.column == 0 : within < tiles.tile;
            if (here && within >= 0) return t;
        }
        return -1;
    }

    static std::string note_of(const TensorTiles& tiles, int shown, int picked) {
        std::string note = shown < tiles.count ? fmt::format("{} of {} drawn", shown, tiles.count) : "";
        if (picked >= 0)
            note += fmt::format("{}{} {} followed", note.empty() ? "" : ", ", tiles.unit, picked);
        else if (note.empty() && tiles.every_row * tiles.every_column > 1)
            note = fmt::format("one value in {} drawn", tiles.every_row * tiles.every_column);
        return note;
    }

    void pictures(Ui& ui, const StepRecord& step, const GraphNode& node, const Rect& r) {
        const Theme& theme = *ui.theme;
        const TensorTiles tiles = tiles_of(step, node);
        const float scale_height = 24;
        const TileGrid grid = place_tiles(tiles, r, r.h - scale_height);
        ui.picture("weights",
                   ((version_ * 2 + (theme.dark ? 1u : 0u)) * 512 + static_cast<uint64_t>(grid.columns)) * 512 +
                       static_cast<uint64_t>(grid.rows),
                   grid.columns * grid.tile_w, grid.rows * grid.tile_h, grid.to,
                   [&](std::span<Color> pixels) { paint_tiles(pixels, theme, tiles, grid); });
        if (tiles.count > 1 && grid.cell >= 24)  // zeros have the panel's colour: where a tile ends must be seen
            for (int t = 0; t < grid.shown; ++t) ui.frame(grid.at(tiles, t), theme.grid);
        const int picked = picked_tile(tiles, grid.shown);
        if (picked >= 0) ui.outline(grid.at(tiles, picked));
        const float y = grid.to.bottom() + 6;
        const float at = ui.text(r.x, y + 10, fmt::format("-{:.3g}", clip_), {.size = 12, .color = theme.ink2}) + 8;
        for (int i = 0; i < 42; ++i)
            ui.rect({at + 4.f * static_cast<float>(i), y, 4, 12}, diverging(static_cast<float>(i) / 41.f, theme));
        ui.text(at + 176, y + 10, fmt::format("+{:.3g}", clip_), {.size = 12, .color = theme.ink2});
        const std::string note = note_of(tiles, grid.shown, picked);
        if (!note.empty() && r.right() - at > 330)
            ui.text(r.right(), y + 10, note, {.size = 12, .align = Align::right, .width = r.right() - at - 240});
    }

    void refresh(const Snapshot& snapshot, const GraphNode& node) {
        const StepRecord& step = *snapshot.training.step;
        if (snapshot.training.step == seen_ && mode_ == seen_mode_ && node.id == seen_node_) return;
        seen_ = snapshot.training.step;
        seen_mode_ = mode_;
        seen_node_ = node.id;
        ++version_;
        compares_ = !step.model.ends_with(".tape");
        const int mode = mode_for(node);
        followed_ = step.followed && static_cast<size_t>(node.id) < step.followed->element.size()
                        ? step.followed->element[static_cast<size_t>(node.id)]
                        : -1;
        values_.clear();
        if (mode == 0) values_ = *node.value;
        if (mode == 2 && node.gradient) values_ = *node.gradient;
        if (mode == 1) values_ = change_of(snapshot, node);
        clip_ = clip_of(values_);
        histogram_ = histogram_of(values_, 60);
        caption_ = mode == 1 ? caption_of_change(step, node) : caption_of_values(step, node, mode == 2);
    }

    // The values less those of step 0; none where those are not kept.
    static std::vector<float> change_of(const Snapshot& snapshot, const GraphNode& node) {
        const auto& first_step = snapshot.training.first_step;
        if (!first_step || first_step->nodes.size() != snapshot.training.step->nodes.size()) return {};
        const GraphNode& first = first_step->nodes[static_cast<size_t>(node.id)];
        if (!first.value || first.value->size() != node.value->size()) return {};
        std::vector<float> change = *node.value;
        for (size_t i = 0; i < change.size(); ++i) change[i] -= (*first.value)[i];
        return change;
    }

    std::string caption_of_change(const StepRecord& step, const GraphNode& node) const {
        if (values_.empty()) return "The values of step 0 are not kept, so there is no change to show.";
        if (step.step == 0) return "Step 0 is where the run began: nothing has changed yet.";
        if (tiles_of(step, node).unit == "unit")
            return fmt::format(
                "After {} steps: sky pixels count against the unit, orange ones for it. Colour clips at ±{:.3g}.", step.step,
                clip_);
        return fmt::format("{} at step {} less {} at step 0. Colour clips at ±{:.3g}.", node.name, step.step, node.name,
                           clip_);
    }

    std::string caption_of_values(const StepRecord& step, const GraphNode& node, bool gradient) const {
        if (values_.empty()) return fmt::format("No gradient of {} is kept.", node.name);
        const bool parameter = node.kind == GraphNode::Kind::parameter;
        return fmt::format("{} of {} at step {}, rms {:.3g}. Colour clips at ±{:.3g}.",
                           gradient    ? "Gradient"
                           : parameter ? "Weights"
                                       : "Values",
                           node.name, step.step, root_mean_square(values_), clip_);
    }
};

}  // namespace

std::unique_ptr<View> make_weights_view() {
    return std::make_unique<WeightsView>();
}

}  // namespace lockstep::gui
