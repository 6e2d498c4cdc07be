// What a program did with its GPUs, as the runtime noted it, as JSON between the two processes, and as words for people.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/simt/launch.h"

namespace lockstep::runtime {

struct CallSite {  // of a call in the host's part; "" and 0: unknown
    std::string file;
    int line = 0;
};

// How a launch got its time.
enum class TimedBy : uint8_t {
    simulation,   // cycle by cycle
    same_counts,  // as an earlier launch of the same kernel, shape and number of instructions
    ratio,        // an earlier launch's, times the ratio of their instructions
    nothing,      // it ran functionally
};

struct LaunchRecord {
    std::string kernel;  // as C++ has it
    simt::Dim3 grid, block;
    uint64_t shared = 0;
    uint32_t device = 0, stream = 0;
    int64_t cycles = 0;  // 0 where it ran functionally
    double time_us = 0, begin_us = 0, end_us = 0;
    TimedBy timed_by = TimedBy::nothing;
    uint64_t warp_instructions = 0;
    std::string hot_file;
    int hot_line = 0;      // on which its warps waited longest; 0: unknown
    double hot_share = 0;  // of their waiting
    CallSite site;
};

struct CopyRecord {
    std::string direction;  // "host to device"
    uint64_t bytes = 0;
    double begin_us = 0, end_us = 0;
    uint32_t stream = 0;
    CallSite site;
};

struct AllocationRecord {  // never freed
    std::string name;
    std::string kind;  // "device", "managed", "pinned"
    uint64_t address = 0, bytes = 0;
    CallSite site;
};

struct ErrorRecord {
    std::string call, error, message;  // "cudaMemcpy", "cudaErrorInvalidValue", what was wrong in a sentence
    CallSite site;
    bool seen = false;  // the program asked for it afterwards, or a later call returned it
};

struct Report {
    std::string gpu;
    uint32_t gpus = 1;
    double total_us = 0, host_us = 0;  // the model's clock at the end; of it, the host's own work
    std::vector<LaunchRecord> launches;
    std::vector<CopyRecord> copies;
    std::vector<AllocationRecord> leaks;
    std::vector<ErrorRecord> errors;
    std::vector<simt::Fault> faults;  // of kernels, and what the checkers said
    std::vector<std::string> races;   // between streams, a sentence each
    std::vector<std::string> notes;
    uint64_t peak_bytes = 0;
    uint64_t dropped = 0;  // launches and copies beyond those kept
};

nlohmann::ordered_json to_json(const Report& report);
Report report_of(const nlohmann::ordered_json& json);  // throws Failure where it is none
void write_report(const Report& report, const std::string& file);
Result<Report> read_report(const std::string& file);
std::string words_of(const Report& report);  // several lines, for the terminal
// One timeline of host, copies and kernels in Perfetto's JSON is trace_of(report) by core/trace.

}  // namespace lockstep::runtime
