#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/memory/chart_picture.h"
#include "core/base/units.h"

namespace lockstep::gui {

namespace {

constexpr float column_shares[] = {112, 120, 168, 136, 112};

}  // namespace

std::string peak_text(double percent) {
    return percent == 0 ? "0 %" : percent < 0.1 ? "< 0.1 %" : fmt::format("{:.1f} %", percent);
}

// Columns keep their shares; spaces with traffic get a row for each kind of access.
void ChartPicture::place(const Rect& all) {
    all_ = all;
    const float gap = std::clamp(all.w * 0.07f, 40.0f, 96.0f);
    float sum = 0;
    for (const float share : column_shares) sum += share;
    float x = all.x;
    for (int i = 0; i < columns; ++i) {
        x_[i] = x;
        w_[i] = (all.w - gap * (columns - 1)) * column_shares[i] / sum;
        x += w_[i] + gap;
    }
    float rows = 0;
    for (const ChartSpace& space : chart_.spaces) rows += static_cast<float>(space.rows.size());
    float title = 34, empty = 32, between = 6;
    const auto row_height = [&] {
        float fixed = between * (static_cast<float>(chart_.spaces.size()) - 1);
        for (const ChartSpace& space : chart_.spaces) fixed += space.rows.empty() ? empty : title;
        return std::clamp((all.h - fixed) / std::max(1.0f, rows), 26.0f, 64.0f);
    };
    row_h_ = row_height();
    if (row_h_ < share_row) {  // closer together, where that leaves room for the shares of peak
        title = 30, empty = 26, between = 4;
        row_h_ = row_height();
    }
    above_ = 5, below_ = 14;
    if (row_h_ < share_row) {  // closer still; memories without traffic go
        above_ = 3, below_ = 11;
        if (row_h_ < close_row) title = 26, empty = -between;
        row_h_ = row_height();
    }
    space_.clear();
    row_y_.clear();
    float y = all.y;
    for (const ChartSpace& space : chart_.spaces) {
        // Below 0 it takes back the gap: the memory is not drawn.
        const float h = space.rows.empty() ? empty : title + row_h_ * static_cast<float>(space.rows.size());
        space_.push_back({x_[1], y, w_[1], h});
        for (size_t r = 0; r < space.rows.size(); ++r)
            row_y_.push_back(y + title - 4 + row_h_ * (static_cast<float>(r) + 0.5f));
        y += h + between;
    }
}

void ChartPicture::draw_requests(Ui& ui, const ChartRow& row, float y) const {
    const bool low = row_h_ < 34;
    const float x = x_[1] + 10, begin = low ? ui.text(x, y + 5, row.label, {.size = 13}) + 6 : x,
                room = x_[1] + w_[1] - 8 - begin;
    const std::string count = with_commas(static_cast<int64_t>(row.asked.requests));
    std::string words = count;  // the longest that there is room for
    for (const std::string& one :
         {count + " req",
          row.passes_each() > 1.05 ? fmt::format("{} req, x{:.3g} passes", count, row.passes_each()) : count + " req",
          row.passes_each() > 1.05 ? fmt::format("{} req, {:.3g} passes each", count, row.passes_each()) : count + " req"})
        if (ui.text_width(one, {.size = 12}) <= room) words = one;
    ui.text(low ? x_[1] + w_[1] - 8 : x, low ? y + 5 : y + 17, words,
            {.size = 12, .color = ui.theme->ink2, .align = low ? Align::right : Align::left, .width = room});
}

void ChartPicture::draw_copy(Ui& ui, float y, const model::Link& copied) const {
    const auto shared = std::find_if(chart_.spaces.begin(), chart_.spaces.end(),
                                     [](const ChartSpace& space) { return space.name == "Shared"; });
    if (shared == chart_.spaces.end()) return;
    const float x = x_[1] - 12, end = space_[static_cast<size_t>(shared - chart_.spaces.begin())].y + 16;
    const Color color = sequential(static_cast<float>(copied.percent_of_peak / 100), *ui.theme);
    const Point way[] = {{x_[1], y}, {x, y}, {x, end}, {x_[1] - 6, end}};
    ui.polyline(way, ui.theme->ink3, 5);
    ui.polyline(way, color, 3);
    ui.arrow_head({x_[1], end}, Way::right, ui.theme->ink3, 7);
    ui.text(x - 5, y + 4, bytes_text(static_cast<double>(copied.bytes)), {.size = 12, .align = Align::right});
    const Rect all{x - 6, y - 6, 20, end - y + 12};
    if (ui.hovered(all))
        ui.tooltip(fmt::format("copied into shared memory: {}, {}", counted(copied.bytes, "byte"),
                               counted(copied.requests, "request")));
}

void ChartPicture::link(Ui& ui, int gap, float y, const model::Link& one, bool to_left, bool labels) const {
    const Theme& theme = *ui.theme;
    const float x0 = x_[gap] + w_[gap], x1 = x_[gap + 1], middle = (x0 + x1) / 2;
    if (one.bytes == 0) {
        const Point ends[] = {{x0 + 2, y}, {x1 - 2, y}};
        ui.polyline(ends, theme.line, 1, 3, 4);
        return;
    }
    const bool close = row_h_ < share_row;
    const float th = std::min(thickness_of(one.bytes), close ? std::max(2.0f, row_h_ - 25) : 16.0f);
    const Color color = sequential(static_cast<float>(one.percent_of_peak / 100), theme);
    const float head = std::max(close ? 5.0f : 6.0f, th / 2 + (close ? 1.0f : 2.0f));
    const float a = to_left ? x0 + head : x0 + 1, b = to_left ? x1 - 1 : x1 - head;
    // An edge of its own: the colour of little traffic is near the background's.
    ui.rect({a, y - th / 2 - 1, b - a, th + 2}, theme.ink3);
    ui.arrow_head({to_left ? x0 : x1, y}, to_left ? Way::left : Way::right, theme.ink3, head + 2);
    ui.rect({a, y - th / 2, b - a, th}, color);
    // Dashes run the way the data flow.
    const float period = 12;
    float phase = flowing_ ? static_cast<float>(std::fmod(ui.now * 18, period)) : 4.0f;
    if (to_left) phase = period - phase;
    ui.clip({a, y - 2, b - a, 4});
    for (float x = a - period + phase; x < b; x += period) ui.rect({x, y - 1, 6, 2}, faded(theme.panel, 0.8f));
    ui.unclip();
    ui.arrow_head({to_left ? x0 + 1 : x1 - 1, y}, to_left ? Way::left : Way::right, color, head);
    if (ui.hovered({x0, y - 14, x1 - x0, 28})) {
        ui.outline({x0 + 1, y - head, x1 - x0 - 2, 2 * head});
        ui.tooltip(fmt::format("{}: {}, {}, {} of peak", one.name, counted(one.bytes, "byte"),
                               counted(one.requests, "request"), peak_text(one.percent_of_peak)));
    }
    if (!labels) return;
    const std::string bytes = bytes_text(static_cast<double>(one.bytes)), share = peak_text(one.percent_of_peak);
    if (ui.text_width(bytes, {.size = 12}) <= x1 - x0 + 4)
        ui.text(middle, y - th / 2 - above_, bytes, {.size = 12, .align = Align::center});
    if (row_h_ >= close_row)
        ui.text(middle, y + th / 2 + below_, share, {.size = 12, .color = theme.ink2, .align = Align::center});
}

void ChartPicture::draw_links(Ui& ui) const {
    size_t row = 0;
    for (size_t s = 0; s < chart_.spaces.size(); ++s) {
        const ChartSpace& space = chart_.spaces[s];
        if (space.rows.empty() && space_[s].h > 0) {
            const float y = space_[s].y + space_[s].h / 2;
            link(ui, 0, y, {}, true, false);
            link(ui, 1, y, {}, true, false);
        }
        for (const ChartRow& one : space.rows) {
            const float y = row_y_[row++];
            if (!one.to_shared) link(ui, 0, y, one.asked, one.to_kernel, true);
            link(ui, 1, y, one.handled, one.to_kernel, true);
        }
    }
    const float first = row_y_.empty() ? all_.y + 60 : row_y_[0];
    const float second = row_y_.size() < 2 ? first + 60 : row_y_[1];
    link(ui, 2, first, chart_.from_l2, true, true);
    link(ui, 2, second, chart_.to_l2, false, true);
    link(ui, 3, first, chart_.dram_read, true, true);
    link(ui, 3, second, chart_.dram_write, false, true);
}

}  // namespace lockstep::gui
