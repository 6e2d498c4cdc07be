// The views of the SM and Learn workspaces (D1, D2, D6), for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_warps_view();            // D1: warps by cycle
std::unique_ptr<View> make_code_view();             // source and PTX beside each other
std::unique_ptr<View> make_warp_view();             // one warp: what it waits for, its registers in 32 lanes
std::unique_ptr<View> make_blocks_view();           // D6: blocks on SMs, occupancy
std::unique_ptr<View> make_occupancy_view();        // the calculator: what a block asks for, what an SM then holds
std::unique_ptr<View> make_ladder_view();           // how long the loads of each line take
std::unique_ptr<View> make_compare_view();          // two runs on one axis, and their metrics beside each other
std::unique_ptr<View> make_divergence_view();       // D2: lanes per issued instruction
std::unique_ptr<View> make_fragments_view();        // which lane holds which element of a matrix product
std::unique_ptr<View> make_stack_view();            // the reconvergence stack as cards
std::unique_ptr<View> make_source_view();           // source with the issue slots of one warp
std::unique_ptr<View> make_measured_view();         // launches measured on a real GPU beside the model's
std::unique_ptr<View> make_measured_ladder_view();  // of them the rungs of the ladder of matrix products
std::unique_ptr<View> make_generations_view();      // the GPU table with bars, and a kernel's time on each
std::unique_ptr<View> make_lesson_view();           // the lesson: prose, prediction, exercise, list of steps

}  // namespace lockstep::gui
