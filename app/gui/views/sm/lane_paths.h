// Which path of the reconvergence stack each lane of a warp is on, for the divergence pictures (D2): colours, names and
// sums. A path is told by its number in the warp's history: 0, the stack's bottom, is "all lanes"; of two paths that part,
// the one with the lowest lane is solid (even numbers), the other hatched (odd numbers), whichever runs first.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "app/gui/widgets/draw.h"
#include "core/simt/history/history.h"

namespace lockstep::gui {

struct PathCode {
    Color color;
    Hatch hatch;
};
PathCode path_code(size_t number);

// Lanes that wait where nothing but `ret` is left: compilers send those that return early to it by a branch.
uint32_t returned_lanes(const ptx::Program& program, const std::vector<simt::StackEntry>& stack);
inline uint32_t gone_lanes(const ptx::Program& program, const simt::WarpStep& step) {
    return step.exited | returned_lanes(program, step.stack);
}

// The number of the path that a lane is on: of the highest entry that holds it; -1: exited or never there.
int path_of_lane(const simt::WarpStep& step, int lane);
inline size_t running_path(const simt::WarpStep& step) {
    return step.stack.empty() ? 0 : step.number(step.stack.size() - 1);
}

int lanes_in(uint32_t mask);
// "all 32 lanes", "even lanes", "odd lanes", "lanes 0 to 7", "lane 5", "12 lanes".
std::string lanes_text(uint32_t mask);
// Of the masks that ran on a path, in their order: as above where it is always the same, else how many lanes it had:
// "some lanes (16, 8, 4)". Masks of which none holds the others are those of several paths at one depth.
std::string lanes_of_path(std::span<const uint32_t> masks);

// The step from which averages count: the first branch that splits the warp, or 0.
size_t counting_from(const simt::WarpHistory& history);

struct LaneSums {                                // over steps [begin, end)
    int64_t issues = 0, lanes = 0, partial = 0;  // partial: issues while lanes waited
    std::vector<int64_t> by_path;                // lane slots that worked, by the path's number
    std::vector<size_t> order;                   // those paths, in the order in which they first ran
    int64_t slots() const { return 32 * issues; }
    double average() const { return issues == 0 ? 0 : static_cast<double>(lanes) / static_cast<double>(issues); }
};
LaneSums sum_lanes(const simt::WarpHistory& history, size_t begin, size_t end);

struct Popped {  // the last path that left the stack before `step` ran
    simt::StackEntry entry;
    size_t place = 0, number = 0;
    size_t after = 0;  // step that ran last before it left
    bool any = false;
};
Popped last_popped(const simt::WarpHistory& history, size_t step);

}  // namespace lockstep::gui
