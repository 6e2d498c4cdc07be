// Fragments of a matrix product, as the warp's registers hold them: A below B's side, D where they meet, as one multiplies
// on paper. Each cell says the lane that holds the element; the picked lane's cells stand out. A and D, W and S and
// clicks pick a lane.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/view.h"
#include "app/gui/views/sm/fragments_data.h"

namespace lockstep::gui {
namespace {

constexpr std::string_view fragments_hidden = "Who holds what stays hidden until you lock an answer.";

struct FragmentScene {
    std::optional<FragmentMap> map;
    int lane = 0;
    bool hidden = false;
};
FragmentScene scene_of(const Session& session, const Focus& focus) {
    const auto snapshot = session.snapshot();
    FragmentScene scene;
    scene.hidden = session.learn.reveal_steps >= 0;
    scene.lane = std::clamp(focus.lane, 0, 31);
    if (snapshot->kernel.run && snapshot->kernel.run->program)
        scene.map = fragments_of(*snapshot->kernel.run->program, focus.line);
    return scene;
}
std::string fragments_caption(const FragmentScene& scene) {
    if (!scene.map) return "This kernel has no mma or wmma product.";
    if (scene.hidden) return std::string(fragments_hidden);
    return fmt::format("Lane {} holds of D {}.", scene.lane, scene.map->held_by(scene.map->d, scene.lane));
}

class FragmentsView final : public View {
  public:
    void draw(Ui& ui, Session& session, Focus& focus, const Rect& area) override {
        FragmentScene scene = scene_of(session, focus);
        for (const auto& [key, way] :
             {std::pair{Key::a, -1}, {Key::d, 1}, {Key::w, -4}, {Key::s, 4}, {Key::up, -4}, {Key::down, 4}})
            if (scene.map && ui.pressed(key, area)) focus.lane = scene.lane = std::clamp(scene.lane + way, 0, 31);
        const std::string sentence = fragments_caption(scene),
                          right = scene.map ? fmt::format("{}, lane {}", scene.map->instruction, scene.lane) : std::string();
        const Rect body =
            ui.panel(area, {.title = "Fragments", .right = right, .badge = Provenance::derived, .caption = sentence});
        if (!scene.map)
            return ui.say_nothing_yet(body, sentence, "Step to a matrix product: each element's lane appears here.");
        ui.push_scope("fragments");
        const FragmentMap& map = *scene.map;
        // B above D, A left of it; a gap between, a line for each title.
        const float title = 20, gap = 14;
        const float tall = (body.h - 2 * title - gap) / static_cast<float>(map.b.rows + map.d.rows);
        const Point cell{std::min((body.w - gap) / static_cast<float>(map.a.columns + map.d.columns), tall * 1.5f),
                         std::min(tall, 24.0f)};
        const float wide = cell.x * static_cast<float>(map.a.columns), high = cell.y * static_cast<float>(map.b.rows);
        const float x = body.x + std::max(0.0f, (body.w - wide - gap - cell.x * static_cast<float>(map.d.columns)) / 2);
        const Point b{x + wide + gap, body.y + title}, a{x, b.y + high + gap + title}, d{b.x, a.y};
        matrix(ui, focus, scene, map.a, a, cell);
        matrix(ui, focus, scene, map.b, b, cell);
        matrix(ui, focus, scene, map.d, d, cell);
        if (wide > 150) draw_held(ui, scene, {x, body.y + 2, wide - 12, high - 2}, has_digits(cell));
        ui.pop_scope();
    }

    std::string describe(const Session& session, const Focus& focus) const override {
        const FragmentScene scene = scene_of(session, focus);
        if (!scene.map || scene.hidden) return "Fragments (derived): " + fragments_caption(scene) + "\n";
        const FragmentMap& map = *scene.map;
        std::string text = fmt::format("Fragments (derived), {}, line {}, lane {}\n", map.instruction, map.line, scene.lane);
        for (const FragmentMatrix* matrix : {&map.a, &map.b, &map.d})
            text += fmt::format("  {} {} x {}: {}\n", matrix->name, matrix->rows, matrix->columns,
                                map.held_by(*matrix, scene.lane));
        return text + "  " + fragments_caption(scene) + "\n";
    }

  private:
    static bool has_digits(Point cell) { return cell.x >= 15.4f && cell.y >= 12.5f; }

