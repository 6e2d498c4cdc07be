// Controls and input. A control registers itself in the ring of the keyboard focus as it is drawn, so Tab follows the
// drawing order.
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/widgets/draw.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

namespace {

uint32_t hash(std::string_view text, uint32_t seed) {
    uint32_t value = 2166136261u ^ seed;
    for (const char c : text) value = (value ^ static_cast<uint8_t>(c)) * 16777619u;
    return value == 0 ? 1 : value;
}

struct Press {
    bool pressed = false, hovered = false, focused = false;
};

// The behaviour that all clickable controls share.
Press behave(Ui& ui, uint32_t id, const Rect& rect, bool able = true) {
    Press press;
    if (!ui.enabled || !able) return press;
    UiState& state = *ui.state;
    state.ring.push_back(id);
    press.focused = state.focused == id;
    if (press.focused) bring_into_view(ui, rect);
    press.hovered = ui.hovered(rect);
    if (press.hovered && state.mouse_clicked) {
        state.mouse_clicked = false;
        press.pressed = true;
    }
    if (press.focused && state.activate) {
        state.activate = false;
        press.pressed = true;
    }
    return press;
}

// Of a control that cannot be pressed now: where contrast was asked for it is still read.
float faintness(const Theme& theme) {
    return theme.name == "high-contrast" || theme.name == "print" ? 0.7f : 0.5f;
}

void focus_mark(Ui& ui, const Rect& rect) {
    ui.frame({rect.x - 3, rect.y - 3, rect.w + 6, rect.h + 6}, ui.theme->accent, 2, 6);
}

}  // namespace

void bring_into_view(Ui& ui, const Rect& rect) {
    UiState& state = *ui.state;
    if (!state.focus_moved) return;
    const ImVec2 low = ui.list->GetClipRectMin(), high = ui.list->GetClipRectMax();
    if (rect.y * ui.scale >= low.y && rect.bottom() * ui.scale <= high.y) return;
    for (auto it = state.scrolled.rbegin(); it != state.scrolled.rend(); ++it) {
        if (rect.x + rect.w / 2 < it->view.x || rect.x + rect.w / 2 > it->view.right()) continue;
        const float above = it->view.y + 12 - rect.y, below = rect.bottom() + 12 - it->view.bottom();
        if (above > 0)
            state.scroll_wish[it->id] = it->offset - above;
        else if (below > 0)
            state.scroll_wish[it->id] = it->offset + below;
        if (above > 0 || below > 0) return ui.animate();
    }
}

uint32_t UiState::id_of(std::string_view name) const {
    return hash(name, scopes.empty() ? 0 : scopes.back());
}

void UiState::begin_frame() {
    ++frame;
    term = {};
    if (written != nullptr) written->clear();
    slider_was_focused = slider_focused;
    opener_was_focused = opener_focused;
    splitter_was_focused = splitter_focused;
    splitter_focused = false;
    splitter_push = {};
    cursor = Cursor::arrow;
    large_steps = false;
    slider_focused = opener_focused = false;
    text_was_focused = text_focused;
    text_focused = false;
    ring.clear();
    scopes.clear();
    scrolled.clear();
    tooltip.clear();
    animate = false;
}

void UiState::end_frame() {
    // A focused control that is drawn no more takes no keys: Tab goes on from where it stood.
    if (mouse_clicked || focused != 0) left_at_ = -1;
    if (const auto was = std::find(last_ring.begin(), last_ring.end(), focused);
        focused != 0 && was != last_ring.end() && std::find(ring.begin(), ring.end(), focused) == ring.end()) {
        left_at_ = static_cast<int>(was - last_ring.begin());
        focused = 0;
    }
    last_ring = ring;
    words_in_ring.clear();
    if (!mouse_down) dragging = 0;
    mouse_clicked = mouse_double = mouse_released = activate = focus_moved = false;
    wheel = 0;
    typed_keys.clear();
    sketch_keys.clear();
    std::fill(std::begin(keys), std::end(keys), false);
    if (caption_rooms.size() > 200) caption_rooms.clear();
    for (auto it = pictures.begin(); it != pictures.end();) {
        if (frame - it->second.used <= 600) {
            ++it;
            continue;
        }
        if (it->second.texture != 0 && remove) remove(it->second.texture);
        it = pictures.erase(it);
    }
}

