// `lockstep run PROGRAM.cu... -- ARGUMENTS` and `lockstep exec -- COMMAND`: whole programs, whose GPU is the modelled one.
#pragma once
#include <string>
#include <vector>

#include "core/device/compile/program.h"
#include "core/runtime/report/settings.h"

namespace lockstep::cli {

struct ProgramAsked {
    std::vector<std::string> files;      // of `run`
    std::vector<std::string> arguments;  // behind "--": the program's, or the whole command of `exec`
    std::string gpu = "v100", check, time = "first:3", l2 = "warm", report = "all", json, trace;
    uint32_t gpus = 1, threads = 0;
    bool functional = false;
    double max_seconds = 0;  // on the clock on the wall; 0: it runs for as long as it takes
    uint64_t max_instructions = runtime::longest_launch;
    device::ProgramRequest build;
};

constexpr const char* l2_of_a_program =
    "warm: L2 holds at a launch what earlier ones have left there, also what is not in DRAM yet; cold: nothing. Warm unless "
    "told";

constexpr const char* max_seconds_of_a_program =
    "seconds on the clock on the wall after which it is ended, whatever it does; unless told it runs for as long as it "
    "takes";

// Whether one of the files is a source with main().
bool is_program(const std::vector<std::string>& files);
int run_program(const ProgramAsked& asked);  // the program's exit status
int exec_program(const ProgramAsked& asked);

// What stands behind the first "--" of the command line, for the commands above.
std::vector<std::string>& words_behind();

}  // namespace lockstep::cli