    // Above A: what a cell says, and the registers of the lane with their elements, as far as there is room.
    static void draw_held(Ui& ui, const FragmentScene& scene, const Rect& r, bool digits) {
        const Theme& theme = *ui.theme;
        const std::string words = std::string(digits ? "A cell's number is the lane that holds the element."
                                                     : "Dark to light: lane 0 to lane 31 holds the element.") +
                                  " Row of `A` times column of `B` gives `D`. Click one.";
        float y = r.y + ui.paragraph(r, words, {.size = 13, .color = theme.ink2}, 20) + 10;
        if (scene.hidden || y + 70 > r.bottom()) return;
        const FragmentMap& map = *scene.map;
        ui.text(r.x, y + 14, fmt::format("All that lane {} holds", scene.lane), {.size = 14, .weight = 600});
        y += 24;
        float x = r.x;
        const TextStyle name{.size = 12, .weight = 700, .mono = true}, what{.size = 12, .mono = true};
        for (const FragmentMatrix* matrix : {&map.d, &map.a, &map.b}) {
            for (const auto& [reg, elements] : map.registers_of(*matrix, scene.lane)) {
                const float head = ui.text_width(reg, name) + 12, w = head + ui.text_width(elements, what) + 14;
                if (x > r.x && x + w > r.right()) x = r.x, y += 25;
                if (y + 24 > r.bottom() || x + w > r.right() + 1) return;
                ui.rect({x, y, w, 23}, theme.panel2, 3);
                ui.rect({x, y, head, 23}, theme.selected, 3);
                ui.text(x + 6, y + 16, reg, name);
                ui.text(x + head + 7, y + 16, elements, what);
                x += w + 6;
            }
            x = r.x, y += 27;
        }
        for (int row = 0; row < map.d.rows; ++row)
            for (int column = 0; column < map.d.columns; ++column)
                if (map.d.at(row, column).lane == scene.lane) {
                    const auto listed = [](const std::vector<int>& lanes) {
                        std::string text;
                        for (const int lane : lanes) text += (text.empty() ? "" : " ") + std::to_string(lane);
                        return text;
                    };
                    const std::string says = fmt::format(
                        "D[{}][{}] takes row {} of A, from lanes {}, and column {} of B, from lanes {}: the warp "
                        "multiplies, no lane alone.",
                        row, column, row, listed(map.lanes_of_row(row)), column, listed(map.lanes_of_column(column)));
                    const Rect rest{r.x, y + 2, r.w, r.bottom() - y};
                    if (ui.paragraph(rest, says, {.size = 13}, 20, false) <= rest.h)
                        ui.paragraph(rest, says, {.size = 13}, 20);
                    return;
                }
    }

    static void matrix(Ui& ui, Focus& focus, const FragmentScene& scene, const FragmentMatrix& it, Point at, Point cell) {
        const Theme& theme = *ui.theme;
        ui.text(at.x, at.y - 5, fmt::format("{} {} x {}", it.name, it.rows, it.columns), {.size = 13, .weight = 600});
        const bool digits = has_digits(cell);
        for (int row = 0; row < it.rows; ++row)
            for (int column = 0; column < it.columns; ++column) {
                const FragmentOwner& owner = it.at(row, column);
                const Rect place{at.x + cell.x * static_cast<float>(column), at.y + cell.y * static_cast<float>(row),
                                 cell.x - 1, cell.y - 1};
                if (scene.hidden) {
                    ui.rect(place, theme.grid);
                    continue;
                }
                const bool own = owner.lane == scene.lane;
                // Lanes of a row of four are near in colour; the number is the second code.
                ui.rect(place, own ? theme.selected : sequential(0.08f + 0.4f * static_cast<float>(owner.lane) / 31, theme));
                if (digits)
                    ui.text(place.x + place.w / 2, place.y + place.h / 2 + 4.5f, std::to_string(owner.lane),
                            {.size = 12, .align = Align::center, .weight = own ? 700 : 400, .mono = true});
                if (ui.hovered(place))
                    ui.tooltip(fmt::format("{}[{}, {}]: lane {}, register {}{}", it.name, row, column, owner.lane,
                                           owner.word, owner.part > 0 ? fmt::format(", element {} of it", owner.part) : ""));
                if (ui.clicked(place)) focus.lane = owner.lane;
            }
        if (scene.hidden) return;
        for (int row = 0; row < it.rows; ++row)  // after all cells, so that no neighbour covers a part of an outline
            for (int column = 0; column < it.columns; ++column)
                if (it.at(row, column).lane == scene.lane)
                    ui.frame({at.x + cell.x * static_cast<float>(column) - 1, at.y + cell.y * static_cast<float>(row) - 1,
                              cell.x + 1, cell.y + 1},
                             theme.ink, 1.5f);
    }
};

}  // namespace

std::unique_ptr<View> make_fragments_view() {
    return std::make_unique<FragmentsView>();
}

}  // namespace lockstep::gui
