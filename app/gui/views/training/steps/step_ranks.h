// D13's strip of a step that many ranks take together: what each computes (forward, backward, update) and what they exchange
// (communication), on their virtual clocks. Facts first, tested without a window; then the picture.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "app/gui/widgets/draw.h"
#include "core/parallel/train/trainer.h"

namespace lockstep::gui {

enum class StepPhase : uint8_t { forward, backward, communication, update };
std::string_view name_of(StepPhase phase);
StepPhase phase_of(const parallel::RankSpan& span);
Color step_phase_color(std::string_view phase);  // of a kernel's phase too

struct PhaseTimes {                 // of one rank's step, in microseconds
    std::array<double, 4> us = {};  // by StepPhase: how long it is under way
    double alone_us = 0;            // of communication: while the rank computes nothing
    double step_us = 0;
    int64_t sent_bytes = 0, messages = 0;
};
PhaseTimes phase_times(const parallel::RankStep& rank);

// "4 ranks take 16 of 64 examples each. They exchange ..."; `alone`: the loss of the same step on one device.
std::string ranks_sentence(const parallel::ParallelStepRecord& record, int64_t batch, double alone);
std::string ranks_text(const parallel::ParallelStepRecord& record);  // a line a span, for describe()

struct PickedSpan {
    int rank = -1, span = -1;  // -1: none
    bool opens = false;        // by a double click, or Enter on what is picked
};
// As many ranks as there is room for, the picked one among them.
void draw_step_ranks(Ui& ui, const parallel::ParallelStepRecord& record, PickedSpan& picked, const Rect& area);

}  // namespace lockstep::gui
