// Kernels of one stream run one after the other, so that what they leave of the step is time without a kernel.
#include "app/gui/views/training/steps/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace lockstep::gui {
namespace {

struct Part {
    std::string_view name;
    double StepTimes::*of;
    Color fill;
    Hatch twin;
};
constexpr Part parts[] = {{"matrix products", &StepTimes::products, data::green, Hatch::solid},
                          {"other kernels", &StepTimes::others, data::sky, Hatch::vertical},
                          {"updates", &StepTimes::updates, data::purple, Hatch::diagonal},
                          {"no kernel runs", &StepTimes::none, data::grey, Hatch::dots}};

std::string said(double us) {
    return time_text(us, {.decimals = 1});
}

const Part& part_of(const device::LaunchEvent& launch) {
    if (launch.phase == "update") return parts[2];
    return parts[launch.kernel.find("matmul") != std::string::npos ? 0 : 1];
}

void draw_part(Ui& ui, const Rect& box, const Part& part) {
    ui.rect(box, part.fill);
    for (float x = box.x; part.twin != Hatch::solid && x < box.right(); x += 440)
        ui.hatch({x, box.y, std::min(440.0f, box.right() - x), box.h}, faded(data::black, 0.45f), part.twin);
}

}  // namespace

StepTimes step_times(const nn::StepRecord& step) {
    StepTimes times;
    if (step.launches.empty()) return times;
    double begin = step.launches.front().begin_us, end = 0, busy = 0;
    for (const device::LaunchEvent& launch : step.launches) {
        const double us = launch.end_us - launch.begin_us;
        times.*part_of(launch).of += us;
        busy += us;
        begin = std::min({begin, launch.begin_us, launch.enqueue_begin_us});
        end = std::max(end, launch.end_us);
    }
    times.none = std::max(0.0, end - begin - busy);
    return times;
}

std::string step_times_headline(const std::vector<NamedStep>& steps) {
    if (steps.empty()) return {};
    const StepTimes own = step_times(*steps.back().step);
    if (steps.size() == 1)
        return fmt::format("{} kernels in {}; for {} none runs", steps.back().step->launches.size(), said(own.total()),
                           said(own.none));
    const StepTimes first = step_times(*steps.front().step);
    return fmt::format("{}: {} against {} on {}, {:.3g} times as long", steps.back().gpu, said(own.total()),
                       said(first.total()), steps.front().gpu, own.total() / std::max(1e-9, first.total()));
}

std::string step_times_text(const std::vector<NamedStep>& steps) {
    std::string text;
    for (const NamedStep& one : steps) {
        const StepTimes times = step_times(*one.step);
        text += fmt::format("  where the time goes{}{}:", one.gpu.empty() ? "" : " on ", one.gpu);
        for (const Part& part : parts)
            text += fmt::format("{} {} {}", part.of == parts[0].of ? "" : ",", part.name, said(times.*part.of));
        text += "\n";
    }
    return steps.empty() ? text : text + "  " + step_times_headline(steps) + "\n";
}

static double took_us(const device::LaunchEvent& launch) {
    return launch.end_us - launch.begin_us;
}
// By how long they take, the longest first.
static std::vector<size_t> longest_first(const nn::StepRecord& step) {
    std::vector<size_t> order(step.launches.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return took_us(step.launches[a]) > took_us(step.launches[b]); });
    return order;
}

// Of one step alone: its kernels, in two columns.
static void draw_longest(Ui& ui, const nn::StepRecord& step, const Rect& area) {
    constexpr float least = 22, names = 150, numbers = 70;
    const auto us = took_us;
    const std::vector<size_t> order = longest_first(step);
    const size_t rows = std::min((order.size() + 1) / 2, static_cast<size_t>(std::max(0.0f, (area.h - 26) / least)));
    if (rows == 0) return;
    const float pitch = std::clamp((area.h - 26) / static_cast<float>(rows), least, 40.0f), bar = std::min(24.0f, pitch - 8);
    const float wide = area.w / 2 - 12;
    ui.text(area.x, area.y + 14, "The longest kernels", {.size = 14, .weight = 600});
    for (size_t i = 0; i < std::min(order.size(), 2 * rows); ++i) {
        const device::LaunchEvent& launch = step.launches[order[i]];
        const float x = area.x + (i < rows ? 0 : wide + 24), y = area.y + 26 + pitch * static_cast<float>(i % rows);
        const float base = y + 2 + bar / 2 + 4.5f;
        ui.text(x, base, fmt::format("{} {}", order[i] + 1, launch.label), {.size = 13, .width = names - 8});
        const float reach = (wide - names - numbers) * static_cast<float>(us(launch) / us(step.launches[order[0]]));
        draw_part(ui, {x + names, y + 2, std::max(1.0f, reach), bar}, part_of(launch));
        ui.text(x + names + std::max(1.0f, reach) + 8, base, time_text(us(launch), {.decimals = 1}), {.size = 13});
    }
}

