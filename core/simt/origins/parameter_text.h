// What the text of a CUDA source calls a kernel's parameters: for launches of which nobody says (LaunchConfig::names).
#pragma once
#include <string>
#include <vector>

namespace lockstep::simt {

// Of the one kernel that the text defines under this name, without its namespaces; empty where it has none or several, or
// something among the parameters has no name. Comments and strings are to be blank.
std::vector<std::string> parameter_names_in(const std::string& text, const std::string& kernel);

}  // namespace lockstep::simt
