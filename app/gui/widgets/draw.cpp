// Shapes. Straight edges lie on whole pixels; a plain rectangle is one quad, a square frame four.
#include "app/gui/widgets/draw.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/gui/widgets/fonts.h"
#include "app/gui/widgets/svg.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

namespace {

constexpr float far_away = 1e6f;  // layout units

float snap(float value) {
    return std::floor(value + 0.5f);
}

struct Pixels {
    float x0, y0, x1, y1;
};
Pixels pixels_of(const Ui& ui, const Rect& r) {
    Pixels p{snap(r.x * ui.scale), snap(r.y * ui.scale), snap(r.right() * ui.scale), snap(r.bottom() * ui.scale)};
    if (r.w > 0 && p.x1 <= p.x0) p.x1 = p.x0 + 1;
    if (r.h > 0 && p.y1 <= p.y0) p.y1 = p.y0 + 1;
    return p;
}
bool outside(const ImDrawList& list, const Pixels& p) {
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    // What is no number is outside too: ImGui does not survive it.
    return !(p.x1 > low.x && p.x0 < high.x && p.y1 > low.y && p.y0 < high.y && p.x1 > p.x0 && p.y1 > p.y0);
}

// The vector picture of this frame, ready to draw inside the list's clip; null: none is made.
Svg* svg_of(const Ui& ui) {
    if (ui.state->svg == nullptr) return nullptr;
    const ImVec2 low = ui.list->GetClipRectMin(), high = ui.list->GetClipRectMax();
    ui.state->svg->set_clip({low.x, low.y, high.x, high.y});
    return ui.state->svg;
}

// Text that an opaque rectangle hides is no longer there; what it hides in part is noted, for tests.
void paint_over(UiState& state, const ImDrawList& list, const Pixels& p) {
    const ImVec2 low = list.GetClipRectMin(), high = list.GetClipRectMax();
    if (p.x1 - p.x0 <= 8 || p.y1 - p.y0 <= 4) return;  // a line
    const float x0 = std::max(p.x0, low.x), y0 = std::max(p.y0, low.y), x1 = std::min(p.x1, high.x),
                y1 = std::min(p.y1, high.y);
    const auto hidden = [&](UiState::Written& text) {
        const float l = std::max(text.ink.x, text.clip.x), r = std::min(text.ink.right(), text.clip.right()),
                    t = std::max(text.ink.y, text.clip.y), b = std::min(text.ink.bottom(), text.clip.bottom());
        if (x0 >= r - 1 || x1 <= l + 1 || y0 >= b - 1 || y1 <= t + 1) return false;
        if (x0 <= l + 1 && x1 >= r - 1 && y0 <= t + 1 && y1 >= b - 1) return true;
        text.painted_over = true;
        return false;
    };
    // Each rectangle meets each text: by pointers, most left at the first line, so that it is quick unoptimised too.
    UiState::Written *kept = state.written->data(), *end = kept + state.written->size();
    for (UiState::Written* text = kept; text != end; ++text) {
        const Rect& ink = text->ink;
        const bool apart = x0 >= ink.x + ink.w - 1 || x1 <= ink.x + 1 || y0 >= ink.y + ink.h - 1 || y1 <= ink.y + 1;
        if (!apart && hidden(*text)) continue;
        if (kept != text) *kept = std::move(*text);
        ++kept;
    }
    state.written->erase(state.written->begin() + (kept - state.written->data()), state.written->end());
}

}  // namespace

void Ui::rect(const Rect& r, Color fill, float radius) {
    const Pixels p = pixels_of(*this, r);
    const Color color = faded(fill, opacity);
    if (outside(*list, p) || (color >> 24) == 0) return;
    if (state->written != nullptr && (color >> 24) == 255) paint_over(*state, *list, p);
    if (Svg* const svg = svg_of(*this)) svg->rect({p.x0, p.y0, p.x1, p.y1}, color, radius * scale);
    if (radius > 0) return list->AddRectFilled({p.x0, p.y0}, {p.x1, p.y1}, color, radius * scale);
    list->PrimReserve(6, 4);
    list->PrimRect({p.x0, p.y0}, {p.x1, p.y1}, color);
}

