// The executor: one loop, compiled once for each instruction set (execute_*.cpp define LOCKSTEP_SIMD_NAME and include
// this last, so that no other header is compiled for a machine that may not be there). Record = true runs one instruction
// and says all about it; false runs on and says how it ended.
namespace lockstep::simt {
namespace LOCKSTEP_SIMD_NAME {
namespace {

// Not in alphabetical order: each calls functions of those before it.
#include "core/simt/execute/execute_access.h"
#include "core/simt/execute/execute_checked.h"
#include "core/simt/execute/execute_common.h"
// Behind the two above, whose functions it calls:
#include "core/simt/execute/execute_ahead.h"

// Checked: the launch has a checker (Grid::checker), which hears of every access before it is carried out.
template <bool Record, bool Checked>
void execute(Warp& warp, uint64_t budget, uint64_t& thread_instructions, WarpEvent& event) {
    Shape shapes[shape_slots + 1];
    const Machine m = machine_of(warp, shapes);
    [[maybe_unused]] Block& block = m.block;
    Grid& grid = m.grid;
    const auto& instructions = grid.program->instructions;
    const auto end = static_cast<uint32_t>(instructions.size());
    // The running entry: scalars, so that they stay in registers; written back before anybody looks at the stack.
    uint32_t next = warp.stack.back().pc, active = warp.stack.back().mask, meet = warp.stack.back().reconvergence;
    uint64_t count = 0, lanes = 0;
    thread_local Access access;
    const Checks* checks = nullptr;
    [[maybe_unused]] std::optional<Checks> told;
    if constexpr (Checked) {
        CheckerState& state = *grid.checker->state;
        BlockChecks& of_block = checks_of(state, block);
        told.emplace(Checks{state, of_block, of_block.warps[warp.index]});
        checks = &*told;
    }

    const auto write_back = [&]() __attribute__((always_inline)) {
        StackEntry& top = warp.stack.back();
        top.pc = next;
        top.reconvergence = meet;
        top.mask = active;
    };
    const auto read_again = [&]() __attribute__((always_inline)) {
        next = warp.stack.back().pc;
        active = warp.stack.back().mask;
        meet = warp.stack.back().reconvergence;
    };
    const auto finish = [&](WarpEvent::Kind kind, uint32_t pc, uint32_t of, uint32_t executed)
        __attribute__((always_inline)) {
        event.kind = kind;
        event.pc = pc;
        event.instruction = pc < end ? &instructions[pc] : nullptr;
        event.active = of;
        event.executed = executed;
        warp.instructions += count;
        thread_instructions += lanes;
        if (!warp.stack.empty()) write_back();
    };

    uint64_t limit = std::min(budget, next_look(warp, 0));
    const auto gives_way = [&]() __attribute__((always_inline)) {  // another path may have begun to run
        read_again();
        m.shapes_known = 0;
        event.gives_way |= warp.watch.gives_way;
        warp.watch.gives_way = false;
        const bool ends = warp.at_barrier || event.gives_way || warp.registers != m.registers;  // another frame: run() again
        if (ends) limit = 0;
        return ends;
    };
    if (budget == 0) {
        finish(WarpEvent::Kind::executed, next, active, 0);
        return;
    }
    for (;;) {
        uint32_t pc = next;
        const uint32_t path = active;
        uint32_t mask = path;
        Fault* fault = nullptr;
        uint32_t special_bytes = 0;
        bool turn_ends = false, looks_up = false;
        WarpEvent::Kind kind = WarpEvent::Kind::executed;

        if constexpr (!Record) {
            Stretch s{.next = next, .meet = meet, .active = active, .left = limit - count};
            if (active == full_mask)
                run_common<Checked, true>(m, s, access, checks);
            else
                run_common<Checked, false>(m, s, access, checks);
            const uint64_t ran = limit - count - s.left;
            count += ran;
            lanes += ran * warp_size - s.idle;
            next = s.next;
            pc = s.looks_up ? s.pc : s.next;
            mask = s.looks_up ? s.mask : path;
            fault = s.fault;
            looks_up = s.looks_up;
        }
        const Prepared& p = m.steps[pc];
        if (looks_up) goto look_up;
        if (p.guard != ptx::no_operand) {
            uint32_t guard;
            std::memcpy(&guard, m.source(p.guard), 4);
            mask &= guard ^ p.guard_flip;
        }
        ++count;
        lanes += static_cast<uint64_t>(__builtin_popcount(mask));
        switch (p.code) {
            case Code::lane_wise:
                if (mask == full_mask) {
                    p.lanes(m.destination(p.d), m.source(p.a), m.source(p.b), m.source(p.c));
                } else if (mask) {
                    run_some_lanes(m, p, mask);
                }
                next = pc + 1;
                break;
            case Code::lane_wise_many: {
                const auto& i = instructions[pc];
                alignas(64) std::byte results[4][warp_size * 16];
                std::byte* to[4];
                const std::byte* from[5];
                for (int k = 0; k < 4; ++k) {
                    const bool absent = i.destination[k] == ptx::no_operand;
                    to[k] = absent ? nullptr : mask == full_mask ? m.destination(i.destination[k]) : results[k];
                }
                for (int k = 0; k < 5; ++k) from[k] = i.source[k] == ptx::no_operand ? nullptr : m.source(i.source[k]);
                if (mask) i.many(to, from);
                if (mask && mask != full_mask) {
                    for (int k = 0; k < 4; ++k) {
                        const bool mask_of_lanes = k == 1 && i.second_type == ptx::Type::pred;
                        if (to[k])
                            blend_lanes(m.destination(i.destination[k]), results[k], mask_of_lanes ? 0 : p.register_bytes,
                                        mask);
                    }
                }
                next = pc + 1;
                break;
            }
            case Code::special_register:
                if (mask) special_register(warp, pc, p, mask);
                next = pc + 1;
                break;
            case Code::load_param:
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    locate(warp, p, mask, access);
                }
                if (mask) fault = load_parameter(m, p, mask, access);
                next = pc + 1;
                break;
            case Code::load_shared:
            case Code::load_global:
            case Code::load_any:
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    locate(warp, p, mask, access);
                }
                if (mask) fault = access_memory<false, Checked>(m, p, mask, access, checks);
                next = pc + 1;
                break;
            case Code::store_shared:
            case Code::store_global:
            case Code::store_any:
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    event.is_store = true;
                    locate(warp, p, mask, access);
                }
                if (mask) fault = access_memory<true, Checked>(m, p, mask, access, checks);
                next = pc + 1;
                break;
            case Code::atomic:
                if (Checked && mask) check_access<true>(m, p, pc, mask, *checks);
                if (Record) {
                    kind = WarpEvent::Kind::memory;
                    event.is_atomic = true;
                    event.is_store = true;
                    locate(warp, p, mask, access);
                }
                if (mask) fault = atomic_by_lane(warp, pc, p, mask, access);
                next = pc + 1;
                break;
            case Code::branch:
                if (Record) kind = WarpEvent::Kind::branch;
                if (mask == path || p.target == pc + 1) {
                    next = p.target;
                } else if (!mask) {
                    next = pc + 1;
                } else {
                    event.diverged = true;
                    StackEntry top{pc, meet, path, warp.stack.back().frame};
                    diverge(warp, p.target, p.reconvergence, top, mask);
                    read_again();
                }
                break;
            case Code::branch_table: {
                if (Record) kind = WarpEvent::Kind::branch;
                next = pc + 1;
                if (!mask) break;
                uint32_t target = 0, taken = 0;
                fault = table_target(warp, pc, p, mask, target, taken);
                next = target;
                if (taken == path || fault) break;
                event.diverged = true;
                StackEntry top{pc - 1, meet, path, warp.stack.back().frame};  // the others come here again
                diverge(warp, target, p.reconvergence, top, taken);
                read_again();
                break;
            }
            case Code::call:
            case Code::return_:
                if (Record) kind = WarpEvent::Kind::branch;
                next = pc + 1;
                if (!mask) break;
                write_back();
                fault = p.code == Code::call ? call(warp, pc, p, mask) : come_back(warp, mask);
                turn_ends |= gives_way();
                break;
            case Code::exit:
                if (Record) kind = WarpEvent::Kind::exit;
                next = pc + 1;
                if (mask) {
                    write_back();
                    fault = leave(warp, mask, event.barrier_released);
                    if (!warp.frames.empty()) leave_frames(warp);
                    if (warp.done) {
                        finish(WarpEvent::Kind::exit, pc, path, mask);
                        return;
                    }
                    turn_ends |= gives_way();
                }
                break;
            case Code::barrier:
                if (mask) {
                    write_back();
                    fault = arrive(warp, pc, path, mask, event.barrier_released);
                    kind = WarpEvent::Kind::barrier;
                    limit = 0;
                }
                next = pc + 1;
                break;
            case Code::warp_barrier:
                if (mask) {
                    write_back();
                    fault = warp_barrier(warp, pc, p, mask);
                }
                next = pc + 1;
                break;
            case Code::shuffle:
                if (mask) {
                    write_back();
                    fault = shuffle(warp, pc, p, mask);
                }
                next = pc + 1;
                break;
            case Code::vote:
                if (mask) {
                    write_back();
                    fault = vote(warp, pc, p, mask);
                }
                next = pc + 1;
                break;
            case Code::nop:
                next = pc + 1;
                break;
            case Code::special: {
                next = pc + 1;
                if (!mask) break;
                write_back();
                Special special{warp, pc, p, mask, path, access};
                fault = p.handler(special);
                if (special.again) next = pc;
                if (special.ends_turn) {
                    kind = WarpEvent::Kind::barrier;
                    limit = 0;
                }
                event.barrier_released |= special.barrier_released;
                event.until = special.until;
                event.sectors = special.sectors;
                if (Record && special.is_memory && !special.again) {
                    kind = WarpEvent::Kind::memory;
                    event.is_store = special.is_store;
                    event.is_atomic = special.is_atomic;
                    special_bytes = special.bytes;
                    if (special.lanes) mask = special.lanes;
                }
                break;
            }
            case Code::trap:
                if (mask) fault = trap_fault(warp, pc, mask);
                next = pc + 1;
                break;
        }

