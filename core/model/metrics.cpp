// The metrics: one row a metric with its short name, Nsight Compute's name, unit and formula. Names that begin with
// lockstep__ have no counterpart there. A formula sees the sums over some instructions (`s`: all of them, or those of one
// source line) and, for the whole launch only, its totals (`l`).
#include "core/model/metrics.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/base/nearest.h"

namespace lockstep::model {
namespace {

struct Sums {
    InstructionCounters all, loads, stores, atomics;  // the last three: of global memory
};
struct Launch {
    const GpuSpec& gpu;
    const Occupancy& occupancy;
    LaunchTotals totals;
    double time_us = 0;
};
using LineFormula = double (*)(const Sums& s);
using LaunchFormula = double (*)(const Sums& s, const Launch& l);

struct Row {
    std::string_view name, nsight, unit, summary;
    LineFormula by_line = nullptr;
    LaunchFormula whole = nullptr;  // where by_line is null
};

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
template <StallReason reason>
uint64_t stalled(const Sums& s) {
    return s.all.stalls[static_cast<size_t>(reason)];
}
uint64_t resident(const Sums& s) {
    uint64_t sum = 0;
    for (const uint64_t cycles : s.all.stalls) sum += cycles;
    return sum;
}

// A reason's share of all resident warp cycles, and Nsight's ratio: warps in that state per issuing scheduler cycle.
template <StallReason reason>
double share(const Sums& s) {
    return percent(stalled<reason>(s), resident(s));
}
template <StallReason reason>
double per_issue(const Sums& s, const Launch& l) {
    return ratio(stalled<reason>(s), l.totals.issue_cycles);
}
#define STALL(reason)                                                                                                   \
    {"stall_" #reason, "lockstep__warp_cycles_" #reason ".pct", "%", "share of the resident warps' cycles",             \
     share<StallReason::reason>},                                                                                       \
    {                                                                                                                   \
        "stall_" #reason "_per_issue", "smsp__average_warps_issue_stalled_" #reason "_per_issue_active.ratio", "warps", \
            "warps in this state in a cycle that issues", nullptr, per_issue<StallReason::reason>                       \
    }

constexpr Row rows[] = {
    {"cycles", "sm__cycles_elapsed.max", "cycles", "from the first block's start to the last one's end", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.cycles); }},
    {"time_us", "gpu__time_duration.sum", "us", "cycles at the boost clock", nullptr,
     [](const Sums&, const Launch& l) { return l.time_us; }},
    {"warp_instructions", "smsp__inst_executed.sum", "instructions", "warp instructions issued",
     [](const Sums& s) { return number(s.all.issues); }},
    {"thread_instructions", "smsp__thread_inst_executed_pred_on.sum", "instructions",
     "lanes that executed, summed over warp instructions", [](const Sums& s) { return number(s.all.executed); }},
    {"issue_slot_utilization", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%",
     "scheduler cycles that issued, of those with a resident warp", nullptr,
     [](const Sums&, const Launch& l) { return percent(l.totals.issue_cycles, l.totals.scheduler_cycles); }},
    {"ipc", "sm__inst_executed.avg.per_cycle_active", "instructions/cycle", "warp instructions an active SM and cycle",
     nullptr, [](const Sums& s, const Launch& l) { return ratio(s.all.issues, l.totals.active_cycles); }},
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
    {"global_load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests", "global load instructions",
     [](const Sums& s) { return number(s.loads.requests); }},
    {"global_load_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors", "32-byte sectors they touched",
     [](const Sums& s) { return number(s.loads.sectors); }},
    {"sectors_per_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sectors/request",
     "sectors a global load", [](const Sums& s) { return ratio(s.loads.sectors, s.loads.requests); }},
    {"global_store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests", "global store instructions",
     [](const Sums& s) { return number(s.stores.requests); }},
    {"global_store_sectors", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors", "32-byte sectors they touched",
     [](const Sums& s) { return number(s.stores.sectors); }},
    {"sectors_per_store_request", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio", "sectors/request",
     "sectors a global store", [](const Sums& s) { return ratio(s.stores.sectors, s.stores.requests); }},
    {"global_atomic_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "requests", "global atomics",
     [](const Sums& s) { return number(s.atomics.requests); }},
    {"shared_requests", "smsp__inst_executed_op_shared.sum", "requests", "shared-memory instructions",
     [](const Sums& s) { return number(s.all.shared_requests); }},
    {"shared_passes", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "passes", "passes over the banks that they took",
     [](const Sums& s) { return number(s.all.shared_passes); }},
    {"bank_conflict_passes", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "passes",
     "passes beyond the first of each instruction",
     [](const Sums& s) { return number(s.all.shared_passes - s.all.shared_requests); }},
    {"shared_passes_per_request", "lockstep__shared_passes_per_request.ratio", "passes/request",
     "1 without bank conflicts, for 4-byte accesses",
     [](const Sums& s) { return ratio(s.all.shared_passes, s.all.shared_requests); }},
    {"l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "%", "sectors of loads that L1 had, or had asked for already",
     [](const Sums& s) { return percent(s.all.l1_hits, s.all.l1_sectors); }},
    {"l2_hit_rate", "lts__t_sector_hit_rate.pct", "%", "sectors that L2 had, or had asked for already",
     [](const Sums& s) { return percent(s.all.l2_hits, s.all.l2_sectors); }},
    {"dram_bytes", "dram__bytes.sum", "bytes", "read from and written to DRAM", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.dram_read + l.totals.dram_written); }},
    {"dram_read_bytes", "dram__bytes_read.sum", "bytes", "read from DRAM", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.dram_read); }},
    {"dram_write_bytes", "dram__bytes_write.sum", "bytes", "written to DRAM; what L2 still holds is not", nullptr,
     [](const Sums&, const Launch& l) { return number(l.totals.dram_written); }},
    {"dram_utilization", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "of the DRAM's peak bandwidth", nullptr,
     [](const Sums&, const Launch& l) {
         return percent(l.totals.dram_read + l.totals.dram_written,
                        static_cast<double>(l.totals.cycles) * l.totals.dram_bytes_per_cycle);
     }},
    {"achieved_occupancy", "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
     "resident warps of those an SM can hold, while it has a block", nullptr,
     [](const Sums&, const Launch& l) {
         return percent(l.totals.warp_cycles, number(l.totals.active_cycles) * l.gpu.warps_per_sm);
     }},
    {"theoretical_occupancy", "sm__maximum_warps_per_active_cycle_pct", "%", "what the block's resources allow", nullptr,
     [](const Sums&, const Launch& l) { return 100 * l.occupancy.fraction; }},
    {"waves", "launch__waves_per_multiprocessor", "waves", "blocks over all resident places of the GPU", nullptr,
     [](const Sums&, const Launch& l) { return waves(l); }},
    {"tail_efficiency", "lockstep__tail_efficiency.pct", "%",
     "waves over waves rounded up: places filled, were blocks alike", nullptr,
     [](const Sums&, const Launch& l) { return percent(waves(l), std::ceil(waves(l))); }},
    {"sm_efficiency", "lockstep__active_sm_cycles.pct", "%", "SM cycles with a resident block, of all", nullptr,
     [](const Sums&, const Launch& l) { return percent(l.totals.active_cycles, number(l.totals.cycles) * l.gpu.sms); }},
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
    STALL(dispatch_stall),
    STALL(drain),
    STALL(membar),
    STALL(sleeping),
};
#undef STALL

