#include "app/gui/views/sm/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"

namespace lockstep::gui {

void draw_histogram(Ui& ui, const Histogram& histogram, const std::string& name, bool hidden, const Rect& r) {
    const Theme& theme = *ui.theme;
    ui.text(r.x, r.y + 12, name + (hidden ? "" : fmt::format(", {}", counted(histogram.total, "value"))),
            {.size = 12, .color = theme.ink2, .width = r.w - 110});
    ui.text(r.right(), r.y + 12, "count, log scale", {.size = 12, .color = theme.ink2, .align = Align::right});
    const Rect plot{r.x + 44, r.y + 24, r.w - 44, r.h - 24 - 20};
    const double most = static_cast<double>(*std::max_element(histogram.counts.begin(), histogram.counts.end()));
    const double decades = std::max(1.0, std::log10(std::max(most, 1.0)) + 0.3);
    auto height = [&](double count) {
        return count <= 0 ? 0.f : plot.h * static_cast<float>(std::max(std::log10(count), 0.1) / decades);
    };
    for (int d = 1; d < decades; ++d) {
        if (decades > 4 && d % 2 == 0) continue;
        const float y = plot.bottom() - height(std::pow(10.0, d));
        ui.line({plot.x, y}, {plot.right(), y}, theme.grid);
        ui.text(plot.x - 8, y + 4,
                d < 3 ? fmt::format("{:.0f}", std::pow(10.0, d)) : fmt::format("{:.0f} k", std::pow(10.0, d - 3)),
                {.size = 12, .color = theme.ink2, .align = Align::right});
    }
    const float bin = plot.w / static_cast<float>(histogram.counts.size());
    for (size_t i = 0; i < histogram.counts.size(); ++i)
        if (const float h = height(static_cast<double>(histogram.counts[i])); h > 0)
            ui.rect({plot.x + bin * static_cast<float>(i) + 1, plot.bottom() - h, bin - 2, h}, data::sky);
    ui.line({plot.x, plot.bottom()}, {plot.right(), plot.bottom()}, theme.line);
    for (int i = -2; i <= 2; ++i) {
        const double value = histogram.high * i / 2;
        ui.text(plot.x + plot.w * (static_cast<float>(i) + 2) / 4, r.bottom() - 4,
                i == 0 ? "0" : fmt::format("{:+.2g}", value),
                {.size = 12,
                 .color = theme.ink2,
                 .align = i == -2  ? Align::left
                          : i == 2 ? Align::right
                                   : Align::center});
    }
}

}  // namespace lockstep::gui
