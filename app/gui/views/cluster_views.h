// The Cluster workspace's pictures, for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_pipeline_view();     // D9: pipeline schedules
std::unique_ptr<View> make_rank_memory_view();  // D11: memory per rank

}  // namespace lockstep::gui
