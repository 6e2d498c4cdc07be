// Chips and numbers in lines.
#include "app/gui/views/cluster/cluster_controls.h"

#include <algorithm>
#include <cmath>

namespace lockstep::gui {

namespace {
constexpr float drag_step = 10;
}

void draw_hidden_place(Ui& ui, const Rect& place) {
    if (place.h < 24) return;
    const Rect box{place.x, place.y + 4, place.w, place.h - 10};
    ui.dashed(box, ui.theme->ink3);
    ui.text(box.x + box.w / 2, box.y + box.h / 2 + 5, "Hidden until you lock an answer.",
            {.size = 14, .color = ui.theme->ink2, .align = Align::center, .width = box.w - 8});
}

void ControlRow::place(float width) {
    if (x_ > body_.x && x_ + width > body_.right() + 0.5f) x_ = body_.x, y_ += line;
}

bool ControlRow::chip(std::string_view label, bool on, bool able) {
    const float width = ui_.chip_width(label);
    place(width);
    if (!draw_) return x_ += width + 6, false;
    const bool pressed = ui_.chip(x_, y_, label, on, able);
    x_ += 2;
    return pressed;
}

int ControlRow::number(std::string_view label, const std::string& value, std::string_view tip) {
    const float words = ui_.text_width(label, {.size = 13}),
                middle = std::max(14.0f, ui_.text_width(value, {.size = 13, .weight = 600})) + 6;
    const float width = words + 6 + 20 + middle + 20;
    place(width);
    if (!draw_) return x_ += width + 12, 0;
    const Theme& theme = *ui_.theme;
    ui_.text(x_, y_ + 18, label, {.size = 13, .color = theme.ink2});
    const Rect box{x_ + words + 6, y_, 40 + middle, 26};
    ui_.rect(box, theme.panel2, 4);
    ui_.frame(box, theme.line, 1, 4);
    int moved = 0;
    ui_.push_scope(label);
    const Rect less{box.x, y_, 20, 26}, more{box.right() - 20, y_, 20, 26};
    if (ui_.area("less", less)) moved = -1;
    if (ui_.area("more", more)) moved = 1;
    ui_.pop_scope();
    for (const auto& [at, plus] : {std::pair{less, false}, {more, true}}) {
        const Color color = ui_.hovered(at) ? theme.ink : theme.ink2;
        ui_.rect({at.x + 6, at.y + 12.5f, 8, 1.5f}, color);
        if (plus) ui_.rect({at.x + 9.25f, at.y + 9.25f, 1.5f, 8}, color);
    }
    ui_.text(box.x + box.w / 2, y_ + 18, value, {.size = 13, .align = Align::center, .weight = 600});
    if (const float turned = ui_.wheel({x_, y_, width, 26}); turned != 0) moved += turned > 0 ? 1 : -1;
    ui_.push_scope(label);  // dragged sideways: a step every so many units
    if (const Drag drag = ui_.drag("value", {box.x + 20, y_, box.w - 40, 26}); drag.active) {
        const float from = drag.from.x;
        moved += static_cast<int>((drag.at.x - from) / drag_step) -
                 static_cast<int>((drag.at.x - drag.delta.x - from) / drag_step);
    }
    ui_.pop_scope();
    if (!tip.empty() && ui_.hovered({x_, y_, width, 26})) ui_.tooltip(tip);
    x_ += width + 12;
    return moved;
}

void ControlRow::words(std::string_view text, bool strong) {
    const TextStyle style{.size = 13, .color = strong ? ui_.theme->ink : ui_.theme->ink2, .weight = strong ? 600 : 400};
    const float width = ui_.text_width(text, style);
    place(width);
    if (draw_) ui_.text(x_, y_ + 18, text, style);
    x_ += width + 10;
}

}  // namespace lockstep::gui
