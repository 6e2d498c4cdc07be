#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/views/roofline/roofline.h"
#include "core/base/units.h"

namespace lockstep::gui {
using model::RoofLevel;
using model::RoofPoint;

namespace {

// A guess where no run of its units can stand.
bool too_high(const model::Roofline& roofline, const RoofRun& run) {
    const model::Peak* const peak = roofline.peak(run.point.peak);
    return peak != nullptr &&
           run.guess.flop_per_second > 1.02 * model::attainable(roofline.roof(RoofLevel::dram), *peak, run.guess.intensity);
}

std::string needs(double seconds) {
    return seconds < 1e-9 ? "< 0.001 µs" : lockstep::time_text(1e6 * seconds);
}

}  // namespace

std::string share_text(double percent) {
    return percent < 1 ? "< 1 %" : fmt::format("{:.0f} %", percent);
}

RoofAxes axes_of(const model::Roofline& roofline, const RoofTrail& trail, std::string_view gpu, RoofLevel level) {
    double left = 1e300, right = 0, low = 1e300, high = 0;
    const auto take = [&](double x, double y) {
        if (!(x > 0) || !(y > 0)) return;
        left = std::min(left, x), right = std::max(right, x);
        low = std::min(low, y), high = std::max(high, y);
    };
    for (const model::Peak& peak : roofline.peaks)
        for (const model::Roof& roof : roofline.roofs) take(model::ridge(roof, peak), peak.flop_per_second);
    const model::Roof& slow = roofline.roof(RoofLevel::dram);
    take(0.05, slow.bytes_per_second * 0.05);
    right *= 3;
    for (const RoofRun& run : trail.runs())
        if (run.gpu == gpu && run.point.plotted(level)) {
            take(run.point.intensity(level), run.point.flop_per_second());
            const model::Peak* const own = roofline.peak(run.point.peak);
            if (own != nullptr) take(run.point.intensity(level), own->flop_per_second);
        }
    const auto down = [](double value) { return std::floor(std::log10(value) * 3 - 0.5) / 3; };
    const auto up = [](double value) { return std::ceil(std::log10(value) * 3 + 0.5) / 3; };
    return {down(left), up(right), down(low), up(high)};
}

std::string flops_text(double value) {
    if (value >= 1e12) return fmt::format("{:.3g} TFLOP/s", value / 1e12);
    if (value >= 1e9) return fmt::format("{:.3g} GFLOP/s", value / 1e9);
    return fmt::format("{:.3g} MFLOP/s", value / 1e6);
}

std::string bandwidth_text(double value) {
    return value >= 1e12 ? fmt::format("{:.3g} TB/s", value / 1e12) : fmt::format("{:.4g} GB/s", value / 1e9);
}

bool hides_point(const Session& session, const RoofTrail& trail) {
    return session.learn.reveal_steps >= 0 || trail.guessing();
}

std::string roof_sentence(const model::Roofline& roofline, const RoofTrail& trail, RoofLevel level, bool hidden) {
    const RoofRun* const run = trail.current();
    if (run == nullptr) return "A run's point appears here once a kernel has run.";
    if (hidden)
        return !run->guessing ? "The run stays hidden until you lock an answer."
               : too_high(roofline, *run)
                   ? "Where will this run stand? Above its roof no run of these units can: drag the diamond, then lock it."
                   : "Where will this run stand? Drag the diamond, then lock it.";
    const RoofPoint& point = run->point;
    if (point.faulted) return "The run ended early: it has no place on the roofline.";
    if (!(point.flop > 0)) return "This kernel computes no floating-point operation: it has no place on the roofline.";
    const model::Roof& roof = roofline.roof(level);
    const model::Peak* const peak = roofline.peak(point.peak);
    if (!point.plotted(level) || peak == nullptr)
        return fmt::format("No byte crossed {} in this run: choose another roof.", roof.name);
    const double memory = model::memory_seconds(roofline, point, level), math = model::math_seconds(roofline, point);
    const double room = model::headroom(roofline, point, level);
    const bool bytes_bind = memory >= math;
    std::string text =
        fmt::format("Run {} reaches {}, {} of {}: {}. Its bytes need {}, its operations {}, it took {}.", run->number,
                    flops_text(point.flop_per_second()), share_text(100 / room),
                    bytes_bind ? fmt::format("the {} roof", roof.name) : fmt::format("the {} peak", peak->name),
                    room < 0.995 ? "more than the model should let it" : times_text(room) + " is left", needs(memory),
                    needs(math), needs(point.seconds));
    if (run->guessed) text = fmt::format("Your guess was {}. ", distance_words(run->guess, point, RoofLevel::dram)) + text;
    return text;
}

}  // namespace lockstep::gui