void Ui::frame(const Rect& r, Color stroke, float width, float radius) {
    const Pixels p = pixels_of(*this, r);
    const Color color = faded(stroke, opacity);
    if (outside(*list, p) || (color >> 24) == 0) return;
    const float thick = std::max(1.0f, snap(width * scale)), half = thick / 2;
    const bool filled = radius <= 0 && (p.x1 - p.x0 <= 2 * thick || p.y1 - p.y0 <= 2 * thick);
    if (Svg* const svg = svg_of(*this)) {
        const Corners middle{p.x0 + half, p.y0 + half, p.x1 - half, p.y1 - half};
        if (filled)
            svg->rect({p.x0, p.y0, p.x1, p.y1}, color);
        else
            svg->frame(middle, color, thick, radius > 0 ? std::max(0.0f, radius * scale - half) : 0);
    }
    if (radius > 0) {
        return list->AddRect({p.x0 + half, p.y0 + half}, {p.x1 - half, p.y1 - half}, color,
                             std::max(0.0f, radius * scale - half), 0, thick);
    }
    if (filled) {
        list->PrimReserve(6, 4);
        return list->PrimRect({p.x0, p.y0}, {p.x1, p.y1}, color);
    }
    list->PrimReserve(24, 16);
    list->PrimRect({p.x0, p.y0}, {p.x1, p.y0 + thick}, color);
    list->PrimRect({p.x0, p.y1 - thick}, {p.x1, p.y1}, color);
    list->PrimRect({p.x0, p.y0 + thick}, {p.x0 + thick, p.y1 - thick}, color);
    list->PrimRect({p.x1 - thick, p.y0 + thick}, {p.x1, p.y1 - thick}, color);
}

void Ui::dashed(const Rect& r, Color stroke, float on, float off) {
    const float step = on + off;
    for (float x = r.x; x < r.right(); x += step) {
        const float w = std::min(on, r.right() - x);
        rect({x, r.y, w, 1}, stroke);
        rect({x, r.bottom() - 1, w, 1}, stroke);
    }
    for (float y = r.y; y < r.bottom(); y += step) {
        const float h = std::min(on, r.bottom() - y);
        rect({r.x, y, 1, h}, stroke);
        rect({r.right() - 1, y, 1, h}, stroke);
    }
}

void Ui::line(Point a, Point b, Color color, float width) {
    if (a.y == b.y || a.x == b.x) {  // straight: a crisp rectangle
        const float thick = std::max(1.0f, snap(width * scale));
        Pixels p{};
        if (a.y == b.y) {
            const float y = snap(a.y * scale - (thick - 1) / 2);
            p = {snap(std::min(a.x, b.x) * scale), y, snap(std::max(a.x, b.x) * scale), y + thick};
        } else {
            const float x = snap(a.x * scale - (thick - 1) / 2);
            p = {x, snap(std::min(a.y, b.y) * scale), x + thick, snap(std::max(a.y, b.y) * scale)};
        }
        if (outside(*list, p)) return;
        if (Svg* const svg = svg_of(*this)) svg->rect({p.x0, p.y0, p.x1, p.y1}, faded(color, opacity));
        list->PrimReserve(6, 4);
        return list->PrimRect({p.x0, p.y0}, {p.x1, p.y1}, faded(color, opacity));
    }
    if (Svg* const svg = svg_of(*this)) {  // ImGui's lines run through the middles of pixels
        const Point ends[] = {{a.x * scale + 0.5f, a.y * scale + 0.5f}, {b.x * scale + 0.5f, b.y * scale + 0.5f}};
        svg->polyline(ends, faded(color, opacity), width * scale);
    }
    list->AddLine({a.x * scale, a.y * scale}, {b.x * scale, b.y * scale}, faded(color, opacity), width * scale);
}