void add(InstructionCounters& sum, const InstructionCounters& c) {
    sum.issues += c.issues, sum.lanes += c.lanes, sum.executed += c.executed;
    sum.requests += c.requests, sum.sectors += c.sectors;
    sum.l1_sectors += c.l1_sectors, sum.l1_hits += c.l1_hits, sum.l2_sectors += c.l2_sectors, sum.l2_hits += c.l2_hits;
    sum.shared_requests += c.shared_requests, sum.shared_passes += c.shared_passes;
    sum.branches += c.branches, sum.divergent_branches += c.divergent_branches;
    for (size_t i = 0; i < std::size(sum.stalls); ++i) sum.stalls[i] += c.stalls[i];
}

template <class Wanted>
Sums sums_of(const ptx::Program& program, const TimedResult& result, const Wanted& wanted) {
    Sums sums;
    for (uint32_t pc = 0; pc < result.instructions.size(); ++pc) {
        if (!wanted(pc)) continue;
        const InstructionCounters& c = result.instructions[pc];
        add(sums.all, c);
        if (pc >= program.instructions.size() || c.requests == 0) continue;
        const ptx::DecodedInstruction& in = program.instructions[pc];
        if (in.space == ptx::Space::local) continue;
        if (in.kind == ptx::Kind::load || in.kind == ptx::Kind::matrix_load) add(sums.loads, c);
        if (in.kind == ptx::Kind::store || in.kind == ptx::Kind::matrix_store) add(sums.stores, c);
        if (in.kind == ptx::Kind::atomic) add(sums.atomics, c);
    }
    return sums;
}

