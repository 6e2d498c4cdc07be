// Words for how a launch is looked at, as the command line and Python have them.
#pragma once
#include <string>

#include "core/model/advice/verdict.h"
#include "core/simt/launch.h"

namespace lockstep::api {

// Which checkers a list asks for ("all", "racecheck,initcheck"), into the launch's options; whether leaks are among them.
// Bounds are always enforced.
bool choose_checkers(const std::string& list, simt::LaunchOptions& launch);
bool is_strict(const std::string& list);  // whether warnings count as faults
simt::WarpOrder order_named(const std::string& name);
// What --what-if asks for: "", "none", "all", or names with commas between. Throws Failure for an unknown one.
model::VerdictOptions what_ifs_asked(const std::string& list);

}  // namespace lockstep::api
