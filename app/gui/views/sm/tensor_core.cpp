// A piece of a tensor core's product as a cube: 4 rows of A, 4 columns of B and 4 numbers along k, a slice for each k.
// Beside it the whole product in such pieces, which lane holds each number that the picked element takes, and how many
// pieces a sub-core does in a cycle. W, A, S and D and clicks pick the element of D, the chips its piece along k. In which
// order a tensor core takes the pieces is not known, and not told.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/view.h"
#include "app/gui/views/sm/fragments_data.h"
#include "core/base/units.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view cube_title = "A tensor core's piece: 4 × 4 × 4";
constexpr std::string_view cube_hidden = "How many pieces a cycle has stays hidden until you lock an answer.";
constexpr int side = piece_side;

struct CubeScene {
    std::optional<FragmentMap> map;
    PieceFacts facts;
    bool hidden = false;
};
CubeScene cube_scene_of(const Session& session, const Focus& focus) {
    const auto snapshot = session.snapshot();
    CubeScene scene;
    scene.hidden = session.learn.reveal_steps >= 0;
    if (!snapshot->kernel.run || !snapshot->kernel.run->program) return scene;
    scene.map = fragments_of(*snapshot->kernel.run->program, focus.line);
    if (scene.map) scene.facts = piece_facts(*scene.map, snapshot->kernel.run->gpu);
    return scene;
}

std::string product_words(const PieceFacts& facts) {
    return fmt::format("{} pieces an instruction: {} multiply-adds", facts.pieces, with_commas(facts.multiply_adds));
}
std::string rate_words(const PieceFacts& facts) {
    return fmt::format("{} cycles for them: a sub-core of {} does {} a cycle", facts.cycles(), facts.gpu,
                       counted(facts.per_cycle, "piece"));
}
std::string caption_of(const CubeScene& scene) {
    if (!scene.map) return "This kernel has no mma or wmma product.";
    std::string text = fmt::format(
        "A cell of the cube is one multiply-add; a line of four along k is a part of one element's sum, {} such parts "
        "make it whole.",
        scene.facts.k_pieces);
    if (scene.hidden) return text + " " + std::string(cube_hidden);
    if (scene.facts.per_cycle > 0) text += " " + rate_words(scene.facts) + ".";
    return text;
}

