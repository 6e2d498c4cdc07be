// What the name of a figure is made of: "cycles@line:7@scene:one", "output[3]".
#pragma once
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace lockstep::scene {

// "cycles@launch:fc1@scene:one" -> the value of "@scene:", taken out of the name; empty when it has none.
std::string take_suffix(std::string& name, std::string_view kind);

// A whole number, not below 0, and nothing else. `full`: the figure that is asked for, to quote.
Result<size_t> whole_in(std::string_view text, const std::string& full);
// "y[3]" -> 3
Result<size_t> index_in(const std::string& name);

}  // namespace lockstep::scene