// Of two steps of the same kernels: those that take longest, each on both GPUs, and how many times as long on the second.
static void draw_pairs(Ui& ui, const std::vector<NamedStep>& steps, const Rect& area) {
    const Theme& theme = *ui.theme;
    const nn::StepRecord &first = *steps.front().step, &second = *steps.back().step;
    if (first.launches.size() != second.launches.size() || area.h < 26 + 44) return;
    constexpr float least = 44, names = 150;
    const std::vector<size_t> order = longest_first(second);
    const auto rows = std::min<size_t>(order.size(), static_cast<size_t>((area.h - 30) / least));
    const float pitch = std::min(58.0f, (area.h - 30) / static_cast<float>(rows)), bar = pitch * 0.36f;
    const auto words = [&](size_t i) {
        const double one = took_us(first.launches[order[i]]), other = took_us(second.launches[order[i]]);
        const double times = other / std::max(1e-9, one);
        return fmt::format("{} → {}, x {:.{}f}", said(one), said(other), times, times < 9.95 ? 2 : 0);
    };
    double most = 1e-9;
    float numbers = 0;
    for (size_t i = 0; i < rows; ++i) {
        most = std::max({most, took_us(first.launches[order[i]]), took_us(second.launches[order[i]])});
        numbers = std::max(numbers, 18 + ui.text_width(words(i), {.size = 13, .weight = 600}));
    }
    const float end = ui.text(area.x, area.y + 14, "The longest kernels", {.size = 14, .weight = 600});
    ui.text(end + 10, area.y + 14, fmt::format("above on {}, below on {}", steps.front().gpu, steps.back().gpu),
            {.size = 13, .color = theme.ink2});
    for (size_t i = 0; i < rows; ++i) {
        const float y = area.y + 28 + pitch * static_cast<float>(i);
        const device::LaunchEvent &one = first.launches[order[i]], &other = second.launches[order[i]];
        ui.text(area.x, y + bar + 5, fmt::format("{} {}", order[i] + 1, other.label), {.size = 13, .width = names - 8});
        float far = 0;
        for (const auto& [launch, top] : {std::pair{&one, y}, {&other, y + bar + 1}}) {
            const float reach = (area.w - names - numbers) * static_cast<float>(took_us(*launch) / most);
            draw_part(ui, {area.x + names, top, std::max(1.0f, reach), bar}, part_of(*launch));
            far = std::max(far, reach);
        }
        ui.text(area.x + names + far + 10, y + bar + 5, words(i), {.size = 13, .weight = 600});
    }
}

void draw_step_times(Ui& ui, const std::vector<NamedStep>& steps, const Rect& area) {
    const Theme& theme = *ui.theme;
    ui.line({area.x, area.y}, {area.right(), area.y}, theme.line);
    const float title = ui.text(area.x, area.y + 24, "Where the time goes", {.size = 14, .weight = 600});
    float x = title + 20;
    for (const Part& part : parts) {
        if (x + 20 + ui.text_width(part.name, {.size = 12}) > area.right()) break;
        draw_part(ui, {x, area.y + 14, 14, 12}, part);
        x = ui.text(x + 20, area.y + 24, part.name, {.size = 12, .color = theme.ink2}) + 14;
    }
    double most = 1e-9;
    for (const NamedStep& one : steps) most = std::max(most, step_times(*one.step).total());
    const float names = steps.size() > 1 ? 110 : 0, numbers = 90,
                pitch = std::min(72.0f, (area.h - 40) / static_cast<float>(steps.size()));
    const float high = std::min(44.0f, pitch * 0.7f);
    for (size_t i = 0; i < steps.size(); ++i) {
        const StepTimes times = step_times(*steps[i].step);
        const float y = area.y + 40 + pitch * static_cast<float>(i), middle = y + high / 2;
        if (names > 0) ui.text(area.x, middle + 5, steps[i].gpu, {.size = 14, .weight = 600, .width = names - 10});
        const float scale = (area.w - names - numbers) / static_cast<float>(most);
        float left = area.x + names;
        for (const Part& part : parts) {
            const Rect box{left, y, static_cast<float>(times.*part.of) * scale, high};
            left = box.right();
            if (box.w < 0.5f) continue;
            const std::string us = said(times.*part.of);
            const TextStyle style{.size = 13, .color = text_on(part.fill), .align = Align::center, .weight = 600};
            if (ui.text_width(us, style) + 8 > box.w) {
                draw_part(ui, box, part);
                continue;
            }
            ui.rect(box, part.fill);
            ui.text(box.x + box.w / 2, middle + 5, us, style);
        }
        ui.text(left + 10, middle + 5, said(times.total()), {.size = 14, .weight = 700});
    }
    const float used = 40 + pitch * static_cast<float>(steps.size());
    const Rect rest{area.x, area.y + used, area.w, area.h - used};
    if (steps.size() == 1) draw_longest(ui, *steps.front().step, rest);
    if (steps.size() == 2) draw_pairs(ui, steps, rest);
}

}  // namespace lockstep::gui
