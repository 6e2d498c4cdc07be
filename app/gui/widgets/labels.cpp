#include "app/gui/widgets/labels.h"

#include <algorithm>

namespace lockstep::gui {

bool Labels::is_free(const Rect& area, int over) const {
    return std::none_of(taken_.begin(), taken_.end(), [&](const Taken& taken) {
        const Rect& other = taken.area;
        if (over != 0 && taken.group == over) return false;
        return area.x < other.right() && other.x < area.right() && area.y < other.bottom() && other.y < area.bottom();
    });
}

bool Labels::write(Ui& ui, std::string_view text, const TextStyle& style, std::span<const Spot> spots, int over) {
    const float width = ui.text_width(text, style) + 4;
    for (const Spot& spot : spots) {
        const float left = spot.align == Align::left ? 0 : spot.align == Align::right ? width - 4 : (width - 4) / 2;
        const Rect box{spot.x - left - 2, spot.baseline - style.size * 0.95f, width, style.size * 1.3f};
        const bool inside = box.x >= room_.x - 0.5f && box.right() <= room_.right() + 0.5f && box.y >= room_.y - 0.5f &&
                            box.bottom() <= room_.bottom() + 0.5f;
        if (!inside || !is_free(box, over)) continue;
        ui.rect(box, ui.theme->panel);
        TextStyle left_aligned = style;
        left_aligned.align = Align::left;
        ui.text(box.x + 2, spot.baseline, text, left_aligned);
        taken_.push_back({box});
        return true;
    }
    return false;
}

}  // namespace lockstep::gui
