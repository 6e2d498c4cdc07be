#include "core/api/checkers.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "core/base/nearest.h"

namespace lockstep::api {

bool choose_checkers(const std::string& list, simt::LaunchOptions& launch) {
    const std::vector<std::string> names = {"memcheck",  "racecheck", "initcheck", "synccheck",
                                            "leakcheck", "all",       "strict",    "none"};
    if (list.empty()) throw Failure(fmt::format("--check needs a list of {}", fmt::join(names, ", ")));
    launch.racecheck = launch.initcheck = launch.synccheck = false;
    bool leakcheck = false;
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) {
        const bool all = name == "all" || name == "strict";
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            throw Failure(fmt::format("unknown checker '{}'{}", name, did_you_mean(name, names)));
        }
        if (name == "none") launch.racecheck = launch.initcheck = launch.synccheck = leakcheck = false;
        if (all || name == "racecheck") launch.racecheck = true;
        if (all || name == "initcheck") launch.initcheck = true;
        if (all || name == "synccheck") launch.synccheck = true;
        if (all || name == "leakcheck") leakcheck = true;
    }
    return leakcheck;
}

bool is_strict(const std::string& list) {
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');)
        if (name == "strict") return true;
    return false;
}

simt::WarpOrder order_named(const std::string& name) {
    const std::vector<std::string> names = {"round_robin", "greedy", "reverse", "random"};
    const auto found = std::find(names.begin(), names.end(), name);
    if (found != names.end()) return static_cast<simt::WarpOrder>(found - names.begin());
    throw Failure(fmt::format("unknown order '{}'{}", name, did_you_mean(name, names)));
}

model::VerdictOptions what_ifs_asked(const std::string& list) {
    model::VerdictOptions options;
    std::istringstream in(list);
    for (std::string name; std::getline(in, name, ',');) {
        if (name == "none")
            options.what_if_none = true;
        else if (name == "all")
            options.what_if_all = true;
        else
            options.asked.push_back(model::what_if_named(name).value());
    }
    return options;
}

}  // namespace lockstep::api
