// What a program's runtime is told by whoever started it: environment variables, one row each.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace lockstep::runtime {

// Warp instructions of one launch of a program, beyond which it is a run-away unless told otherwise: minutes here, and none
// of a real program's kernels that anybody would wait for.
constexpr uint64_t longest_launch = 20'000'000'000;

struct Settings {
    std::string gpu = "v100";
    uint32_t gpus = 1;
    int64_t timed_launches = 3;  // of each kernel with each shape; -1: all, 0: none (functional)
    bool warm_l2 = true;         // L2 keeps from launch to launch what it holds, else each begins with an empty one
    bool racecheck = false, initcheck = false, synccheck = false, leakcheck = false;
    uint64_t max_instructions = longest_launch;
    uint32_t threads = 0;        // on which blocks run where nothing is timed; 0: one a core
    std::string report;          // the file that the report goes to; "": nobody reads one
    std::string snapshots;       // the folder for what launches begin with (snapshots.h); "": none
    int64_t only_snapshot = -1;  // of this launch alone, behind which the program ends; -1: of all
    std::string progress;        // the file that says how far a launch is; "": a terminal is told
    bool by_lines = false;       // what the program prints goes out line by line, wherever it goes
};

// From $LOCKSTEP_GPU and its neighbours. Throws Failure with the variable's name where one makes no sense.
Settings settings_of_environment();
// "NAME=value", one a setting, as a child process takes them.
std::vector<std::string> environment_of(const Settings& settings);

}  // namespace lockstep::runtime