void UiState::move_focus(int by) {
    if (last_ring.empty()) return;
    const auto count = static_cast<int>(last_ring.size());
    const auto found = std::find(last_ring.begin(), last_ring.end(), focused);
    const int begin = left_at_ < 0 ? (by > 0 ? -1 : count) : std::min(left_at_, count) - (by > 0 ? 1 : 0);
    int at = found == last_ring.end() ? begin : static_cast<int>(found - last_ring.begin());
    left_at_ = -1;
    at = ((at + by) % count + count) % count;
    focused = last_ring[static_cast<size_t>(at)];
    focus_moved = true;
}

void Ui::push_scope(std::string_view name) {
    state->scopes.push_back(state->id_of(name));
}
void Ui::pop_scope() {
    if (!state->scopes.empty()) state->scopes.pop_back();
    std::erase_if(state->scrolled, [&](const UiState::Scrolled& one) { return one.depth > state->scopes.size(); });
}

bool Ui::hovered(const Rect& r) const {
    if (!enabled || !r.contains(mouse) || state->dragging != 0) return false;
    const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
    const float x = mouse.x * scale, y = mouse.y * scale;
    return x >= low.x && x < high.x && y >= low.y && y < high.y;
}

bool Ui::clicked(const Rect& r) const {
    if (!state->mouse_clicked || !hovered(r)) return false;
    state->mouse_clicked = false;
    return true;
}

bool Ui::double_clicked(const Rect& r) const {
    return state->mouse_double && hovered(r);
}

bool Ui::area(std::string_view id, const Rect& r) {
    const Press press = behave(*this, state->id_of(id), r);
    if (press.focused) focus_mark(*this, r);
    return press.pressed;
}

void Ui::opens_menu(std::string_view id) {
    if (enabled && state->focused == state->id_of(id)) state->opener_focused = true;
}

bool Ui::takes_text(std::string_view name, bool tab) {
    if (!enabled) return false;
    const uint32_t id = state->id_of(name);
    state->ring.push_back(id);
    if (state->focused != id) return false;
    state->text_focused = true;
    state->text_takes_tab = tab;
    return true;
}

Drag Ui::drag(std::string_view name, const Rect& r) {
    Drag drag;
    if (!enabled) return drag;
    const uint32_t id = state->id_of(name);
    if (state->dragging != id) {
        if (!state->mouse_clicked || !hovered(r)) return drag;
        state->mouse_clicked = false;
        state->dragging = id;
        state->drag_from = state->drag_last = mouse;
        drag.started = true;
    }
    drag.active = true;
    drag.ended = !state->mouse_down;
    drag.at = mouse;
    drag.from = state->drag_from;
    drag.delta = {mouse.x - state->drag_last.x, mouse.y - state->drag_last.y};
    state->drag_last = mouse;
    return drag;
}

float Ui::wheel(const Rect& r) {
    if (state->wheel == 0 || !hovered(r)) return 0;
    const float turned = state->wheel;
    state->wheel = 0;
    return turned;
}

bool Ui::pressed(Key key, const Rect& part) {
    bool& down = state->keys[static_cast<size_t>(key)];
    if (!enabled || !down) return false;
    if (state->drawn_view.empty() ? !part.contains(mouse) : state->drawn_view != state->active_view) return false;
    down = false;
    return true;
}

float Ui::scroll(std::string_view name, const Rect& view, float content_height) {
    const uint32_t id = state->id_of(name);
    float& offset = state->scroll[id];
    const float most = view.h > 0 ? std::max(0.0f, content_height - view.h) : 0;  // no room: nothing to move in
    if (const auto wish = state->scroll_wish.find(id); wish != state->scroll_wish.end()) {
        offset = wish->second;
        state->scroll_wish.erase(wish);
    }
    if (most > 0) offset -= wheel(view) * 48;
    offset = std::clamp(offset, 0.0f, most);
    if (most > 0) {
        const float length = std::max(24.0f, view.h * view.h / content_height), room = view.h - length;
        const Rect bar{view.right() - 5, view.y + room * offset / most, 4, length};
        push_scope(name);
        const Drag pulled = drag("bar", {bar.x - 6, view.y, 12, view.h});
        pop_scope();
        if (pulled.active && room > 0) offset = std::clamp(offset + pulled.delta.y * most / room, 0.0f, most);
        rect(bar, pulled.active ? theme->ink2 : theme->ink3, 2);
        scrolls(*this, name, view, offset);
    }
    return offset;
}

