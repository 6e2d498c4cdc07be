// The five views of the Training workspace (D12, D13), for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_setup_view();         // the strip: what is trained, run, step, rewind, cancel
std::unique_ptr<View> make_curves_view();        // loss and accuracy by step
std::unique_ptr<View> make_batch_view();         // the batch as pictures, the gradient's histogram
std::unique_ptr<View> make_weights_view();       // a layer's weights as pictures
std::unique_ptr<View> make_graph_view();         // the autograd graph, one scalar followed through it
std::unique_ptr<View> make_step_kernels_view();  // the kernels of one training step on the host's and the GPU's timeline

}  // namespace lockstep::gui
