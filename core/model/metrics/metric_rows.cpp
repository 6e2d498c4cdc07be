// The metrics: one row a metric with its short name, Nsight Compute's name, unit, one sentence and formula. Names that begin
// with lockstep__ have no exact counterpart there. A formula sees the sums over some instructions (`s`: all of them, or
// those of one source line) and, for the whole launch or a stretch of it only, its totals (`l`).
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/model/issue/ticks.h"
#include "core/model/memory/coalescer.h"
#include "core/model/metrics/metrics.h"
#include "core/model/metrics/roofline.h"

namespace lockstep::model {
namespace {

using Counters = InstructionCounters;
using Launch = MetricLaunch;
using Row = MetricFormula;

double number(uint64_t n) {
    return static_cast<double>(n);
}
double number(int64_t n) {
    return static_cast<double>(n);
}
template <class A, class B>
double ratio(A a, B b) {
    return static_cast<double>(b) > 0 ? static_cast<double>(a) / static_cast<double>(b) : 0;
}
template <class A, class B>
double percent(A a, B b) {
    return 100 * ratio(a, b);
}
double waves(const Launch& l) {
    return ratio(l.totals.blocks, uint64_t{l.gpu.sms} * l.totals.blocks_per_sm);
}
uint64_t stalled(const Sums& s, StallReason reason) {
    return s.all.stalls[static_cast<size_t>(reason)];
}
uint64_t resident(const Sums& s) {
    uint64_t sum = 0;
    for (const uint64_t cycles : s.all.stalls) sum += cycles;
    return sum;
}
uint64_t eligible(const Sums& s) {
    return stalled(s, StallReason::selected) + stalled(s, StallReason::not_selected);
}
double elapsed_schedulers(const Launch& l) {
    return number(l.totals.cycles) * l.gpu.sms * l.gpu.sub_cores;
}
double active_schedulers(const Launch& l) {
    return number(l.totals.active_cycles) * l.gpu.sub_cores;
}

// A reason's share of all resident warp cycles, and Nsight's ratio: warps in that state per issuing scheduler cycle.
template <StallReason reason>
double share(const Sums& s) {
    return percent(stalled(s, reason), resident(s));
}
template <StallReason reason>
double per_issue(const Sums& s, const Launch& l) {
    return ratio(stalled(s, reason), l.totals.issue_cycles);
}
#define STALL(reason)                                                                                                   \
    {"stall_" #reason, "lockstep__warp_cycles_" #reason ".pct", "%", "share of the resident warps' cycles",             \
     share<StallReason::reason>},                                                                                       \
    {                                                                                                                   \
        "stall_" #reason "_per_issue", "smsp__average_warps_issue_stalled_" #reason "_per_issue_active.ratio", "warps", \
            "warps in this state in a cycle that issues", nullptr, per_issue<StallReason::reason>                       \
    }

// Of one kind of access.
template <Counters Sums::*kind, uint64_t Counters::*what>
double sum(const Sums& s) {
    return number(s.*kind.*what);
}
template <Counters Sums::*kind>
double sectors_a_request(const Sums& s) {
    return ratio((s.*kind).sectors, (s.*kind).requests);
}
template <Counters Sums::*kind>
double used_a_sector(const Sums& s) {
    return ratio((s.*kind).used_bytes, (s.*kind).sectors);
}
template <Counters Sums::*kind>
double l1_hits(const Sums& s) {
    return percent((s.*kind).l1_hits, (s.*kind).l1_sectors);
}
template <Counters Sums::*... kind>
double l2_hits(const Sums& s) {
    return percent(((s.*kind).l2_hits + ...), ((s.*kind).l2_sectors + ...));
}
template <Counters Sums::*... kind>
double l2_sectors(const Sums& s) {
    return number(((s.*kind).l2_sectors + ...));
}
template <uint64_t Sums::*passes>
double conflicts(const Sums& s) {
    return number(s.*passes);
}

// Of the pipe's cycles in active SMs; of all cycles of all SMs.
template <ptx::Unit unit>
double pipe_active(const Sums&, const Launch& l) {
    return percent(l.pipe_cycles[static_cast<size_t>(unit)], active_schedulers(l));
}
double pipe_elapsed(const Launch& l, ptx::Unit unit) {
    return percent(l.pipe_cycles[static_cast<size_t>(unit)], elapsed_schedulers(l));
}

RoofPoint roof_point(const Sums& s, const Launch& l) {
    return model::roof_point(l.gpu, s, l.totals, l.time_us * 1e-6);
}

double dram_throughput(const Launch& l) {
    return percent(l.totals.dram_read + l.totals.dram_written, number(l.totals.cycles) * l.totals.dram_bytes_per_cycle);
}
// Of the slices' time, by when they take their sectors.
double l2_throughput(const Launch& l) {
    const double slices = std::max<double>(1, l.gpu.l2_slices);
    return percent(l.totals.l2_reads + l.totals.l2_writes, number(l.totals.cycles) * ticks_a_cycle * slices);
}
double l1_throughput(const Launch& l) {
    return percent(l.l1_cycles, number(l.totals.cycles) * l.gpu.sms);
}
double sm_throughput(const Launch& l) {
    double most = percent(l.totals.issue_cycles, elapsed_schedulers(l));
    for (size_t unit = 0; unit < std::size(l.pipe_cycles); ++unit)
        most = std::max(most, pipe_elapsed(l, static_cast<ptx::Unit>(unit)));
    return most;
}

constexpr Row rows[] = {
    // The launch
    {"cycles", "sm__cycles_elapsed.max", "cycles", "from the first block's start to the last one's end", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.cycles); }},
    {"time_us", "gpu__time_duration.sum", "us", "cycles at the boost clock", nullptr,
     [](const Sums&, const Launch& l) { return l.time_us; }},
    {"warp_instructions", "smsp__inst_executed.sum", "instructions", "warp instructions executed, of PTX",
     [](const Sums& s) { return number(s.all.issues); }},
    {"issued_instructions", "smsp__inst_issued.sum", "instructions",
     "of those the ones that took an issue slot; the others run with one that did, as ptxas folds them", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.issued); }},
    {"thread_instructions", "smsp__thread_inst_executed_pred_on.sum", "instructions",
     "lanes that executed, summed over warp instructions", [](const Sums& s) { return number(s.all.executed); }},
    {"issue_slot_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%",
     "scheduler cycles that issued, of those with a resident warp", nullptr,
     [](const Sums&, const Launch& l) { return percent(l.totals.issue_cycles, l.totals.scheduler_cycles); }},
    {"ipc", "sm__inst_issued.avg.per_cycle_active", "instructions/cycle",
     "warp instructions that took an issue slot, an active SM and cycle", nullptr,
     [](const Sums&, const Launch& l) { return ratio(l.totals.issued, l.totals.active_cycles); }},
    {"executed_ipc", "sm__inst_executed.avg.per_cycle_active", "instructions/cycle",
     "warp instructions executed, of PTX, an active SM and cycle", nullptr,
     [](const Sums& s, const Launch& l) { return ratio(s.all.issues, l.totals.active_cycles); }},
    {"executed_ipc_elapsed", "sm__inst_executed.avg.per_cycle_elapsed", "instructions/cycle",
     "the same an SM and cycle, idle SMs included", nullptr,
     [](const Sums& s, const Launch& l) { return ratio(s.all.issues, number(l.totals.cycles) * l.gpu.sms); }},
    {"issued_per_scheduler", "smsp__issue_active.avg.per_cycle_active", "instructions/cycle",
     "cycles in which a scheduler issued, of those with a resident warp", nullptr,
     [](const Sums&, const Launch& l) { return ratio(l.totals.issue_cycles, l.totals.scheduler_cycles); }},
    {"no_eligible", "smsp__issue_inst0.avg.pct_of_peak_sustained_active", "%",
     "scheduler cycles with resident warps of which none could issue", nullptr,
     [](const Sums&, const Launch& l) {
         return percent(l.totals.scheduler_cycles - l.totals.issue_cycles, l.totals.scheduler_cycles);
     }},
    {"active_warps", "smsp__warps_active.avg.per_cycle_active", "warps", "resident warps a scheduler", nullptr,
     [](const Sums&, const Launch& l) { return ratio(l.totals.warp_cycles, l.totals.scheduler_cycles); }},
    {"eligible_warps", "smsp__warps_eligible.avg.per_cycle_active", "warps",
     "warps a scheduler that could issue, the chosen one included", nullptr,
     [](const Sums& s, const Launch& l) { return ratio(eligible(s), l.totals.scheduler_cycles); }},
    {"stalled_warps", "lockstep__warps_stalled.avg.per_cycle_active", "warps", "warps a scheduler that could not issue",
     nullptr, [](const Sums& s, const Launch& l) { return ratio(resident(s) - eligible(s), l.totals.scheduler_cycles); }},
    {"cycles_per_issue", "smsp__average_warp_latency_per_inst_issued.ratio", "cycles",
     "a warp's cycles for each in which it issues: all its states together",
     [](const Sums& s) { return ratio(resident(s), stalled(s, StallReason::selected)); }},
    {"cycles_per_instruction", "smsp__average_warps_active_per_inst_executed.ratio", "cycles",
     "a warp's cycles for each instruction of PTX", [](const Sums& s) { return ratio(resident(s), s.all.issues); }},
    {"lanes_per_issue", "smsp__thread_inst_executed_per_inst_executed.ratio", "lanes",
     "active lanes a warp instruction, before the guard predicate",
     [](const Sums& s) { return ratio(s.all.lanes, s.all.issues); }},
    {"executed_lanes_per_issue", "smsp__thread_inst_executed_pred_on_per_inst_executed.ratio", "lanes",
     "lanes a warp instruction whose guard held", [](const Sums& s) { return ratio(s.all.executed, s.all.issues); }},
    {"branches", "smsp__sass_inst_executed_op_branch.sum", "branches", "branch instructions",
     [](const Sums& s) { return number(s.all.branches); }},
    {"divergent_branches", "smsp__sass_branch_targets_threads_divergent.sum", "branches", "branches that split their warp",
     [](const Sums& s) { return number(s.all.divergent_branches); }},
    {"branch_efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct", "%", "branches that did not split",
     [](const Sums& s) {
         return s.all.branches == 0 ? 100 : percent(s.all.branches - s.all.divergent_branches, s.all.branches);
     }},

    // Global and local memory, at L1
    {"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests", "global load instructions",
     sum<&Sums::loads, &Counters::requests>},
    {"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::loads, &Counters::sectors>},
    {"sectors_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sectors/request",
     "sectors a global load", sectors_a_request<&Sums::loads>},
    {"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests", "global store instructions",
     sum<&Sums::stores, &Counters::requests>},
    {"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::stores, &Counters::sectors>},
    {"sectors_per_store_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sectors/request",
     "sectors a global store", sectors_a_request<&Sums::stores>},
    {"global_atomic_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "requests", "global atomics",
     sum<&Sums::atomics, &Counters::requests>},
    {"global_atomic_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::atomics, &Counters::sectors>},
    {"sectors_per_atomic_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_atom.ratio",
     "sectors/request", "sectors a global atomic", sectors_a_request<&Sums::atomics>},
    {"global_load_bytes", "smsp__sass_data_bytes_mem_global_op_ld.sum", "bytes", "what the lanes of global loads asked for",
     sum<&Sums::loads, &Counters::bytes>},
    {"bytes_per_sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio", "bytes/sector",
     "of the 32 bytes of a sector those that a global load uses", used_a_sector<&Sums::loads>},
    {"global_store_bytes", "smsp__sass_data_bytes_mem_global_op_st.sum", "bytes",
     "what the lanes of global stores asked for", sum<&Sums::stores, &Counters::bytes>},
    {"bytes_per_store_sector", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.ratio", "bytes/sector",
     "of the 32 bytes of a sector those that a global store uses", used_a_sector<&Sums::stores>},
    {"global_copy_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ldgsts.sum", "requests",
     "asynchronous copies from global to shared memory", sum<&Sums::copies, &Counters::requests>},
    {"global_copy_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::copies, &Counters::sectors>},
    {"local_load_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "requests",
     "local load instructions: registers spilled, arrays indexed by a variable",
     sum<&Sums::local_loads, &Counters::requests>},
    {"local_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::local_loads, &Counters::sectors>},
    {"local_store_requests", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "requests",
     "local store instructions: registers spilled, arrays indexed by a variable",
     sum<&Sums::local_stores, &Counters::requests>},
    {"local_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::local_stores, &Counters::sectors>},
    {"texture_requests", "l1tex__t_requests_pipe_tex_mem_texture.sum", "requests", "texture fetches",
     sum<&Sums::textures, &Counters::requests>},
    {"texture_sectors", "l1tex__t_sectors_pipe_tex_mem_texture.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::textures, &Counters::sectors>},
    {"surface_load_requests", "l1tex__t_requests_pipe_tex_mem_surface_op_ld.sum", "requests", "surface loads",
     sum<&Sums::surface_loads, &Counters::requests>},
    {"surface_load_sectors", "l1tex__t_sectors_pipe_tex_mem_surface_op_ld.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::surface_loads, &Counters::sectors>},
    {"surface_store_requests", "l1tex__t_requests_pipe_tex_mem_surface_op_st.sum", "requests",
     "surface stores and reductions",
     sum<&Sums::surface_stores, &Counters::requests>},
    {"surface_store_sectors", "l1tex__t_sectors_pipe_tex_mem_surface_op_st.sum", "sectors", "32-byte sectors they touched",
     sum<&Sums::surface_stores, &Counters::sectors>},
    {"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "%", "sectors of loads that L1 had, or had asked for already",
     l1_hits<&Sums::all>},
    {"global_load_hit_rate", "l1tex__t_sector_pipe_lsu_mem_global_op_ld_hit_rate.pct", "%", "the same of global loads alone",
     l1_hits<&Sums::loads>},
    {"local_load_hit_rate", "l1tex__t_sector_pipe_lsu_mem_local_op_ld_hit_rate.pct", "%", "the same of local loads alone",
     l1_hits<&Sums::local_loads>},
    {"texture_hit_rate", "l1tex__t_sector_pipe_tex_mem_texture_hit_rate.pct", "%", "the same of textures alone", l1_hits<&Sums::textures>},

    // Shared memory
    {"shared_requests", "smsp__sass_inst_executed_op_shared.sum", "requests", "shared-memory instructions",
     sum<&Sums::all, &Counters::shared_requests>},
    {"shared_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "passes", "passes over the banks that they took",
     sum<&Sums::all, &Counters::shared_passes>},
    {"bank_conflict_passes", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "passes",
     "passes beyond one for every 128 bytes that the lanes ask for", conflicts<&Sums::conflicts>},
    {"shared_load_requests", "smsp__inst_executed_op_shared_ld.sum", "requests", "shared-memory loads",
     sum<&Sums::shared_loads, &Counters::shared_requests>},
    {"shared_load_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "passes",
     "passes over the banks that they took", sum<&Sums::shared_loads, &Counters::shared_passes>},
    {"shared_load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "passes",
     "passes beyond one for every 128 bytes", conflicts<&Sums::load_conflicts>},
    {"shared_store_requests", "smsp__inst_executed_op_shared_st.sum", "requests", "shared-memory stores",
     sum<&Sums::shared_stores, &Counters::shared_requests>},
    {"shared_store_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "passes",
     "passes over the banks that they took", sum<&Sums::shared_stores, &Counters::shared_passes>},
    {"shared_store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "passes",
     "passes beyond one for every 128 bytes", conflicts<&Sums::store_conflicts>},
    {"shared_atomic_requests", "smsp__inst_executed_op_shared_atom.sum", "requests", "shared-memory atomics",
     sum<&Sums::shared_atomics, &Counters::shared_requests>},
    {"shared_atomic_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum", "passes",
     "passes over the banks that they took", sum<&Sums::shared_atomics, &Counters::shared_passes>},
    {"shared_atomic_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_atom.sum", "passes",
     "passes beyond one for every 128 bytes", conflicts<&Sums::atomic_conflicts>},
    {"shared_passes_per_request", "lockstep__shared_passes_per_request.ratio", "passes/request",
     "1 without bank conflicts, for 4-byte accesses",
     [](const Sums& s) { return ratio(s.all.shared_passes, s.all.shared_requests); }},

    // L2 and DRAM
    {"l2_sectors", "lts__t_sectors.sum", "sectors", "32-byte sectors that reached L2", l2_sectors<&Sums::all>},
    {"l2_read_sectors", "lts__t_sectors_op_read.sum", "sectors", "of those the ones that were read",
     l2_sectors<&Sums::loads, &Sums::copies, &Sums::local_loads, &Sums::textures, &Sums::surface_loads>},
    {"l2_write_sectors", "lts__t_sectors_op_write.sum", "sectors", "of those the ones that were written",
     l2_sectors<&Sums::stores, &Sums::local_stores, &Sums::surface_stores>},
    {"l2_atomic_sectors", "lts__t_sectors_op_atom.sum", "sectors", "of those the ones of atomics",
     l2_sectors<&Sums::atomics>},
    {"l2_hit_rate", "lts__t_sector_hit_rate.pct", "%", "sectors that L2 had, or had asked for already", l2_hits<&Sums::all>},
    {"l2_read_hit_rate", "lts__t_sector_op_read_hit_rate.pct", "%", "the same of reads alone",
     l2_hits<&Sums::loads, &Sums::copies, &Sums::local_loads, &Sums::textures, &Sums::surface_loads>},
    {"l2_write_hit_rate", "lts__t_sector_op_write_hit_rate.pct", "%", "the same of writes alone",
     l2_hits<&Sums::stores, &Sums::local_stores, &Sums::surface_stores>},
    {"atomic_lanes_per_word", "lockstep__atomic_lanes_per_word.ratio", "lanes/word",
     "lanes of a request's atomics that meet at one word: they go one after the other",
     [](const Sums& s) { return ratio(s.all.atomic_lanes, s.all.atomic_words); }},
    {"atomic_queue", "lockstep__atomic_queue_per_request.ratio", "cycles",
     "that an atomic of global memory waits at its slice of L2 for those before it",
     [](const Sums& s) { return ratio(s.all.atomic_queue, s.atomics.requests); }},
    {"l2_atomic_hit_rate", "lts__t_sector_op_atom_hit_rate.pct", "%", "the same of atomics alone", l2_hits<&Sums::atomics>},
    {"dram_bytes", "dram__bytes.sum", "bytes", "read from and written to DRAM", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.dram_read + l.totals.dram_written); }},
    {"dram_read_bytes", "dram__bytes_read.sum", "bytes", "read from DRAM", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.dram_read); }},
    {"dram_write_bytes", "dram__bytes_write.sum", "bytes", "written to DRAM; what L2 still holds is not", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.dram_written); }},
    {"dram_bytes_per_second", "dram__bytes.sum.per_second", "GB/s", "DRAM bytes over time", nullptr,
     [](const Sums&, const Launch& l) { return ratio(l.totals.dram_read + l.totals.dram_written, 1e3 * l.time_us); }},
    {"dram_utilization", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "of the DRAM's peak bandwidth", nullptr,
     [](const Sums&, const Launch& l) { return dram_throughput(l); }},

    // How busy each part was, of what it could do in all cycles of the launch
    {"sm_throughput", "sm__throughput.avg.pct_of_peak_sustained_elapsed", "%", "the busiest of issue slots and pipes",
     nullptr, [](const Sums&, const Launch& l) { return sm_throughput(l); }},
    {"l1_throughput", "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "%",
     "cycles of the data pipe of L1 and shared memory", nullptr,
     [](const Sums&, const Launch& l) { return l1_throughput(l); }},
    {"l2_throughput", "lts__throughput.avg.pct_of_peak_sustained_elapsed", "%", "of L2's peak bandwidth", nullptr,
     [](const Sums&, const Launch& l) { return l2_throughput(l); }},
    {"dram_throughput", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", "%", "of the DRAM's peak bandwidth",
     nullptr, [](const Sums&, const Launch& l) { return dram_throughput(l); }},
    {"memory_throughput", "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed", "%",
     "the busiest of L1, L2 and DRAM", nullptr,
     [](const Sums&, const Launch& l) { return std::max({l1_throughput(l), l2_throughput(l), dram_throughput(l)}); }},

    // Pipes: the cycles for which instructions take them, in SMs that have a block
    {"pipe_fma", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active", "%", "the FP32 multiply-add pipe", nullptr,
     pipe_active<ptx::Unit::fma>},
    {"pipe_alu", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", "%", "the integer and logic pipe", nullptr,
     pipe_active<ptx::Unit::alu>},
    {"pipe_fp64", "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active", "%", "the FP64 pipe", nullptr,
     pipe_active<ptx::Unit::fp64>},
    {"pipe_xu", "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", "%", "the special function pipe", nullptr,
     pipe_active<ptx::Unit::xu>},
    {"pipe_lsu", "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active", "%", "the load and store pipe", nullptr,
     pipe_active<ptx::Unit::lsu>},
    {"pipe_tensor", "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active", "%", "the tensor pipe", nullptr,
     pipe_active<ptx::Unit::tensor>},
    {"pipe_cbu", "sm__inst_executed_pipe_cbu.avg.pct_of_peak_sustained_active", "%", "the branch pipe", nullptr,
     pipe_active<ptx::Unit::cbu>},
    {"pipe_uniform", "sm__inst_executed_pipe_uniform.avg.pct_of_peak_sustained_active", "%", "the uniform pipe", nullptr,
     pipe_active<ptx::Unit::uniform>},

    // Operations
    {"fadd", "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum", "instructions", "FP32 additions, by thread",
     [](const Sums& s) { return number(s.operations.f32.add); }},
    {"fmul", "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum", "instructions", "FP32 multiplications, by thread",
     [](const Sums& s) { return number(s.operations.f32.mul); }},
    {"ffma", "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "instructions", "FP32 multiply-adds, by thread",
     [](const Sums& s) { return number(s.operations.f32.fma); }},
    {"dadd", "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum", "instructions", "FP64 additions, by thread",
     [](const Sums& s) { return number(s.operations.f64.add); }},
    {"dmul", "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum", "instructions", "FP64 multiplications, by thread",
     [](const Sums& s) { return number(s.operations.f64.mul); }},
    {"dfma", "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum", "instructions", "FP64 multiply-adds, by thread",
     [](const Sums& s) { return number(s.operations.f64.fma); }},
    {"hadd", "smsp__sass_thread_inst_executed_op_hadd_pred_on.sum", "instructions", "FP16 and BF16 additions, by thread",
     [](const Sums& s) { return number(s.operations.f16.add); }},
    {"hmul", "smsp__sass_thread_inst_executed_op_hmul_pred_on.sum", "instructions",
     "FP16 and BF16 multiplications, by thread", [](const Sums& s) { return number(s.operations.f16.mul); }},
    {"hfma", "smsp__sass_thread_inst_executed_op_hfma_pred_on.sum", "instructions", "FP16 and BF16 multiply-adds, by thread",
     [](const Sums& s) { return number(s.operations.f16.fma); }},
    {"tensor_f16", "lockstep__ops_path_tensor_src_fp16.sum", "operations", "of tensor cores on FP16, a multiply-add two",
     [](const Sums& s) { return number(s.operations.tensor_f16()); }},
    {"tensor_f16_f16", "sm__ops_path_tensor_src_fp16_dst_fp16.sum", "operations", "of these the ones with results of FP16",
     [](const Sums& s) { return number(s.operations.tensor_f16_f16); }},
    {"tensor_f16_f32", "sm__ops_path_tensor_src_fp16_dst_fp32.sum", "operations", "of these the ones with results of FP32",
     [](const Sums& s) { return number(s.operations.tensor_f16_f32); }},
    {"tensor_bf16", "sm__ops_path_tensor_src_bf16_dst_fp32.sum", "operations", "of tensor cores on BF16, a multiply-add two",
     [](const Sums& s) { return number(s.operations.tensor_bf16); }},
    {"tensor_tf32", "sm__ops_path_tensor_src_tf32_dst_fp32.sum", "operations", "of tensor cores on TF32, a multiply-add two",
     [](const Sums& s) { return number(s.operations.tensor_tf32); }},
    {"tensor_f64", "sm__ops_path_tensor_src_fp64.sum", "operations", "of tensor cores on FP64, a multiply-add two",
     [](const Sums& s) { return number(s.operations.tensor_f64); }},
    {"tensor_f8", "sm__ops_path_tensor_src_fp8.sum", "operations", "of tensor cores on FP8, a multiply-add two",
     [](const Sums& s) { return number(s.operations.tensor_f8); }},
    {"tensor_integer", "lockstep__ops_path_tensor_src_int.sum", "operations",
     "of tensor cores on integers, a multiply-add two", [](const Sums& s) { return number(s.operations.tensor_integer()); }},
    {"tensor_i8", "sm__ops_path_tensor_src_int8.sum", "operations", "of these the ones on 8 bits",
     [](const Sums& s) { return number(s.operations.tensor_i8); }},
    {"tensor_i4", "sm__ops_path_tensor_src_int4.sum", "operations", "of these the ones on 4 bits",
     [](const Sums& s) { return number(s.operations.tensor_i4); }},
    {"tensor_i1", "sm__ops_path_tensor_src_int1.sum", "operations", "of these the ones on single bits",
     [](const Sums& s) { return number(s.operations.tensor_i1); }},
    {"flop_f32", "lockstep__flop_f32.sum", "FLOP", "a multiply-add two; divisions, roots, special functions one",
     [](const Sums& s) { return number(s.operations.f32.flop); }},
    {"flop_f64", "lockstep__flop_f64.sum", "FLOP", "a multiply-add two; divisions, roots, special functions one",
     [](const Sums& s) { return number(s.operations.f64.flop); }},
    {"flop_f16", "lockstep__flop_f16.sum", "FLOP", "a multiply-add two; divisions, roots, special functions one",
     [](const Sums& s) { return number(s.operations.f16.flop); }},
    {"flop_tensor", "lockstep__flop_tensor.sum", "FLOP", "of tensor cores on floating-point numbers",
     [](const Sums& s) { return number(s.operations.tensor_flop()); }},
    {"flop", "lockstep__flop.sum", "FLOP", "all of these", [](const Sums& s) { return number(s.operations.flop()); }},
    {"flop_per_second", "lockstep__flop.sum.per_second", "GFLOP/s", "all of these over time", nullptr,
     [](const Sums& s, const Launch& l) { return ratio(s.operations.flop(), 1e3 * l.time_us); }},
    {"intensity", "lockstep__flop_per_dram_byte.ratio", "FLOP/B", "arithmetic intensity: operations a byte of DRAM", nullptr,
     [](const Sums& s, const Launch& l) { return ratio(s.operations.flop(), l.totals.dram_read + l.totals.dram_written); }},
    {"intensity_l2", "lockstep__flop_per_l2_byte.ratio", "FLOP/B", "operations a byte that reached L2",
     [](const Sums& s) { return ratio(s.operations.flop(), s.all.l2_sectors * sector_bytes); }},
    {"intensity_l1", "lockstep__flop_per_l1_byte.ratio", "FLOP/B",
     "operations a byte of L1's sectors and of shared memory's passes",
     [](const Sums& s) { return ratio(s.operations.flop(), s.all.sectors * sector_bytes + s.all.shared_passes * line_bytes); }},
    {"dram_time_us", "lockstep__roofline_dram_time.us", "us", "what the DRAM bytes need at the peak bandwidth", nullptr,
     [](const Sums& s, const Launch& l) { return 1e6 * memory_seconds(roofline_of(l.gpu), roof_point(s, l)); }},
    {"math_time_us", "lockstep__roofline_math_time.us", "us", "what the operations need at the peak of their units", nullptr,
     [](const Sums& s, const Launch& l) { return 1e6 * math_seconds(roofline_of(l.gpu), roof_point(s, l)); }},
    {"headroom", "lockstep__roofline_headroom.ratio", "x", "time over the larger of these two: 1 stands on the roof",
     nullptr,
     [](const Sums& s, const Launch& l) {
         const Roofline roofline = roofline_of(l.gpu);
         const RoofPoint point = roof_point(s, l);
         return ratio(l.time_us, 1e6 * std::max(memory_seconds(roofline, point), math_seconds(roofline, point)));
     }},
    {"ridge", "lockstep__roofline_ridge.ratio", "FLOP/B", "where the DRAM roof meets the peak of the units used", nullptr,
     [](const Sums& s, const Launch& l) {
         const Roofline roofline = roofline_of(l.gpu);
         const Peak* const peak = roofline.peak(roof_point(s, l).peak);
         return peak == nullptr ? 0 : model::ridge(roofline.roof(RoofLevel::dram), *peak);
     }},

    // Occupancy and the shape of the launch
    {"warps_per_sm", "sm__warps_active.avg.per_cycle_active", "warps", "resident warps of an SM, while it has a block",
     nullptr, [](const Sums&, const Launch& l) { return ratio(l.totals.warp_cycles, l.totals.active_cycles); }},
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
     "resident warps of those an SM can hold, while it has a block", nullptr,
     [](const Sums&,
        const Launch& l) { return percent(l.totals.warp_cycles, number(l.totals.active_cycles) * l.gpu.warps_per_sm); }},
    {"theoretical_occupancy", "sm__maximum_warps_per_active_cycle_pct", "%", "what the block's resources allow", nullptr,
     [](const Sums&, const Launch& l) { return 100 * l.occupancy.fraction; }},
    {"waves", "launch__waves_per_multiprocessor", "waves", "blocks over all resident places of the GPU", nullptr,
     [](const Sums&, const Launch& l) { return waves(l); }},
    {"whole_waves", "lockstep__whole_waves.sum", "waves", "waves that fill every place of the GPU", nullptr,
     [](const Sums&, const Launch& l) { return std::floor(waves(l)); }},
    {"tail_blocks", "lockstep__tail_blocks.sum", "blocks", "blocks of the last wave, when it leaves places empty", nullptr,
     [](const Sums&, const Launch& l) {
         const uint64_t places = uint64_t{l.gpu.sms} * l.totals.blocks_per_sm;
         return places == 0 ? 0.0 : number(l.totals.blocks % places);
     }},
    {"tail_efficiency", "lockstep__tail_efficiency.pct", "%",
     "waves over waves rounded up: places filled, were blocks alike", nullptr,
     [](const Sums&, const Launch& l) { return percent(waves(l), std::ceil(waves(l))); }},
    {"sm_efficiency", "lockstep__active_sm_cycles.pct", "%", "SM cycles with a resident block, of all", nullptr,
     [](const Sums&, const Launch& l) { return percent(l.totals.active_cycles, number(l.totals.cycles) * l.gpu.sms); }},
    {"limit_warps", "launch__occupancy_limit_warps", "blocks", "blocks an SM that its warps allow", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.occupancy.by_warps}); }},
    {"limit_registers", "launch__occupancy_limit_registers", "blocks", "blocks an SM that its registers allow", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.occupancy.by_registers}); }},
    {"limit_shared", "launch__occupancy_limit_shared_mem", "blocks", "blocks an SM that its shared memory allows", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.occupancy.by_shared}); }},
    {"limit_blocks", "launch__occupancy_limit_blocks", "blocks", "block places of an SM", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.occupancy.by_slots}); }},
    {"registers_per_thread", "launch__registers_per_thread", "registers", "registers a thread", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{ptx::registers_on(l.program, l.gpu.compute.number)}); }},
    {"grid_size", "launch__grid_size", "blocks", "blocks of the launch", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.totals.blocks}); }},
    {"block_size", "launch__block_size", "threads", "threads a block", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.totals.threads_per_block}); }},
    {"threads", "launch__thread_count", "threads", "threads of the launch", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.blocks * l.totals.threads_per_block); }},
    {"static_shared", "launch__shared_mem_per_block_static", "bytes", "static shared memory a block", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.program.static_shared}); }},
    {"dynamic_shared", "launch__shared_mem_per_block_dynamic", "bytes", "dynamic shared memory a block", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{l.totals.dynamic_shared}); }},
    {"sm_count", "launch__sm_count", "SMs", "SMs of the GPU", nullptr,
     [](const Sums&, const Launch& l) { return number(uint64_t{uint32_t{l.gpu.sms}}); }},

    // What the resident warps did, by reason
    STALL(selected),
    STALL(not_selected),
    STALL(long_scoreboard),
    STALL(short_scoreboard),
    STALL(barrier),
    STALL(wait),
    STALL(math_pipe_throttle),
    STALL(lg_throttle),
    STALL(mio_throttle),
    STALL(branch_resolving),
    STALL(no_instruction),
    STALL(imc_miss),
    STALL(dispatch_stall),
    STALL(drain),
    STALL(membar),
    STALL(sleeping),
};
#undef STALL

}  // namespace

std::span<const MetricFormula> metric_table() {
    return rows;
}

}  // namespace lockstep::model