float Ui::scroll_lines(std::string_view name, const Rect& view, size_t lines, float pitch) {
    const float seen = std::floor(view.h / pitch + 0.01f);
    const float beyond = std::max(0.0f, static_cast<float>(lines) - seen) * pitch;
    return std::floor(scroll(name, view, view.h + beyond) / pitch + 0.01f) * pitch;
}

void Ui::scroll_to(std::string_view id, float offset) {
    state->scroll_wish[state->id_of(id)] = offset;
}

void scrolls(Ui& ui, std::string_view name, const Rect& view, float offset) {
    ui.state->scrolled.push_back({ui.state->id_of(name), view, offset, ui.state->scopes.size()});
}

void Ui::tooltip(std::string_view words) {
    if (enabled) state->tooltip = words;
}

void Ui::animate() {
    state->animate = true;
}

bool Ui::calm() const {
    return state->calm;
}

Ui::Moved Ui::splitter(std::string_view id, const Rect& gap, bool across) {
    Moved moved;
    if (!enabled) return moved;
    const uint32_t key = state->id_of(id);
    state->ring.push_back(key);
    const bool focused = state->focused == key;
    if (focused) {
        state->splitter_focused = true;
        moved.by = across ? state->splitter_push.x : state->splitter_push.y;
        if (state->activate) state->activate = false, moved.reset = true;
    }
    const bool over = hovered(gap);
    if (over && state->mouse_double) moved.reset = true;
    const Drag pulled = drag(id, gap);
    if (pulled.active) moved.by += across ? pulled.delta.x : pulled.delta.y;
    if (over || pulled.active) state->cursor = across ? UiState::Cursor::resize_x : UiState::Cursor::resize_y;
    if (over && !pulled.active) tooltip("drag to resize, double-click for the size that it has by itself");
    const float middle_x = gap.x + gap.w / 2, middle_y = gap.y + gap.h / 2;
    if (over || pulled.active || focused) {
        const Color color = focused || pulled.active ? theme->accent : theme->ink2;
        rect(across ? Rect{middle_x - 1, gap.y, 2, gap.h} : Rect{gap.x, middle_y - 1, gap.w, 2}, color);
    } else {  // that it can be pulled is seen before the pointer comes
        for (int i = -1; i <= 1; ++i) {
            const float at = 6 * static_cast<float>(i);
            rect(across ? Rect{middle_x - 1, middle_y + at - 1, 2, 2} : Rect{middle_x + at - 1, middle_y - 1, 2, 2},
                 theme->ink3);
        }
    }
    if (focused)
        focus_mark(*this, across ? Rect{gap.x, gap.y + 4, gap.w, gap.h - 8} : Rect{gap.x + 4, gap.y, gap.w - 8, gap.h});
    if (pulled.active || moved.by != 0) animate();
    return moved;
}

float Ui::chip_width(std::string_view label) const {
    return text_width(label, {.size = 13, .weight = 600}) + 20;
}

bool Ui::chip(float& x, float y, std::string_view label, bool on, bool able) {
    const Rect box{x, y, chip_width(label), 26};
    const Press press = behave(*this, state->id_of(label), box, able);
    rect(box, on ? theme->selected : theme->panel2, 4);
    frame(box, on ? theme->accent : press.hovered ? theme->ink3 : theme->line, 1, 4);
    const Faded faint(*this, able ? 1.0f : faintness(*theme));
    text(box.x + box.w / 2, y + 18, label,
         {.size = 13,
          .color = on || press.hovered ? theme->ink : theme->ink2,
          .align = Align::center,
          .weight = on ? 600 : 400});
    if (press.focused) focus_mark(*this, box);
    x += box.w + 4;
    return press.pressed;
}

float Ui::segmented_width(std::span<const std::string_view> labels) const {
    float width = 0;
    for (const std::string_view label : labels) width += chip_width(label);
    return width;
}

