#include "app/gui/views/training/mode_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "app/gui/session.h"
#include "core/base/units.h"
#include "core/scene/tape/tape_program.h"

namespace lockstep::gui {

namespace {

std::string micro(double us) {
    return time_text(us, {.significant = us >= 100 ? 4 : 3});
}
int order_of(const std::string& mode) {
    constexpr std::array<std::string_view, 4> order = {"direct", "eager", "graph", "fused"};
    return static_cast<int>(std::find(order.begin(), order.end(), mode) - order.begin());
}
std::string launches_words(int count) {
    return counted(count, "launch", "launches");
}
std::string capital(std::string word) {
    if (!word.empty() && word[0] >= 'a' && word[0] <= 'z') word[0] = static_cast<char>(word[0] - 'a' + 'A');
    return word;
}

// Programs in one mode go by their names: the mode does not tell them apart.
void name_by_program(std::vector<ModeTimes>& modes) {
    std::vector<bool> shared;
    for (const ModeTimes& mode : modes)
        shared.push_back(
            std::count_if(modes.begin(), modes.end(), [&](const ModeTimes& other) { return other.mode == mode.mode; }) > 1);
    for (size_t i = 0; i < modes.size(); ++i)
        if (shared[i] && !modes[i].program.empty()) modes[i].mode = modes[i].program;
}

}  // namespace

ModeTimes mode_times(const scene::TapeRun& run) {
    ModeTimes times;
    const nn::StepRecord& step = *run.step;
    times.mode = step.mode;
    times.program = std::filesystem::path(run.text.file).stem().string();
    std::replace(times.program.begin(), times.program.end(), '_', ' ');
    times.bytes = step.traffic;
    times.loss = step.loss;
    times.replayed = step.replayed;
    if (step.launches.empty()) return times;
    double begin = 1e300, end = 0;
    for (const device::LaunchEvent& launch : step.launches) {
        begin = std::min({begin, launch.enqueue_begin_us, launch.begin_us});
        end = std::max(end, launch.end_us);
    }
    times.step_us = end - begin;
    for (const device::LaunchEvent& launch : step.launches) {
        times.calls_us += launch.enqueue_end_us - launch.enqueue_begin_us;
        times.kernels_us += launch.end_us - launch.begin_us;
        if (launch.phase == "forward") times.forward_cycles += static_cast<double>(launch.cycles);
        if (launch.enqueue_end_us > launch.enqueue_begin_us)
            times.calls.push_back(
                {launch.kernel, launch.phase, launch.enqueue_begin_us - begin, launch.enqueue_end_us - begin});
        times.kernels.push_back({launch.kernel, launch.phase, launch.begin_us - begin, launch.end_us - begin});
    }
    return times;
}

std::vector<ModeTimes> modes_shown(const Snapshot& snapshot) {
    std::vector<ModeTimes> modes;
    const auto add = [&](const std::shared_ptr<const scene::TapeRun>& run) {
        if (run && run->step && !run->step->launches.empty()) modes.push_back(mode_times(*run));
    };
    add(snapshot.tape);
    for (const auto& run : snapshot.beside) add(run);
    std::stable_sort(modes.begin(), modes.end(),
                     [](const ModeTimes& a, const ModeTimes& b) { return order_of(a.mode) < order_of(b.mode); });
    name_by_program(modes);
    return modes;
}

bool of_programs(const std::vector<ModeTimes>& modes) {
    return std::any_of(modes.begin(), modes.end(), [&](const ModeTimes& mode) {
        return mode.program != modes.front().program && mode.mode == mode.program;
    });
}

std::string modes_title(const std::vector<ModeTimes>& modes) {
    constexpr std::array<std::string_view, 5> counts = {"No", "One", "Two", "Three", "Four"};
    if (!of_programs(modes)) return modes.size() > 1 ? "One step in several modes" : "One step: calls and kernels";
    return fmt::format("{} programs, one step of each",
                       modes.size() < counts.size() ? std::string(counts[modes.size()]) : std::to_string(modes.size()));
}

std::string modes_headline(const std::vector<ModeTimes>& modes) {
    const ModeTimes& first = modes.front();
    if (modes.size() == 1)
        return fmt::format("{}: {} in {}", capital(first.mode), launches_words(first.launches()), micro(first.step_us));
    const auto shorter = [](const ModeTimes& a, const ModeTimes& b) { return a.step_us < b.step_us; };
    const ModeTimes& best = *std::min_element(modes.begin(), modes.end(), shorter);
    const ModeTimes& other = &best == &first ? *std::max_element(modes.begin(), modes.end(), shorter) : first;
    return fmt::format("{}: {} and {} a step; {}: {} and {}", best.mode == best.program ? best.mode : capital(best.mode),
                       launches_words(best.launches()), micro(best.step_us), other.mode, other.launches(),
                       micro(other.step_us));
}

std::string modes_difference(const std::vector<ModeTimes>& modes) {
    std::string text;
    for (const ModeTimes& mode : modes)
        text += fmt::format("{}{}: calls {}, kernels {}{}", text.empty() ? "" : "; ", mode.mode, micro(mode.calls_us),
                            micro(mode.kernels_us), mode.bytes >= 0 ? ", " + bytes_si(mode.bytes) : std::string());
    return text + ".";
}

std::string modes_caption(const std::vector<ModeTimes>& modes) {
    if (modes.size() == 1) return "The last step of the program: the host's calls above the GPU's kernels.";
    const bool same =
        std::all_of(modes.begin(), modes.end(), [&](const ModeTimes& mode) { return mode.loss == modes.front().loss; });
    const bool programs = of_programs(modes);
    const std::string begin = programs ? "The last step of each." : "The last step of each: same program, same data.";
    if (same) return fmt::format("{} All {} losses agree to the last bit, {:.6g}.", begin, modes.size(), modes.front().loss);
    if (std::any_of(modes.begin(), modes.end(), [](const ModeTimes& mode) { return !std::isfinite(mode.loss); }))
        return begin;
    // Sums in another order differ in their last bits.
    const bool close = std::all_of(modes.begin(), modes.end(), [&](const ModeTimes& mode) {
        return std::abs(mode.loss - modes.front().loss) <= 1e-5 * std::abs(modes.front().loss);
    });
    if (close) return fmt::format("{} All {} losses are {:.5g}, but for rounding.", begin, modes.size(), modes.front().loss);
    return programs ? begin : begin + " The losses differ.";
}

std::string mode_words(const ModeTimes& mode) {
    return fmt::format("{}{}: {}, the host calls for {}, kernels run for {}, the GPU is idle for {} of {}", mode.mode,
                       mode.replayed ? " (replayed)" : "", launches_words(mode.launches()), micro(mode.calls_us),
                       micro(mode.kernels_us), micro(mode.idle_us()), micro(mode.step_us));
}

}  // namespace lockstep::gui
