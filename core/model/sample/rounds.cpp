// Bytes of a register's lanes are copied low end first, as everywhere in this machine.
#include "core/model/sample/rounds.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/ptx/analyse/dataflow.h"

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

std::optional<uint64_t> Rounds::left(Machine& machine) const {
    uint64_t least = UINT64_MAX;
    bool all = known_, any = false;
    machine.each_block([&](simt::Block& block) {
        for (const simt::Warp& warp : block.warps) {
            const LoopOfWarp& loop = loop_.warps[warp.index];
            any = true;
            const uint64_t end = loop.begin + loop.length * loop.count;
            if (warp.done || warp.instructions < loop.begin || warp.instructions >= end)
                all = false;
            else
                least = std::min(least, (end - warp.instructions) / loop.length);
        }
    });
    if (!all || !any) return std::nullopt;
    return least;
}

uint64_t Rounds::instructions_of_round(Machine& machine) const {
    uint64_t sum = 0;
    machine.each_block([&](simt::Block& block) {
        for (const simt::Warp& warp : block.warps) sum += loop_.warps[warp.index].length;
    });
    return sum;
}

const std::vector<int32_t>& Rounds::steering_at(uint32_t pc) {
    const auto found = live_.find(pc);
    if (found != live_.end()) return found->second;
    const ptx::Function& kernel = program_.functions.front();
    const ptx::Liveness liveness(program_.instructions, program_.lists, kernel.begin, kernel.end);
    std::vector<int32_t> live = steering_;
    if (liveness.known()) {
        const std::vector<int32_t> before = liveness.before(pc);
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

uint64_t Rounds::leave_out(Machine& machine, uint64_t most) {
    simt::Memory memory = machine.device_memory();
    simt::Grid grid = machine.grid();
    grid.memory = &memory;
    std::vector<Counted> all;
    uint64_t together = 1;  // a period of all
    bool counts = true;
    machine.each_block([&](simt::Block& block) {
        if (!counts) return;
        std::optional<std::vector<Counted>> more = count_on(grid, block);
        counts = more.has_value();
        if (!counts) return;
        for (Counted& each : *more) {
            together = std::lcm(together, each.period);
            all.push_back(std::move(each));
        }
    });
    const uint64_t rounds = most / together * together;
    if (!counts || rounds == 0) return 0;
    for (Counted& each : all)
        for (size_t lane = 0; lane < each.values.size(); ++lane) {
            const uint64_t value = each.values[lane] + rounds / each.period * each.gains[lane];
            std::memcpy(each.at + lane * each.bytes, &value, each.bytes);
        }
    machine.each_block([&](simt::Block& block) {
        for (simt::Warp& warp : block.warps) warp.instructions += rounds * loop_.warps[warp.index].length;
    });
    return rounds;
}

}  // namespace lockstep::model
