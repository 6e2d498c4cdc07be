#include "app/gui/roof_trail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace lockstep::gui {
namespace {

bool same(const model::RoofPoint& a, const model::RoofPoint& b) {
    return a.flop == b.flop && a.seconds == b.seconds && std::equal(std::begin(a.bytes), std::end(a.bytes), b.bytes) &&
           a.peak == b.peak && a.faulted == b.faulted;
}

// A neutral place to begin with: a tenth of the peak, a fifth of the ridge.
RoofGuess first_guess(const model::GpuSpec& gpu, const model::RoofPoint& point) {
    const model::Roofline roofline = model::roofline_of(gpu);
    const model::Peak* const peak = roofline.peak(point.peak);
    if (peak == nullptr) return {1, 1e9};
    return {model::ridge(roofline.roof(model::RoofLevel::dram), *peak) / 5, peak->flop_per_second / 10};
}

}  // namespace

namespace {
// The launch's whole numbers of 4 bytes, in order.
std::vector<int32_t> numbers_of(const model::KernelRun& run) {
    std::vector<int32_t> numbers;
    if (run.program == nullptr) return numbers;
    for (const ptx::Parameter& parameter : run.program->parameters) {
        const bool whole = parameter.bytes == 4 && parameter.type != ptx::Type::f32;
        if (!whole || parameter.offset + 4 > run.config.parameters.size()) continue;
        std::memcpy(&numbers.emplace_back(), run.config.parameters.data() + parameter.offset, 4);
    }
    return numbers;
}
}  // namespace

void RoofTrail::adopt(const std::shared_ptr<const model::KernelRun>& run, std::string_view label, bool guess) {
    if (run == nullptr || (current_ < runs_.size() && runs_[current_].run.lock() == run)) return;
    const model::RoofPoint point = model::point_of(*run);
    std::string name(label.substr(0, label.find(" (kernel ")));  // "matmul (kernel 9 of 11)"
    while (name.ends_with(' ')) name.pop_back();
    for (size_t i = 0; i < runs_.size(); ++i) {
        RoofRun& known = runs_[i];
        if (known.run.lock() != run && (known.name != name || known.gpu != run->gpu.name || !same(known.point, point)))
            continue;
        known.run = run;
        current_ = i;
        return;
    }
    if (runs_.size() == most_runs) runs_.erase(runs_.begin());
    RoofRun fresh;
    fresh.number = ++last_number_;
    fresh.name = fresh.label = name;
    fresh.blocks = run->config.grid.count();
    const bool as_before = std::all_of(runs_.begin(), runs_.end(), [&](const RoofRun& known) {
        return known.name != name || known.blocks == fresh.blocks;
    });
    fresh.numbers = numbers_of(*run);
    if (!as_before) {
        fresh.label += fmt::format(", {} block{}", fresh.blocks, fresh.blocks == 1 ? "" : "s");
    } else {
        for (const RoofRun& known : runs_) {
            if (known.name != name || known.numbers.size() != fresh.numbers.size()) continue;
            const auto [was, is] = std::mismatch(known.numbers.begin(), known.numbers.end(), fresh.numbers.begin());
            if (is == fresh.numbers.end()) continue;
            fresh.label = fmt::format("{}, {}", name, *is);
        }
    }
    fresh.gpu = std::string(run->gpu.name);
    fresh.point = point;
    fresh.guess = first_guess(run->gpu, point);
    fresh.guessing = guess && point.plotted();
    fresh.run = run;
    runs_.push_back(std::move(fresh));
    current_ = runs_.size() - 1;
}

void RoofTrail::forget_others() {
    if (current_ >= runs_.size()) return;
    RoofRun kept = std::move(runs_[current_]);
    runs_.clear();
    runs_.push_back(std::move(kept));
    current_ = 0;
}

std::string distance_words(const RoofGuess& guess, const model::RoofPoint& point, model::RoofLevel level) {
    if (!point.plotted(level) || !(guess.intensity > 0) || !(guess.flop_per_second > 0)) return {};
    const double along = guess.intensity / point.intensity(level), up = guess.flop_per_second / point.flop_per_second();
    const auto words = [](double ratio, std::string_view less, std::string_view more) {
        if (std::abs(std::log(ratio)) < std::log(1.1)) return std::string();
        return fmt::format("x{:.3g} too {}", ratio < 1 ? 1 / ratio : ratio, ratio < 1 ? less : more);
    };
    const std::string x = words(along, "far left", "far right"), y = words(up, "low", "high");
    if (x.empty() && y.empty()) return "within 10 % in both directions";
    return x.empty() ? y + ", right in intensity" : y.empty() ? x + ", right in speed" : x + " and " + y;
}

}  // namespace lockstep::gui
