// What the roofline (D7) says of the run on show, apart from the drawing.
#pragma once
#include <string>

#include "app/gui/session.h"

namespace lockstep::gui {

struct RoofAxes {  // log10 of both ends
    double x_low = -2, x_high = 3, y_low = 9, y_high = 14;
};
// Whole thirds of a decade around the GPU's ridges and peaks and all runs that are plotted.
RoofAxes axes_of(const model::Roofline& roofline, const RoofTrail& trail, std::string_view gpu, model::RoofLevel level);

std::string flops_text(double flop_per_second);  // "82.5 GFLOP/s"
std::string bandwidth_text(double bytes_per_second);
std::string share_text(double percent);  // "50 %", "< 1 %"

// Whether the run's point, and all that would give it away, stays hidden: a guess or a prediction of the lesson is open.
bool hides_point(const Session& session, const RoofTrail& trail);
// One sentence for the caption.
std::string roof_sentence(const model::Roofline& roofline, const RoofTrail& trail, model::RoofLevel level, bool hidden);

}  // namespace lockstep::gui