void Ui::polyline(std::span<const Point> points, Color color, float width, float dash, float gap) {
    if (points.size() < 2) return;
    const Color faint = faded(color, opacity);
    if (Svg* const svg = svg_of(*this)) {
        std::vector<Point> scaled;
        for (const Point& p : points) scaled.push_back({p.x * scale, p.y * scale});
        svg->polyline(scaled, faint, std::max(1.0f, width * scale), dash * scale, gap * scale);
    }
    if (dash <= 0) {
        std::vector<ImVec2> scaled;
        scaled.reserve(points.size());
        for (const Point& p : points) scaled.emplace_back(p.x * scale, p.y * scale);
        list->AddPolyline(scaled.data(), static_cast<int>(scaled.size()), faint, 0, std::max(1.0f, width * scale));
        return;
    }
    Svg* const drawn = std::exchange(state->svg, nullptr);  // it has its dashes already
    float phase = 0;
    for (size_t i = 1; i < points.size(); ++i) {
        const Point a = points[i - 1], b = points[i];
        const float length = std::hypot(b.x - a.x, b.y - a.y);
        if (!(length > 0) || length > 1e5f) continue;
        for (float at = 0; at < length;) {
            const float place = std::fmod(phase + at, dash + gap);
            const bool on = place < dash;
            const float end = std::min(length, at + std::max(0.05f, (on ? dash : dash + gap) - place));
            if (on)
                line({a.x + (b.x - a.x) * at / length, a.y + (b.y - a.y) * at / length},
                     {a.x + (b.x - a.x) * end / length, a.y + (b.y - a.y) * end / length}, color, width);
            at = end;
        }
        phase = std::fmod(phase + length, dash + gap);
    }
    state->svg = drawn;
}

void Ui::polygon(std::initializer_list<Point> convex, Color fill) {
    std::vector<ImVec2> scaled;
    for (const Point& p : convex) scaled.emplace_back(p.x * scale, p.y * scale);
    if (Svg* const svg = svg_of(*this)) {
        std::vector<Point> corners;
        for (const ImVec2& p : scaled) corners.push_back({p.x, p.y});
        svg->polygon(corners, faded(fill, opacity));
    }
    // ImGui's anti-aliased fill wants clockwise order.
    float turn = 0;
    for (size_t i = 0; i < scaled.size(); ++i) {
        const ImVec2 a = scaled[i], b = scaled[(i + 1) % scaled.size()];
        turn += a.x * b.y - b.x * a.y;
    }
    if (turn < 0) std::reverse(scaled.begin(), scaled.end());
    list->AddConvexPolyFilled(scaled.data(), static_cast<int>(scaled.size()), faded(fill, opacity));
}

void Ui::circle(Point centre, float radius, Color fill) {
    if (!(radius > 0 && radius < far_away)) return;
    if (Svg* const svg = svg_of(*this))
        svg->circle({centre.x * scale, centre.y * scale}, radius * scale, faded(fill, opacity));
    list->AddCircleFilled({centre.x * scale, centre.y * scale}, radius * scale, faded(fill, opacity));
}

void Ui::ring(Point centre, float radius, Color stroke, float width) {
    if (!(radius > 0 && radius < far_away)) return;
    if (Svg* const svg = svg_of(*this))
        svg->ring({centre.x * scale, centre.y * scale}, std::max(0.0f, radius * scale - 0.5f), faded(stroke, opacity),
                  std::max(1.0f, width * scale));
    list->AddCircle({centre.x * scale, centre.y * scale}, radius * scale, faded(stroke, opacity), 0,
                    std::max(1.0f, width * scale));
}

void Ui::hatch(const Rect& r, Color color, Hatch kind) {
    if (kind == Hatch::solid) return rect(r, color);
    const HatchBand& band = fonts->hatches[static_cast<size_t>(kind)];
    Pixels p = pixels_of(*this, r);
    if (outside(*list, p) || band.w == 0) return;
    if (Svg* const svg = svg_of(*this)) svg->hatch({p.x0, p.y0, p.x1, p.y1}, faded(color, opacity), kind);
    const ImVec2 low = list->GetClipRectMin(), high = list->GetClipRectMax();
    p = {std::max(p.x0, std::floor(low.x)), std::max(p.y0, std::floor(low.y)), std::min(p.x1, std::ceil(high.x)),
         std::min(p.y1, std::ceil(high.y))};
    const auto period = static_cast<float>(fonts->hatch_period), w = static_cast<float>(band.w) - period,
               h = static_cast<float>(band.h) - period;
    const float tw = 1.0f / static_cast<float>(fonts->atlas_width), th = 1.0f / static_cast<float>(fonts->atlas_height);
    const Color faint = faded(color, opacity);
    for (float y = p.y0; y < p.y1; y += h)
        for (float x = p.x0; x < p.x1; x += w) {
            const float x1 = std::min(p.x1, x + w), y1 = std::min(p.y1, y + h);
            const float u = static_cast<float>(band.x) + std::fmod(x, period),
                        v = static_cast<float>(band.y) + std::fmod(y, period);
            list->PrimReserve(6, 4);
            list->PrimRectUV({x, y}, {x1, y1}, {u * tw, v * th}, {(u + x1 - x) * tw, (v + y1 - y) * th}, faint);
        }
}

