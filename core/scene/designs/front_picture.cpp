// The picture of a sweep: a dot a design, area to the right, time upwards on a scale of powers, the front as a line with the
// figures of its designs. SVG, written by hand: lines, circles and text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/base/units.h"
#include "core/scene/designs/designs.h"

namespace lockstep::scene {
namespace {

constexpr double width = 960, height = 600, left = 90, right = 40, top = 84, bottom = 70;

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char letter : text)
        safe += letter == '<'   ? "&lt;"
                : letter == '>' ? "&gt;"
                : letter == '&' ? "&amp;"
                : letter == '"' ? "&quot;"
                                : std::string(1, letter);
    return safe;
}

std::string words(double x, double y, std::string_view text, std::string_view more = "") {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n", x, y, more, escaped(text));
}

// 1, 2 or 5 times a power of ten, at or above.
double round_up(double value) {
    const double power = std::pow(10, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 5.0, 10.0})
        if (step * power >= value * (1 - 1e-9)) return step * power;
    return 10 * power;
}

struct Axes {
    double area = 0, step = 1, from = 1, to = 10;  // time: from, to

    double x(double mm2) const { return left + mm2 / area * (width - left - right); }
    double y(double us) const {
        return height - bottom - std::log(us / from) / std::log(to / from) * (height - top - bottom);
    }
};

Axes axes_of(const std::vector<const Design*>& ran) {
    double area = 1, least = HUGE_VAL, most = 0;
    for (const Design* design : ran) {
        area = std::max(area, design->run.mm2);
        least = std::min(least, design->run.time_us);
        most = std::max(most, design->run.time_us);
    }
    Axes axes;
    axes.step = round_up(area / 8);
    axes.area = std::ceil(area * 1.05 / axes.step) * axes.step;
    axes.from = std::max(1e-6, least) / 1.25;
    axes.to = std::max(most, axes.from * 2) * 1.25;
    return axes;
}

std::string grid(const Axes& axes) {
    std::string svg = "<g stroke=\"#d5d9de\" fill=\"#5a6570\" font-size=\"13\">\n";
    const auto line = [&](double x1, double y1, double x2, double y2) {
        svg += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", x1, y1, x2, y2);
    };
    for (double area = 0; area <= axes.area * 1.0001; area += axes.step) {
        line(axes.x(area), top, axes.x(area), height - bottom);
        svg +=
            words(axes.x(area), height - bottom + 20, fmt::format("{:g}", area), " text-anchor=\"middle\" stroke=\"none\"");
    }
    for (double power = std::pow(10, std::floor(std::log10(axes.from))); power <= axes.to; power *= 10)
        for (const double step : {1.0, 2.0, 5.0}) {
            const double time = step * power;
            if (time < axes.from || time > axes.to) continue;
            line(left, axes.y(time), width - right, axes.y(time));
            svg += words(left - 8, axes.y(time) + 4, time_text(time), " text-anchor=\"end\" stroke=\"none\"");
        }
    return svg + "</g>\n";
}

std::string label_of(const Sweep& sweep, const Design& design) {
    std::string label;
    for (size_t k = 0; k < design.values.size(); ++k)
        label += fmt::format("{}{} {:g}", k ? ", " : "", sweep.varied[k].field, design.values[k]);
    return label;
}

std::string front_line(const Sweep& sweep, const Axes& axes, std::vector<const Design*> front) {
    std::ranges::sort(front, {}, [](const Design* design) { return design->run.mm2; });
    std::string svg = "<polyline fill=\"none\" stroke=\"#12906a\" stroke-width=\"2.5\" points=\"";
    double before = 0;
    for (const Design* design : front) {
        const double x = axes.x(design->run.mm2), y = axes.y(design->run.time_us);
        if (before != 0) svg += fmt::format("{:.1f},{:.1f} ", x, before);
        svg += fmt::format("{:.1f},{:.1f} ", x, y);
        before = y;
    }
    svg += "\"/>\n<g font-size=\"12\" fill=\"#1d252c\" stroke=\"#ffffff\" stroke-width=\"3\" paint-order=\"stroke\">\n";
    double last = -HUGE_VAL;
    for (auto at = front.rbegin(); at != front.rend(); ++at) {  // upwards, a label where there is room for it
        const double x = axes.x((*at)->run.mm2), y = axes.y((*at)->run.time_us);
        if (last != -HUGE_VAL && last - y < 15) continue;
        last = y;
        // Left of the front and below it nothing lies, but there is not always room.
        const std::string label = label_of(sweep, **at);
        const bool fits = 6.3 * static_cast<double>(label.size()) < x - 12 - left;
        svg += words(fits ? x - 9 : x + 9, y + 15, label, fits ? " text-anchor=\"end\"" : "");
    }
    return svg + "</g>\n";
}

}  // namespace

std::string sweep_svg(const Sweep& sweep) {
    std::vector<const Design*> ran, front;
    for (const Design& design : sweep.designs) {
        if (!design.run.refused.empty()) continue;
        ran.push_back(&design);
        if (design.on_front) front.push_back(&design);
    }
    const Axes axes = axes_of(ran);
    std::string svg = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "font-family=\"Inter, Helvetica, Arial, sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        width, height);
    svg += words(left, 32, fmt::format("{} on designs from {}", sweep.kernel, sweep.gpu),
                 " font-size=\"20\" font-weight=\"700\" fill=\"#1d252c\"");
    std::string below = fmt::format("{} designs ran, {} on the front", ran.size(), front.size());
    if (const size_t refused = sweep.designs.size() - ran.size(); refused > 0) below += fmt::format(", {} refused", refused);
    if (sweep.designs.size() < sweep.asked)
        below += fmt::format("; stopped after {} of {}", sweep.designs.size(), sweep.asked);
    svg += words(left, 56, below + "; left and down is better", " font-size=\"14\" fill=\"#5a6570\"");
    if (ran.empty()) return svg + "</svg>\n";
    svg += grid(axes);
    svg += words(width - right, height - 18, fmt::format("mm2 of die in {} (estimate); time simulated", sweep.process->name),
                 " text-anchor=\"end\" font-size=\"14\" fill=\"#5a6570\"");
    svg += "<g fill=\"#9aa5af\">\n";
    for (const Design* design : ran)
        if (!design->on_front)
            svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}</title></circle>\n",
                               axes.x(design->run.mm2), axes.y(design->run.time_us), escaped(label_of(sweep, *design)));
    svg += "</g>\n" + front_line(sweep, axes, front) + "<g fill=\"#12906a\">\n";
    for (const Design* design : front)
        svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\"><title>{}: {}, {:.1f} mm2</title></circle>\n",
                           axes.x(design->run.mm2), axes.y(design->run.time_us), escaped(label_of(sweep, *design)),
                           time_text(design->run.time_us), design->run.mm2);
    return svg + "</g>\n</svg>\n";
}

}  // namespace lockstep::scene
