// CUDA source as lines and coloured words.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// Lines without their line ends, tabs as four spaces.
std::vector<std::string> lines_of(std::string_view text);

// Draws one line in the code face: keywords coloured, comments quiet. Clipped to `width` with an ellipsis.
void draw_code(Ui& ui, float x, float baseline, std::string_view line, float size, float width, Color color = 0);

}  // namespace lockstep::gui
