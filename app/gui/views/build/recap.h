// What a puzzle was about, in one picture of runs: the first design, the learner's with gold, and the reference. Where the
// ground of each die went, where its time went, and which figures moved.
#pragma once
#include <optional>

#include "app/gui/view.h"

namespace lockstep::gui {

struct Recap {
    std::shared_ptr<const BuildState> state;
    const BuiltDesign* first = nullptr;
    const BuiltDesign* yours = nullptr;
    const BuiltDesign* reference = nullptr;
};
// Where the design on show has gold; none: it has not.
std::optional<Recap> recap_of(const Session& session, const Snapshot& snapshot);
void draw_recap(Ui& ui, const Recap& recap, const Rect& box);
std::string recap_sentence(const Recap& recap);
std::string recap_text(const Recap& recap);  // the same facts, for describe()

}  // namespace lockstep::gui
