// Which C++ variable a register holds, as far as source and PTX tell: optimised PTX keeps no names. Where a line assigns to
// one variable only, and a run of its instructions leaves one result of the variable's type that no instruction of the line
// uses up, that result is the variable's new value: of "float v = a[i] * s;" the product, not the address and not the load.
// Anything less clear has no name: a guess would be worse than none.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/decode/program.h"

namespace lockstep::gui {

// "sum" of "sum += x;", of "float sum = 0.0f;", of "for (int i = 0; i < n; ++i)" "i"; empty where a line assigns to none, to
// several, or through an index, a pointer or a member.
std::string variable_assigned(std::string_view line);

// By instruction: the variable whose new value it writes, mostly "". `source`: the text of program.source_file.
std::vector<std::string> variable_names(const ptx::Program& program, std::string_view source);

}  // namespace lockstep::gui
