// The clock of the die: cycles of the design's longest kernel, as it was recorded. It goes round by itself.
#pragma once
#include "app/gui/shell/shell.h"

namespace lockstep::gui {

// The design on show, once it is recorded; null: nothing can play.
const BuiltDesign* playing_design(const Session& session, const Snapshot& snapshot);
// The cycles of it of which every request and every issue is kept.
struct PlayedStretch {
    int64_t begin = 0, end = 1;
};
PlayedStretch played_stretch(const BuiltDesign& design);

double exact_cycle(const BuildDesk& desk,
                   const BuiltDesign& design);  // where `at` stands, with what has passed of the cycle
void play_build(Session& session, const Snapshot& snapshot, double seconds);
void move_build(Session& session, const Snapshot& snapshot, int way, bool far);
Position position_in_build(const Session& session, const Snapshot& snapshot);

}  // namespace lockstep::gui
