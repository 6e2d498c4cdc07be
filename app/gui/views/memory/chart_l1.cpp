#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/memory/chart_picture.h"
#include "app/gui/widgets/ui_state.h"

namespace lockstep::gui {

std::string_view ChartPicture::fitting(const Ui& ui, std::initializer_list<std::string_view> words, const TextStyle& style,
                                       float width) {
    for (const std::string_view one : words)
        if (ui.text_width(one, style) <= width) return one;
    return std::data(words)[words.size() - 1];
}

void ChartPicture::box(Ui& ui, const Rect& rect, std::string_view title, bool dim, float radius, std::string_view right) {
    const Theme& theme = *ui.theme;
    ui.rect(rect, theme.panel2, radius);
    ui.frame(rect, dim ? theme.line : theme.ink3, 1, radius);
    float room = rect.w - 16;
    if (!right.empty() && rect.w > 100) {
        const float left =
            ui.text(rect.right() - 10, rect.y + 20, right, {.size = 12, .color = theme.ink2, .align = Align::right});
        room = left - rect.x - 16;
    }
    ui.text(rect.x + 10, rect.y + 20, title,
            {.size = 13, .color = dim ? theme.quiet : theme.ink, .weight = 600, .width = room});
}

float ChartPicture::hit_bar(Ui& ui, float x, float y, float w, std::string_view what, uint64_t hits, uint64_t all) {
    const Theme& theme = *ui.theme;
    const double share = all == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(all);
    ui.text(x, y, all == 0 ? fmt::format("{}: none asked", what) : fmt::format("{} {}", what, peak_text(100 * share)),
            {.size = 12, .width = w});
    const Rect bar{x, y + 6, w, 10};
    ui.rect(bar, theme.panel);
    ui.rect({bar.x, bar.y, bar.w * static_cast<float>(share), bar.h}, data::green);
    ui.frame(bar, theme.line);
    const std::string of =
        fmt::format("{} of {}", with_commas(static_cast<int64_t>(hits)), with_commas(static_cast<int64_t>(all)));
    const TextStyle style{.size = 12, .color = theme.ink2};
    if (ui.text_width(of + " sectors", style) <= w) {
        ui.text(x, y + 31, of + " sectors", style);
        return y + 31;
    }
    if (ui.text_width(of, style) <= w) {
        ui.text(x, y + 31, of, style);
        return y + 31;
    }
    ui.text(x, y + 31, with_commas(static_cast<int64_t>(hits)) + " of", style);
    ui.text(x, y + 46, with_commas(static_cast<int64_t>(all)), style);
    return y + 46;
}

void ChartPicture::draw_l1(Ui& ui, Session& session, const model::KernelRun& run, const Rect& area) {
    const Theme& theme = *ui.theme;
    const Rect r = column(2);
    const bool one_memory = run.gpu.shared_carveouts.value[1] != 0;
    const TextStyle title{.size = 13, .weight = 600};
    box(ui, r,
        one_memory ? fitting(ui, {"L1/TEX + Shared", "L1 + Shared", "L1 + sh."}, title, r.w - 16)
                   : fitting(ui, {"L1/TEX, Shared", "L1, Shared", "L1, sh."}, title, r.w - 16),
        false, 3);
    const float x = r.x + 10, w = r.w - 20;
    const uint64_t total = uint64_t{chart_.l1_bytes} + chart_.shared_bytes;
    ui.text(x, r.y + 38, fmt::format("{} per SM", bytes_text(static_cast<double>(total))),
            {.size = 12, .color = theme.ink2, .width = w});
    hit_bar(ui, x, r.y + 66, w, "load hits", chart_.l1_hits, chart_.l1_sectors);
    if (r.h < 190 || total == 0) return;
    const float y = r.y + std::min(r.h - 60, 190.0f);
    ui.text(x, y - 7, one_memory ? "one SRAM, two uses" : "two memories", {.size = 12, .color = theme.ink2, .width = w});
    const Rect bar{x, y, w, 28};
    const CarveOut carve = one_memory && run.before ? carve_out_of(run, chart_.shared_bytes) : CarveOut();
    const bool moves = carve.sizes.size() > 1;
    if (moves) carve_by_hand(ui, session, carve, bar, static_cast<double>(total), area);
    const bool wished = moves && wish_ >= 0 && static_cast<size_t>(wish_) != carve.at;
    const uint32_t shared = wished ? carve.sizes[static_cast<size_t>(wish_)] : chart_.shared_bytes;
    const auto place = [&](double bytes) { return w * static_cast<float>(1 - bytes / static_cast<double>(total)); };
    const float split = place(shared);
    ui.rect({x, y, split, 28}, mix(theme.panel, theme.accent, 0.3f));
    ui.hatch({x + split, y, w - split, 28}, theme.ink3, Hatch::diagonal);
    ui.frame(bar, theme.line);
    for (const uint32_t size : carve.sizes) ui.rect({x + place(size) - 0.5f, y + 29, 1, 4}, theme.ink3);
    if (wished) ui.dashed({x + place(chart_.shared_bytes) - 2, y - 4, 4, 36}, theme.ink2, 2, 2);
    ui.rect({x + std::clamp(split, 2.0f, w - 2) - 2, y - 4, 4, 36}, wished ? theme.accent : theme.ink);
    const float l1 =
        ui.text(x, y + 47, "L1 " + bytes_text(static_cast<double>(total - shared)), {.size = 12, .color = theme.ink2});
    ui.text(x + w, y + 47, "sh. " + bytes_text(shared),
            {.size = 12, .color = theme.ink2, .align = Align::right, .width = x + w - l1 - 6});
    if (!moves || r.bottom() - y < 74) return;
    if (carve.by_hand && ui.link(x, y + 66, "as the GPU chooses", {.size = 12})) session.post(ask::CarveOut{});
    if (!carve.by_hand) ui.text(x, y + 66, "drag the carve-out", {.size = 12, .color = theme.quiet, .width = w});
}

void ChartPicture::carve_by_hand(Ui& ui, Session& session, const CarveOut& carve, const Rect& bar, double total,
                                 const Rect& area) {
    const Rect grip{bar.x - 6, bar.y - 4, bar.w + 12, bar.h + 8};
    const bool focused = ui.enabled && ui.state->focused == ui.state->id_of("carve-out");
    if (focused) ui.state->slider_focused = true;  // the arrows are the handle's
    const auto last = static_cast<int>(carve.sizes.size()) - 1;
    const int now = wish_ >= 0 ? wish_ : static_cast<int>(carve.at);
    const auto ask = [&](int wanted) {
        wish_ = std::clamp(wanted, 0, last);
        if (wish_ != now) session.post(ask::CarveOut{static_cast<int64_t>(carve.sizes[static_cast<size_t>(wish_)])});
    };
    if (focused && ui.pressed(Key::left, area)) return ask(now + 1);  // the handle goes left: more for shared memory
    if (focused && ui.pressed(Key::right, area)) return ask(now - 1);
    if (const Drag drag = ui.drag("carve-out drag", grip); drag.active) {
        const auto at = static_cast<int>(carve.nearest(total * static_cast<double>(1 - (drag.at.x - bar.x) / bar.w)));
        if (drag.ended && at != static_cast<int>(carve.at))
            session.post(ask::CarveOut{static_cast<int64_t>(carve.sizes[static_cast<size_t>(at)])});
        wish_ = at;
        ui.animate();
    }
    if (ui.area("carve-out", grip)) ui.animate();
    if (ui.hovered(grip))
        ui.tooltip("more shared memory leaves less L1: drag, or Tab to it and use the arrows;\nthe kernel runs again");
}

}  // namespace lockstep::gui
