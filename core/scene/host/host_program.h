// Host programs as a person writes them: a text of one operation a line, what a lesson's scene or an exercise runs.
//
//   line      = "host" NAME array [ "pinned" ]                 an array of the host; pageable unless pinned
//             | "malloc" NAME TYPE "[" extents "]" | "free" NAME                        an array of the GPU
//             | ( "h2d" | "d2h" | "d2d" ) TO FROM [ "stream=" N ]        without a stream: cudaMemcpy, the host waits
//             | "launch" KERNEL "(" [ argument { "," argument } ] ")" "grid=" D "block=" D [ "shared=" B ] [ "stream=" N ]
//             | "work" TIME "us" [ KERNEL "(" ... ")" "grid=" D "block=" D ]       the host computes, on arrays of its own
//             | "event" NAME "stream=" N | "wait" NAME "stream=" N
//             | "sync" [ "stream=" N | NAME ]                                the device, a stream or an event
//             | "kernels" FILE.cu | "link" ( "pcie" | "nvlink" ) | "connections" N
//             | "let" NAME "=" expression | "for" NAME "=" A ".." B ... "end"
//   TO, FROM  = NAME [ "[" FIRST ":" PAST "]" | "[" K "/" N "]" ]    elements; part K of N equal ones, from 1
//   argument  = TO | number
//   array     = as an argument of a kernel behind in: (kernel_arguments.h): f32[1024 ramp], f32{1,2,3}
// "$name" and "$(expression)" are filled in first; "#" begins a comment.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/model/streams/streams.h"
#include "core/scene/arguments/kernel_arguments.h"

namespace lockstep::scene {

struct HostArray {
    std::string name;
    bool on_device = false, pinned = false;
    KernelArgument contents;  // host arrays: what they hold at first; else type and shape
    uint64_t count = 0, bytes = 0;
    int line = 0;
};
struct HostSlice {
    int array = -1;
    uint64_t first = 0, past = 0;  // elements
};
struct HostArgument {
    bool is_slice = false;
    HostSlice slice;
    std::string number;
};
struct HostStatement {  // one operation as written, loops unrolled
    model::HostVerb verb = model::HostVerb::work;
    std::string text, kernel, event;
    uint32_t stream = 0;
    bool has_stream = false;
    HostSlice to, from;  // copies; `to` alone: allocate, release
    std::vector<HostArgument> arguments;
    simt::Dim3 grid, block;
    uint32_t shared = 0;
    double us = 0;
    int line = 0;
};
struct HostText {
    std::vector<HostArray> arrays;
    std::vector<HostStatement> statements;
    std::vector<std::string> kernel_files;
    model::HostLink link = model::HostLink::pcie;
    uint32_t connections = model::usual_connections;
    std::string file, text;
};
// The lines that say something: blank ones and comments are not among them.
struct HostLine {
    static constexpr size_t no_end = SIZE_MAX;
    std::string text, code;  // as written; without its comment
    int number = 0;          // in the file
    size_t end = no_end;     // of a `for`: which of the lines ends it
};
std::vector<HostLine> host_lines(const std::string& text);
// A Diagnostic has line, column and caret.
Result<HostText> parse_host(const std::string& text, const std::string& file);

struct HostRun {
    model::GpuSpec gpu;
    HostText text;
    model::HostProgram program;  // an operation a statement
    model::Schedule schedule;
    std::vector<std::shared_ptr<const model::KernelRun>> runs;  // by statement; null: no kernel, or after a fault
    // One sentence each: accesses that nothing orders, and copies home that nobody waits for. At most 100.
    std::vector<std::string> hazards;
    std::vector<std::string> hazard_advice;  // of each: what would order the two
    struct Report {
        size_t statement = 0;  // that launched the kernel, or ran it on the host
        simt::Fault fault;     // of a checker; no fault stopped it. Warnings too
    };
    std::vector<Report> reports;            // of the first launch in which each shows
    std::vector<std::string> variables;     // of the kernels' modules: buffers of `program` behind the arrays
    std::vector<int> still_allocated;       // the GPU's arrays that nobody has freed at the end
    std::vector<std::string> output_names;  // host arrays that a copy or the host's work writes
    std::vector<Array> outputs;             // their contents at the end
    std::optional<simt::Fault> fault;       // of a kernel; nothing ran after it
    const std::string& buffer_name(uint32_t buffer) const;  // of a touch
};
struct HostRunOptions {
    uint64_t seed = 1;
    bool functional = false;                                                         // values only: the schedule is empty
    bool synccheck = true, racecheck = false, initcheck = false, leakcheck = false;  // of its kernels
    std::stop_token stop;
    std::function<void(double)> progress;
};
// Runs it: kernels on the modelled GPU with real data, copies as copies. Where accesses are not ordered, values are those
// of the order that the timeline shows. `folder`: where the kernels are.
Result<std::shared_ptr<const HostRun>> run_host(const HostText& text, const model::GpuSpec& gpu,
                                                const std::filesystem::path& folder, const HostRunOptions& options = {});

}  // namespace lockstep::scene
