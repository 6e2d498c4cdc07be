// The Cluster workspace's pictures, for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_pipeline_view();     // D9: pipeline schedules
std::unique_ptr<View> make_figure_rows_view();  // the rows of a lesson's scene, with their figures
std::unique_ptr<View> make_rank_memory_view();  // D11: memory per rank
std::unique_ptr<View> make_collective_view();   // D10: a collective chunk by chunk
std::unique_ptr<View> make_mesh_view();         // D14: devices and layouts
std::unique_ptr<View> make_network_view();      // D15: the machine's network, power and cost
std::unique_ptr<View> make_memory_wall_view();  // how arithmetic, memory and links have grown apart

}  // namespace lockstep::gui