void Ui::arrow_head(Point tip, Way way, Color color, float s) {
    const float long_ = s * 1.5f;
    switch (way) {
        case Way::left:
            return polygon({tip, {tip.x + long_, tip.y - s}, {tip.x + long_, tip.y + s}}, color);
        case Way::right:
            return polygon({tip, {tip.x - long_, tip.y - s}, {tip.x - long_, tip.y + s}}, color);
        case Way::up:
            return polygon({tip, {tip.x - s, tip.y + long_}, {tip.x + s, tip.y + long_}}, color);
        case Way::down:
            return polygon({tip, {tip.x - s, tip.y - long_}, {tip.x + s, tip.y - long_}}, color);
    }
}

void Ui::outline(const Rect& r, float inset) {
    const Rect out{r.x - 3 + inset, r.y - 3 + inset, r.w + 6 - 2 * inset, r.h + 6 - 2 * inset};
    frame(out, data::black, 3.5f);
    frame({out.x + 1, out.y + 1, out.w - 2, out.h - 2}, data::white, 1.5f);
}

void Ui::halo_line(std::span<const Point> points, float width) {
    polyline(points, data::black, width + 3);
    polyline(points, data::white, width);
}

void Ui::cursor_line(float x, float top, float bottom) {
    rect({x - 1, top, 2, bottom - top}, theme->ink);
}

void Ui::clip(const Rect& r) {
    const Pixels p = pixels_of(*this, r);
    list->PushClipRect({p.x0, p.y0}, {std::max(p.x1, p.x0), std::max(p.y1, p.y0)}, true);
}

void Ui::unclip() {
    list->PopClipRect();
}

void Ui::picture(std::string_view slot, uint64_t version, int w, int h, const Rect& to,
                 const std::function<void(std::span<Color>)>& fill) {
    if (w <= 0 || h <= 0 || w > 8192 || h > 8192) return;
    UiState::Picture& kept = state->pictures[state->id_of(slot)];
    kept.used = state->frame;
    if (kept.version != version || kept.w != w || kept.h != h) {
        std::vector<Color> pixels(static_cast<size_t>(w) * static_cast<size_t>(h), data::black);
        fill(pixels);
        const TextureId old = kept.w == w && kept.h == h ? kept.texture : 0;
        if (old == 0 && kept.texture != 0 && state->remove) state->remove(kept.texture);
        kept = {version, w, h, state->upload ? state->upload(old, w, h, pixels.data()) : 0, state->frame};
    }
    const Pixels p = pixels_of(*this, to);
    if (Svg* const svg = svg_of(*this)) {  // the texture's pixels are gone
        std::vector<Color> pixels(static_cast<size_t>(w) * static_cast<size_t>(h), data::black);
        fill(pixels);
        svg->image({p.x0, p.y0, p.x1, p.y1}, w, h, pixels, opacity);
    }
    if (kept.texture == 0 || outside(*list, p)) return;
    list->AddImage((ImTextureID)(intptr_t)kept.texture, {p.x0, p.y0}, {p.x1, p.y1}, {0, 0}, {1, 1},
                   faded(data::white, opacity));
}

Scaled::Scaled(Ui& u, const Rect& whole, const Rect& target, const Rect& within)
    : ui(u), from(whole), to(target), clip(within), enabled(u.enabled), written(u.state->written) {
    ui.list->PushClipRect({-1e6f, -1e6f}, {1e6f, 1e6f});
    first_vertex = ui.list->VtxBuffer.Size;
    first_command = ui.list->CmdBuffer.Size - 1;
    ui.enabled = false;
    ui.state->written = nullptr;
}

