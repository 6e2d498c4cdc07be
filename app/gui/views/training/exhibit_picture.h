// Draws an Exhibit; batch.cpp gives it its panel.
#pragma once
#include "app/gui/session.h"
#include "app/gui/views/training/exhibit_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// `layer`: of attention, chosen in the picture. `step`: its number, for textures.
void draw_exhibit(Ui& ui, const Snapshot& snapshot, const Exhibit& exhibit, int& layer, const Rect& area);
// What the picture shows, in one line: "The generator reaches 8 of 8 clumps"; "" where nothing is to be said.
std::string exhibit_headline(const Snapshot& snapshot, const Exhibit& exhibit);
// "said: Anna found the lamp" of a language model, with what it read; "" where there is none.
std::string written_text(const Snapshot& snapshot);

}  // namespace lockstep::gui
