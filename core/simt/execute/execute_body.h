// The executor: one loop, compiled once for each instruction set (execute_*.cpp define LOCKSTEP_SIMD_NAME and include
// this last, so that no other header is compiled for a machine that may not be there). Record = true runs one instruction
// and says all about it; false runs on and says how it ended.
namespace lockstep::simt {
namespace LOCKSTEP_SIMD_NAME {
namespace {

// Not in alphabetical order: each calls functions of those before it.
#include "core/simt/execute/execute_access.h"
#include "core/simt/execute/execute_checked.h"
// What each code means:
#include "core/simt/execute/execute_steps.h"
// The loops that go by it, beside the full one below:
#include "core/simt/execute/execute_ahead.h"
#include "core/simt/execute/execute_common.h"
#include "core/simt/execute/execute_native.h"
#include "core/simt/execute/execute_turn.h"

// Checked: the launch has a checker (Grid::checker), which hears of every access before it is carried out.
template <bool Record, bool Checked>
void execute(Warp& warp, uint64_t budget, uint64_t& thread_instructions, WarpEvent& event) {
    alignas(Shape) std::byte room[sizeof(Shape) * (shape_slots + 1)];  // none is looked at before it is known
    const Machine m = machine_of(warp, reinterpret_cast<Shape*>(room));
    thread_local Access access;
    const Checks* checks = nullptr;
    [[maybe_unused]] std::optional<Checks> told;
    if constexpr (Checked) {
        CheckerState& state = *m.grid.checker->state;
        BlockChecks& of_block = checks_of(state, m.block);
        told.emplace(Checks{state, of_block, of_block.warps[warp.index]});
        checks = &*told;
    }
    const StackEntry& top = warp.stack.back();
    Turn<Record, Checked> t{.m = m,
                            .warp = warp,
                            .event = event,
                            .access = access,
                            .checks = checks,
                            .budget = budget,
                            .next = top.pc,
                            .active = top.mask,
                            .meet = top.reconvergence,
                            .limit = std::min(budget, next_look(warp, 0))};
    if (budget == 0)
        return t.finish(WarpEvent::Kind::executed, {.pc = t.next, .path = t.active, .mask = 0}, thread_instructions);
    for (;;) {
        Step s{.pc = t.next, .path = t.active, .mask = t.active};
        bool looks_up = false;
        if constexpr (!Record) looks_up = t.run_stretch(s);
        const Prepared& p = m.steps[s.pc];
        if (!looks_up) {
            s.mask = guarded(m, p, s.path);
            t.next = s.pc + 1;
            ++t.count;
            t.lanes += static_cast<uint64_t>(__builtin_popcount(s.mask));
            if (!t.run(p, s)) return t.finish(WarpEvent::Kind::exit, s, thread_instructions);
            // Most instructions end here.
            if (!Record && !s.fault && t.next != t.meet && t.count < t.limit) continue;
        }
        t.look_up(s);
        if (s.fault) {
            event.fault = s.fault;
            return t.finish(WarpEvent::Kind::fault, s, thread_instructions);
        }
        if constexpr (Record) t.record(p, s);
        if (Record || s.kind == WarpEvent::Kind::barrier || s.ends_turn || t.count == budget)
            return t.finish(s.kind, s, thread_instructions);
    }
}

}  // namespace

WarpEvent step(Warp& warp) {
    uint64_t threads = 0;
    WarpEvent event;
    if (warp.block->grid->checker) {
        execute<true, true>(warp, 1, threads, event);
    } else {
        execute<true, false>(warp, 1, threads, event);
    }
    return event;
}

WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions) {
    const bool checked = warp.block->grid->checker != nullptr;
    WarpEvent event;
    for (;;) {
        const uint64_t before = warp.instructions;
        if (checked) {
            execute<false, true>(warp, budget, thread_instructions, event);
        } else {
            execute<false, false>(warp, budget, thread_instructions, event);
        }
        const uint64_t ran = warp.instructions - before;
        const bool ends = event.kind == WarpEvent::Kind::barrier || event.kind == WarpEvent::Kind::fault || event.gives_way;
        if (ends || warp.done || warp.at_barrier || ran >= budget) return event;
        budget -= ran;  // a call or a return: on with other registers
        const bool released = event.barrier_released;
        event = {};
        event.barrier_released = released;
    }
}

uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs) {
    return run_path_ahead(warp, steps, ends, costs);
}

}  // namespace LOCKSTEP_SIMD_NAME
}  // namespace lockstep::simt
