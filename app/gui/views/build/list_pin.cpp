#include "app/gui/views/build/list_pin.h"

#include <imgui.h>

#include <algorithm>

#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

namespace {

// What the page that a panel may stand in leaves of it.
Rect in_sight_of(const Ui& ui, const Rect& view) {
    const ImVec2 low = ui.list->GetClipRectMin(), high = ui.list->GetClipRectMax();
    const float top = std::max(view.y, low.y / ui.scale), bottom = std::min(view.bottom(), high.y / ui.scale);
    return {view.x, top, view.w, std::max(0.0f, bottom - top)};
}

}  // namespace

std::optional<PinnedRow> ListPin::place(Ui& ui, std::string_view field, std::span<const ListPlace> rows, const Rect& view,
                                        float offset, std::string_view list) {
    const auto row_of = [&](std::string_view name) -> const ListPlace* {
        const auto at = std::ranges::find(rows, name, &ListPlace::field);
        return name.empty() || at == rows.end() ? nullptr : &*at;
    };
    const Rect seen = in_sight_of(ui, view);
    const auto own_y = [&](const ListPlace& row) { return view.y + row.y - offset; };
    const auto in_sight = [&](const ListPlace& row) {
        return own_y(row) >= seen.y - 0.5f && own_y(row) + row.h <= seen.bottom() + 0.5f;
    };
    const auto at_edge = [&](const ListPlace& row) {
        const float y = std::clamp(own_y(row), seen.y, std::max(seen.y, seen.bottom() - row.h));
        return Rect{view.x, y, view.w, row.h};
    };
    const ListPlace* const before = row_of(field_);
    const ListPlace* wanted = row_of(field);
    // A list that shows fewer than three rows has no room for it.
    if (wanted != nullptr && (in_sight(*wanted) || seen.h < 3 * wanted->h)) wanted = nullptr;
    const bool held = ui.state->mouse_down || ui.state->dragging != 0 ||
                      (before != nullptr && ui.hovered(at_edge(*before))) ||
                      (wanted != nullptr && ui.hovered(at_edge(*wanted)));
    if (wanted != before && !held) {
        const ListPlace* focused = nullptr;
        for (const ListPlace& row : rows)
            if (!row.field.empty() && ui.state->focused == ui.state->id_of(row.field)) focused = &row;
        if (focused != nullptr && focused != wanted && (focused == before || in_sight(*focused))) {
            const float y = own_y(*focused);
            const Rect edge = wanted != nullptr ? at_edge(*wanted) : Rect{};
            if (!in_sight(*focused) || (y < edge.bottom() && edge.y < y + focused->h))
                ui.scroll_to(list, focused->y - (seen.h - focused->h) / 2 + view.y - seen.y);
        }
        field_ = wanted != nullptr ? wanted->field : std::string_view();
    } else if (before == nullptr) {
        field_.clear();  // its list is another one
    }
    const ListPlace* const now = row_of(field_);
    if (now == nullptr || in_sight(*now)) return std::nullopt;
    return PinnedRow{at_edge(*now), own_y(*now) > at_edge(*now).y};
}

}  // namespace lockstep::gui
