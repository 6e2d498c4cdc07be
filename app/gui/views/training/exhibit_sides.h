// What stands beside the points, the graph and the maze of a model's step (exhibit_picture.h): what was measured behind the
// steps so far, as bars, and how a run came to rest. The numbers are the run's own.
#pragma once
#include "app/gui/view.h"
#include "app/gui/views/training/exhibit_data.h"

namespace lockstep::gui {

// The newest measure of the first run that is not younger than the step on show; null: there is none.
const nn::Evaluation* measured_at(const Snapshot& snapshot);

// Beside a square of points; false: there is nothing else to see.
bool draw_beside(Ui& ui, const Snapshot& snapshot, const Exhibit& it, const Rect& r);

// Below what a model wrote: how its loss has gone.
void draw_losses_below(Ui& ui, const Snapshot& snapshot, const Rect& r);

// Beside a maze: what a walk brings by this policy, between what drawn moves and the best policy bring.
void draw_returns(Ui& ui, const Snapshot& snapshot, const Rect& r);

}  // namespace lockstep::gui
