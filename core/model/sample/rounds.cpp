// Bytes of a register's lanes are copied low end first, as everywhere in this machine.
#include "core/model/sample/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>

namespace lockstep::model {
namespace {

constexpr uint64_t periods[] = {1, 2, 3, 4, 6};  // rounds after which a register may have what it had
// So many are run: three stages of a ring are as even as a count, the fourth is the first again.
constexpr uint64_t rounds_tried = 12;

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
    : program_(program),
      loop_(loop),
      light_(steering_of(program, evidence, true)),
      steering_(evidence.steering),
      known_(evidence.counts && !loop.warps.empty()) {
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

Rounds::Stand Rounds::stand_of(const simt::Block& block) const {
    if (left_of(block) != 0) return Stand::in;
    for (const simt::Warp& warp : block.warps)
        if (warp.instructions < loop_.warps[warp.index].begin) return Stand::before;
    return Stand::behind;
}

uint64_t Rounds::within_reach(Machine& machine, const Waiting& waiting) const {
    uint64_t most = 0, least = UINT64_MAX;
    bool all = known_;
    std::map<uint32_t, uint32_t> on_sm;
    machine.each_block([&](simt::Block& block) {
        const Stand stand = stand_of(block);
        all = all && (stand == Stand::in || (waiting.blocks == 0 && stand == Stand::behind));
        if (stand != Stand::in) return;
        ++on_sm[block.sm];
        most = std::max(most, left_of(block));
        least = std::min(least, left_of(block));
    });
    if (!all || on_sm.empty()) return 0;
    if (waiting.blocks != 0) return waiting.alike ? most : least;
    std::set<uint32_t> counts;
    for (const auto& [sm, count] : on_sm) counts.insert(count);
    const bool known =
        std::all_of(counts.begin(), counts.end(), [&](uint32_t count) { return count == 1 || counts.contains(count - 1); });
    return known ? most : least;
}

uint64_t Rounds::instructions_of_round(Machine& machine) const {
    uint64_t sum = 0;
    machine.each_block([&](simt::Block& block) { sum += round_of_block(block); });
    return sum;
}

Rounds::ProgressOfBlocks Rounds::progress(Machine& machine) const {
    ProgressOfBlocks progress;
    machine.each_block([&](simt::Block& block) {
        Progress& of = progress[block.linear];
        of.sm = block.sm;
        for (const simt::Warp& warp : block.warps) of.issued += warp.instructions;
    });
    machine.each_warp([&](const simt::Warp& warp, uint64_t not_issued) {
        if (const auto of = progress.find(warp.block->linear); of != progress.end()) of->second.issued -= not_issued;
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

std::optional<Rounds::Gains> Rounds::count_on(simt::Grid& grid, simt::Block& block) {
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
    for (uint64_t ran = 0; ran <= rounds_tried; ++ran) {
        for (Followed& each : followed)
            each.values.push_back(lanes_of(copy.warps[each.warp].registers + each.reg, each.bytes));
        if (ran == rounds_tried) break;
        if (!go_on(copy, loop_, 1)) return std::nullopt;
        for (size_t w = 0; w < block.warps.size(); ++w)
            if (!same_place(block.warps[w], copy.warps[w])) return std::nullopt;
    }
    const auto even = [](const Followed& each, uint64_t period) {  // each gains the same, wherever one begins
        const uint64_t mask = each.bytes == 0 ? 0 : ~uint64_t{0} >> (64 - 8 * each.bytes);
        for (uint64_t k = 0; k + period <= rounds_tried; ++k)
            for (size_t lane = 0; lane < each.values[0].size(); ++lane) {
                const uint64_t gain = each.values[k + period][lane] - each.values[k][lane];
                const uint64_t first = each.values[k % period + period][lane] - each.values[k % period][lane];
                if (each.bytes == 0 ? gain != 0 : ((gain ^ first) & mask) != 0) return false;
            }
        return true;
    };
    for (const uint64_t period : periods) {
        if (!std::all_of(followed.begin(), followed.end(), [&](const Followed& each) { return even(each, period); }))
            continue;
        Gains all;
        all.period = period;
        for (const Followed& each : followed) {
            if (each.bytes == 0) continue;
            std::vector<uint64_t>& gains = all.registers[{each.warp, each.reg}];
            gains = each.values[period];
            for (size_t lane = 0; lane < gains.size(); ++lane) gains[lane] -= each.values[0][lane];
        }
        return all;
    }
    return std::nullopt;
}

Rounds::Paces Rounds::paces_of(const Measured& measured) const {
    std::map<uint32_t, std::vector<std::pair<uint32_t, uint64_t>>> by_sm;  // (block, instructions since); by age
    std::map<uint32_t, bool> changed;
    for (const auto& [block, to] : measured.to) {
        const auto from = measured.from.find(block);
        if (from == measured.from.end())
            changed[to.sm] = true;
        else
            by_sm[to.sm].emplace_back(block, to.issued - from->second.issued);
    }
    for (const auto& [block, from] : measured.from)
        if (!measured.to.contains(block)) changed[from.sm] = true;
    uint64_t round = 0;
    for (const LoopOfWarp& warp : loop_.warps) round += warp.length;
    Paces paces;
    std::map<uint32_t, double> seen;
    for (const auto& [sm, blocks] : by_sm) {
        if (changed.contains(sm)) continue;
        std::vector<double>& sums = paces[static_cast<uint32_t>(blocks.size())];
        sums.resize(blocks.size());
        for (size_t k = 0; k < blocks.size(); ++k)
            sums[k] += static_cast<double>(blocks[k].second) / static_cast<double>(round) / measured.cycles;
        ++seen[static_cast<uint32_t>(blocks.size())];
    }
    for (auto& [count, sums] : paces)
        for (double& sum : sums) sum /= seen[count];
    return paces;
}

// Time passes from one block's end to the next.
Rounds::LeftOut Rounds::flow(Sms& sms, const Paces& paces, double count, double behind, double between,
                             const Waiting& waiting) const {
    LeftOut out;
    uint64_t to_start = waiting.alike ? waiting.blocks : 0;
    const bool may_end = waiting.alike || waiting.blocks == 0;
    const double end = count + between, last = count - behind;
    size_t running = 0;
    for (const auto& [sm, places] : sms) running += places.size();
    const size_t warps = loop_.warps.size();
    const auto go_on_for = [&](double cycles) {
        out.cycles += cycles;
        for (auto& [sm, places] : sms) {
            if (places.empty()) continue;
            const std::vector<double>& pace = paces.at(static_cast<uint32_t>(places.size()));
            for (size_t k = 0; k < places.size(); ++k) places[k]->at += pace[k] * cycles;
            out.active_cycles += cycles;
            out.warp_cycles += static_cast<double>(places.size() * warps) * cycles;
        }
    };
    while (running > 0) {
        double soonest = HUGE_VAL, pace_of_first = 0, all_at_last = 0;
        std::vector<Place*>* there = nullptr;
        size_t first = 0;
        for (auto& [sm, places] : sms) {
            if (places.empty()) continue;
            const std::vector<double>& pace = paces.at(static_cast<uint32_t>(places.size()));
            for (size_t k = 0; k < places.size(); ++k) {
                const double cycles = pace[k] > 0 ? (end - places[k]->at) / pace[k] : HUGE_VAL;
                if (cycles < soonest) soonest = cycles, pace_of_first = pace[k], there = &places, first = k;
                all_at_last = std::max(all_at_last, pace[k] > 0 ? (last - places[k]->at) / pace[k] : HUGE_VAL);
            }
        }
        if (there == nullptr) return {};                // nothing moves
        if (to_start == 0 && all_at_last <= soonest) {  // none ends before: all run their last rounds side by side
            go_on_for(all_at_last);
            return out;
        }
        Place* const place = (*there)[first];
        const auto rest = static_cast<uint32_t>(there->size() - 1);
        if (to_start == 0 && (!may_end || running == 1 || (rest != 0 && !paces.contains(rest)))) {
            go_on_for(std::max(0.0, (last - place->at) / pace_of_first));
            return out;
        }
        go_on_for(std::max(0.0, soonest));
        there->erase(there->begin() + static_cast<std::ptrdiff_t>(first));
        if (to_start > 0) {
            --to_start;
            ++out.blocks;
            place->at = 0;
            there->push_back(place);
            if (out.blocks >= waiting.at_most) return out;
        } else {
            place->over = true;
            --running;
        }
    }
    return out;
}

// By the rounds after which all of them have gained alike.
void Rounds::Gains::add(const Gains& other) {
    const auto scale = [](std::map<Register, std::vector<uint64_t>>& all, uint64_t times) {
        for (auto& [reg, lanes] : all)
            for (uint64_t& gain : lanes) gain *= times;
    };
    const uint64_t together = std::lcm(period, other.period);
    std::map<Register, std::vector<uint64_t>> more = other.registers;
    scale(registers, together / period);
    scale(more, together / other.period);
    period = together;
    for (const auto& [reg, lanes] : more)
        if (registers.try_emplace(reg, lanes).first->second != lanes) differ.insert(reg);
}

std::optional<Rounds::Gains> Rounds::picked(const Gains& from, const simt::Block& block) {
    Gains own;
    own.period = from.period;
    for (const simt::Warp& warp : block.warps) {
        if (warp.stack.size() != 1 || !warp.frames.empty()) return std::nullopt;
        for (const int32_t reg : steering_at(warp.pc())) {
            if (program_.functions.front().lane_bytes[static_cast<size_t>(reg) / 64] == 0) continue;
            const auto found = from.registers.find({warp.index, reg});
            if (found == from.registers.end() || from.differ.contains(found->first)) return std::nullopt;
            own.registers.insert(*found);
        }
    }
    return own;
}

int64_t Rounds::move(const Place& place, const Gains& gains, int64_t behind) {
    const auto period = static_cast<int64_t>(gains.period);
    int64_t least_done = INT64_MAX;  // of all warps, which may stand a round apart
    for (const simt::Warp& warp : place.block->warps) {
        const LoopOfWarp& loop = loop_.warps[warp.index];
        least_done = std::min(least_done, static_cast<int64_t>((warp.instructions - loop.begin) / loop.length));
    }
    const int64_t most = static_cast<int64_t>(left_of(*place.block)) - behind;
    int64_t rounds = place.over ? most : static_cast<int64_t>(std::floor(place.at - place.begin));
    rounds = std::clamp<int64_t>(rounds, -least_done, std::max<int64_t>(most, -least_done)) / period;
    for (const auto& [reg, gained] : gains.registers) {
        std::byte* const at = place.block->warps[reg.first].registers + reg.second;
        const uint32_t bytes = program_.functions.front().lane_bytes[static_cast<size_t>(reg.second) / 64];
        const std::vector<uint64_t> values = lanes_of(at, bytes);
        for (size_t lane = 0; lane < values.size(); ++lane) {  // modulo 2^64, as registers count
            const uint64_t value = values[lane] + static_cast<uint64_t>(rounds) * gained[lane];
            std::memcpy(at + lane * bytes, &value, bytes);
        }
    }
    rounds *= period;
    for (simt::Warp& warp : place.block->warps)
        warp.instructions += static_cast<uint64_t>(rounds * static_cast<int64_t>(loop_.warps[warp.index].length));
    return rounds;
}

Rounds::LeftOut Rounds::leave_out(Machine& machine, std::span<const Measured> measured, uint64_t behind,
                                  const Waiting& waiting) {
    simt::Memory memory = machine.device_memory();
    simt::Grid grid = machine.grid();
    grid.memory = &memory;
    grid.program = &light_;
    grid.plan = simt::make_grid(light_, *grid.config, memory).plan;
    Paces paces;
    for (const Measured& each : measured) paces.merge(paces_of(each));
    const uint64_t count = loop_.warps.front().count;
    std::vector<Place> places;
    bool in_step = true;
    machine.each_block([&](simt::Block& block) {
        const Stand stand = stand_of(block);
        in_step = in_step && (stand == Stand::in || (waiting.blocks == 0 && stand == Stand::behind));
        if (stand == Stand::in) {
            const auto at = static_cast<double>(count - std::min(count, left_of(block)));
            places.push_back({&block, at, at});
        }
    });
    if (!in_step || places.empty()) return {};
    Sms sms;
    std::sort(places.begin(), places.end(),
              [](const Place& a, const Place& b) { return a.block->linear < b.block->linear; });
    for (Place& place : places) sms[place.block->sm].push_back(&place);
    for (const auto& [sm, there] : sms)
        if (!paces.contains(static_cast<uint32_t>(there.size()))) return {};
    const auto round = static_cast<double>(round_of_block(*places.front().block));
    double in_loop = 0;
    for (const LoopOfWarp& warp : loop_.warps) in_loop += static_cast<double>(warp.length * warp.count);
    LeftOut out = flow(sms, paces, static_cast<double>(count), static_cast<double>(behind),
                       std::max(0.0, (waiting.instructions - in_loop) / round), waiting);
    if (out.cycles <= 0) return {};
    // A block near the end of its loop gains what the others do: its own last rounds may be other ones.
    std::vector<std::optional<Gains>> gains(places.size());
    Gains of_others;
    for (size_t i = 0; i < places.size(); ++i) {
        if (left_of(*places[i].block) <= rounds_tried) continue;
        gains[i] = count_on(grid, *places[i].block);
        if (!gains[i]) {
            give_up();
            return {};
        }
        of_others.add(*gains[i]);
    }
    for (size_t i = 0; i < places.size(); ++i)
        if (!gains[i] && !(gains[i] = picked(of_others, *places[i].block))) return {};
    double moved = 0, wanted = 0;  // rounds
    for (size_t i = 0; i < places.size(); ++i) {
        const auto rounds = static_cast<double>(move(places[i], *gains[i], static_cast<int64_t>(behind)));
        moved += rounds;
        wanted += places[i].over ? rounds : places[i].at - places[i].begin;
    }
    const double of_blocks = static_cast<double>(out.blocks) * waiting.instructions;
    out.instructions = moved * round + of_blocks;
    // Blocks move by whole periods: what they are short of runs, and its time is not of the gap.
    const double share = out.instructions / (wanted * round + of_blocks);
    if (!(share > 0)) return {};
    out.cycles *= share;
    out.active_cycles *= share;
    out.warp_cycles *= share;
    out.rounds = out.instructions / round / static_cast<double>(places.size());
    return out;
}

}  // namespace lockstep::model
