#include "core/model/advice/facts.h"

#include <algorithm>
#include <bit>
#include <sstream>

#include "core/model/issue/timing.h"
#include "core/simt/history/history.h"

namespace lockstep::model::advice {
namespace {
constexpr uint64_t steps_looked_at = 20'000;  // of the first warp, for the distances between its lanes' addresses
}  // namespace

Facts::Facts(const KernelRun& kernel_run)
    : run(kernel_run),
      program(*kernel_run.program),
      result(kernel_run.result),
      persistent(persistent_loop(*kernel_run.program)) {
    for (uint32_t pc = 0; pc < result.instructions.size(); ++pc) {
        all += result.instructions[pc];
        slots += result.instructions[pc].issues * slots_of(pc);
    }
    for (const uint64_t cycles : all.stalls) warp_cycles += static_cast<double>(cycles);
}

double Facts::metric(std::string_view name) const {
    for (const Metric& row : result.metrics)
        if (row.name == name) return row.value;
    return 0;
}

double Facts::share(StallReason reason) const {
    return warp_cycles > 0 ? static_cast<double>(all.stalls[static_cast<size_t>(reason)]) / warp_cycles : 0;
}

Place Facts::longest_wait(StallReason reason) const {
    const auto of = [&](const InstructionCounters& c) { return c.stalls[static_cast<size_t>(reason)]; };
    const auto waiting = lines([&](const ptx::DecodedInstruction&, const InstructionCounters& c) { return of(c) > 0; },
                               [&](const LineSum& line) { return of(line.sum); });
    return waiting.empty() ? Place{} : waiting.front().place;
}

double Facts::busiest() const {
    return 0.01 * std::max({metric("issue_slot_utilization"), metric("sm_throughput"), metric("memory_throughput")});
}

uint32_t Facts::slots_of(uint32_t pc) const {
    if (result.timing == nullptr || pc >= result.timing->size()) return 1;
    const Timing& timing = (*result.timing)[pc];
    return timing.folded ? 0 : 1u + timing.more_slots;
}

std::string Facts::file_of(const Place& place) const {
    const auto file = static_cast<size_t>(std::max(0, place.first));
    return place.first > 0 && file < program.files.size() ? program.files[file] : program.ptx_file;
}

std::string Facts::at(const Place& place) const {
    return place.second <= 0 ? std::string() : file_of(place) + ":" + std::to_string(place.second);
}

std::string Facts::text_of_line(const Place& place) const {
    if (place.second <= 0 || file_of(place) != program.source_file) return {};
    std::istringstream in(run.source);
    std::string line;
    for (int32_t number = 0; number < place.second; ++number)
        if (!std::getline(in, line)) return {};
    return line;
}

void Facts::add(LineSum& line, uint32_t pc, const ptx::DecodedInstruction& in, const InstructionCounters& counters) const {
    const auto weight = [](const InstructionCounters& c) { return c.sectors + c.shared_passes + c.issues; };
    if (line.sum.issues == 0 || weight(counters) > weight(result.instructions[line.pc])) line.pc = pc;
    line.pcs.push_back(pc);
    line.sum += counters;
    line.needed += std::max<uint64_t>(counters.requests, counters.used_bytes / 32);
    line.slots += counters.issues * slots_of(pc);
    line.lane_bytes = std::max(line.lane_bytes, static_cast<uint32_t>(ptx::size_of(in.type)) * in.vector);
}

const simt::WarpHistory& Facts::first_warp() const {
    if (history_ == nullptr) {
        history_ = std::make_shared<simt::WarpHistory>();
        if (run.before != nullptr) *history_ = simt::record_warp(program, run.config, *run.before, 0, 0, steps_looked_at);
    }
    return *history_;
}

Facts::Lanes Facts::lanes_at(uint32_t pc) const {
    for (const simt::WarpAccess& access : first_warp().accesses) {
        if (access.pc != pc || std::popcount(access.lanes) < 2) continue;
        std::map<int64_t, uint32_t> distances;
        uint32_t pairs = 0;
        Lanes lanes{
            .seen = true, .stride = {}, .first = access.addresses[std::countr_zero(access.lanes)], .to_next_row = {}};
        const uint32_t row = std::max(1u, run.config.block.x);
        for (uint32_t lane = 0; lane + 1 < simt::warp_size; ++lane) {
            if ((access.lanes >> lane & 3) != 3) continue;
            const auto distance = static_cast<int64_t>(access.addresses[lane + 1] - access.addresses[lane]);
            if (row > 1 && (lane + 1) % row == 0) {
                if (!lanes.to_next_row) lanes.to_next_row = distance;
                continue;
            }
            ++pairs;
            ++distances[distance];
        }
        if (pairs == 0) continue;
        const auto most = std::max_element(distances.begin(), distances.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        if (most->second * 4 >= pairs * 3) lanes.stride = most->first;
        return lanes;
    }
    return {};
}

Facts::Lanes Facts::lanes_of(const LineSum& line) const {
    const Lanes lanes = lanes_at(line.pc);
    if (lanes.seen) return lanes;
    for (const uint32_t pc : line.pcs)
        if (const Lanes other = lanes_at(pc); other.seen) return other;
    return {};
}

Finding finding_at(const Facts& facts, std::string_view rule, const Place& place) {
    Finding finding;
    finding.rule = rule;
    if (place.second > 0) {
        finding.file = facts.file_of(place);
        finding.line = place.second;
    }
    return finding;
}

}  // namespace lockstep::model::advice
