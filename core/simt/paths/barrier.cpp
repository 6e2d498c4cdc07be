// Who has come to a barrier, and what happens when all have. A warp that waits as a whole says so in its own fields
// (Warp::barrier ...); paths of a warp that wait each say so in Warp::waits.
#include "core/simt/paths/barrier.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "core/ptx/analyse/control_flow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/findings.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

using ptx::BarrierOperation;

namespace {

struct Arrival {
    Warp& warp;
    std::byte* registers;
    uint32_t pc, lanes, says, threads;
};

// All that wait at barrier `number`.
template <class Visit>
void for_each_arrival(Block& block, uint32_t number, const Visit& visit) {
    for (Warp& w : block.warps) {
        if (w.at_barrier && w.barrier_lanes && w.barrier == number)
            visit(Arrival{w, w.registers, w.barrier_pc, w.barrier_lanes, w.barrier_says, w.barrier_threads});
        for (size_t i = 0; i < w.waits.size(); ++i) {
            const PathWait& wait = w.waits[i];
            if (wait.why != PathWait::Why::barrier || wait.number != number) continue;
            visit(Arrival{w, registers_of(w, w.stack[i].frame), w.stack[i].pc, wait.lanes, wait.says, wait.threads});
        }
    }
}

// bar.red: what the predicates of all that wait say together, written to each one's result.
void combine(Block& block, uint32_t number) {
    uint32_t count = 0;
    bool every = true;
    for_each_arrival(block, number, [&](const Arrival& a) {
        count += static_cast<uint32_t>(__builtin_popcount(a.says));
        every = every && a.says == a.lanes;
    });
    for_each_arrival(block, number, [&](const Arrival& a) {
        const auto& instruction = block.grid->program->instructions[a.pc];
        const BarrierOperation mode = ptx::as_barrier(instruction).operation;
        if (mode == BarrierOperation::sync || instruction.destination[0] == ptx::no_operand) return;
        auto* const d = reinterpret_cast<uint32_t*>(a.registers + instruction.destination[0]);
        if (mode == BarrierOperation::popc) {
            for (uint32_t rest = a.lanes; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = count;
        } else {
            const bool result = mode == BarrierOperation::and_ ? every : count > 0;
            *d = (*d & ~a.lanes) | (result ? a.lanes : 0);
        }
    });
}

bool whole_warp(const Warp& warp, uint32_t lanes) {
    return !warp.block->grid->independent || !(~warp.exited & ~lanes & ~gone(warp));
}

// The threads for which a warp counts that came with `lanes`.
uint32_t threads_of(const Warp& warp, uint32_t lanes) {
    return whole_warp(warp, lanes) ? warp_size : static_cast<uint32_t>(__builtin_popcount(lanes));
}

}  // namespace

bool release_if_full(Block& block, uint32_t number, Warp* running, uint32_t threads) {
    assert(number < block.arrived.size());
    if (!threads && !block.grid->plan->counted_barriers) {  // a barrier for all: the warps that run last come last
        for (auto w = block.warps.rbegin(); w != block.warps.rend(); ++w)
            if (!w->done && !(w->at_barrier && w->barrier == number && w->barrier_lanes) && w->waits.empty()) return false;
    }
    uint32_t came = block.arrived[number];
    bool all = true, waiting = false;
    for (const Warp& w : block.warps) {
        if (w.at_barrier && w.barrier == number && w.barrier_lanes) {  // none of its threads is missing
            threads = std::max(threads, w.barrier_threads);
            came += warp_size;
            waiting = true;
            continue;
        }
        uint32_t lanes = 0;
        for (const PathWait& wait : w.waits) {
            if (wait.why != PathWait::Why::barrier || wait.number != number) continue;
            lanes |= wait.lanes;
            threads = std::max(threads, wait.threads);
        }
        if (lanes) came += threads_of(w, lanes);
        waiting = waiting || lanes;
        all = all && (w.done || (lanes && whole_warp(w, lanes)));
    }
    if (threads ? came < threads : !all || !waiting) return false;
    look_at_barrier(block, number);
    note_barrier(block, number);
    combine(block, number);
    block.arrived[number] = 0;
    ++block.ahead.released;
    for (Warp& w : block.warps) {
        bool paths = false;
        for (size_t i = 0; i < w.waits.size(); ++i) {
            if (w.waits[i].why != PathWait::Why::barrier || w.waits[i].number != number) continue;
            ++w.stack[i].pc;
            w.waits[i] = {};
            paths = true;
        }
        if (w.at_barrier && (paths || (w.barrier_lanes && w.barrier == number))) {
            w.at_barrier = false;
            --block.warps_at_barrier;
        }
        w.watch.moved = true;
        if (paths && &w != running) choose_path(w);
    }
    return waiting;
}

bool release_all_full(Block& block, Warp* running) {
    bool released = false;
    for (uint32_t number = 0; number < block.arrived.size(); ++number) released |= release_if_full(block, number, running);
    return released;
}

namespace {

// Whether nothing lies before the lanes but the end of the kernel: no barrier, no call, and nobody waits for them.
bool only_leave(const Warp& warp, uint32_t lanes) {
    const ptx::Program& program = *warp.block->grid->program;
    const auto ends = [&](uint32_t pc) {
        return pc >= program.instructions.size() ||
               (program.instructions[pc].kind == ptx::Kind::exit && program.instructions[pc].guard == ptx::no_operand);
    };
    for (size_t i = warp.stack.size(); i-- > 0 && lanes;) {
        const StackEntry& entry = warp.stack[i];
        if (!(entry.mask & lanes)) continue;
        lanes &= ~entry.mask;
        if (!is_leaf(warp, i) || !ends(entry.reconvergence)) return false;
        std::vector<uint32_t> open{entry.pc};
        std::vector<bool> seen(program.instructions.size());
        while (!open.empty()) {
            const uint32_t pc = open.back();
            open.pop_back();
            if (pc >= program.instructions.size() || seen[pc]) continue;
            seen[pc] = true;
            const ptx::Kind kind = program.instructions[pc].kind;
            if (kind == ptx::Kind::barrier || kind == ptx::Kind::call || kind == ptx::Kind::return_) return false;
            ptx::each_successor(program, pc, [&](uint32_t next) { open.push_back(next); });
        }
    }
    return true;
}

}  // namespace

Fault* arrive(Warp& warp, uint32_t pc, uint32_t active, uint32_t mask, bool& released) {
    assert(mask != 0 && (mask & warp.exited) == 0);
    Block& block = *warp.block;
    const Grid& grid = *block.grid;
    const auto& instruction = grid.program->instructions[pc];
    const uint32_t live = ~warp.exited;
    const auto lane = static_cast<uint32_t>(__builtin_ctz(mask));
    const ptx::BarrierView view = ptx::as_barrier(instruction);
    uint32_t missing = mask == live ? 0 : live & ~mask & ~gone(warp);
    // Lanes that have gone on alone may still come; and some of this path may have come before it.
    const bool may_come = grid.independent && (view.each_thread || warp.watch.scattered || !warp.waits.empty());
    if (missing && !may_come && grid.synccheck && !only_leave(warp, missing)) {
        Fault* const fault =
            make_fault(warp, pc, lane, "synccheck",
                       "a barrier in divergent code: only " + std::to_string(__builtin_popcount(mask)) + " of the warp's " +
                           std::to_string(__builtin_popcount(live)) + " threads are here, thread " +
                           std::to_string(warp.index * warp_size + static_cast<uint32_t>(__builtin_ctz(missing))) +
                           (active & missing ? " skips it" : " is on another path"));
        const uint32_t turned = turned_away_at(warp, pc, missing);
        fault->advice = (turned == ptx::no_pc ? "M" : "They turned away on " + place_of(*grid.program, turned) + ": m") +
                        std::string("ove the barrier out of the condition, so that all threads of the block come to it.");
        return fault;
    }
    const auto value = [&](int32_t source) { return source == ptx::no_operand ? 0u : words(warp, source)[lane]; };
    PathWait wait;
    wait.why = PathWait::Why::barrier;
    wait.lanes = mask;
    wait.number = value(instruction.source[0]);
    wait.threads = value(instruction.source[1]);
    if (wait.number > 15) {
        return make_fault(warp, pc, lane, "synccheck",
                          "barrier " + std::to_string(wait.number) + " does not exist: a block has barriers 0 to 15");
    }
    if (wait.threads % warp_size) {
        return make_fault(
            warp, pc, lane, "synccheck",
            "a barrier for " + std::to_string(wait.threads) + " threads: the count must be a multiple of the warp size, 32");
    }
    if (view.operation == BarrierOperation::arrive) {
        if (!wait.threads) return make_fault(warp, pc, lane, "synccheck", "bar.arrive needs a thread count above 0");
        note_arrival(warp, mask, wait.number);
        block.arrived[wait.number] += threads_of(warp, mask);
        released = release_if_full(block, wait.number, &warp, wait.threads);
        return nullptr;
    }
    if (view.operation != BarrierOperation::sync && instruction.source[2] != ptx::no_operand)
        wait.says = (*words(warp, instruction.source[2]) ^ (view.negated ? full_mask : 0)) & mask;
    if (missing && grid.independent) {
        if (active & ~mask) {  // the lanes that skip it go on
            StackEntry skip = warp.stack.back();
            warp.stack.back() = {pc, skip.reconvergence, mask, skip.frame};
            warp.waits.resize(warp.stack.size());
            skip.pc = pc + 1;
            skip.mask = active & ~mask;
            warp.stack.insert(warp.stack.end() - 1, skip);
            warp.waits.insert(warp.waits.end() - 1, PathWait{});
        }
        warp.waits.resize(warp.stack.size());
        warp.waits.back() = wait;
        released = release_if_full(block, wait.number, &warp);
        return must_wait;
    }
    warp.barrier = wait.number;
    warp.barrier_threads = wait.threads;
    warp.barrier_pc = pc;
    warp.barrier_lanes = mask;
    warp.barrier_says = wait.says;
    warp.at_barrier = true;
    ++block.warps_at_barrier;
    released = release_if_full(block, warp.barrier, &warp);
    return nullptr;
}

}  // namespace lockstep::simt
