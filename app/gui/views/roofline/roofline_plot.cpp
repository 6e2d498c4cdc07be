// Where intensities and speeds lie in the roofline's plot, and its axes: both logarithmic, a line a decade.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/roofline/roofline_picture.h"

namespace lockstep::gui {

float RoofPlot::x(double intensity) const {
    const double t = (std::log10(intensity) - axes.x_low) / (axes.x_high - axes.x_low);
    return box.x + box.w * static_cast<float>(std::clamp(t, -0.5, 1.5));
}
float RoofPlot::y(double flop_per_second) const {
    const double t = (std::log10(flop_per_second) - axes.y_low) / (axes.y_high - axes.y_low);
    return box.bottom() - box.h * static_cast<float>(std::clamp(t, -0.5, 1.5));
}
double RoofPlot::intensity(float at) const {
    return std::pow(10, axes.x_low + (axes.x_high - axes.x_low) * static_cast<double>((at - box.x) / box.w));
}
double RoofPlot::flops(float at) const {
    return std::pow(10, axes.y_low + (axes.y_high - axes.y_low) * static_cast<double>((box.bottom() - at) / box.h));
}

namespace {

std::string decade_text(int decade) {  // of FLOP/s
    constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P"};
    const int thousand = std::clamp(decade / 3, 0, 5);
    return fmt::format("{:.0f} {}", std::pow(10, decade - 3 * thousand), prefixes[static_cast<size_t>(thousand)]);
}

}  // namespace

void draw_axes(Ui& ui, const RoofPlot& plot) {
    const Theme& theme = *ui.theme;
    const Rect& r = plot.box;
    const TextStyle small{.size = 12, .color = theme.ink2, .align = Align::center};
    float last = -1e9f;
    for (int d = static_cast<int>(std::ceil(plot.axes.x_low)); d <= plot.axes.x_high; ++d) {
        const float x = plot.x(std::pow(10, d));
        ui.line({x, r.y}, {x, r.bottom()}, theme.grid);
        const std::string text = d < 0 ? fmt::format("{:g}", std::pow(10, d)) : with_commas(std::llround(std::pow(10, d)));
        const float half = ui.text_width(text, small) / 2;
        if (x - half < last + 8) continue;
        ui.text(x, r.bottom() + 17, text, small);
        last = x + half;
    }
    last = 1e9f;
    for (int d = static_cast<int>(std::ceil(plot.axes.y_low)); d <= plot.axes.y_high; ++d) {
        const float y = plot.y(std::pow(10, d));
        ui.line({r.x, y}, {r.right(), y}, theme.grid);
        if (last - y < 16 || y < r.y + 8) continue;
        ui.text(r.x - 8, y + 4, decade_text(d), {.size = 12, .color = theme.ink2, .align = Align::right});
        last = y;
    }
    ui.text(r.x - 58, r.y - 6, "FLOP/s", {.size = 12, .color = theme.ink2});
    ui.text(r.right(), r.bottom() + 34, "arithmetic intensity, FLOP per byte",
            {.size = 12, .color = theme.ink2, .align = Align::right, .width = r.w + 50});
}

}  // namespace lockstep::gui
