// Bytes of a register's lanes are copied low end first, as everywhere in this machine.
#include "core/model/sample/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace lockstep::model {
namespace {

constexpr uint64_t periods[] = {1, 2, 3, 4, 6};  // rounds after which a register may have what it had

// Runs every warp by as many instructions as `rounds` rounds of its loop; false: some warp cannot.
bool go_on(simt::Block& block, const Loop& loop, uint64_t rounds) {
    std::vector<uint64_t> end;
    for (const simt::Warp& warp : block.warps) end.push_back(warp.instructions + rounds * loop.warps[warp.index].length);
    uint64_t threads = 0;
    for (bool moved = true; moved;) {
        moved = false;
        for (simt::Warp& warp : block.warps) {
            while (!warp.done && !warp.at_barrier && warp.instructions < end[warp.index]) {
                const uint64_t before = warp.instructions;
                const simt::WarpEvent event = simt::run(warp, end[warp.index] - before, threads);
                if (event.kind == simt::WarpEvent::Kind::fault) return false;
                if (warp.instructions == before) break;
                moved = true;
            }
        }
    }
    for (const simt::Warp& warp : block.warps)
        if (warp.done || warp.instructions != end[warp.index]) return false;
    return true;
}

bool same_place(const simt::Warp& a, const simt::Warp& b) {
    return a.at_barrier == b.at_barrier && a.exited == b.exited && a.stack == b.stack;
}

// A register's lanes of so many bytes, as numbers of 64 bits; 0: a predicate, one mask of four.
std::vector<uint64_t> lanes_of(const std::byte* at, uint32_t bytes) {
    std::vector<uint64_t> lanes(bytes == 0 ? 1 : simt::warp_size);
    const size_t each = bytes == 0 ? 4 : bytes;
    for (size_t lane = 0; lane < lanes.size(); ++lane) std::memcpy(&lanes[lane], at + lane * each, each);
    return lanes;
}

}  // namespace

Rounds::Rounds(const ptx::Program& program, const Evidence& evidence, const Loop& loop)
    : program_(program), loop_(loop), steering_(evidence.steering), known_(evidence.counts && !loop.warps.empty()) {
    known_ = known_ && program.functions.size() == 1 && !program.functions.front().lane_bytes.empty();
}

uint64_t Rounds::left_of(const simt::Block& block) const {
    uint64_t least = UINT64_MAX;
    for (const simt::Warp& warp : block.warps) {
        const LoopOfWarp& loop = loop_.warps[warp.index];
        const uint64_t end = loop.begin + loop.length * loop.count;
        if (warp.done || warp.instructions < loop.begin || warp.instructions >= end) return 0;
        least = std::min(least, (end - warp.instructions) / loop.length);
    }
    return least;
}

uint64_t Rounds::round_of_block(const simt::Block& block) const {
    uint64_t sum = 0;
    for (const simt::Warp& warp : block.warps) sum += loop_.warps[warp.index].length;
    return sum;
}

bool Rounds::all_have(Machine& machine, uint64_t rounds) const {
    bool all = known_, any = false;
    machine.each_block([&](simt::Block& block) {
        all = all && left_of(block) >= rounds;
        any = true;
    });
    return all && any;
}

uint64_t Rounds::instructions_of_round(Machine& machine) const {
    uint64_t sum = 0;
    machine.each_block([&](simt::Block& block) { sum += round_of_block(block); });
    return sum;
}

Rounds::Progress Rounds::progress(Machine& machine) const {
    Progress progress;
    machine.each_block([&](simt::Block& block) {
        uint64_t& sum = progress[block.linear];
        for (const simt::Warp& warp : block.warps) sum += warp.instructions;
    });
    return progress;
}

const std::vector<int32_t>& Rounds::steering_at(uint32_t pc) {
    const auto found = live_.find(pc);
    if (found != live_.end()) return found->second;
    const ptx::Function& kernel = program_.functions.front();
    if (!liveness_) liveness_.emplace(program_.instructions, program_.lists, kernel.begin, kernel.end);
    std::vector<int32_t> live = steering_;
    if (liveness_->known()) {
        const std::vector<int32_t> before = liveness_->before(pc);
        std::erase_if(live, [&](int32_t reg) { return !std::binary_search(before.begin(), before.end(), reg); });
    }
    return live_.emplace(pc, std::move(live)).first->second;
}

