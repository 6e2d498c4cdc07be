// The views of the Memory workspace (D3, D4, D5), for the list in views.cpp.
#pragma once
#include <memory>

#include "app/gui/view.h"

namespace lockstep::gui {

std::unique_ptr<View> make_coalesce_view();  // D3: lanes, sectors, words of one request
std::unique_ptr<View> make_banks_view();     // D4: shared-memory banks, conflicts, passes
std::unique_ptr<View> make_chart_view();     // D5: what flows between the memories

}  // namespace lockstep::gui
