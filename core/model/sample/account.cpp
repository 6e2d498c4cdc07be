#include "core/model/sample/account.h"

#include <algorithm>
#include <cmath>

namespace lockstep::model {
namespace {

// Visits every counter of an instruction.
template <class Counters, class Visit>
void each_counter(Counters& c, const Visit& visit) {
    for (auto* const counter : {&c.issues,
                                &c.lanes,
                                &c.executed,
                                &c.shared_requests,
                                &c.shared_passes,
                                &c.shared_bytes,
                                &c.branches,
                                &c.divergent_branches,
                                &c.requests,
                                &c.sectors,
                                &c.bytes,
                                &c.used_bytes,
                                &c.l1_sectors,
                                &c.l1_hits,
                                &c.l2_sectors,
                                &c.l2_hits,
                                &c.atomic_lanes,
                                &c.atomic_words,
                                &c.atomic_queue,
                                &c.data_pipe,
                                &c.constant_requests,
                                &c.constant_addresses})
        visit(*counter);
    for (auto& stall : c.stalls) visit(stall);
}

constexpr size_t of_ended_warps = 8;  // cycles of warps, in front of the instructions

uint64_t rounded(double value) {
    return static_cast<uint64_t>(std::llround(std::max(0.0, value)));
}

}  // namespace

void multiply(InstructionCounters& counters, double times) {
    each_counter(counters, [&](uint64_t& counter) { counter = rounded(times * static_cast<double>(counter)); });
}

void Account::keep_loop(uint32_t begin, uint32_t end) {
    if (values.empty()) return;
    values[of_ended_warps] = 0;
    size_t each = 0;
    InstructionCounters any;
    each_counter(any, [&](const uint64_t&) { ++each; });
    for (size_t at = of_ended_warps + 1, pc = 0; at < values.size(); at += each, ++pc)
        if (pc < begin || pc >= end) std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(at), each, 0.0);
}

Account::Account(const Counted& counted) {
    const CycleTotals& totals = counted.totals;
    values = {static_cast<double>(counted.warp_instructions), static_cast<double>(counted.thread_instructions),
              static_cast<double>(totals.issue_cycles),       static_cast<double>(totals.issued),
              static_cast<double>(totals.dram_read),          static_cast<double>(totals.dram_written),
              static_cast<double>(totals.l2_reads),           static_cast<double>(totals.l2_writes),
              static_cast<double>(counted.warp_cycles)};
    for (const InstructionCounters& each : counted.instructions)
        each_counter(each, [&](const uint64_t& counter) { values.push_back(static_cast<double>(counter)); });
}

void Account::add(const Account& other, double times) {
    values.resize(std::max(values.size(), other.values.size()));
    for (size_t i = 0; i < other.values.size(); ++i) values[i] += times * other.values[i];
}

void add_to(TimedResult& result, const Account& more) {
    if (more.values.empty()) return;
    size_t at = 0;
    result.warp_instructions += rounded(more.values[at++]);
    result.thread_instructions += rounded(more.values[at++]);
    result.totals.issue_cycles += static_cast<int64_t>(rounded(more.values[at++]));
    result.totals.issued += static_cast<int64_t>(rounded(more.values[at++]));
    result.totals.dram_read += rounded(more.values[at++]);
    result.totals.dram_written += rounded(more.values[at++]);
    result.totals.l2_reads += rounded(more.values[at++]);
    result.totals.l2_writes += rounded(more.values[at++]);
    result.totals.warp_cycles += static_cast<int64_t>(rounded(more.values[at++]));
    for (InstructionCounters& each : result.instructions)
        each_counter(each, [&](uint64_t& counter) { counter += rounded(more.values[at++]); });
}

}  // namespace lockstep::model
