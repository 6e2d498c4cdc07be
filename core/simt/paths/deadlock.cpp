// The wait-for list: who waits where, and for whom. Paths that wait alike are one clause; the clauses stand in the order of
// the program. On a warp with a stack, whether independent threads would have come through is found out by trying.
#include <algorithm>
#include <map>

#include "core/simt/async/async_work.h"
#include "core/simt/check/faults.h"
#include "core/simt/driver.h"
#include "core/simt/paths/causes.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

using Why = PathWait::Why;

namespace {

struct Subject {
    uint32_t warp = 0;
    uint32_t lanes = 0;
    bool whole = false;  // all live lanes of the warp
};
struct Clause {  // "{wait|waits} at barrier 1 on line 7"
    std::string verb, rest;
    std::vector<Subject> who;
};
using Clauses = std::map<std::pair<uint32_t, std::string>, Clause>;

// "0-3, 7" of a sorted list.
template <class Numbers>
std::string ranges(const Numbers& numbers) {
    std::string text;
    for (size_t i = 0; i < numbers.size(); ++i) {
        size_t last = i;
        while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
        text += (i ? ", " : "") + std::to_string(numbers[i]);
        if (last > i) text += "-" + std::to_string(numbers[last]);
        i = last;
    }
    return text;
}

std::string lanes_text(uint32_t mask) {
    std::vector<uint32_t> lanes;
    for (; mask; mask &= mask - 1) lanes.push_back(static_cast<uint32_t>(__builtin_ctz(mask)));
    return (lanes.size() == 1 ? "lane " : "lanes ") + ranges(lanes);
}

std::string conjugated(const std::string& verb, bool one) {
    return one ? verb + "s" : verb;
}

// What lanes that are not here do instead: "lanes 16-31, which wait to meet others on line 9".
std::string elsewhere(const Warp& warp, uint32_t lanes) {
    const ptx::Program& program = *warp.block->grid->program;
    std::string text;
    const uint32_t left = lanes & warp.exited;
    const auto add = [&](uint32_t part, const std::string& what) {
        text += (text.empty() ? "" : " and ") + lanes_text(part) + what;
    };
    if (left) add(left, ", which " + std::string(__builtin_popcount(left) == 1 ? "has" : "have") + " ended");
    uint32_t seen = 0;
    for (size_t i = warp.stack.size(); i-- > 0;) {
        const StackEntry& entry = warp.stack[i];
        const uint32_t part = entry.mask & ~seen & lanes;
        seen |= entry.mask;
        if (part)
            add(part, ", which " + std::string(__builtin_popcount(part) == 1 ? "is" : "are") + " on " +
                          place_of(program, entry.pc));
    }
    return text;
}

void add_path(Clauses& clauses, const Warp& warp, uint32_t lanes, uint32_t pc, const std::string& verb,
              const std::string& rest) {
    Clause& clause = clauses[{pc, rest}];
    clause.verb = verb;
    clause.rest = rest;
    clause.who.push_back({warp.index, lanes, !(~warp.exited & ~lanes)});
}

void add_warp(Clauses& clauses, const Warp& warp) {
    const ptx::Program& program = *warp.block->grid->program;
    if (warp.at_barrier && warp.barrier_lanes) {
        const auto threads =
            warp.barrier_threads ? " (for " + std::to_string(warp.barrier_threads) + " threads)" : std::string();
        return add_path(
            clauses, warp, ~warp.exited, warp.barrier_pc, "wait",
            " at barrier " + std::to_string(warp.barrier) + threads + " on " + place_of(program, warp.barrier_pc));
    }
    for (size_t i = 0; i < warp.stack.size(); ++i) {
        const StackEntry& entry = warp.stack[i];
        const PathWait wait = warp.waits.empty() ? PathWait{} : warp.waits[i];
        const std::string on = " on " + place_of(program, entry.pc);
        if (!is_leaf(warp, i)) {
            const uint32_t lanes = waiting_to_meet(warp, i);
            if (!lanes) continue;
            add_path(clauses, warp, lanes, entry.pc, "wait",
                     on + " for " + lanes_text(entry.mask & ~lanes) + ", where their paths meet again");
        } else if (wait.why == Why::barrier) {
            const auto threads = wait.threads ? " (for " + std::to_string(wait.threads) + " threads)" : std::string();
            add_path(clauses, warp, entry.mask, entry.pc, "wait",
                     " at barrier " + std::to_string(wait.number) + threads + on);
        } else if (wait.why == Why::members) {
            const uint32_t kind = static_cast<uint32_t>(program.instructions[entry.pc].kind);
            const char* const what = kind == static_cast<uint32_t>(ptx::Kind::warp_barrier) ? " at a warp barrier"
                                     : kind == static_cast<uint32_t>(ptx::Kind::shuffle)    ? " in a shuffle"
                                                                                            : " in a vote";
            add_path(clauses, warp, entry.mask, entry.pc, "wait", what + on + " for " + elsewhere(warp, wait.missing));
        } else if (i + 1 == warp.stack.size() || wait.why == Why::spins) {
            const uint32_t pc =
                i + 1 == warp.stack.size() && warp.watch.read_pc != ptx::no_pc ? warp.watch.read_pc : entry.pc;
            const bool spins = !warp.blocked;
            add_path(clauses, warp, entry.mask, pc, spins ? "spin" : "wait", " on " + place_of(program, pc));
        } else {
            add_path(clauses, warp, entry.mask, entry.pc, "stand", on);
        }
    }
}

std::string written(const Clauses& clauses) {
    std::string text;
    for (const auto& [where, clause] : clauses) {
        std::vector<uint32_t> warps;
        for (const Subject& s : clause.who)
            if (s.whole) warps.push_back(s.warp);
        if (!warps.empty()) {
            text += (text.empty() ? "" : "; ") + std::string(warps.size() == 1 ? "warp " : "warps ") + ranges(warps) + " " +
                    conjugated(clause.verb, warps.size() == 1) + clause.rest;
        }
        for (const Subject& s : clause.who) {
            if (s.whole) continue;
            text += (text.empty() ? "" : "; ") + lanes_text(s.lanes) + " of warp " + std::to_string(s.warp) + " " +
                    conjugated(clause.verb, __builtin_popcount(s.lanes) == 1) + clause.rest;
        }
    }
    return text;
}

// Whether the block ends when each of its threads makes progress on its own, tried on copies.
bool ends_with_independent_threads(const Block& block) {
    constexpr uint64_t most = 1 << 22;  // warp instructions
    Memory memory = *block.grid->memory;
    Grid grid = *block.grid;
    grid.memory = &memory;
    grid.independent = true;
    grid.print = nullptr;
    grid.checker = nullptr;
    grid.findings = nullptr;
    Block copy = block;
    copy.grid = &grid;
    uint64_t ran = 0;
    const auto fault = drive(copy, [&](Warp& warp) -> std::optional<WarpEvent> {
        if (ran > most) return std::nullopt;
        const uint64_t before = warp.instructions;
        uint64_t threads = 0;
        const WarpEvent event = run(warp, slice, threads);
        ran += warp.instructions - before;
        return event;
    });
    return !fault && copy.warps_done == copy.warps.size();
}

bool spins_before_others(const Warp& warp) {
    return !warp.done && !warp.at_barrier && warp.watch.idle && warp.stack.size() > 1;
}

}  // namespace

