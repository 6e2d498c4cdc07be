#include "app/gui/desk/roof_trail.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "app/gui/widgets/draw.h"
#include "core/base/units.h"

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

// "matmul" of "matmul (kernel 9 of 11)", "bc" of "bc  (your kernel)"
std::string name_in(std::string_view label) {
    std::string name(label.substr(0, std::min(label.find(" (kernel "), label.find(" (your kernel)"))));
    while (name.ends_with(' ')) name.pop_back();
    return name;
}

// The only line, from 1, in which the texts differ; 0: they are the same, or differ in more.
int changed_line(std::string_view was, std::string_view now) {
    if (was.empty() || now.empty() || was == now) return 0;
    size_t from = 0, behind = 0;
    while (from < std::min(was.size(), now.size()) && was[from] == now[from]) ++from;
    const size_t most = std::min(was.size(), now.size()) - from;
    while (behind < most && was[was.size() - 1 - behind] == now[now.size() - 1 - behind]) ++behind;
    for (const std::string_view text : {was, now})
        if (text.substr(from, text.size() - behind - from).find('\n') != std::string_view::npos) return 0;
    return 1 + static_cast<int>(std::count(now.begin(), now.begin() + static_cast<std::ptrdiff_t>(from), '\n'));
}

// What tells the run from those before it of the same kernel: its launch, an argument, the line that was edited.
std::string label_of(const RoofRun& fresh, const std::vector<RoofRun>& runs) {
    const RoofRun* last = nullptr;
    int edits = 1;
    std::string label = fresh.name;
    bool other_blocks = false, edited = false;
    for (const RoofRun& known : runs) {
        if (known.name != fresh.name) continue;
        last = &known;
        other_blocks = other_blocks || known.blocks != fresh.blocks;
        edited = edited || known.source != fresh.source;
        ++edits;
        if (known.numbers.size() != fresh.numbers.size()) continue;
        const auto [was, is] = std::mismatch(known.numbers.begin(), known.numbers.end(), fresh.numbers.begin());
        if (is != fresh.numbers.end()) label = fmt::format("{}, {}", fresh.name, *is);
    }
    if (last == nullptr) return label;
    if (other_blocks)
        label = fmt::format("{}, {}", fresh.name, counted(fresh.blocks, "block"));
    else if (last->threads != fresh.threads)
        label = fmt::format("{}, blocks of {}", fresh.name, fresh.threads);
    else if (const int line = changed_line(last->source, fresh.source); line > 0)
        label = fmt::format("{}, line {}", fresh.name, line);
    const bool taken = std::any_of(runs.begin(), runs.end(),
                                   [&](const RoofRun& known) { return known.label == label && known.gpu == fresh.gpu; });
    return taken && edited ? fmt::format("{}, edit {}", fresh.name, edits) : label;
}

}  // namespace

void RoofTrail::adopt(const std::shared_ptr<const model::KernelRun>& run, std::string_view label, bool guess) {
    if (run == nullptr || (current_ < runs_.size() && runs_[current_].run.lock() == run)) return;
    std::erase_if(runs_, [](const RoofRun& known) { return known.point.faulted; });
    const model::RoofPoint point = model::point_of(*run);
    const std::string name = name_in(label);
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
    fresh.number = point.faulted ? 0 : ++last_number_;
    fresh.name = name;
    fresh.blocks = run->config.grid.count();
    fresh.threads = run->config.block.count();
    fresh.numbers = numbers_of(*run);
    fresh.source = run->source;
    fresh.gpu = std::string(run->gpu.name);
    fresh.point = point;
    fresh.label = label_of(fresh, runs_);
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

std::string times_text(double factor) {
    if (!(factor >= 999.5)) return fmt::format("x{:.3g}", factor);
    const double unit = std::pow(10, std::floor(std::log10(factor)) - 2);
    return "x" + with_commas(std::llround(std::round(factor / unit) * unit));
}

std::string distance_words(const RoofGuess& guess, const model::RoofPoint& point, model::RoofLevel level) {
    if (!point.plotted(level) || !(guess.intensity > 0) || !(guess.flop_per_second > 0)) return {};
    const double along = guess.intensity / point.intensity(level), up = guess.flop_per_second / point.flop_per_second();
    const auto words = [](double ratio, std::string_view less, std::string_view more) {
        if (std::abs(std::log(ratio)) < std::log(1.1)) return std::string();
        return fmt::format("{} too {}", times_text(ratio < 1 ? 1 / ratio : ratio), ratio < 1 ? less : more);
    };
    const std::string x = words(along, "far left", "far right"), y = words(up, "low", "high");
    if (x.empty() && y.empty()) return "within 10 % in both directions";
    return x.empty() ? y + ", right in intensity" : y.empty() ? x + ", right in speed" : x + " and " + y;
}

}  // namespace lockstep::gui
