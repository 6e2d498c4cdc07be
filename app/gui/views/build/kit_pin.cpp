#include "app/gui/views/build/kit_pin.h"

#include <algorithm>

#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

std::optional<Rect> KitPin::place(Ui& ui, std::string_view limits, std::span<const KitPlace> rows, const Rect& view,
                                  float offset, std::string_view list) {
    const auto row_of = [&](std::string_view field) -> const KitPlace* {
        const auto at = std::ranges::find(rows, field, &KitPlace::field);
        return field.empty() || at == rows.end() ? nullptr : &*at;
    };
    const auto in_sight = [&](const KitPlace& row) {
        return row.y >= offset - 0.5f && row.y + row.h <= offset + view.h + 0.5f;
    };
    const auto at_edge = [&](const KitPlace& row) {
        const float y = std::clamp(row.y - offset, 0.0f, std::max(0.0f, view.h - row.h));
        return Rect{view.x, view.y + y, view.w, row.h};
    };
    const KitPlace* const before = row_of(field_);
    const KitPlace* wanted = row_of(limits);
    // A list that shows fewer than three rows has no room for it.
    if (wanted != nullptr && (in_sight(*wanted) || view.h < 3 * wanted->h)) wanted = nullptr;
    const bool held = ui.state->mouse_down || (before != nullptr && ui.hovered(at_edge(*before))) ||
                      (wanted != nullptr && ui.hovered(at_edge(*wanted)));
    if (wanted != before && !held) {
        const KitPlace* focused = nullptr;
        for (const KitPlace& row : rows)
            if (!row.field.empty() && ui.state->focused == ui.state->id_of(row.field)) focused = &row;
        if (focused != nullptr && focused != wanted && (focused == before || in_sight(*focused))) {
            const float y = view.y + focused->y - offset;
            const Rect edge = wanted != nullptr ? at_edge(*wanted) : Rect{};
            if (!in_sight(*focused) || (y < edge.bottom() && edge.y < y + focused->h))
                ui.scroll_to(list, focused->y - (view.h - focused->h) / 2);
        }
        field_ = wanted != nullptr ? wanted->field : std::string_view();
    } else if (before == nullptr) {
        field_.clear();  // its list is another one
    }
    const KitPlace* const now = row_of(field_);
    if (now == nullptr || in_sight(*now)) return std::nullopt;
    return at_edge(*now);
}

}  // namespace lockstep::gui
