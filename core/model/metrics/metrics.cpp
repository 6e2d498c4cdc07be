// Counters sorted by what their instructions do, and metrics looked up by name. The metrics themselves: metric_rows.cpp.
#include "core/model/metrics/metrics.h"

#include <algorithm>
#include <charconv>

#include "core/base/nearest.h"
#include "core/model/issue/ticks.h"
#include "core/model/issue/timing.h"
#include "core/model/memory/coalescer.h"
#include "core/ptx/decode/views_async.h"

namespace lockstep::model {
namespace {

const MetricFormula* row_named(std::string_view name) {
    for (const MetricFormula& row : metric_table())
        if (row.name == name || row.nsight == name) return &row;
    return nullptr;
}

Diagnostic unknown(std::string_view name) {
    std::vector<std::string> known;
    for (const MetricFormula& row : metric_table()) {
        known.emplace_back(row.name);
        known.emplace_back(row.nsight);
    }
    if (name.empty()) return Diagnostic{"a metric's name is missing, as in sectors_per_request@line:7"};
    return Diagnostic{"unknown metric '" + std::string(name) + "'" +
                      did_you_mean(name, known, ": --metrics all shows every one with its name")};
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

// For how long instructions take their pipes, and the data pipe of L1 and shared memory, all SMs.
void add_pipes(MetricLaunch& launch, std::span<const Timing> timing, std::span<const InstructionCounters> counters) {
    const double memory_interval = 32.0 / launch.gpu.lsu_lanes;
    for (size_t pc = 0; pc < std::min(counters.size(), timing.size()); ++pc) {
        const InstructionCounters& c = counters[pc];
        const Timing& t = timing[pc];
        if (t.folded) continue;  // it takes no issue slot, no pipe and no banks of its own
        const bool memory = t.route == Route::memory || t.route == Route::shuffle;
        launch.pipe_cycles[unit_of(t.pipe) % std::size(launch.pipe_cycles)] +=
            static_cast<double>(c.issues) * (memory                 ? memory_interval
                                             : t.pipe == heavy_pipe ? t.interval / 2.0  // of the unit's lanes the half
                                                                    : t.interval);
        if (!memory) continue;
        launch.l1_cycles += static_cast<double>(c.data_pipe) / static_cast<double>(ticks_a_cycle);
    }
}

// Passes that the bytes of the lanes do not explain, 128 a pass: Nsight Compute calls the four passes of a full 16-byte
// load no conflict either (NVIDIA's developer forum, "bank_conflicts metric vs wavefronts for shared memory LDS.128").
uint64_t conflicts_of(const InstructionCounters& c) {
    const uint64_t needed = std::max(c.shared_requests, (c.shared_bytes + line_bytes - 1) / line_bytes);
    return c.shared_passes - std::min(c.shared_passes, needed);
}

}  // namespace

std::vector<MetricRow> metric_rows() {
    std::vector<MetricRow> list;
    for (const MetricFormula& row : metric_table())
        list.push_back({row.name, row.nsight, row.unit, row.by_line != nullptr, row.summary});
    return list;
}

void add_to(Sums& sums, const ptx::DecodedInstruction& instruction, const InstructionCounters& counters) {
    sums.all += counters;
    add_to(sums.operations, instruction, counters);
    if (counters.requests == 0 && counters.shared_requests == 0) return;
    const bool local = instruction.space == ptx::Space::local;
    InstructionCounters* far = nullptr;   // of global or local memory
    InstructionCounters* near = nullptr;  // of shared memory
    switch (ptx::facts_of(instruction).access) {
        case ptx::Access::none:
            break;
        case ptx::Access::load:
            far = local ? &sums.local_loads : &sums.loads;
            near = &sums.shared_loads;
            break;
        case ptx::Access::store:
            far = local ? &sums.local_stores : &sums.stores;
            near = &sums.shared_stores;
            break;
        case ptx::Access::atomic:
            far = &sums.atomics;
            near = &sums.shared_atomics;
            break;
        case ptx::Access::copy:
            far = &sums.copies;
            near = &sums.shared_stores;
            break;
        case ptx::Access::texture:
            far = &sums.textures;
            break;
        case ptx::Access::surface_load:
            far = &sums.surface_loads;
            break;
        case ptx::Access::surface_store:
            far = &sums.surface_stores;
            break;
    }
    if (far != nullptr && counters.requests != 0) *far += counters;
    sums.conflicts += conflicts_of(counters);
    if (near == nullptr || counters.shared_requests == 0) return;
    *near += counters;
    (near == &sums.shared_loads    ? sums.load_conflicts
     : near == &sums.shared_stores ? sums.store_conflicts
                                   : sums.atomic_conflicts) += conflicts_of(counters);
}

std::vector<Metric> compute_metrics(const GpuSpec& gpu, const ptx::Program& program, const TimedResult& result,
                                    std::span<const InstructionCounters> counters, const LaunchTotals& totals) {
    const Sums sums = sums_of(program, counters, [](uint32_t) { return true; });
    MetricLaunch whole{gpu, program, result.occupancy, totals, static_cast<double>(totals.cycles) / gpu.boost_mhz};
    if (result.timing) add_pipes(whole, *result.timing, counters);
    std::vector<Metric> metrics;
    for (const MetricFormula& row : metric_table())
        metrics.push_back({row.name, row.nsight, row.unit, row.by_line ? row.by_line(sums) : row.whole(sums, whole)});
    return metrics;
}

Result<double> metric_of(const ptx::Program& program, const TimedResult& result, std::string_view name) {
    const size_t at = name.find('@');
    const std::string_view base = name.substr(0, at);
    const MetricFormula* const row = row_named(base);
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
    // A table of all instructions asks for one after the other: only those asked for are looked at.
    const bool by_pc = kind == "pc";
    const size_t known = std::min(program.instructions.size(), result.instructions.size());
    const size_t begin = by_pc ? std::min<size_t>(first, known) : 0;
    const size_t end = by_pc ? std::min<size_t>(size_t{last} + 1, known) : known;
    uint64_t instructions = 0;
    Sums sums;
    for (size_t pc = begin; pc < end; ++pc) {
        const int64_t line = program.instructions[pc].line;
        if (!by_pc && (line < int64_t{first} || line > int64_t{last})) continue;
        ++instructions;
        add_to(sums, program.instructions[pc], result.instructions[pc]);
    }
    if (instructions == 0) return Diagnostic{"the kernel has no instruction at " + std::string(place)};
    return row->by_line(sums);
}

}  // namespace lockstep::model
