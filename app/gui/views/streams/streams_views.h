// D8: host programs and training steps on streams, for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_streams_view();       // host, streams and copy engines by time
std::unique_ptr<View> make_host_program_view();  // the text of the host program

}  // namespace lockstep::gui
