// The plot of the roofline (D7) itself, apart from its controls: axes, roofs, peaks, the trail of runs, names and table.
#pragma once
#include <span>

#include "app/gui/views/roofline/measured_data.h"
#include "app/gui/views/roofline/roofline.h"
#include "app/gui/widgets/labels.h"

namespace lockstep::gui {

struct RoofPlot {
    Rect box;
    RoofAxes axes;
    Rect table = {};  // of the runs, beside or below the plot; width 0: it stands inside
    float x(double intensity) const;
    float y(double flop_per_second) const;
    double intensity(float x) const;
    double flops(float y) const;
};

struct RoofScene {
    const model::Roofline& roofline;
    const RoofTrail& trail;
    model::RoofLevel level;
    bool hidden;                                          // the run on show must not be given away
    std::optional<device::MeasuredKernel> measured = {};  // the run on show, on the real GPU
};

constexpr float table_pitch = 20, narrow_table = 238;  // a row's height; a width at which columns are narrow
void draw_axes(Ui& ui, const RoofPlot& plot);
void draw_runs(Ui& ui, const RoofScene& scene, std::span<const RoofRun* const> rows, const Rect& box);

// Takes room for the table of runs off the plot's right or foot, where it finds none inside or not for all of them.
void make_room_for_table(Ui& ui, RoofPlot& plot, const RoofScene& scene);

// Draws all of it; names are written where `labels` has room, so what is drawn later asks it too.
void draw_roofline(Ui& ui, const RoofPlot& plot, const RoofScene& scene, Labels& labels);

}  // namespace lockstep::gui
