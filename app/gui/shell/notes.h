// The speaker's notes as presenter mode says them, drawn as large as fits; what does not fit at the least size stands on
// further pages, so that nothing is cut. The notes window and the projected picture both draw them so.
#pragma once
#include <string>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// Notes are "A05 step 3 of 8: title", paragraphs, "Next: title". `turned` is the page wanted, from 0; it is put back where
// there are fewer. Returns how many pages there are.
int draw_notes(Ui& ui, const std::string& notes, const Rect& page, int& turned);

}  // namespace lockstep::gui
