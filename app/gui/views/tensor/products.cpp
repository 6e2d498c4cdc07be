// A matrix product drawn to shape. Small ones with their numbers: x beside y, W above it, so that an element's row and
// column run into it, and its sum term by term; cut over GPUs by colour and letter, with what has to be handed on or added.
// Large ones as the tiles of their launches: what one block reads, forward and back, which thread makes what, and how many
// SMs have a block. A click picks the element, the block or the thread. Results wait for an open answer.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/gui/scenes.h"
#include "app/gui/view.h"
#include "app/gui/views/tensor/product_data.h"
#include "app/gui/views/tensor/tensor_text.h"
#include "app/gui/views/training/tape_data.h"
#include "core/base/units.h"
#include "core/scene/arguments/kernel_source.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view products_title = "Matrix product: rows, columns, elements";
constexpr std::string_view elements_hidden = "What the elements come to is hidden until you lock an answer.";

struct PartLook {
    Color color;
    Hatch hatch;
};
PartLook look_of_part(int64_t part) {
    static constexpr PartLook looks[] = {{data::sky, Hatch::solid},
                                         {data::orange, Hatch::diagonal},
                                         {data::green, Hatch::cross},
                                         {data::purple, Hatch::horizontal}};
    return looks[static_cast<size_t>(part) % std::size(looks)];
}
std::string extent_text(int64_t rows, int64_t columns) {
    return fmt::format("{} × {}", whole_number(rows), whole_number(columns));
}

class ProductsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        refresh(session);
        if (all_.empty()) {
            const Rect body = ui.panel(area, {.title = products_title});
            return ui.say_nothing_yet(body, "No matrix product is on show.",
                                      "It appears with a layer's first step, or a kernel that is given two matrices.");
        }
        chosen_ = std::min(chosen_, all_.size() - 1);
        const MatrixProduct& it = all_[chosen_];
        const bool hidden = session.learn.reveal_steps >= 0, known = is_known(session, focus, it);
        row_ = std::clamp<int64_t>(row_, 0, it.rows - 1);
        column_ = std::clamp<int64_t>(column_ < 0 ? it.columns - 1 : column_, 0, it.columns - 1);
        const bool tiles = in_tiles(it);
        const std::string caption = caption_of(it, tiles, hidden);
        const Rect body =
            ui.panel(area, {.title = products_title,
                            .right = fmt::format("{} [{}] · {} [{}]", it.x_name, extent_text(it.rows, it.inner), it.w_name,
                                                 extent_text(it.inner, it.columns)),
                            .badge = tiles && !hidden ? Provenance::simulated
                                     : it.ran         ? Provenance::executed
                                                      : Provenance::derived,
                            .caption = caption});
        ui.push_scope("products");
        float y = body.y;
        if (all_.size() > 1) {
            float x = body.x;
            for (size_t i = 0; i < all_.size() && i < 8; ++i) {
                const std::string name = all_[i].y_name;
                if (x + ui.chip_width(name) > body.right()) break;
                if (ui.chip(x, y, name, i == chosen_)) chosen_ = i, row_ = 0, column_ = -1;
            }
            y += 34;
        }
        if (body.bottom() - y > 260) {
            ui.text(body.x, y + 20, headline_of(it, tiles, known), {.size = 20, .weight = 700, .width = body.w});
            y += 38;
        }
        const Rect room{body.x, y, body.w, body.bottom() - 26 - y};
        if (tiles)
            draw_tiles(ui, it, known, room);
        else
            draw_numbers(ui, it, known, hidden, room);
        draw_legend(ui, it, tiles, body);
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        ProductsView fresh;
        fresh.chosen_ = chosen_;
        fresh.row_ = row_;
        fresh.column_ = column_;
        fresh.refresh(session);
        if (fresh.all_.empty()) return "Matrix product: none is on show.\n";
        const bool hidden = session.learn.reveal_steps >= 0;
        std::string text;
        for (const MatrixProduct& it : fresh.all_) {
            const bool tiles = in_tiles(it), known = fresh.is_known(session, focus, it);
            text += fmt::format("{} ({}): {} [{}] times {} [{}]\n  {}\n", it.y_name,
                                name_of(it.ran ? Provenance::executed : Provenance::derived), it.x_name,
                                extent_text(it.rows, it.inner), it.w_name, extent_text(it.inner, it.columns),
                                fresh.headline_of(it, tiles, known));
            for (int64_t r = 0; known && !tiles && r < std::min<int64_t>(it.rows, 8); ++r) {
                text += fmt::format("  row {}:", r);
                for (int64_t c = 0; c < std::min<int64_t>(it.columns, 12); ++c)
                    text += " " + element_number(it.y[static_cast<size_t>(r * it.columns + c)]);
                text += "\n";
            }
            for (const ProductRun& run : it.runs)
                if (tiles)
                    text += fmt::format("  {}: {} blocks of {} steps{}\n", run.label, run.blocks(), run.steps(),
                                        known && run.us > 0 ? ", " + time_text(run.us) : "");
            text += "  " + caption_of(it, tiles, hidden) + "\n";
        }
        return text;
    }

  private:
    void refresh(const Session& session) {
        const auto snapshot = session.snapshot();
        if (snapshot->version == version_ && session.lesson.step == step_) return;
        version_ = snapshot->version;
        step_ = session.lesson.step;
        const auto& record = snapshot->training.step;
        if (record && record == record_) return;
        record_ = record;
        all_.clear();
        if (record) {
            all_ = products_of(*record);
            plan_ = plan_tape(*record);
        } else if (const scene::Scene* const scene = drawn_scene(session)) {
            const std::vector<std::string> names = names_of(*snapshot, *scene);
            if (auto one = product_of(arguments_of(*scene), session.lesson.lesson->seed, names)) {
                if (snapshot->kernel.run) take_blocks(*one, snapshot->kernel.run->config.grid);
                all_.push_back(std::move(*one));
            }
        }
        chosen_ = std::min(chosen_, all_.empty() ? 0 : all_.size() - 1);
    }
    static void take_blocks(MatrixProduct& it, const simt::Dim3& grid) {
        if (grid.x < 2 || grid.y < 2 || grid.z > 1 || it.rows % grid.y != 0 || it.columns % grid.x != 0) return;
        it.blocks_down = grid.y, it.blocks_across = grid.x;
    }
    // As mathematics has them: a kernel's a, b, c and d are the matrices A, B, C and D. Of other kernels none.
    static std::vector<std::string> names_of(const Snapshot& snapshot, const scene::Scene& scene) {
        if (!snapshot.kernel.run) return {};
        std::vector<std::string> names = scene::parameter_names(snapshot.kernel.run->source, scene.kernel);
        if (names.size() < 3 || names[0] != "a" || names[1] != "b") return {};
        for (std::string& name : names)
            if (name.size() == 1 && name[0] <= 'd') name[0] = static_cast<char>(name[0] - 'a' + 'A');
        return names;
    }
    bool is_known(const Session& session, const Focus& focus, const MatrixProduct& it) const {
        if (session.learn.reveal_steps >= 0) return false;
        return it.last_node < 0 || plan_.value_known(it.last_node, tape_position(session, focus, plan_));
    }
    static bool in_tiles(const MatrixProduct& it) {
        return !it.runs.empty() && it.cut == MatrixProduct::Cut::none && (it.inner > 40 || it.rows > 24 || it.columns > 40);
    }
    static const ProductRun* weights_run(const MatrixProduct& it) {
        for (const ProductRun& run : it.runs)
            if (run.back && run.label.ends_with("dW")) return &run;
        return nullptr;
    }

    std::string headline_of(const MatrixProduct& it, bool tiles, bool known) const {
        if (tiles) {
            const ProductRun &ahead = it.runs.front(), *back = weights_run(it);
            if (known && back != nullptr && ahead.us > 0 && back->us > 0)
                return fmt::format("Equal work: {} take{} {}, {} take {}", counted(ahead.blocks(), "block"),
                                   ahead.blocks() == 1 ? "s" : "", time_text(ahead.us), back->blocks(), time_text(back->us));
            return fmt::format("One block reads all of {} and a band of {}", it.x_name, it.w_name);
        }
        switch (it.cut) {
            case MatrixProduct::Cut::columns:
                return it.joined ? "By columns: each GPU makes whole elements; an all-gather hands them round"
                                 : "By columns: each GPU makes whole elements, and keeps them";
            case MatrixProduct::Cut::rows:
                return "By rows: each GPU has a part of every sum; an all-reduce adds them";
            default:
                return fmt::format("Each element of {} is a row of {} times a column of {}{}", it.y_name, it.x_name,
                                   it.w_name, it.added.empty() ? "" : fmt::format(", added to {}'s", it.added_name));
        }
    }
    static std::string caption_of(const MatrixProduct& it, bool tiles, bool hidden) {
        if (hidden && !tiles) return std::string(elements_hidden);
        const int64_t adds = it.rows * it.inner * it.columns;
        if (tiles) {
            const ProductRun& ahead = it.runs.front();
            const ProductRun* back = weights_run(it);
            std::string text = fmt::format(
                "A block makes {} × {} elements, one a thread, and walks along the {} that are summed "
                "away: {} steps.",
                ahead.tile_rows, ahead.tile_columns, whole_number(it.inner), ahead.steps());
            if (back != nullptr)
                text += fmt::format(" Back, the same {} multiply-adds are {} blocks of {}.", whole_number(adds),
                                    back->blocks(), counted(back->steps(), "step"));
            return text;
        }
        if (it.cut == MatrixProduct::Cut::columns)
            return fmt::format("All of {} and a part of {}'s columns on each of {} GPUs: no sum is cut.", it.x_name,
                               it.w_name, it.ends.size());
        if (it.cut == MatrixProduct::Cut::rows)
            return fmt::format(
                "Each of {} GPUs has some columns of {} and the same rows of {}: its {} numbers are parts of "
                "all sums.",
                it.ends.size(), it.x_name, it.w_name, it.rows * it.columns);
        if (it.blocks_down * it.blocks_across > 1)
            return fmt::format("Each of {} blocks makes {} elements, from {} rows of {} and {} columns of {}.",
                               whole_number(it.blocks_down * it.blocks_across),
                               extent_text(it.rows / it.blocks_down, it.columns / it.blocks_across),
                               whole_number(it.rows / it.blocks_down), it.x_name,
                               whole_number(it.columns / it.blocks_across), it.w_name);
        return fmt::format("{} elements of {} multiply-adds each, {} in all. {} serves {}.",
                           whole_number(it.rows * it.columns), whole_number(it.inner), whole_number(adds),
                           it.w_name == "W" ? std::string("A weight") : fmt::format("A number of {}", it.w_name),
                           it.rows == 1 ? std::string("the one row") : fmt::format("all {} rows", it.rows));
    }

    static void draw_legend(Ui& ui, const MatrixProduct& it, bool tiles, const Rect& body) {
        const Theme& theme = *ui.theme;
        const float at = body.bottom() - 6;
        float x = body.x;
        if (tiles) {
            x = ui.legend(x, at, theme.ink, Hatch::solid, "one block: what it reads and makes");
            x = ui.legend(x, at, mix(theme.panel2, data::sky, 0.45f), Hatch::solid, "other tiles");
            if (x + 220 < body.right()) ui.legend(x, at, data::green, Hatch::solid, "its warp, an SM with a block");
            return;
        }
        if (it.cut != MatrixProduct::Cut::none) {
            for (size_t p = 0; p < it.ends.size(); ++p) {
                const PartLook look = look_of_part(static_cast<int64_t>(p));
                const std::string label = fmt::format("GPU {}", p + 1);
                if (x + ui.text_width(label, {.size = 13}) + 40 > body.right()) break;
                x = ui.legend(x, at, look.color, look.hatch, label);
            }
        } else {
            x = ui.legend(x, at, mix(theme.panel2, data::sky, 0.6f), Hatch::solid, fmt::format("row of {}", it.x_name));
            x = ui.legend(x, at, mix(theme.panel2, data::green, 0.6f), Hatch::solid, fmt::format("column of {}", it.w_name));
            if (as_sheets(it) && it.blocks_down > 0 && x + 170 < body.right())
                x = ui.legend(x, at, mix(theme.panel2, data::orange, 0.45f), Hatch::solid, "its block's elements");
        }
        if (x + 160 < body.right()) {
            ui.outline({x, at - 11, 14, 13});
            ui.text(x + 20, at, "the element picked", {.size = 13, .color = theme.ink2});
        }
    }

    // A matrix tells its numbers where most of them fit into its cells; a few alone would look like special ones.
    static bool numbers_fit(Ui& ui, const std::vector<float>& values, float cell) {
        if (cell < 15) return false;
        const TextStyle style{.size = cell - 1 >= 32 ? 13.0f : 12.0f, .weight = 400, .mono = true};
        size_t fit = 0;
        for (const float value : values) fit += ui.text_width(element_number(value), style) < cell - 2 ? 1 : 0;
        return 2 * fit > values.size();
    }

    // A number in its cell of a matrix; `strength`: how much of the colour.
    static void matrix_cell(Ui& ui, const Rect& at, Color color, float strength, const std::string& text,
                            bool strong = false) {
        const Color fill = mix(ui.theme->panel2, color, strength);
        ui.rect(at, fill);
        const TextStyle style{.size = at.w >= 32 ? 13.0f : 12.0f,
                              .color = strength > 0.45f ? text_on(fill) : ui.theme->ink,
                              .align = Align::center,
                              .weight = strong ? 700 : 400,
                              .mono = true};
        if (at.h >= 14 && ui.text_width(text, style) < at.w - 1)
            ui.text(at.x + at.w / 2, at.y + at.h / 2 + 4.5f, text, style);
    }

    // Where numbers have no room, a larger one has more of its matrix's colour.
    static float most_of(const std::vector<float>& values) {
        float most = 0;
        for (const float value : values) most = std::max(most, std::abs(value));
        return most;
    }
    static float shade_of(float value, float most) { return most > 0 ? 0.04f + 0.26f * std::abs(value) / most : 0.04f; }

    // Large matrices are sheets, with the tiles of the launch's blocks: that of the picked element, and what it reads.
    static bool as_sheets(const MatrixProduct& it) {
        return it.rows * it.inner + it.inner * it.columns + it.rows * it.columns > 3000;
    }
    void draw_sheets(Ui& ui, const MatrixProduct& it, float cell, float xx, float xw, float yw, float yx) const {
        const Theme& theme = *ui.theme;
        const auto n = [](int64_t count) { return static_cast<float>(count); };
        const Rect x{xx, yx, cell * n(it.inner) - 1, cell * n(it.rows) - 1},
            w{xw, yw, cell * n(it.columns) - 1, cell * n(it.inner) - 1},
            y{xw, yx, cell * n(it.columns) - 1, cell * n(it.rows) - 1};
        for (const Rect& sheet : {x, w, y}) ui.rect(sheet, theme.panel2);
        const int64_t down = std::max<int64_t>(1, it.blocks_down), across = std::max<int64_t>(1, it.blocks_across);
        const float high = cell * n(it.rows / down), wide = cell * n(it.columns / across);
        const Point own{wide * n(column_ / (it.columns / across)), high * n(row_ / (it.rows / down))};
        ui.rect({x.x, x.y + own.y, x.w, high - 1}, mix(theme.panel2, data::sky, 0.22f));
        ui.rect({w.x + own.x, w.y, wide - 1, w.h}, mix(theme.panel2, data::green, 0.22f));
        ui.rect({y.x + own.x, y.y + own.y, wide - 1, high - 1}, mix(theme.panel2, data::orange, 0.45f));
        for (int64_t i = 0; i <= down; ++i)
            for (const Rect& sheet : {x, y})
                ui.line({sheet.x, sheet.y + high * n(i) - 0.5f}, {sheet.right(), sheet.y + high * n(i) - 0.5f}, theme.ink3);
        for (int64_t i = 0; i <= across; ++i)
            for (const Rect& sheet : {w, y})
                ui.line({sheet.x + wide * n(i) - 0.5f, sheet.y}, {sheet.x + wide * n(i) - 0.5f, sheet.bottom()}, theme.ink3);
        for (const Rect& sheet : {x, w, y}) ui.frame(sheet, theme.ink3);
    }

    void draw_numbers(Ui& ui, const MatrixProduct& it, bool known, bool hidden, const Rect& r) {
        const Theme& theme = *ui.theme;
        const bool beside = r.w > 640;
        const float left = beside ? r.w * 0.56f : r.w;
        const float labels = 26, between = 34, head = 40, middle = 46;
        // Sheets have no cells that would have to stand on whole pixels.
        const float fits = std::min((left - labels - between) / static_cast<float>(it.inner + it.columns),
                                    (r.h - head - middle - 4) / static_cast<float>(it.inner + it.rows)),
                    cell = as_sheets(it) ? std::clamp(fits, 1.0f, 8.0f) : std::floor(std::clamp(fits, 3.0f, 46.0f));
        const auto n = [](int64_t count) { return static_cast<float>(count); };
        const float xx = r.x + labels, xw = xx + cell * n(it.inner) + between, yw = r.y + head,
                    yx = yw + cell * n(it.inner) + middle;
        const auto at_x = [&](int64_t row, int64_t k) {
            return Rect{xx + cell * n(k), yx + cell * n(row), cell - 1, cell - 1};
        };
        const auto at_w = [&](int64_t k, int64_t c) { return Rect{xw + cell * n(c), yw + cell * n(k), cell - 1, cell - 1}; };
        const auto at_y = [&](int64_t row, int64_t c) {
            return Rect{xw + cell * n(c), yx + cell * n(row), cell - 1, cell - 1};
        };
        const TextStyle title{.size = 14, .weight = 600}, small{.size = 12, .color = theme.quiet};
        // titles
        float x = ui.text(xw, r.y + 14, it.w_name, title) + 8;
        x = ui.text(x, r.y + 14, extent_text(it.inner, it.columns), {.size = 13, .color = theme.quiet}) + 12;
        if (it.stored_by_rows && x + 180 < r.x + left) ui.text(x, r.y + 14, "each column is a row in memory", small);
        x = ui.text(xx, yx - 24, it.x_name, title) + 8;
        ui.text(x, yx - 24, extent_text(it.rows, it.inner), {.size = 13, .color = theme.quiet, .width = xw - x - 4});
        const bool x_told = numbers_fit(ui, it.x, cell), w_told = numbers_fit(ui, it.w, cell),
                   y_told = !known || numbers_fit(ui, it.y, cell);
        const bool cut = it.cut != MatrixProduct::Cut::none, sheets = as_sheets(it);
        if (sheets) draw_sheets(ui, it, cell, xx, xw, yw, yx);
        const float x_most = most_of(it.x), w_most = most_of(it.w), y_most = most_of(it.y);
        const auto color_of_part = [&](int64_t c, int64_t k) { return look_of_part(it.part_of(c, k)).color; };
        for (int64_t row = 0; row < it.rows; ++row)
            for (int64_t k = 0; k < it.inner; ++k) {
                const bool picked = row == row_;
                const Color color = it.cut == MatrixProduct::Cut::rows ? color_of_part(0, k) : data::sky;
                const Rect at = at_x(row, k);
                if (sheets && !picked) continue;
                matrix_cell(ui, at, color,
                            picked                               ? 0.6f
                            : it.cut == MatrixProduct::Cut::rows ? 0.22f
                            : x_told                             ? 0
                                     : shade_of(it.x[static_cast<size_t>(row * it.inner + k)], x_most),
                            x_told ? element_number(it.x[static_cast<size_t>(row * it.inner + k)]) : std::string(), picked);
                if (ui.hovered(at)) ui.tooltip(fmt::format("{}[{}][{}]", it.x_name, row, k));
            }
        for (int64_t k = 0; k < it.inner; ++k)
            for (int64_t c = 0; c < it.columns; ++c) {
                const bool picked = c == column_;
                const Rect at = at_w(k, c);
                if (sheets && !picked) continue;
                matrix_cell(ui, at, cut ? color_of_part(c, k) : data::green,
                            picked   ? 0.6f
                            : cut    ? 0.22f
                            : w_told ? 0
                                     : shade_of(it.w[static_cast<size_t>(k * it.columns + c)], w_most),
                            w_told ? element_number(it.w[static_cast<size_t>(k * it.columns + c)]) : std::string(), picked);
                if (ui.hovered(at)) ui.tooltip(fmt::format("{}: input {}, output {}", it.w_name, k, c));
            }
        for (int64_t row = 0; row < it.rows; ++row)
            for (int64_t c = 0; c < it.columns; ++c) {
                const Rect at = at_y(row, c);
                const bool picked = row == row_ && c == column_;
                const Color color = it.cut == MatrixProduct::Cut::columns ? color_of_part(c, 0) : theme.ink3;
                if (ui.clicked(at)) row_ = row, column_ = c;
                if (ui.hovered(at)) ui.tooltip(fmt::format("{}[{}][{}]: click to see its sum", it.y_name, row, c));
                if (sheets && !picked) continue;
                matrix_cell(ui, at, color,
                            it.cut == MatrixProduct::Cut::columns ? 0.35f
                            : y_told                              ? 0.12f
                                     : shade_of(it.y[static_cast<size_t>(row * it.columns + c)], y_most),
                            !known   ? "?"
                            : y_told ? element_number(it.y[static_cast<size_t>(row * it.columns + c)])
                                     : std::string(),
                            picked);
            }
        draw_part_bars(ui, it, cell, xx, xw, yw, yx);
        const Rect lane = at_y(row_, column_);
        ui.outline({lane.x - 2, lane.y - 2, lane.w + 4, lane.h + 4});
        const Rect row_first = at_x(row_, 0), row_last = at_x(row_, it.inner - 1), top = at_w(0, column_),
                   low = at_w(it.inner - 1, column_);
        ui.frame({row_first.x - 1, row_first.y - 1, row_last.right() - row_first.x + 2, row_first.h + 2}, theme.ink, 1.5f);
        ui.frame({top.x - 1, top.y - 1, top.w + 2, low.bottom() - top.y + 2}, theme.ink, 1.5f);
        if (between >= 20) {
            const float mid = row_first.y + row_first.h / 2;
            ui.line({row_last.right() + 3, mid}, {xw - 8, mid}, theme.ink2, 1.5f);
            ui.arrow_head({xw - 4, mid}, Way::right, theme.ink2);
        }
        const float across = low.x + low.w / 2;
        ui.line({across, low.bottom() + 3}, {across, yx - 22}, theme.ink2, 1.5f);
        const float below = yx + cell * n(it.rows) + 18;
        const std::string made = fmt::format("{}  {}", it.y_name, extent_text(it.rows, it.columns));
        if (below < r.bottom()) ui.text(xw, below, made, title);
        keys(ui, it, r);
        if (beside) draw_sum(ui, it, known, hidden, {r.x + left + 28, r.y, r.w - left - 28, r.h});
    }
    void keys(Ui& ui, const MatrixProduct& it, const Rect& r) {
        if (ui.pressed(Key::d, r)) column_ = std::min(column_ + 1, it.columns - 1);
        if (ui.pressed(Key::a, r)) column_ = std::max<int64_t>(column_ - 1, 0);
        if (ui.pressed(Key::down, r)) row_ = std::min(row_ + 1, it.rows - 1);
        if (ui.pressed(Key::up, r)) row_ = std::max<int64_t>(row_ - 1, 0);
    }

    // Which GPU holds what: bars at the cut matrices, with the twin hatch, and its name where there is room.
    static void draw_part_bars(Ui& ui, const MatrixProduct& it, float cell, float xx, float xw, float yw, float yx) {
        int64_t begin = 0;
        for (size_t p = 0; p < it.ends.size() && it.cut != MatrixProduct::Cut::none; ++p) {
            const PartLook look = look_of_part(static_cast<int64_t>(p));
            const float from = cell * static_cast<float>(begin), size = cell * static_cast<float>(it.ends[p] - begin) - 3;
            const std::string name = fmt::format("GPU {}", p + 1);
            const auto above = [&](float x, float y) { ui.hatch({x, y, size, 7}, look.color, look.hatch); };
            if (it.cut == MatrixProduct::Cut::columns) {
                above(xw + from, yw - 10);
                above(xw + from, yx - 10);
            } else {
                ui.hatch({xw - 11, yw + from, 7, size}, look.color, look.hatch);
                above(xx + from, yx - 10);
            }
            begin = it.ends[p];
        }
    }

    void draw_sum(Ui& ui, const MatrixProduct& it, bool known, bool hidden, const Rect& r) const {
        const Theme& theme = *ui.theme;
        ui.text(r.x, r.y + 14, fmt::format("{}[{}][{}], term by term", it.y_name, row_, column_),
                {.size = 14, .weight = 600, .width = r.w});
        const bool by_rows = it.cut == MatrixProduct::Cut::rows;
        const int64_t groups = by_rows ? static_cast<int64_t>(it.ends.size()) : 1;
        const bool adds = !it.bias.empty() || !it.added.empty();
        const float lines_after = static_cast<float>((by_rows ? groups : 0) + (adds ? 1 : 0) + 1) * 30 + 8;
        const float pitch = 23, room = r.h - 36 - lines_after;
        const auto fits = static_cast<int64_t>(std::max(1.0f, room / pitch));
        const bool all = it.inner <= fits;
        float y = r.y + 36;
        const float answer = r.x + std::min(r.w, 330.0f);
        const TextStyle mono{.size = 13, .mono = true};
        TextStyle right = mono;
        right.align = Align::right;
        int64_t k = 0;
        for (int64_t g = 0; g < groups; ++g) {
            const int64_t begin = k, end = by_rows ? it.ends[static_cast<size_t>(g)] : it.inner;
            const int64_t shown = all ? end - begin : std::max<int64_t>(1, (fits - 1) / groups);
            for (; k < end && k < begin + shown; ++k) {
                const PartLook look = look_of_part(it.part_of(column_, k));
                if (it.cut != MatrixProduct::Cut::none) ui.hatch({r.x, y + 3, 8, 14}, look.color, look.hatch);
                const float from = r.x + (it.cut != MatrixProduct::Cut::none ? 18.0f : 0.0f);
                ui.text(from, y + 15,
                        fmt::format("{} · {}", element_number(it.x[static_cast<size_t>(row_ * it.inner + k)]),
                                    element_number(it.w[static_cast<size_t>(k * it.columns + column_)])),
                        mono);
                if (known) ui.text(answer, y + 15, element_number(it.term(row_, column_, k)), right);
                y += pitch;
            }
            if (k < end) {
                ui.text(r.x + 18, y + 15, fmt::format("... and {} more", end - k), {.size = 13, .color = theme.quiet});
                y += pitch;
                k = end;
            }
            if (!by_rows) continue;
            const PartLook look = look_of_part(g);
            ui.rect({r.x, y, answer - r.x + 8, 25}, mix(theme.panel, look.color, 0.25f), 3);
            ui.text(r.x + 8, y + 17, fmt::format("GPU {} has", g + 1), {.size = 13, .weight = 600});
            right.weight = 700;
            ui.text(answer, y + 17,
                    known
                        ? element_number(it.parts[static_cast<size_t>(g)][static_cast<size_t>(row_ * it.columns + column_)])
                        : "?",
                    right);
            right.weight = 400;
            y += 31;
        }
        if (adds) {
            ui.text(r.x, y + 15,
                    it.added.empty() ? "the output's bias" : fmt::format("{}[{}][{}]", it.added_name, row_, column_),
                    {.size = 13, .color = theme.ink2});
            if (known)
                ui.text(answer, y + 15,
                        element_number(it.added.empty() ? it.bias[static_cast<size_t>(column_)]
                                                        : it.added[static_cast<size_t>(row_ * it.columns + column_)]),
                        right);
            y += 26;
        }
        ui.line({r.x, y + 2}, {answer + 8, y + 2}, theme.ink3);
        ui.text(r.x, y + 24, by_rows ? "all-reduce: the sum on every GPU" : "the sum",
                {.size = 14, .weight = 600, .width = answer - r.x - 60});
        if (known)
            ui.text(answer, y + 24, element_number(it.y[static_cast<size_t>(row_ * it.columns + column_)]),
                    {.size = 14, .align = Align::right, .weight = 700, .mono = true});
        else
            ui.text(answer, y + 24, hidden ? "?" : "not yet", {.size = 14, .color = theme.quiet, .align = Align::right});
        y += 44;
        if (it.cut == MatrixProduct::Cut::columns && y + 20 < r.bottom())
            ui.text(r.x, y + 14, fmt::format("made by GPU {} alone", it.part_of(column_, 0) + 1),
                    {.size = 13, .color = theme.ink2});
    }

    // A strip or a sheet of tiles of one pitch.
    struct Sheet {
        float x, y, pitch;
        int64_t rows, columns;
        Rect tile(int64_t row, int64_t column) const {
            return {x + pitch * static_cast<float>(column), y + pitch * static_cast<float>(row), pitch - 1, pitch - 1};
        }
        float right() const { return x + pitch * static_cast<float>(columns); }
        float bottom() const { return y + pitch * static_cast<float>(rows); }
        Rect all() const { return {x, y, right() - x, bottom() - y}; }
    };

    void draw_tiles(Ui& ui, const MatrixProduct& it, bool known, const Rect& r) {
        const bool beside = r.w > 760;
        const float left = beside ? r.w * 0.62f : r.w;
        const ProductRun& ahead = it.runs.front();
        const ProductRun* back = weights_run(it);
        const int64_t along = (it.inner + ahead.tile_rows - 1) / ahead.tile_rows, bands = ahead.across, rows = ahead.down;
        const float labels = 92, result = 60;
        const auto lines = static_cast<float>((rows + bands) * (back != nullptr ? 2 : 1));
        const float fixed = back != nullptr ? 92 : 46;
        const float pitch =
            std::floor(2 * std::clamp(std::min((left - labels - result) / static_cast<float>(along), (r.h - fixed) / lines),
                                      2.0f, 14.0f)) /
            2;
        tile_ = std::clamp<int64_t>(tile_, 0, bands - 1);
        step_at_ = std::clamp<int64_t>(step_at_ < 0 ? along / 3 : step_at_, 0, along - 1);
        float y = draw_forward(ui, it, ahead, {r.x, r.y, left, r.h}, labels, pitch, along);
        if (back != nullptr && y + pitch * static_cast<float>(rows + bands) < r.bottom() + 2)
            draw_backward(ui, it, *back, {r.x, y, left, r.bottom() - y}, labels, pitch, along, bands, rows);
        if (beside) draw_threads(ui, it, ahead, back, known, {r.x + left + 30, r.y, r.w - left - 30, r.h});
    }
    static Color sheet_color(const Theme& theme, bool other) { return mix(theme.panel2, data::sky, other ? 0.5f : 0.28f); }

    static float section(Ui& ui, const Rect& r, std::string_view title, std::string_view words, const std::string& right) {
        const float from = ui.text(r.x, r.y + 14, title, {.size = 14, .weight = 600});
        const float room = r.right() - ui.text_width(right, {.size = 13, .weight = 600}) - 12;
        if (from + 8 + ui.text_width(words, {.size = 13}) < room)
            ui.text(from + 8, r.y + 14, words, {.size = 13, .color = ui.theme->quiet});
        ui.text(r.right(), r.y + 14, right, {.size = 13, .align = Align::right, .weight = 600});
        return r.y + 24;
    }
    float draw_forward(Ui& ui, const MatrixProduct& it, const ProductRun& run, const Rect& r, float labels, float pitch,
                       int64_t along) {
        const Theme& theme = *ui.theme;
        float y = section(ui, {r.x, r.y, r.w, 20}, "Forward", fmt::format("a block makes one tile of {}", it.y_name),
                          fmt::format("{}, {} steps each", counted(run.blocks(), "block"), run.steps()));
        const Sheet x{r.x + labels, y, pitch, run.down, along},
            w{r.x + labels, y + pitch * static_cast<float>(run.down) + 8, pitch, run.across, along};
        name_sheet(ui, r.x, x, it.x_name, extent_text(it.rows, it.inner), labels);
        name_sheet(ui, r.x, w, it.w_name, extent_text(it.columns, it.inner), labels);
        for (int64_t row = 0; row < x.rows; ++row)
            for (int64_t k = 0; k < along; ++k) ui.rect(x.tile(row, k), row == 0 ? theme.ink : sheet_color(theme, k % 2));
        for (int64_t band = 0; band < w.rows; ++band) {
            for (int64_t k = 0; k < along; ++k)
                ui.rect(w.tile(band, k), band == tile_ ? theme.ink : sheet_color(theme, band % 2));
            const Rect made{w.right() + 22, w.tile(band, 0).y, 26, pitch - 1};
            ui.rect(made, band == tile_ ? theme.ink : sheet_color(theme, band % 2));
            if (pitch >= 13)
                ui.text(
                    made.x + 13, made.y + pitch / 2 + 4, std::to_string(band),
                    {.size = 12, .color = band == tile_ ? theme.panel : theme.ink, .align = Align::center, .mono = true});
            if (ui.clicked({w.x, made.y, made.right() - w.x, pitch})) tile_ = band;
            if (ui.hovered({w.x, made.y, w.right() - w.x, pitch}))
                ui.tooltip(fmt::format("block {} reads {} tiles of {} and these {} of {}", band, along, it.x_name, along,
                                       it.w_name));
        }
        const float mid = w.tile(tile_, 0).y + pitch / 2;
        ui.line({w.right() + 3, mid}, {w.right() + 14, mid}, theme.ink, 1.5f);
        ui.arrow_head({w.right() + 20, mid}, Way::right, theme.ink);
        return w.bottom() + 16;
    }
    static void name_sheet(Ui& ui, float x, const Sheet& sheet, const std::string& name, const std::string& extents,
                           float width) {
        const Rect all = sheet.all();
        const float mid = all.y + all.h / 2;
        const bool two = all.h >= 34;
        ui.text(x, two ? mid - 2 : mid + 4, name, {.size = 13, .weight = 600, .width = width - 4});
        if (two) ui.text(x, mid + 14, extents, {.size = 12, .color = ui.theme->quiet, .width = width - 2});
    }
    void draw_backward(Ui& ui, const MatrixProduct& it, const ProductRun& run, const Rect& r, float labels, float pitch,
                       int64_t along, int64_t bands, int64_t rows) {
        const Theme& theme = *ui.theme;
        float y = section(ui, {r.x, r.y, r.w, 20}, "Backward",
                          fmt::format("a block makes one tile of the gradient of {}", it.w_name),
                          fmt::format("{} blocks, {} each", run.blocks(), counted(run.steps(), "step")));
        const Sheet x{r.x + labels, y, pitch, rows, along},
            d{r.x + labels, y + pitch * static_cast<float>(rows) + 8, pitch, bands, along};
        name_sheet(ui, r.x, x, it.x_name, extent_text(it.rows, it.inner), labels);
        name_sheet(ui, r.x, d, "d" + it.w_name, extent_text(it.columns, it.inner), labels);
        for (int64_t row = 0; row < rows; ++row)
            for (int64_t k = 0; k < along; ++k) ui.rect(x.tile(row, k), k == step_at_ ? theme.ink : theme.panel2);
        for (int64_t band = 0; band < bands; ++band) {
            for (int64_t k = 0; k < along; ++k) {
                const Rect at = d.tile(band, k);
                const bool picked = band == tile_ && k == step_at_;
                ui.rect(at, picked ? theme.ink : sheet_color(theme, (band + k) % 2));
                if (ui.clicked(at)) tile_ = band, step_at_ = k;
            }
            ui.rect({d.right() + 22, d.tile(band, 0).y, 26, pitch - 1}, band == tile_ ? theme.ink : theme.panel2);
        }
        const Rect from = x.tile(0, step_at_), to = d.tile(tile_, step_at_);
        const float column = to.x + to.w / 2, mid = to.y + to.h / 2;
        const Point down[] = {{column, from.bottom() + 1}, {column, to.y - 1}};
        ui.polyline(down, theme.ink, 1.5f, 3, 3);
        const Point along_row[] = {{to.right() + 1, mid}, {d.right() + 21, mid}};
        ui.polyline(along_row, theme.ink, 1.5f, 3, 3);
    }

    void draw_threads(Ui& ui, const MatrixProduct& it, const ProductRun& run, const ProductRun* back, bool known,
                      const Rect& r) {
        const Theme& theme = *ui.theme;
        const float head =
            ui.text(r.x, r.y + 14, fmt::format("The {} threads of block {}", run.tile_rows * run.tile_columns, tile_),
                    {.size = 14, .weight = 600});
        if (head + 150 < r.right()) ui.text(head + 8, r.y + 14, "an element each", {.size = 13, .color = theme.quiet});
        const float strips = back != nullptr ? 130 : 76;
        const float cell = std::floor(std::clamp(std::min((r.w - 70) / static_cast<float>(run.tile_columns),
                                                          (r.h - strips - 90) / static_cast<float>(run.tile_rows)),
                                                 4.0f, 18.0f));
        const float gx = r.x + 60, gy = r.y + 28;
        thread_row_ = std::clamp<int64_t>(thread_row_, 0, run.tile_rows - 1);
        thread_column_ = std::clamp<int64_t>(thread_column_, 0, run.tile_columns - 1);
        const int64_t warp = (thread_row_ * run.tile_columns + thread_column_) / 32;
        for (int64_t ty = 0; ty < run.tile_rows; ++ty)
            for (int64_t tx = 0; tx < run.tile_columns; ++tx) {
                const Rect at{gx + cell * static_cast<float>(tx), gy + cell * static_cast<float>(ty), cell - 1, cell - 1};
                const int64_t of = (ty * run.tile_columns + tx) / 32;
                ui.rect(at, of == warp ? data::green : mix(theme.panel2, data::green, of % 2 == 0 ? 0.16f : 0.28f));
                if (ui.clicked(at)) thread_row_ = ty, thread_column_ = tx;
                if (tx == 0 && (ty * run.tile_columns) % 32 == 0 && cell >= 8)
                    ui.text(gx - 6, at.y + cell + 4, fmt::format("warp {}", of),
                            {.size = 12,
                             .color = of == warp ? theme.ink : theme.quiet,
                             .align = Align::right,
                             .weight = of == warp ? 600 : 400});
            }
        ui.outline({gx + cell * static_cast<float>(thread_column_) - 1, gy + cell * static_cast<float>(thread_row_) - 1,
                    cell + 1, cell + 1});
        float y = gy + cell * static_cast<float>(run.tile_rows) + 12;
        const int64_t row = thread_row_, column = tile_ * run.tile_columns + thread_column_;
        const bool inside = row < it.rows && column < it.columns;
        std::string text = fmt::format("{}[{}][{}]", it.y_name, row, column);
        if (!inside)
            text += " is outside: this thread stores nothing";
        else {
            text += fmt::format(" = {} products", whole_number(it.inner));
            if (known) text += " = " + element_number(it.y[static_cast<size_t>(row * it.columns + column)]);
        }
        ui.text(r.x, y + 12, text, {.size = 13, .mono = true, .width = r.w});
        ui.text(r.x, y + 32,
                fmt::format("row {} of {} times {} {} of {}", row, it.x_name, it.stored_by_rows ? "row" : "column", column,
                            it.w_name),
                {.size = 13, .color = theme.ink2, .width = r.w});
        y += 50;
        if (run.sms <= 0 || y + strips - 20 > r.bottom() + 8) return;
        ui.text(r.x, y + 12, "Equal work, other cuts", {.size = 14, .weight = 600});
        y += 24;
        y = draw_sms(ui, run, "forward", known, {r.x, y, r.w, 44});
        if (back != nullptr) draw_sms(ui, *back, "backward", known, {r.x, y, r.w, 44});
    }
    // An SM a tick, green where it has a block.
    static float draw_sms(Ui& ui, const ProductRun& run, std::string_view name, bool known, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int64_t busy = std::min<int64_t>(run.sms, run.blocks()), half = (run.sms + 1) / 2;
        ui.text(r.x, r.y + 13, name, {.size = 13, .weight = 600});
        ui.text(r.x, r.y + 29, fmt::format("{} of {} SMs", busy, run.sms), {.size = 12, .color = theme.quiet});
        const float from = r.x + 92, right = 84;
        const float tick = std::max(2.0f, (r.w - 92 - right) / static_cast<float>(half));
        for (int64_t i = 0; i < run.sms; ++i) {
            const Rect at{from + tick * static_cast<float>(i % half), r.y + 2 + 15 * static_cast<float>(i / half), tick - 1,
                          13};
            ui.rect(at, i < busy ? data::green : theme.panel2);
        }
        ui.text(r.right(), r.y + 22,
                !known       ? "?"
                : run.us > 0 ? time_text(run.us)
                             : "",
                {.size = 16, .color = busy < run.sms ? theme.wrong : theme.right, .align = Align::right, .weight = 700});
        return r.y + 48;
    }

    std::vector<MatrixProduct> all_;
    TapePlan plan_;
    std::shared_ptr<const nn::StepRecord> record_;
    uint64_t version_ = UINT64_MAX;
    int step_ = -1;
    size_t chosen_ = 0;
    int64_t row_ = 0, column_ = -1;    // the element that is picked; -1: the last column
    int64_t tile_ = 3, step_at_ = -1;  // the block's tile, and the step of dW's tile
    int64_t thread_row_ = 6, thread_column_ = 5;
};

}  // namespace

std::unique_ptr<View> make_products_view() {
    return std::make_unique<ProductsView>();
}

}  // namespace lockstep::gui
