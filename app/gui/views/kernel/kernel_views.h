// The views of the Kernel workspace: the learner's own kernel, for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_editor_view();   // the text, its errors, open and save
std::unique_ptr<View> make_reports_view();  // compile messages, faults and checkers' reports as rows
std::unique_ptr<View> make_launch_view();   // grid, block, arguments, GPU, checkers, run and cancel
std::unique_ptr<View> make_results_view();  // outputs, printed text, time and counts
std::unique_ptr<View> make_watch_view();    // registers in 32 lanes
std::unique_ptr<View> make_memory_view();   // buffers and shared memory as rows

}  // namespace lockstep::gui
