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
    int32_t place =
        -1;  // index into Report::places where the line is not known yet, or a header's: resolve_sites() finds it
};

// Where a call came from, as addresses: what called, what called that, and so on.
struct CodePlace {
    struct Frame {
        std::string module;    // the program's file, or a library's
        uint64_t address = 0;  // as its own symbols count
    };
    std::vector<Frame> frames;
    // Of a launch by <<<>>>: the function that stands for the kernel on the host, which is no place in the program, may lie
    // on the way still, inlined into who launches or not.
    bool has_stand_in = false;
    Frame stand_in;  // then, its begin
};

// A call of the runtime. Those that only ask for the last error or its name are not noted, nor are queries that take no time
// on the clock (cudaGetDevice and other Gets, occupancy), unless they fail.
struct CallRecord {
    std::string call;                 // "cudaMemcpy"
    double begin_us = 0, end_us = 0;  // the host comes to it; the host goes on
    uint32_t stream = 0;              // that it gives work to or waits for
    CallSite site;
};

// How a launch got its time.
enum class TimedBy : uint8_t {
    simulation,   // cycle by cycle
    same_counts,  // as an earlier launch of the same kernel, shape and number of instructions
    ratio,        // an earlier launch's, times the ratio of their instructions
    nothing,      // it ran functionally
};

struct LaunchFinding {  // of what limits a launch: core/model/advice
    std::string rule, sentence, evidence, change, file;
    int line = 0;
    double gain = 0;
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
    int hot_line = 0;                     // on which its warps waited longest; 0: unknown
    double hot_share = 0;                 // of their waiting
    std::string bound;                    // "dram", as core/model/metrics/bound.h names it; empty where nothing was timed
    std::vector<LaunchFinding> findings;  // the largest gains, of a launch that was simulated
    CallSite site;
    int64_t call = -1;  // index into Report::calls of the call that asked for it; -1: not kept
};

struct CopyRecord {
    std::string direction;  // "host to device"
    uint64_t bytes = 0;
    double begin_us = 0, end_us = 0;
    uint32_t stream = 0;
    CallSite site;
    int64_t call = -1;
};

struct AllocationRecord {
    std::string name;
    std::string kind;  // "device", "managed", "pinned", "registered", "array"
    uint64_t address = 0, bytes = 0;
    CallSite site;
    bool freed = false;
    CallSite freed_at;
    int64_t call = -1, freed_call = -1;  // indices into Report::calls
    double begin_us = 0, end_us = 0;     // until it was freed, or the end of the program
};

struct OrderRecord {  // of the launches of a kernel that were not simulated: in which order its blocks ran
    std::string kernel;
    uint32_t threads = 1;              // on which blocks ran beside each other, at most
    uint64_t apart = 0, in_order = 0;  // launches
    std::string why;                   // those in order were: "line 12 uses what an atomic returned"; "": too short
};

struct MarkRecord {  // of the program for a profiler: NVTX's marks and ranges, cudaProfilerStart and Stop
    std::string name;
    double begin_us = 0, end_us = 0;  // the same of a mark
};

struct ErrorRecord {
    std::string call, error, message;  // "cudaMemcpy", "cudaErrorInvalidValue", what was wrong in a sentence
    CallSite site;
    bool seen = false;  // the program asked for it afterwards, or a later call returned it
};

struct Report {
    std::string gpu;
    uint32_t gpus = 1;
    bool warm_l2 = true;               // Settings::warm_l2
    double total_us = 0, host_us = 0;  // the model's clock at the end; of it, the host's own work
    std::vector<LaunchRecord> launches;
    std::vector<CopyRecord> copies;
    std::vector<AllocationRecord> leaks;  // those that were never freed
    std::vector<ErrorRecord> errors;
    std::vector<simt::Fault> faults;    // of kernels, and what the checkers said
    std::vector<simt::Fault> warnings;  // of kernels: told, and no reason for an exit status; each place of a kernel once
    std::vector<std::string> races;     // between streams, a sentence each
    std::vector<std::string> touches;   // of the host, of memory that the device uses still or that was freed
    std::vector<std::string> notes;
    uint64_t peak_bytes = 0;
    uint64_t dropped = 0;                       // launches, copies, calls, allocations and marks beyond those kept
    std::vector<CallRecord> calls;              // in order
    std::vector<AllocationRecord> allocations;  // all of the program's, in order
    std::vector<MarkRecord> marks;              // in order of their end
    std::vector<OrderRecord> orders;            // by kernel
    std::vector<CodePlace> places;              // of sites whose line is not known yet
};

// "main.cu:41"; of a site whose line is not known yet, a mark for which resolve_sites() puts it; "" where nothing is known.
std::string text_of(const CallSite& site);

struct LeakGroup {  // allocations of one line under one name that were never freed
    AllocationRecord first;
    size_t count = 0;
    uint64_t bytes = 0;  // all of them
};
std::vector<LeakGroup> leaks_by_line(const Report& report);  // the largest first

nlohmann::ordered_json to_json(const Report& report);
Report report_of(const nlohmann::ordered_json& json);  // throws Failure where it is none
void write_report(const Report& report, const std::string& file);
Result<Report> read_report(const std::string& file);
std::string words_of(const Report& report);  // several lines, for the terminal
// One timeline of host, copies and kernels in Perfetto's JSON is trace_of(report) by core/trace.

}  // namespace lockstep::runtime