int Ui::segmented(float& x, float y, std::span<const std::string_view> labels, int selected) {
    const Rect whole{x, y, segmented_width(labels), 26};
    rect(whole, theme->panel2, 4);
    frame(whole, theme->line, 1, 4);
    for (int i = 0; i < static_cast<int>(labels.size()); ++i) {
        const std::string_view label = labels[static_cast<size_t>(i)];
        const Rect box{x, y, chip_width(label), 26};
        const Press press = behave(*this, state->id_of(label), box);
        const bool on = i == selected;
        if (on) {
            rect(box, theme->selected, 4);
            frame(box, theme->accent, 1, 4);
        }
        text(box.x + box.w / 2, y + 18, label,
             {.size = 13,
              .color = on || press.hovered ? theme->ink : theme->ink2,
              .align = Align::center,
              .weight = on ? 600 : 400});
        if (press.focused) focus_mark(*this, box);
        if (press.pressed) selected = i;
        x += box.w;
    }
    x += 8;
    return selected;
}

bool Ui::button(const Rect& box, std::string_view label, bool primary, bool able) {
    const Press press = behave(*this, state->id_of(label), box, able);
    const Faded faint(*this, able ? 1.0f : faintness(*theme));
    if (primary) {
        rect(box, press.hovered ? mix(theme->accent, theme->ink, 0.15f) : theme->accent, 4);
    } else {
        rect(box, theme->panel2, 4);
        frame(box, press.hovered ? theme->ink3 : theme->line, 1, 4);
    }
    text(box.x + box.w / 2, box.y + box.h / 2 + 5, label,
         {.size = 14,
          .color = primary ? theme->on_accent : theme->ink,
          .align = Align::center,
          .weight = primary ? 600 : 400});
    if (press.focused) focus_mark(*this, box);
    return press.pressed;
}

bool Ui::link(float x, float baseline, std::string_view label, const TextStyle& style) {
    TextStyle shown = style;
    if (shown.color == 0) shown.color = theme->accent;
    const float width = text_width(label, shown);
    const Rect box{x, baseline - shown.size, width, shown.size + 6};
    const Press press = behave(*this, state->id_of(label), box);
    text(x, baseline, label, shown);
    rect({x, baseline + 3, width, press.hovered ? 2.0f : 1.0f}, shown.color);
    if (press.focused) focus_mark(*this, box);
    return press.pressed;
}

float Ui::slider(std::string_view id, const Rect& box, float value, int steps) {
    const Rect grip{box.x - 8, box.y, box.w + 16, std::max(16.0f, box.h)};
    const uint32_t key = state->id_of(id);
    if (enabled) state->ring.push_back(key);
    const bool focused = enabled && state->focused == key;
    if (focused) bring_into_view(*this, grip);
    if (focused) {  // arrows move it while it has the keyboard, with Shift or a page further, Home and End to its ends
        state->slider_focused = true;
        const auto taken = [&](Key which) { return std::exchange(state->keys[static_cast<size_t>(which)], false); };
        const float step = steps > 1 ? 1.0f / static_cast<float>(steps - 1) : 0.05f;
        const float large = steps > 1 ? std::max(1.0f, std::round(static_cast<float>(steps - 1) / 5)) * step : 0.2f;
        const float arrow = state->large_steps ? large : step;
        if (taken(Key::left)) value -= arrow;
        if (taken(Key::right)) value += arrow;
        if (taken(Key::page_down)) value -= large;
        if (taken(Key::page_up)) value += large;
        if (taken(Key::home)) value = 0;
        if (taken(Key::end)) value = 1;
    }
    const Drag moved = drag(id, grip);
    if (moved.started) state->focused = key;
    if (moved.active && box.w > 0) value = (moved.at.x - box.x) / box.w;
    value = std::isnan(value) ? 0 : std::clamp(value, 0.0f, 1.0f);
    if (steps > 1) value = std::round(value * static_cast<float>(steps - 1)) / static_cast<float>(steps - 1);
    const float y = box.y + box.h / 2, knob = box.x + box.w * value;
    rect({box.x, y - 2, box.w, 4}, theme->line, 2);
    if (value > 0) rect({box.x, y - 2, box.w * value, 4}, theme->accent, 2);
    if (steps > 1 && steps <= 33)
        for (int i = 0; i < steps; ++i)
            rect({box.x + box.w * static_cast<float>(i) / static_cast<float>(steps - 1) - 0.5f, y + 6, 1, 3}, theme->ink3);
    circle({knob, y}, 7, theme->accent);
    circle({knob, y}, 5, theme->dark ? theme->ink : theme->panel);
    if (focused) focus_mark(*this, {box.x - 6, y - 9, box.w + 12, 18});
    return value;
}

}  // namespace lockstep::gui
