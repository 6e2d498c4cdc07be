// A GPU as the model sees it: one row a GPU in gpus.cpp, every figure with its source.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/simt/launch.h"

namespace lockstep::model {

template <class T>
struct Sourced {
    T value{};
    std::string_view source;  // "NVIDIA V100 white paper, table 1"
    constexpr operator T() const { return value; }
};
using Count = Sourced<uint32_t>;
using Figure = Sourced<double>;

using Sizes = Sourced<std::array<uint32_t, 10>>;  // bytes, ascending, zero-filled behind the last

enum class SchedulerPolicy : uint8_t {
    greedy_then_oldest,    // keeps to one warp until it stalls, then takes the one that is resident longest
    loose_round_robin,     // the next eligible warp behind the one that issued last
    greedy_then_youngest,  // keeps to one warp until it stalls, then takes the one that came last
};
std::string_view name_of(SchedulerPolicy);   // "gto", "lrr", "gty": the command line
std::string_view title_of(SchedulerPolicy);  // "greedy then oldest"
std::optional<SchedulerPolicy> scheduler_named(std::string_view name);

enum class DramKind : uint8_t { ddr, lpddr, gddr, hbm };
std::string_view name_of(DramKind);  // "HBM"

struct ComputeCapability {
    uint32_t number = 0;  // 80: compute capability 8.0, as in ptx::Needed
    constexpr auto operator<=>(const ComputeCapability&) const = default;
    std::string text() const;  // "8.0"
};

struct GpuSpec {
    std::string_view name;   // "v100": the command line
    std::string_view title;  // "Tesla V100 SXM2"
    ComputeCapability compute;
    // Structure
    Count sms, sub_cores, issue_width;  // issue_width: dispatches a sub-core and cycle (2 before Volta)
    Sourced<SchedulerPolicy> scheduler;
    Count warps_per_sm, blocks_per_sm, registers_per_sm, register_unit, warp_granule;
    Count block_warp_granule;   // a block is refused whose warps, rounded up to it, have no registers
    Count registers_per_block;  // 0: all of the SM's
    Count shared_per_sm, shared_per_block, shared_granule, shared_reserved;  // bytes; reserved: a block
    // Lanes a sub-core and cycle of each pipeline
    Figure fp32_lanes, int_lanes, fp64_lanes, sfu_lanes;
    Figure fp16x2_lanes;  // pairs of FP16
    Figure lsu_lanes;
    Count register_reads;    // operands of 32 lanes that a sub-core reads a cycle
    Count int_shares_fp32;   // 1: integer instructions run on the FP32 lanes (before Volta)
    Count imad_shares_fp32;  // 1: integer multiply-adds take the pipe of the FP32 lanes, else the integer lanes'
    // Latencies in cycles
    Count folds_ptx;     // 1: as ptxas does (lowering.h); 0: every PTX instruction is issued
    Count fp16_latency;  // of pairs
    Count fp32_latency, int_latency, imad_latency, fp64_latency, sfu_latency, branch_latency, barrier_latency;
    Count shared_latency, shuffle_latency, constant_latency, l1_latency, l2_latency, dram_latency;
    Count fence_latency;   // of a fence at the GPU's scope that finds no store under way
    Count atomic_latency;  // cycles that the answer of an atomic at L2 takes longer than a load's
    // Memory
    Count l1_bytes, l1_mshrs, l2_bytes, l2_slices, dram_channels;  // l1_bytes: with no shared memory carved out
    Sourced<DramKind> dram_kind;
    Count l1_ways, l2_ways;
    Sizes shared_carveouts;     // what shared memory may take of l1_bytes; all zero: the two are separate memories
    Figure l1_bytes_per_cycle;  // an SM
    Figure lsu_interval;        // cycles between memory instructions of an SM, all sub-cores together
    Figure l1_tag_overhead;     // cycles that an instruction of global memory holds the tags beside those of its lines
    Count l1_caches_loads;      // 0: loads from global memory look in L1 only where they say so
    Count constant_l1_bytes, constant_l15_bytes, constant_l15_latency;  // an SM: the nearest constant cache, the one behind
    Count constant_load_latency;    // of a load by an address in a register; constant_latency: of an instruction's operand
    Figure constant_miss_interval;  // cycles between misses of an SM's second constant cache
    Count texture_latency;          // of a fetch that L1 serves
    Figure texture_lanes;           // lanes that an SM's texture units serve a cycle
    Figure sm_read_bytes_per_cycle, sm_write_bytes_per_cycle;  // an SM's port to the crossbar
    // From an SM in the other half of the chip; 0: there are no halves, or it is not known that they matter.
    Count l2_far_latency, dram_far_latency;
    Figure atomic_cycles;  // an L2 slice takes for the atomics of an instruction on a sector that meet in no word
    Figure half_atomic_cycles, half2_atomic_cycles;  // an L2 slice takes for one lane's sum of a half, of a pair, in a word
    Figure l2_dirty_share;                           // of L2 that may hold data not yet in DRAM
    Count tlb_bytes, page_bytes, tlb_miss_latency;   // what an SM's TLB covers; cycles that a walk adds
    Figure dram_efficiency;                          // share of its cycles that the bus carries data: refresh takes the rest
    Count dram_banks, dram_row_bytes;                // a channel; of one row
    Figure dram_row_cycle_ns, dram_activate_ns;      // between two rows of a bank, and of a channel
    Figure dram_turnaround_ns;                       // bus from reads to writes and back, once in 2 KiB of writes
    Figure dram_loaded_ns;                           // mean wait of a read at a channel that is half in use
    Count dram_partial_bytes;                        // that the bus takes for a sector of which a part was written
    Figure l2_bytes_per_cycle;                       // the whole chip
    Figure dram_gb_per_second;
    // Instructions: bytes of one, of a sub-core's cache (L0) and of the SM's (L1), and the lines that are fetched ahead
    Count instruction_bytes, l0_code_bytes, l1_code_bytes, l1_code_latency, code_prefetch;
    // The block scheduler, for the whole GPU, and a block's way from there to its first instruction
    Figure blocks_per_cycle;
    Count block_start_latency;
    Count lsu_queue;  // memory instructions buffered a sub-core
    // Clocks and the host
    Figure boost_mhz;
    Figure fp32_peak_mhz;       // where the vendor's FP32 peak holds at another clock than boost_mhz; else 0
    Figure lecture_mhz;         // the clock with which lectures count this GPU's peaks, where it is another; else 0
    Figure launch_us;           // host time to enqueue a kernel
    Figure launch_latency_us;   // from the enqueue's end to the kernel's first cycle
    Figure launch_gap_us;       // between two kernels of a stream of which the second waits for the first
    Figure pcie_gb_per_second;  // what the link's lanes carry in one direction
    Figure pinned_gb_per_second, pageable_gb_per_second;  // what a large copy reaches, from and to such host memory
    Figure nvlink_gb_per_second;                          // both directions together; 0: none
    Figure copy_latency_us, copy_back_latency_us;         // before the first byte: of a copy to the GPU, and from it
    Figure copy_within_latency_us;                        // of a copy from its memory to its memory
    Figure copy_beside_share;     // of its speed alone, a copy over PCI Express while another goes the other way
    Figure call_us, allocate_us;  // host time of a call that starts nothing (record, wait, free); of an allocation
    Count copy_engines;           // 1: copies in both directions share it
    Count connections;            // hardware queues between host and GPU, at most; 1 before Hyper-Q
    Count concurrent_kernels;     // resident grids
    // Peaks, for the table of generations
    Figure fp32_tflops, fp64_tflops, fp16_tensor_tflops, memory_gb;
    Figure fp16_tflops;         // of half-precision pairs on the FP32 lanes
    Figure tf32_tensor_tflops;  // dense; 0: no such tensor cores
    Figure mma_sync_share;      // of the tensor peaks but f64's, that mma.sync reaches: the rest takes wgmma
    Count year;                 // of its announcement
};

std::span<const GpuSpec> gpus();
// "v100", "teaching:4" (the teaching GPU with 4 SMs). An unknown name's Diagnostic lists the known ones.
Result<GpuSpec> gpu_named(std::string_view name);
simt::LaunchLimits limits_of(const GpuSpec&);

// Whether the threads of a warp are scheduled on their own: compute capability 7.0 and later (CUDA C++ Programming Guide).
bool schedules_threads(const GpuSpec&);

struct Occupancy {  // resident blocks an SM allows, by each limit
    uint32_t warps_per_block = 0;
    uint32_t by_warps = 0, by_registers = 0, by_shared = 0, by_slots = 0;
    uint32_t by_choice = 0;    // TimedOptions::most_blocks_per_sm of the launch; 0: none
    uint32_t blocks = 0;       // the least of them
    std::string_view limiter;  // one of them: "warps", "registers", "shared memory", "block slots", "your limit"
    std::string limiters;      // all that allow no more: "warps and registers"
    double fraction = 0;       // resident warps / warps_per_sm
};

// A row's figures one by one, for tables and for the test that each has its source.
struct SpecFigure {
    std::string_view name;   // "l1_latency"
    std::string_view label;  // "L1 hit latency"
    std::string_view unit;   // "cycles"
    double value = 0;
    std::string_view source;
};
std::vector<SpecFigure> figures_of(const GpuSpec&);

// `most_blocks`: a limit chosen by hand (0: none); it is named the limiter only when it is below all others.
Occupancy occupancy(const GpuSpec&, uint32_t threads_per_block, uint32_t registers_per_thread, uint64_t shared_per_block,
                    uint32_t most_blocks = 0);

// Shared memory that a block of `asked` bytes takes of an SM: the system's own part with it, rounded up.
uint64_t shared_of_a_block(const GpuSpec&, uint64_t asked);

struct OccupancyLimit {            // one of the limits, and how its number comes about
    std::string_view name;         // as Occupancy::limiter
    uint32_t blocks = 0;           // that it allows an SM
    uint64_t a_block = 0, of = 0;  // what a block takes of it, after rounding, and what an SM has
    std::string_view unit;         // "warps", "registers", "B", "blocks"
    std::string rule;              // "40 registers x 32 lanes = 1,280 a warp, in units of 256: ..."
    bool limiter = false;          // one of Occupancy::limiters
};
// In the order warps, registers, shared memory, block slots, and your limit where there is one.
std::vector<OccupancyLimit> occupancy_limits(const GpuSpec&, uint32_t threads_per_block, uint32_t registers_per_thread,
                                             uint64_t shared_per_block, uint32_t most_blocks = 0);

}  // namespace lockstep::model
