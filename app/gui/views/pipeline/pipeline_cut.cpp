// D9's boundaries between two rows' stages: a grip in front of the bars, dragged up or down, by a layer for every so many
// units. And what the picked row's number of layers does: from or to the row under it, from the last one to the row above.
#include <fmt/format.h>

#include <algorithm>

#include "app/gui/views/pipeline/pipeline_picture.h"

namespace lockstep::gui {

namespace {
constexpr float units_a_layer = 14;
}

StageMove dragged_boundary(Ui& ui, const PipelinePlaces& p, const std::vector<int>& parts, std::string_view what) {
    StageMove move;
    for (size_t b = 0; b < p.blocks.size(); ++b) {
        const PipelineBlock& block = p.blocks[b];
        if (!block.shown->refusal.empty() || block.pitch < 22) continue;
        const int rows = std::min(block.ranks, static_cast<int>(parts.size()));
        for (int row = 0; row + 1 < rows; ++row) {
            const float y = block.row_y(row + 1) - 3;
            if (y < block.rows.y || y > block.rows.bottom()) continue;
            const float wide = p.plot.x - p.label_x > 80 ? 22.0f : 10.0f;
            const Rect grip{p.plot.x - 2 - wide, y - 6, wide, 12};
            const std::string name = fmt::format("boundary {} {}", b, row);
            const Drag drag = ui.drag(name, grip);
            const bool lit = drag.active || ui.hovered(grip);
            const Color color = lit ? ui.theme->ink : ui.theme->ink3;
            ui.rect({grip.x, y - 2.5f, grip.w, 1.5f}, color);
            ui.rect({grip.x, y + 1.5f, grip.w, 1.5f}, color);
            if (lit)
                ui.tooltip(fmt::format("stages {} and {}: {} and {} {}s\ndrag up or down: a {} goes to the neighbour", row,
                                       row + 1, parts[static_cast<size_t>(row)], parts[static_cast<size_t>(row) + 1], what,
                                       what));
            if (!drag.active) continue;
            const auto steps = [&](float at) { return static_cast<int>((at - drag.from.y) / units_a_layer); };
            const int by = steps(drag.at.y) - steps(drag.at.y - drag.delta.y);
            if (by != 0) move = {row, by};
        }
    }
    return move;
}

StageMove turned_boundary(ControlRow& row, const std::vector<int>& parts, int rows, int picked, std::string_view what) {
    if (rows < 2 || static_cast<int>(parts.size()) < rows) return {};
    const int at = std::clamp(picked, 0, rows - 1);
    const int by = row.number(fmt::format("{}s of stage {}", what, at), std::to_string(parts[static_cast<size_t>(at)]),
                              "of the picked stage: from its neighbour, or to it");
    return at + 1 < rows ? StageMove{at, by} : StageMove{at - 1, -by};
}

}  // namespace lockstep::gui
