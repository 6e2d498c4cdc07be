// What the stops of a cluster and of a node share.
#pragma once
#include <memory>

#include "app/gui/views/machine/machine_motion.h"
#include "app/gui/views/machine/machine_view.h"
#include "app/gui/views/machine/many/cluster_places.h"
#include "app/gui/views/machine/many/step_way.h"

namespace lockstep::gui {

std::shared_ptr<const ClusterStep> step_of(const MachineFrame& frame);  // null: there is none, or it was refused
// The panel of one of both stops, with what there is to say where no step has run; returns the body, of no width then.
Rect step_panel(const MachineFrame& frame, const Rect& area, Stop stop, std::string_view right, bool draw = true);
struct StepSplit {
    Rect picture, strip;  // strip: no height where there is no room
};
StepSplit split_step(const Rect& area, int stages);
// The strip, and beside it, where something is followed and there is room, its way as a bar.
void draw_step_foot(const MachineFrame& frame, const ClusterStep& step, const Rect& area, int rank);
// The step of one replica over time, a row a stage, with the cursor, which drags the clock.
void draw_step_strip(const MachineFrame& frame, const ClusterStep& step, const Rect& area, int replica, int stage);

Color fill_of(const GpuNow& now, const Theme& theme);  // of a GPU that does this
// Of pictures whose GPUs are a few pixels each: the stroke that stands for the letter, and the colour of a pixel.
Hatch texture_hatch_of(StepWork work);
constexpr int texel_period = 4;  // after so many pixels, across and down, strokes come again
Color texel_of(const GpuNow& now, int x, int y, const Theme& theme);
// A GPU's cell: its fill with the twin code, and its letter where `letters`.
void draw_gpu_cell(Ui& ui, const Rect& cell, const GpuNow& now, bool letters);
void glow(Ui& ui, const Rect& around);
void packet_tag(Ui& ui, Point centre, std::string_view text, Color fill);
Lights lights_of_step(const MachineFrame& frame, const ClusterStep& step);  // of the step's clock
void follow(const MachineFrame& frame, const FollowedPacket& packet);       // its way is shown from here on
StepWay followed_way(const MachineFrame& frame, const ClusterStep& step);
std::string kernel_below(const MachineFrame& frame, const ClusterStep& step);  // which run the stops below are of

}  // namespace lockstep::gui