class TensorCoreView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        const CubeScene scene = cube_scene_of(session, focus);
        const std::string sentence = caption_of(scene);
        const Rect body = ui.panel(area, {.title = cube_title,
                                          .right = scene.map ? std::string_view(scene.map->instruction) : std::string_view(),
                                          .badge = Provenance::derived,
                                          .caption = sentence});
        if (!scene.map)
            return ui.say_nothing_yet(body, sentence, "Step to a matrix product: one of its pieces appears here.");
        ui.push_scope("tensor core");
        const FragmentMap& map = *scene.map;
        pick_by_keys(ui, map, area);
        float y = body.y;
        if (body.h > 250) {
            ui.text(body.x, y + 20, "64 multiply-adds, 4 for each of 16 sums", {.size = 20, .weight = 700, .width = body.w});
            y += 34;
        }
        y += draw_choice(ui, scene.facts, {body.x, y, body.w, 26});
        const Rect rest{body.x, y, body.w, body.bottom() - y - 4};
        const bool whole = rest.w >= 700, list = rest.w >= 560;
        const float left = whole ? std::min(rest.w * 0.3f, rest.h * 1.05f) : 0,
                    right = list ? std::clamp(rest.w * 0.34f, 292.0f, 350.0f) : 0;
        if (whole) draw_whole(ui, map, scene.facts, {rest.x, rest.y, left - 24, rest.h});
        draw_cube(ui, map, {rest.x + left, rest.y, rest.w - left - right - (list ? 20.0f : 0.0f), rest.h});
        if (list) draw_sum(ui, scene, {rest.right() - right, rest.y, right, rest.h});
        focus.lane = map.d.at(row_, column_).lane;
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const CubeScene scene = cube_scene_of(session, focus);
        std::string text = fmt::format("{} (derived)\n", cube_title);
        if (!scene.map) return text + "  " + caption_of(scene) + "\n";
        const FragmentMap& map = *scene.map;
        text += fmt::format("  {}, line {}: {}\n", map.instruction, map.line, product_words(scene.facts));
        const int row = std::min(row_, map.d.rows - 1), column = std::min(column_, map.d.columns - 1);
        for (int k = piece_ * side; k < std::min((piece_ + 1) * side, map.a.columns); ++k)
            text += "  " + term_words(map, row, column, k) + "\n";
        text += fmt::format("  their sum goes to D[{}][{}], lane {}\n", row, column, map.d.at(row, column).lane);
        return text + "  " + caption_of(scene) + "\n";
    }

  private:
    int row_ = 1, column_ = 2, piece_ = 0;  // the element of D, and which four of k

    static std::string term_words(const FragmentMap& map, int row, int column, int k) {
        return fmt::format("A[{}][{}] of lane {} times B[{}][{}] of lane {}", row, k, map.a.at(row, k).lane, k, column,
                           map.b.at(k, column).lane);
    }

    void pick_by_keys(Ui& ui, const FragmentMap& map, const Rect& area) {
        if (ui.pressed(Key::d, area)) ++column_;
        if (ui.pressed(Key::a, area)) --column_;
        if (ui.pressed(Key::s, area)) ++row_;
        if (ui.pressed(Key::w, area)) --row_;
        row_ = std::clamp(row_, 0, map.d.rows - 1);
        column_ = std::clamp(column_, 0, map.d.columns - 1);
        piece_ = std::clamp(piece_, 0, map.a.columns / side - 1);
    }

    // Which four of k; returns the height used.
    float draw_choice(Ui& ui, const PieceFacts& facts, const Rect& r) {
        std::vector<std::string> names;
        for (int p = 0; p < facts.k_pieces; ++p) names.push_back(fmt::format("{} ... {}", p * side, p * side + side - 1));
        const std::vector<std::string_view> labels(names.begin(), names.end());
        float x = ui.text(r.x, r.y + 18, "k", {.size = 13, .color = ui.theme->ink2}) + 10;
        if (x + ui.segmented_width(labels) > r.right()) return 0;
        piece_ = ui.segmented(x, r.y, labels, piece_);
        const std::string_view how = "W A S D or a click: another element of D";
        if (x + 8 + ui.text_width(how, {.size = 13}) < r.right())
            ui.text(x + 8, r.y + 18, how, {.size = 13, .color = ui.theme->quiet});
        return 38;
    }

    // A, B and D as one multiplies on paper, a square for each 4 x 4 of them: those of the piece stand out.
    void draw_whole(Ui& ui, const FragmentMap& map, const PieceFacts& facts, const Rect& r) {
        const Theme& theme = *ui.theme;
        const int down = facts.row_pieces, across = facts.column_pieces, along = facts.k_pieces;
        constexpr float gap = 22, head = 22;
        const float pitch = std::floor(std::min((r.w - gap) / static_cast<float>(along + across),
                                                (r.h - head - gap - 34) / static_cast<float>(along + down)));
        if (pitch < 9) return;
        ui.text(r.x, r.y + 14, "The whole product", {.size = 14, .weight = 600, .width = r.w});
        const float ax = r.x, bx = r.x + pitch * static_cast<float>(along) + gap, by = r.y + head + 14,
                    dy = by + pitch * static_cast<float>(along) + gap;
        const auto at = [&](float x, float y, int i, int j) {
            return Rect{x + pitch * static_cast<float>(j), y + pitch * static_cast<float>(i), pitch - 2, pitch - 2};
        };
        const int row = row_ / side, column = column_ / side;
        const auto square = [&](const Rect& box, bool own, Color color, Hatch hatch) {
            ui.rect(box, own ? color : theme.panel2);
            if (own && hatch != Hatch::solid) ui.hatch(box, faded(data::black, 0.35f), hatch);
            ui.frame(box, own ? theme.ink : theme.line, own ? 1.5f : 1.0f);
        };
        for (int i = 0; i < down; ++i)
            for (int j = 0; j < along; ++j) {
                square(at(ax, dy, i, j), i == row && j == piece_, data::sky, Hatch::solid);
                if (ui.clicked(at(ax, dy, i, j))) row_ = i * side + row_ % side, piece_ = j;
            }
        for (int i = 0; i < along; ++i)
            for (int j = 0; j < across; ++j) {
                square(at(bx, by, i, j), i == piece_ && j == column, data::green, Hatch::diagonal);
                if (ui.clicked(at(bx, by, i, j))) piece_ = i, column_ = j * side + column_ % side;
            }
        for (int i = 0; i < down; ++i)
            for (int j = 0; j < across; ++j) {
                square(at(bx, dy, i, j), i == row && j == column, data::orange, Hatch::cross);
                if (ui.clicked(at(bx, dy, i, j))) row_ = i * side + row_ % side, column_ = j * side + column_ % side;
            }
        const TextStyle name{.size = 13, .weight = 600};
        ui.text(ax, dy - 6, fmt::format("A {} × {}", map.a.rows, map.a.columns), name);
        ui.text(bx, by - 6, fmt::format("B {} × {}", map.b.rows, map.b.columns), name);
        const float below = dy + pitch * static_cast<float>(down) + 14;
        if (below < r.bottom()) ui.text(bx, below, fmt::format("D {} × {}", map.d.rows, map.d.columns), name);
    }

    // Four see-through slices, k = 0 in front; the picked sum's multiply-adds as a line of circles through them.
    void draw_cube(Ui& ui, const FragmentMap& map, const Rect& r) {
        const Theme& theme = *ui.theme;
        constexpr float names = 58, feet = 24, step_x = 0.82f, step_y = 0.68f;
        const float cell = std::floor(
            std::min((r.w - names - 24) / (side + step_x * (side - 1)), (r.h - feet - 30) / (side + step_y * (side - 1))));
        if (cell < 8) return;
        const float deep = step_y * cell * (side - 1), wide = cell * side, x0 = r.x + names, y0 = r.y + 26 + deep;
        ui.text(r.x, r.y + 14, "One piece of it", {.size = 14, .weight = 600, .width = r.w});
        const int top = row_ / side * side, left = column_ / side * side;
        const auto box = [&](int row, int column, int k) {
            const auto depth = static_cast<float>(k);
            return Rect{x0 + cell * (static_cast<float>(column) + step_x * depth),
                        y0 + cell * (static_cast<float>(row) - step_y * depth), cell, cell};
        };
        for (int k = side - 1; k >= 0; --k)  // the front comes last
            for (int row = 0; row < side; ++row)
                for (int column = 0; column < side; ++column) {
                    const Rect at = box(row, column, k);
                    const bool own = row == row_ % side && column == column_ % side;
                    ui.rect({at.x, at.y, at.w - 1, at.h - 1},
                            own ? data::orange : faded(k % 2 ? data::green : data::blue, 0.3f));
                    ui.frame(at, faded(theme.ink3, 0.8f), 1);
                    if (k == 0 && ui.clicked(at)) row_ = top + row, column_ = left + column;
                }
        const float radius = std::min(11.0f, cell * 0.36f);
        for (int k = side - 1; k >= 0; --k) {
            const Rect at = box(row_ % side, column_ % side, k);
            const Point centre{at.x + at.w / 2, at.y + at.h / 2};
            if (k + 1 < side)
                ui.line({centre.x, centre.y}, {centre.x + step_x * cell, centre.y - step_y * cell}, data::orange, 2.5f);
            ui.circle(centre, radius, theme.panel);
            ui.ring(centre, radius, theme.ink, 1.5f);
            if (radius >= 8)
                ui.text(centre.x, centre.y + 4.5f, std::to_string(piece_ * side + k),
                        {.size = 12, .align = Align::center, .weight = 700});
        }
        for (int i = 0; i < side; ++i) {
            const float row_y = y0 + cell * (static_cast<float>(i) + 0.5f) + 4,
                        x = x0 + cell * (static_cast<float>(i) + 0.5f);
            const bool row_own = i == row_ % side, column_own = i == column_ % side;
            ui.text(x0 - 8, row_y, fmt::format("row {}", top + i),
                    {.size = 12,
                     .color = row_own ? theme.ink : theme.ink2,
                     .align = Align::right,
                     .weight = row_own ? 700 : 400});
            const std::string column = fmt::format("{}{}", cell >= 40 ? "col " : "", left + i);
            ui.text(x, y0 + wide + 16, column,
                    {.size = 12,
                     .color = column_own ? theme.ink : theme.ink2,
                     .align = Align::center,
                     .weight = column_own ? 700 : 400});
        }
        const Point from{x0 + wide + 6, y0 + wide - 2}, to{from.x + step_x * cell * (side - 1), from.y - deep};
        ui.line(from, to, theme.ink3, 1.4f);
        ui.text(from.x + (to.x - from.x) / 2 + 10, from.y - deep / 2 + 14, "k", {.size = 13, .color = theme.ink2});
        (void)map;
    }

    // Term by term what the picked element takes from this piece, with the lanes that hold it; below, how many there are.
    void draw_sum(Ui& ui, const CubeScene& scene, const Rect& r) const {
        const Theme& theme = *ui.theme;
        const FragmentMap& map = *scene.map;
        ui.text(r.x, r.y + 14, fmt::format("What D[{}][{}] takes of it", row_, column_),
                {.size = 14, .weight = 600, .width = r.w});
        float y = r.y + 24;
        const float pitch = r.h < 230 ? 20.0f : 26.0f, second = r.x + 24 + (r.w - 24) / 2;
        for (int k = piece_ * side; k < (piece_ + 1) * side; ++k, y += pitch) {
            ui.text(r.x + 16, y + 14, std::to_string(k),
                    {.size = 12, .color = theme.ink2, .align = Align::right, .mono = true});
            const auto operand = [&](float x, Color color, Hatch hatch, const std::string& name, int lane) {
                ui.rect({x, y + 5, 9, 11}, color);
                if (hatch != Hatch::solid) ui.hatch({x, y + 5, 9, 11}, faded(data::black, 0.35f), hatch);
                ui.text(x + 14, y + 15, fmt::format("{} lane {}", name, lane),
                        {.size = 12, .mono = true, .width = (r.w - 24) / 2 - 16});
            };
            operand(r.x + 24, data::sky, Hatch::solid, fmt::format("A[{}][{}]", row_, k), map.a.at(row_, k).lane);
            operand(second, data::green, Hatch::diagonal, fmt::format("B[{}][{}]", k, column_), map.b.at(k, column_).lane);
        }
        ui.line({r.x, y + 4}, {r.right(), y + 4}, theme.ink3);
        ui.text(r.x, y + 22, fmt::format("added to D[{}][{}], in lane {}", row_, column_, map.d.at(row_, column_).lane),
                {.size = 13, .weight = 600, .width = r.w});
        y += 36;
        if (scene.hidden) return;
        const auto fact = [&](const std::string& number, const std::string& words) {
            const float high =
                ui.paragraph({r.x + 62, y, r.w - 62, 60}, words, {.size = 13, .color = theme.ink2}, 18, false);
            if (y + std::max(high, 28.0f) > r.bottom() + 4) return;
            ui.text(r.x + 50, y + 20, number, {.size = 24, .align = Align::right, .weight = 700});
            ui.paragraph({r.x + 62, y, r.w - 62, 60}, words, {.size = 13, .color = theme.ink2}, 18);
            y += std::max(high, 28.0f) + 10;
        };
        fact(std::to_string(scene.facts.pieces),
             fmt::format("such pieces an instruction: {} multiply-adds", with_commas(scene.facts.multiply_adds)));
        if (scene.facts.per_cycle <= 0) return;
        fact(std::to_string(scene.facts.per_cycle), fmt::format("of them a cycle in a sub-core of {}", scene.facts.gpu));
        fact(std::to_string(scene.facts.cycles()), "cycles for one instruction, if it never waits");
    }
};

}  // namespace

std::unique_ptr<View> make_tensor_core_view() {
    return std::make_unique<TensorCoreView>();
}

}  // namespace lockstep::gui