        // Most instructions end here. `limit` is 0 where the turn is over.
        if (!Record && !fault && next != meet && count < limit) continue;

    look_up:
        if (fault == must_wait) {  // for other paths of the warp
            fault = choose_path(warp);
            turn_ends |= gives_way();
        } else if (fault) {
            next = pc;
        }
        while (next == meet && !fault) {  // the entry below waits here with all lanes of the region
            if (warp.waits.empty()) {
                warp.stack.pop_back();
                read_again();
                if (!warp.frames.empty()) {  // paths that ran in another order may have left one of another frame below
                    follow_frame(warp);
                    turn_ends |= gives_way();
                }
            } else {
                fault = meet_others(warp);
                turn_ends |= gives_way();
            }
        }
        if (count >= limit && !fault) {
            if (warp.watch.next <= warp.instructions + count) {
                write_back();
                fault = watch_or_go_on(warp, warp.instructions + count, pc, mask);
                turn_ends |= gives_way();
            }
            limit = std::min(budget, next_look(warp, count));
        }
        if (fault) {
            event.fault = fault;
            finish(WarpEvent::Kind::fault, pc, path, mask);
            return;
        }
        if constexpr (Record) {
            if (kind == WarpEvent::Kind::memory) {
                event.space = access.space;
                event.bytes = static_cast<uint8_t>(special_bytes ? special_bytes : p.access_bytes());
                event.addresses = access.addresses;
            }
            // Lanes that ran past the last instruction leave with it.
            while (next >= end) {
                write_back();
                event.fault = leave(warp, active, event.barrier_released);
                if (event.fault) kind = WarpEvent::Kind::fault;
                if (warp.done || event.fault) break;
                gives_way();
            }
            finish(kind, pc, path, mask);
            return;
        }
        if (kind == WarpEvent::Kind::barrier || turn_ends || count == budget) {
            finish(kind, pc, path, mask);
            return;
        }
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

}  // namespace LOCKSTEP_SIMD_NAME
}  // namespace lockstep::simt