const Row* row_named(std::string_view name) {
    for (const Row& row : rows)
        if (row.name == name || row.nsight == name) return &row;
    return nullptr;
}

Diagnostic unknown(std::string_view name) {
    std::vector<std::string> known;
    for (const Row& row : rows) {
        known.emplace_back(row.name);
        known.emplace_back(row.nsight);
    }
    const std::string near = nearest_name(std::string(name), known);
    return Diagnostic{"unknown metric '" + std::string(name) + "'" +
                      (near.empty() ? std::string() : ", did you mean '" + near + "'?")};
}

// "7" or "3..9", both ends included.
bool parse_range(std::string_view text, uint32_t& first, uint32_t& last) {
    const size_t dots = text.find("..");
    const auto parse = [](std::string_view digits, uint32_t& value) {
        const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        return parsed.ec == std::errc{} && parsed.ptr == digits.data() + digits.size();
    };
    if (!parse(text.substr(0, dots), first)) return false;
    last = first;
    return dots == std::string_view::npos || (parse(text.substr(dots + 2), last) && last >= first);
}

}  // namespace

std::vector<MetricRow> metric_rows() {
    std::vector<MetricRow> list;
    for (const Row& row : rows) list.push_back({row.name, row.nsight, row.unit, row.by_line != nullptr, row.summary});
    return list;
}

std::vector<Metric> compute_metrics(const GpuSpec& gpu, const ptx::Program& program, const TimedResult& result,
                                    const LaunchTotals& totals) {
    const Sums sums = sums_of(program, result, [](uint32_t) { return true; });
    const Launch whole{gpu, result.occupancy, totals, result.time_us};
    std::vector<Metric> metrics;
    for (const Row& row : rows)
        metrics.push_back({row.name, row.nsight, row.unit, row.by_line ? row.by_line(sums) : row.whole(sums, whole)});
    return metrics;
}

Result<double> metric_of(const ptx::Program& program, const TimedResult& result, std::string_view name) {
    const size_t at = name.find('@');
    const std::string_view base = name.substr(0, at);
    const Row* const row = row_named(base);
    if (row == nullptr) return unknown(base);
    if (at == std::string_view::npos) {
        for (const Metric& metric : result.metrics)
            if (metric.name == row->name) return metric.value;
        return Diagnostic{"the launch has no metrics"};
    }
    const std::string_view place = name.substr(at + 1);
    const size_t colon = place.find(':');
    const std::string_view kind = place.substr(0, colon);
    uint32_t first = 0, last = 0;
    if ((kind != "line" && kind != "pc") || colon == std::string_view::npos ||
        !parse_range(place.substr(colon + 1), first, last))
        return Diagnostic{"'" + std::string(place) + "' is no place in a kernel: write @line:7, @line:7..9 or @pc:3"};
    if (row->by_line == nullptr)
        return Diagnostic{"'" + std::string(row->name) + "' is of the whole launch, it has no value for one line"};
    uint64_t instructions = 0;
    const Sums sums = sums_of(program, result, [&](uint32_t pc) {
        const bool inside = pc < program.instructions.size() &&
                            (kind == "pc" ? pc >= first && pc <= last
                                          : program.instructions[pc].line >= static_cast<int64_t>(first) &&
                                                program.instructions[pc].line <= static_cast<int64_t>(last));
        instructions += inside ? 1 : 0;
        return inside;
    });
    if (instructions == 0) return Diagnostic{"the kernel has no instruction at " + std::string(place)};
    return row->by_line(sums);
}

}  // namespace lockstep::model