Scaled::~Scaled() {
    const float sx = to.w / std::max(1.0f, from.w), sy = to.h / std::max(1.0f, from.h);
    const float ax = from.x * ui.scale, ay = from.y * ui.scale, bx = to.x * ui.scale, by = to.y * ui.scale;
    for (int i = first_vertex; i < ui.list->VtxBuffer.Size; ++i) {
        ImVec2& p = ui.list->VtxBuffer[i].pos;
        p = {bx + (p.x - ax) * sx, by + (p.y - ay) * sy};
    }
    const Pixels low_high = pixels_of(ui, clip);
    for (int i = first_command; i < ui.list->CmdBuffer.Size; ++i) {
        ImVec4& c = ui.list->CmdBuffer[i].ClipRect;
        c = {std::max(low_high.x0, bx + (c.x - ax) * sx), std::max(low_high.y0, by + (c.y - ay) * sy),
             std::min(low_high.x1, bx + (c.z - ax) * sx), std::min(low_high.y1, by + (c.w - ay) * sy)};
        c.z = std::max(c.z, c.x);
        c.w = std::max(c.w, c.y);
    }
    ui.list->PopClipRect();
    ui.enabled = enabled;
    ui.state->written = static_cast<std::vector<UiState::Written>*>(written);
}

Color sequential(float t, const Theme& theme) {
    static constexpr Color dark[] = {rgb(0x0E3A5C), rgb(0x14517F), rgb(0x1F6BA5), rgb(0x3A88C2),
                                     rgb(0x5FA6D9), rgb(0x8AC3EA), rgb(0xB7DCF5), rgb(0xE2F1FB)};
    static constexpr Color light[] = {rgb(0xDCEBF7), rgb(0xB7D6EE), rgb(0x8FBFE3), rgb(0x62A3D3),
                                      rgb(0x3A86C0), rgb(0x2069A5), rgb(0x124D84), rgb(0x08306B)};
    const Color* stops = theme.dark ? dark : light;
    t = std::isnan(t) ? 0 : std::clamp(t, 0.0f, 1.0f) * 7;
    const int i = std::min(6, static_cast<int>(t));
    return mix(stops[i], stops[i + 1], t - static_cast<float>(i));
}

Color diverging(float t, const Theme& theme) {
    static constexpr Color dark[] = {rgb(0x56B4E9), rgb(0x1B4A66), rgb(0x101216), rgb(0x6E3A08), rgb(0xE69F00)};
    static constexpr Color light[] = {rgb(0x0072B2), rgb(0x8EC3E6), rgb(0xFFFFFF), rgb(0xF0BE7A), rgb(0xB35900)};
    const Color* stops = theme.dark ? dark : light;
    t = std::isnan(t) ? 2 : std::clamp(t, 0.0f, 1.0f) * 4;
    const int i = std::min(3, static_cast<int>(t));
    return mix(stops[i], stops[i + 1], t - static_cast<float>(i));
}

Color grey_image(float t) {
    static constexpr Color stops[] = {rgb(0x0C0E11), rgb(0x8FA0B5), rgb(0xF2F5F8)};
    t = std::isnan(t) ? 0 : std::clamp(t, 0.0f, 1.0f) * 2;
    const int i = std::min(1, static_cast<int>(t));
    return mix(stops[i], stops[i + 1], t - static_cast<float>(i));
}

std::string readable_number(const std::string& text) {
    const bool digits = !text.empty() && text.size() < 16 && text.front() != '0' &&
                        text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? with_commas(std::stoll(text)) : text;
}

std::string bytes_text(double bytes) {
    static const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int unit = 0;
    while (std::fabs(bytes) >= 1024 && unit < 4) bytes /= 1024, ++unit;
    char text[32];
    const bool whole = unit == 0 || std::fabs(bytes) >= 100 || bytes == std::floor(bytes);
    std::snprintf(text, sizeof text, whole ? "%.0f %s" : "%.1f %s", bytes, units[unit]);
    return text;
}

}  // namespace lockstep::gui
