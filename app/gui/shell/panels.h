// What the table of scenes knows of a panel besides its place.
#pragma once
#include <string_view>

namespace lockstep::gui {

// Whether the view is of a run: else it is of the learner's text and its launch, or of a lesson's words.
bool shows_run(std::string_view view);

}  // namespace lockstep::gui
