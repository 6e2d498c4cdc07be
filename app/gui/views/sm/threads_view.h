// The launch as it is: grid, blocks, threads. For the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_threads_view();

}  // namespace lockstep::gui
