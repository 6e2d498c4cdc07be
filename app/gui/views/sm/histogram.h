// Draws how often a tensor's values fall where: counts on a logarithmic scale over a symmetric range.
#pragma once
#include <string>

#include "app/gui/views/training/training_data.h"
#include "app/gui/widgets/draw.h"

namespace lockstep::gui {

// `hidden`: a prediction is open, so the number of values is not told.
void draw_histogram(Ui& ui, const Histogram& histogram, const std::string& name, bool hidden, const Rect& area);

}  // namespace lockstep::gui