std::optional<std::vector<Rounds::Counted>> Rounds::count_on(simt::Grid& grid, simt::Block& block) {
    simt::Block copy = block;
    copy.grid = &grid;
    copy.clock = INT64_MAX / 2;  // copies that are on their way have come
    struct Followed {
        size_t warp;
        int32_t reg;
        uint32_t bytes;                             // of a lane; 0: a predicate
        std::vector<std::vector<uint64_t>> values;  // now, one round later, ...
    };
    std::vector<Followed> followed;
    const std::vector<uint8_t>& lane_bytes = program_.functions.front().lane_bytes;
    for (const simt::Warp& warp : block.warps) {
        if (!warp.frames.empty()) return std::nullopt;
        std::vector<int32_t> registers;
        for (const simt::StackEntry& entry : warp.stack)
            for (const int32_t reg : steering_at(entry.pc)) registers.push_back(reg);
        std::sort(registers.begin(), registers.end());
        registers.erase(std::unique(registers.begin(), registers.end()), registers.end());
        for (const int32_t reg : registers) {
            const uint32_t bytes = lane_bytes[static_cast<size_t>(reg) / 64];
            if (bytes > 8) return std::nullopt;
            followed.push_back({warp.index, reg, bytes, {}});
        }
    }
    const auto note = [&] {
        for (Followed& each : followed)
            each.values.push_back(lanes_of(copy.warps[each.warp].registers + each.reg, each.bytes));
    };
    const auto even = [&](const Followed& each, uint64_t period) {
        const auto &first = each.values[0], &second = each.values[period], &third = each.values[2 * period];
        if (each.bytes == 0) return first == second && second == third;
        const uint64_t mask = ~uint64_t{0} >> (64 - 8 * each.bytes);
        for (size_t lane = 0; lane < first.size(); ++lane)
            if (((second[lane] - first[lane]) & mask) != ((third[lane] - second[lane]) & mask)) return false;
        return true;
    };
    note();
    uint64_t ran = 0;
    for (const uint64_t period : periods) {
        for (; ran < 2 * period; ++ran) {
            if (!go_on(copy, loop_, 1)) return std::nullopt;
            note();
            for (size_t w = 0; w < block.warps.size(); ++w)
                if (!same_place(block.warps[w], copy.warps[w])) return std::nullopt;
        }
        if (!std::all_of(followed.begin(), followed.end(), [&](const Followed& each) { return even(each, period); }))
            continue;
        std::vector<Counted> all;
        for (const Followed& each : followed) {
            if (each.bytes == 0) continue;
            Counted counted{block.warps[each.warp].registers + each.reg, each.bytes, period, each.values[0],
                            each.values[period]};
            for (size_t lane = 0; lane < counted.gains.size(); ++lane) counted.gains[lane] -= counted.values[lane];
            all.push_back(std::move(counted));
        }
        return all;
    }
    return std::nullopt;
}

Rounds::LeftOut Rounds::leave_out(Machine& machine, const Progress& from, const Progress& to, double cycles,
                                  uint64_t behind) {
    simt::Memory memory = machine.device_memory();
    simt::Grid grid = machine.grid();
    grid.memory = &memory;
    struct Of {
        simt::Block* block;
        double pace;  // rounds a cycle
        std::vector<Counted> registers;
        uint64_t period = 1, rounds = 0;
    };
    std::vector<Of> blocks;
    LeftOut out;
    double gap = HUGE_VAL;
    bool counts = true;
    machine.each_block([&](simt::Block& block) {
        const auto begin = from.find(block.linear), end = to.find(block.linear);
        counts = counts && begin != from.end() && end != to.end() && end->second > begin->second;
        if (!counts) return;
        std::optional<std::vector<Counted>> registers = count_on(grid, block);
        counts = registers.has_value();
        if (!counts) return;
        const auto round = static_cast<double>(round_of_block(block));
        Of of{&block, static_cast<double>(end->second - begin->second) / round / cycles, std::move(*registers)};
        for (const Counted& each : of.registers) of.period = std::lcm(of.period, each.period);
        gap = std::min(gap, static_cast<double>(left_of(block) - behind) / of.pace);
        blocks.push_back(std::move(of));
    });
    if (!counts || blocks.empty()) return {};
    uint64_t rounds = 0;
    for (Of& of : blocks) {
        of.rounds = static_cast<uint64_t>(gap * of.pace) / of.period * of.period;
        rounds += of.rounds;
        out.instructions += of.rounds * round_of_block(*of.block);
    }
    if (rounds == 0) return {};
    for (const Of& of : blocks) {
        for (const Counted& each : of.registers)
            for (size_t lane = 0; lane < each.values.size(); ++lane) {
                const uint64_t value = each.values[lane] + of.rounds / each.period * each.gains[lane];
                std::memcpy(each.at + lane * each.bytes, &value, each.bytes);
            }
        for (simt::Warp& warp : of.block->warps) warp.instructions += of.rounds * loop_.warps[warp.index].length;
    }
    out.cycles = gap;
    out.rounds = rounds / blocks.size();
    return out;
}

}  // namespace lockstep::model
