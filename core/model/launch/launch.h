// The timed driver: the same executor, pulled cycle by cycle by the modelled SMs. Same input, same cycles, always.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/launch/ideal.h"
#include "core/model/metrics/packed_counters.h"
#include "core/simt/launch.h"
#include "core/trace/kernel_trace.h"

namespace lockstep::model {

struct L2State;  // memory_system.h

struct TimedOptions : simt::LaunchOptions {
    Idealised ideal;  // not with checkpoints, and not in a replay
    // What L2 holds from launch to launch: the launch takes it and leaves there what it ends with. Null: L2 begins empty.
    L2State* l2 = nullptr;
    bool trace = true;  // keep KernelTrace (of SM `traced_sm`); off saves memory, never changes cycles
    uint32_t traced_sm = 0;
    bool machine = false;              // with a trace: keep its MachineTrace as well
    uint64_t trace_limit = 2'000'000;  // issue records kept, and four times as many stall runs
    // At most so many bytes of checkpoints are left in the result for replay.h; 0: none. They lie evenly over the run, the
    // closer the shorter it is, take about a tenth of its time and change no cycle.
    uint64_t checkpoint_bytes = 0;
    std::optional<SchedulerPolicy> scheduler;  // none: the GPU's own
    // Instructions that only their own warp can see run ahead of their issue: nothing that a launch reports can tell. So do
    // accesses to shared memory, which warps that race through it can tell: not where the launch is `exact`, nor with
    // checkpoints.
    bool run_ahead = true, exact = false;
    // Threads of the host, at most; 0: as many as it has. They change nothing but how long it takes. A launch has one until
    // it has issued so many instructions; 0: from the beginning, however few SMs it has.
    uint32_t threads = 0;
    uint64_t alone = 1 << 15;
    uint32_t most_blocks_per_sm = 0;  // fewer resident blocks than the GPU's resources allow; 0: what they allow
    // What ptxas folds takes no issue slot (lowering.h), on GPUs that say so; off: every PTX instruction is issued.
    bool lowering = true;
    bool skip_idle = true;  // off: every SM in every cycle, in plain order; only to prove that it changes nothing
};

// A counter or ratio of one launch. One row a metric in metric_rows.cpp: short name, Nsight Compute's name, unit, formula.
struct Metric {
    std::string_view name;    // "sectors_per_request"
    std::string_view nsight;  // "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
    std::string_view unit;    // "sectors/request"
    double value = 0;
};

// Counters a source line or an instruction: what lessons' `of="sectors_per_request@line:7"` reads.
struct alignas(64) InstructionCounters {
    uint64_t issues = 0, lanes = 0;  // warp instructions; active lanes summed
    uint64_t executed = 0;           // of those, lanes whose guard held
    uint64_t shared_requests = 0, shared_passes = 0, shared_bytes = 0;
    uint64_t constant_requests = 0, constant_addresses = 0;  // loads of constants; different addresses a request
    uint64_t branches = 0, divergent_branches = 0;
    uint64_t stalls[static_cast<size_t>(StallReason::count)] = {};  // warp-cycles in front of this instruction, all SMs
    uint64_t requests = 0, sectors = 0;                             // global and local memory
    uint64_t bytes = 0, used_bytes = 0;  // what the lanes asked for there; each byte of a request counted once
    uint64_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;  // sectors looked up, and found
    uint64_t atomic_lanes = 0, atomic_words = 0;  // of atomics on global and shared memory; words: different ones a request
    uint64_t atomic_queue = 0;                    // cycles that requests waited behind earlier ones for the words' slices
    uint64_t data_pipe = 0;                       // Ticks of the data pipe of L1 and shared memory that it took

    InstructionCounters& operator+=(const InstructionCounters&);
};

struct CycleTotals {                           // all SMs
    int64_t active_cycles = 0;                 // SMs with a resident block
    int64_t scheduler_cycles = 0;              // sub-cores with a resident warp
    int64_t issue_cycles = 0;                  // of those in which they issued
    int64_t issued = 0;                        // warp instructions that took an issue slot
    uint64_t dram_read = 0, dram_written = 0;  // bytes
    uint64_t l2_reads = 0, l2_writes = 0;      // ticks in which slices of L2 take sectors; atomics are writes

    CycleTotals& operator+=(const CycleTotals&);
};

struct LaunchTotals : CycleTotals {
    int64_t cycles = 0;
    int64_t warp_cycles = 0;  // resident warps, summed over cycles
    uint64_t blocks = 0;
    uint32_t blocks_per_sm = 1;
    double dram_bytes_per_cycle = 1;
    uint32_t l1_bytes = 0;  // of an SM, as this launch splits its memory
    uint32_t threads_per_block = 0, dynamic_shared = 0;
};

// The launch cut into windows of `length` cycles: what windows.h computes from. Empty where nothing was traced.
struct Windows {
    int64_t length = 0;
    uint32_t instructions = 0;
    PackedCounters counters;          // by the cycle of the issue
    std::vector<CycleTotals> totals;  // [window]; DRAM and L2: by the cycle in which channel or slice takes the request
};

class Checkpoints;  // checkpoint.h
struct Timing;      // timing.h
struct Sampling;    // sample/sampling.h

struct TimedResult : simt::LaunchResult {
    int64_t cycles = 0;
    double time_us = 0;  // cycles at the boost clock
    double launch_us =
        0;  // from the end of the enqueue to the first cycle, which `cycles` and `time_us` leave out: the GPU's row
    KernelTrace trace;
    Occupancy occupancy;
    LaunchTotals totals;
    Windows windows;
    std::vector<Metric> metrics;                        // whole launch
    std::vector<InstructionCounters> instructions;      // by pc, whole launch
    std::shared_ptr<const std::vector<Timing>> timing;  // by pc, as the launch ran; null where it was refused
    // For replays: how the launch ran, and what it left on the way.
    bool independent = true, synccheck = true, exact = false;
    std::optional<SchedulerPolicy> scheduler;
    uint64_t max_instructions = 0;
    std::shared_ptr<const Checkpoints> checkpoints;
    // Null: every cycle was run. Else a part was, which `trace` and `windows` show; all other numbers are of the whole
    // launch, scaled.
    std::shared_ptr<const Sampling> sampling;
};

// What a functional launch has to know of a GPU: how its warps' threads are scheduled, how many blocks it holds.
simt::LaunchOptions functional_options(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&);

// Requires check_launch(program, config, limits_of(gpu)) to have passed.
TimedResult launch(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory&, const TimedOptions& = {});

// A metric's value for the whole launch, for one source line ("sectors_per_request@line:7") or for some instructions
// ("lanes_per_issue@pc:3", "@pc:3..9"), by short name or Nsight's; a Diagnostic names the nearest known metric.
Result<double> metric_of(const ptx::Program&, const TimedResult&, std::string_view name);

// The rows of the table, without values: for reference pages and tests.
struct MetricRow {
    std::string_view name, nsight, unit;
    bool by_line = false;  // also has a value for a line or an instruction
    std::string_view summary;
};
std::vector<MetricRow> metric_rows();

// Everything a view needs about one launch: shared, immutable once made.
struct KernelRun {
    GpuSpec gpu;
    std::shared_ptr<const ptx::Program> program;
    simt::LaunchConfig config;
    TimedResult result;
    std::shared_ptr<const simt::Memory> before;  // device memory as the launch found it; may be null
    std::string source;                          // CUDA text of program->source_file, empty when unknown
    std::shared_ptr<const L2State> l2 = {};      // what L2 held as the launch found it; null: nothing
};

}  // namespace lockstep::model
