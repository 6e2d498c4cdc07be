// Where the time of a training step goes: products, other kernels, updates, and the time in which no kernel runs. A bar a
// step, on one scale; of two steps on two GPUs it says what the newer chip made shorter and what not.
#pragma once
#include <string>
#include <vector>

#include "app/gui/view.h"

namespace lockstep::gui {

struct NamedStep {
    std::string gpu;
    const nn::StepRecord* step = nullptr;
};
struct StepTimes {
    double products = 0, others = 0, updates = 0, none = 0;  // microseconds; none: before, between and behind kernels
    double total() const { return products + others + updates + none; }
};
StepTimes step_times(const nn::StepRecord& step);
// "A step takes 92.8 µs: 41.9 µs of them no kernel runs"; of two "H100: 0.91 times as long as A100, 84.6 against 92.8 µs".
std::string step_times_headline(const std::vector<NamedStep>& steps);
std::string step_times_text(const std::vector<NamedStep>& steps);
void draw_step_times(Ui& ui, const std::vector<NamedStep>& steps, const Rect& area);

}  // namespace lockstep::gui
