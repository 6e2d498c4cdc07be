// A kernel launch as plain data, its limits, and the functional driver that runs all of it in plain order.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/decode/program.h"
#include "core/simt/dim3.h"
#include "core/simt/memory/memory.h"

namespace lockstep::simt {

class DeviceRuntime;
class Native;

struct ParameterName {  // as the source text has it
    struct Member {
        uint32_t at = 0;  // byte of the parameter
        std::string name;
    };
    std::string name;             // "matrix"
    std::vector<Member> members;  // of a struct: "width", "row.next"
};

struct LaunchConfig {
    Dim3 grid, block;
    uint32_t dynamic_shared = 0;
    std::vector<std::byte> parameters;  // the parameter block, laid out as Program::parameters says
    bool independent = false;           // for replays (history.h): whether the launch ran with LaunchOptions::independent
    Dim3 cluster;                       // blocks a cluster, by axis
    // For replays of a kernel that launches kernels: what they begin with a copy of (DeviceRuntime::again).
    std::shared_ptr<const DeviceRuntime> device_runtime = {};
    std::vector<ParameterName> names = {};  // of the parameters, for what faults say; empty: nobody knows them
    // What every byte of a block's shared memory begins with. On silicon it holds what an earlier kernel left there.
    std::byte shared_fill{};
};

// The blocks a cluster of a launch: as the kernel's .reqnctapercluster says, else as the configuration does.
Dim3 cluster_of(const ptx::Program&, const LaunchConfig&);

struct LaunchLimits {  // of a GPU; the defaults are those of every GPU since 2.0
    uint32_t threads_per_block = 1024;
    uint32_t shared_per_block = 48 * 1024;
    uint32_t registers_per_block = 65536;
    uint32_t register_unit = 1, warp_granule = 1;  // registers go to warps in units, room is for warps in groups of so many
    uint32_t shared_granule = 0;
    uint32_t blocks_per_cluster = 16;  // 8 are portable
    uint32_t compute = 0;              // compute capability, 80: 8.0; 0: that of the program's own target
};

// Whether the launch is possible at all: "a block of 2000 threads is too large: at most 1024 threads a block".
std::optional<Diagnostic> check_launch(const ptx::Program&, const LaunchConfig&, const LaunchLimits&);

// What stopped a kernel. Words close to compute-sanitizer's.
struct Fault {
    std::string kind;     // "memcheck", "racecheck", "initcheck", "synccheck", "deadlock", "runaway", "trap", "assert",
                          // "call", "branch" (by a table), "stack overflow"
    std::string message;  // one sentence: "invalid global write of 4 bytes that reaches 4 bytes past the end of 'c'"
    // What most likely mends it, full sentences: "Put a __syncthreads() behind line 10." "" where nothing can be said.
    std::string advice;
    bool warning = false;  // legal on some GPU, or a matter of luck: told, and no reason for an exit status
    std::string kernel;
    std::string file;
    int32_t line = 0;  // CUDA source line, 0 unknown
    int32_t ptx_line = 0;
    uint32_t pc = 0;
    Dim3 block, thread;  // indices, not extents
    uint64_t address = 0;
    std::string allocation;  // that holds the address, or the shared variable; "" unknown
    uint64_t offset = 0;     // of the address in it
    // A race's other access; its file is "" for all other faults.
    std::string other_file;
    int32_t other_line = 0, other_ptx_line = 0;
    uint32_t other_pc = 0;
    Dim3 other_block, other_thread;
};

// "saxpy.cu:7: memcheck: invalid ... (kernel saxpy, block (3,0,0), thread (17,0,0), address 0x7f...)"; a warning has
// "warning: " in front of its kind, and advice is a line of its own.
std::string render(const Fault& fault);

enum class WarpOrder : uint8_t { round_robin, greedy, reverse, random };

struct LaunchOptions {
    uint64_t max_instructions = 1'000'000'000;  // warp instructions; beyond it the launch is a run-away
    bool synccheck = true;
    bool racecheck = false;
    bool initcheck = false;
    bool independent = true;                   // threads of a warp make progress on their own (7.0 and later); else a stack
    WarpOrder order = WarpOrder::round_robin;  // functional launches: of warps within a block, and of blocks
    uint64_t seed = 1;                         // of WarpOrder::random
    uint32_t resident_blocks = 64;             // at most so many blocks run side by side, as a GPU holds them
    std::function<void(std::string_view)> print;  // what the kernel prints; null: nowhere
    bool native = false;                      // functional launches: by native code, where there is a compiler and it pays
    std::shared_ptr<Native> translated;       // by these translations, however short the launch is
    DeviceRuntime* device_runtime = nullptr;  // for launches from the kernel (device_runtime.h); null: the config's
    std::stop_token stop;                     // checked often; a stopped launch returns with `stopped`
    std::function<void(double)> progress;     // 0..1, called now and then
};

struct LaunchResult {
    uint64_t warp_instructions = 0;
    uint64_t thread_instructions = 0;
    std::optional<Fault> fault;
    std::vector<Fault> reports;  // of racecheck and initcheck, which do not stop a kernel; the first of each place, in order
    std::vector<Fault> warnings;     // as reports, and Fault::warning holds
    std::vector<std::string> notes;  // what the checkers could not look at, each a sentence
    bool stopped = false;
    bool native = false;  // native code may have run parts of it
};

// One report of kind "leakcheck" for each block of the heap that malloc of a kernel gave and nobody has freed. For the end
// of a program: a later kernel may free what an earlier one allocated.
std::vector<Fault> find_leaks(const Memory& memory);

// Runs the launch functionally: block after block, the warps of a block round robin from barrier to barrier.
// Reads and writes `memory`. The launch must have passed check_launch.
LaunchResult launch(const ptx::Program&, const LaunchConfig&, Memory&, const LaunchOptions& = {});

}  // namespace lockstep::simt