Fault* stack_deadlock(const Warp& warp) {
    const Block& block = *warp.block;
    if (block.grid->independent || !block.cluster.empty() || !spins_before_others(warp)) return nullptr;
    if (!ends_with_independent_threads(block)) return nullptr;
    const ptx::Program& program = *block.grid->program;
    const StackEntry& top = warp.stack.back();
    const uint32_t pc = warp.watch.read_pc != ptx::no_pc ? warp.watch.read_pc : top.pc;
    uint32_t others = 0, where = ptx::no_pc;
    bool meet = false;
    for (size_t i = warp.stack.size() - 1; i-- > 0 && !others;) {
        meet = !is_leaf(warp, i);
        others = meet ? waiting_to_meet(warp, i) : warp.stack[i].mask;
        where = warp.stack[i].pc;
    }
    const bool one = __builtin_popcount(top.mask) == 1, other = __builtin_popcount(others) == 1;
    return make_fault(warp, pc, static_cast<uint32_t>(__builtin_ctz(top.mask)), "deadlock",
                      "dead-locks before Volta: " + lanes_text(top.mask) + " of warp " + std::to_string(warp.index) +
                          (one ? " spins on " : " spin on ") + place_of(program, pc) + " for " + lanes_text(others) +
                          ", which " + (other ? "waits for " : "wait for ") + (one ? "it" : "them") + " on " +
                          place_of(program, where) +
                          (meet ? ", where their paths meet again" : ", the other side of a branch") +
                          "; threads that make progress on their own (compute capability 7.0 and later) come through");
}

Fault* deadlock_of(const Warp& warp) {
    Clauses clauses;
    add_warp(clauses, warp);
    const StackEntry& top = warp.stack.back();
    return make_fault(warp, top.pc, static_cast<uint32_t>(__builtin_ctz(top.mask)), "deadlock",
                      "no thread of the warp can go on: " + written(clauses));
}

Fault deadlock_fault(const Block& block, const FindBlock& find) {
    Clauses clauses;
    const Warp* first = nullptr;
    for (const Warp& warp : block.warps) {
        if (warp.done) continue;
        if (!first || (!first->at_barrier && warp.at_barrier)) first = &warp;
        if (Fault* fault = stack_deadlock(warp)) {
            const Cause cause = cause_of_waits(block, find);
            fault->message += cause.words;
            fault->advice = cause.advice;
            return *fault;
        }
        add_warp(clauses, warp);
    }
    if (!first) return {};
    const uint32_t pc = first->at_barrier ? first->barrier_pc : first->pc();
    const auto lane = static_cast<uint32_t>(__builtin_ctz(~first->exited | 0x80000000u));
    std::string mbarrier;
    for (const Warp& warp : block.warps)
        if (!warp.done && mbarrier.empty()) mbarrier = mbarrier_wait_of(warp);
    const Cause cause = cause_of_waits(block, find);
    Fault fault = *make_fault(*first, pc, lane, "deadlock",
                              "no warp of the block can go on: " + written(clauses) + mbarrier + cause.words);
    fault.advice = cause.advice;
    return fault;
}

}  // namespace lockstep::simt
