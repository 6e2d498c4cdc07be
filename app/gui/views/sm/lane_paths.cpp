#include "app/gui/views/sm/lane_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lockstep::gui {

PathCode path_code(size_t number) {
    constexpr PathCode above[] = {{data::orange, Hatch::diagonal}, {data::sky, Hatch::solid},   {data::purple, Hatch::cross},
                                  {data::green, Hatch::solid},     {data::yellow, Hatch::dots}, {data::blue, Hatch::solid}};
    return number == 0 ? PathCode{data::lanes, Hatch::solid} : above[(number - 1) % std::size(above)];
}

uint32_t returned_lanes(const ptx::Program& program, const std::vector<simt::StackEntry>& stack) {
    uint32_t returned = 0, above = stack.empty() ? 0 : stack.back().mask;
    for (size_t i = stack.size(); i-- > 1;) {
        const simt::StackEntry& entry = stack[i - 1];
        const bool ends = entry.pc < program.instructions.size() && program.instructions[entry.pc].kind == ptx::Kind::exit &&
                          program.instructions[entry.pc].guard == ptx::no_operand;
        if (ends) returned |= entry.mask & ~above;
        above |= entry.mask;
    }
    return returned;
}

int path_of_lane(const simt::WarpStep& step, int lane) {
    if (step.exited >> lane & 1) return -1;
    for (size_t i = step.stack.size(); i-- > 0;)
        if (step.stack[i].mask >> lane & 1) return static_cast<int>(step.number(i));
    return -1;
}

int lanes_in(uint32_t mask) {
    return std::popcount(mask);
}

std::string lanes_text(uint32_t mask) {
    const int count = lanes_in(mask);
    if (count == 32) return "all 32 lanes";
    if (mask == 0x55555555u) return "even lanes";
    if (mask == 0xaaaaaaaau) return "odd lanes";
    if (count == 0) return "no lane";
    const int low = std::countr_zero(mask), high = 31 - std::countl_zero(mask);
    if (count == 1) return fmt::format("lane {}", low);
    if (high - low + 1 == count) return fmt::format("lanes {} to {}", low, high);
    // Every so many lanes: "lanes 3, 7, 11 ...".
    const int second = std::countr_zero(mask & (mask - 1)), stride = second - low;
    uint32_t regular = 0;
    for (int lane = low; lane < 32; lane += stride) regular |= 1u << lane;
    if (count > 3 && regular == mask) return fmt::format("lanes {}, {}, {} ...", low, second, second + stride);
    return fmt::format("{} lanes", count);
}

std::string lanes_of_path(std::span<const uint32_t> masks) {
    uint32_t all = 0;
    std::vector<int> counts;
    for (const uint32_t mask : masks) {
        all |= mask;
        if (const int count = lanes_in(mask); std::find(counts.begin(), counts.end(), count) == counts.end())
            counts.push_back(count);
    }
    if (std::find(masks.begin(), masks.end(), all) == masks.end()) return lanes_text(all) + ", on several paths";
    if (std::all_of(masks.begin(), masks.end(), [&](uint32_t mask) { return mask == all; })) return lanes_text(all);
    std::string text = "some lanes (";
    for (size_t i = 0; i < std::min<size_t>(counts.size(), 3); ++i) text += (i > 0 ? ", " : "") + std::to_string(counts[i]);
    return text + (counts.size() > 3 ? " ...)" : ")");
}

size_t counting_from(const simt::WarpHistory& history) {
    for (size_t i = 1; i < history.steps.size(); ++i) {
        const uint32_t here = history.steps[i].active, before = history.steps[i - 1].active;
        if (here != before && (before & ~history.steps[i].exited) != here) return i - 1;
    }
    return 0;
}

LaneSums sum_lanes(const simt::WarpHistory& history, size_t begin, size_t end) {
    LaneSums sums;
    for (size_t i = begin; i < std::min(end, history.steps.size()); ++i) {
        const simt::WarpStep& step = history.steps[i];
        const int lanes = lanes_in(step.active);
        ++sums.issues;
        sums.lanes += lanes;
        sums.partial += (step.active | step.exited) != simt::full_mask;
        const size_t path = running_path(step);
        if (sums.by_path.size() <= path) sums.by_path.resize(path + 1, 0);
        if (sums.by_path[path] == 0) sums.order.push_back(path);
        sums.by_path[path] += lanes;
    }
    return sums;
}

Popped last_popped(const simt::WarpHistory& history, size_t step) {
    Popped popped;
    for (size_t i = std::min(step, history.steps.empty() ? 0 : history.steps.size() - 1); i > 0; --i) {
        const auto& before = history.steps[i - 1].stack;
        const auto& after = history.steps[i].stack;
        if (after.size() >= before.size()) continue;
        // The lowest of those that left together was the outermost; the top one is the path that ran.
        popped.entry = before.back();
        popped.place = before.size() - 1;
        popped.number = running_path(history.steps[i - 1]);
        popped.after = i - 1;
        popped.any = true;
        return popped;
    }
    return popped;
}

}  // namespace lockstep::gui
