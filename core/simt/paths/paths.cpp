// The tree of paths: split, left, met, and who runs next. See paths.h; watching for spins is in spin.cpp.
#include "core/simt/paths/paths.h"

#include <algorithm>
#include <array>

#include "core/simt/async/cluster.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/execute/call.h"
#include "core/simt/execute/warp_wide.h"
#include "core/simt/paths/barrier.h"
#include "core/simt/paths/spin.h"

namespace lockstep::simt {

using Why = PathWait::Why;

namespace {

Fault waits;  // only its address counts

std::string hex32(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

uint32_t lowest(uint32_t mask) {
    return static_cast<uint32_t>(__builtin_ctz(mask));
}

// The member mask operand of a shuffle, vote or warp barrier.
int32_t members_operand(const ptx::DecodedInstruction& instruction) {
    return instruction.source[instruction.kind == ptx::Kind::shuffle        ? 3
                              : instruction.kind == ptx::Kind::warp_barrier ? 0
                                                                            : 1];
}
const char* name_of(const ptx::DecodedInstruction& instruction) {
    return instruction.kind == ptx::Kind::shuffle        ? "shuffle"
           : instruction.kind == ptx::Kind::warp_barrier ? "warp barrier"
                                                         : "vote";
}

size_t parent_of(const Warp& warp, size_t i) {
    for (size_t j = i; j-- > 0;)
        if (!(warp.stack[i].mask & ~warp.stack[j].mask)) return j;
    return SIZE_MAX;
}

void erase(Warp& warp, size_t i) {
    warp.stack.erase(warp.stack.begin() + static_cast<std::ptrdiff_t>(i));
    warp.waits.erase(warp.waits.begin() + static_cast<std::ptrdiff_t>(i));
}

Fault* missing_member(const Warp& warp, uint32_t pc, uint32_t lane, uint32_t members, uint32_t missing, const char* what) {
    Fault* const fault = make_fault(warp, pc, lane, "synccheck",
                                    std::string("the ") + what + "'s member mask " + hex32(members) + " names lane " +
                                        std::to_string(lowest(missing)) + ", which is not here: it is on another path");
    fault->advice =
        "Name only the lanes that come, as a __ballot_sync() in front of the condition gives them, or move the " +
        std::string(what) + " out of the condition.";
    return fault;
}

// Paths that have come to where they meet others end there.
void drop_met(Warp& warp) {
    for (size_t i = warp.stack.size(); i-- > 0;) {
        const StackEntry& entry = warp.stack[i];
        if (entry.pc == entry.reconvergence && warp.waits[i].why == Why::nothing && is_leaf(warp, i)) erase(warp, i);
    }
}

void merge(Warp& warp) {
    for (size_t i = warp.stack.size(); i-- > 0;) {
        if (warp.waits[i].why != Why::nothing || !is_leaf(warp, i)) continue;
        for (size_t j = i; j-- > 0;) {
            StackEntry &a = warp.stack[i], &b = warp.stack[j];
            const bool alike = a.pc == b.pc && a.reconvergence == b.reconvergence && a.frame == b.frame;
            if (!alike || warp.waits[j].why != Why::nothing || !is_leaf(warp, j) || parent_of(warp, i) != parent_of(warp, j))
                continue;
            a.mask |= b.mask;
            erase(warp, j);
            --i;
        }
    }
}

// Whether path i has all the members that it waits for among the lanes `here`. A member that has ended counts no longer
// (PTX ISA: "all non-exited threads"). One that went past the place where both would have met, and on through more than the
// last steps that a return may share with other ways to the end, is a fault where that is checked.
bool complete(const Warp& warp, size_t i, uint32_t here, uint32_t never, Fault*& fault) {
    const PathWait& wait = warp.waits[i];
    const uint32_t pc = warp.stack[i].pc;
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const int32_t operand_offset = members_operand(instruction);
    const std::byte* const from =
        operand_offset >= 0 ? registers_of(warp, warp.stack[i].frame) + operand_offset : operand(warp, operand_offset);
    const auto* const members = reinterpret_cast<const uint32_t*>(from);
    for (uint32_t rest = wait.lanes; rest; rest &= rest - 1) {
        const uint32_t lane = lowest(rest), missing = members[lane] & wait.missing & ~here;
        const uint32_t past = missing & never & warp.watch.scattered_lanes;
        if (past && warp.block->grid->synccheck && !is_common_tail(*warp.block->grid->program, warp.watch.scattered_pc)) {
            fault = missing_member(warp, pc, lane, members[lane], past, name_of(instruction));
            return false;
        }
        if (missing & ~never) return false;
    }
    return true;
}

// The largest set of paths, of those that wait where path `first` waits, all of whose members are among them; does what
// they wait for. Warp barriers fit together wherever they stand, shuffles and votes at one instruction only.
Fault* settle_with(Warp& warp, size_t first, bool& settled) {
    const auto& instructions = warp.block->grid->program->instructions;
    const StackEntry where = warp.stack[first];
    const ptx::Kind kind = instructions[where.pc].kind;
    const uint32_t never = warp.exited | gone(warp);
    std::array<size_t, warp_size> together;  // places in the stack; paths hold different lanes, so there are at most 32
    size_t count = 0;
    for (size_t i = 0; i < warp.stack.size(); ++i) {
        const StackEntry& entry = warp.stack[i];
        if (warp.waits[i].why != Why::members || instructions[entry.pc].kind != kind) continue;
        if (kind == ptx::Kind::warp_barrier || (entry.pc == where.pc && entry.frame == where.frame)) together[count++] = i;
    }
    uint32_t here = 0;
    for (bool changed = true; changed;) {
        changed = false;
        here = 0;
        for (size_t k = 0; k < count; ++k) here |= warp.waits[together[k]].lanes;
        for (size_t k = 0; k < count;) {
            Fault* fault = nullptr;
            if (complete(warp, together[k], here, never, fault)) {
                ++k;
                continue;
            }
            if (fault) return fault;
            together[k] = together[--count];
            changed = true;
        }
    }
    if (!count) return nullptr;
    settled = true;
    const Prepared& p = warp.block->grid->plan->steps[where.pc];
    std::byte* const running = warp.registers;
    warp.registers = registers_of(warp, where.frame);
    note_warp_barrier(warp, here);
    if (kind == ptx::Kind::shuffle) shuffle_lanes(warp, where.pc, p, here);
    if (kind == ptx::Kind::vote) vote_lanes(warp, where.pc, p, here);
    warp.registers = running;
    for (size_t k = 0; k < count; ++k) {
        ++warp.stack[together[k]].pc;
        warp.waits[together[k]] = {};
    }
    return nullptr;
}

Fault* settle(Warp& warp, bool& settled) {
    for (size_t i = 0; i < warp.stack.size(); ++i) {
        if (warp.waits[i].why != Why::members) continue;
        if (Fault* fault = settle_with(warp, i, settled)) return fault;
    }
    return nullptr;
}

// Leaf i runs from here on.
void put_on_top(Warp& warp, size_t i) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    std::rotate(warp.stack.begin() + at, warp.stack.begin() + at + 1, warp.stack.end());
    std::rotate(warp.waits.begin() + at, warp.waits.begin() + at + 1, warp.waits.end());
    warp.waits.back() = {};
    const bool others =
        std::any_of(warp.waits.begin(), warp.waits.end(), [](const PathWait& wait) { return wait.why != Why::nothing; });
    const bool spun = std::any_of(warp.waits.begin(), warp.waits.end(), [](const PathWait& wait) {
        return wait.why == Why::spins || wait.why == Why::tired || wait.why == Why::polite;
    });
    if (!others) warp.waits.clear();  // from here on the order of the stack is enough
    follow_frame(warp);
    stop_watching(warp);
    if (spun || warp.watch.gives_way) watch_path(warp);
}

size_t last_leaf(const Warp& warp, Why why) {
    for (size_t i = warp.stack.size(); i-- > 0;)
        if (warp.waits[i].why == why && is_leaf(warp, i)) return i;
    return SIZE_MAX;
}

// The innermost lanes that wait to meet others go on alone. False when there are none.
bool scatter(Warp& warp) {
    for (size_t i = warp.stack.size(); i-- > 0;) {
        const uint32_t lanes = is_leaf(warp, i) ? 0 : waiting_to_meet(warp, i);
        if (!lanes) continue;
        StackEntry alone = warp.stack[i];
        warp.stack[i].mask &= ~lanes;
        alone.mask = lanes;
        warp.stack.push_back(alone);
        warp.waits.emplace_back();
        warp.watch.scattered = warp.watch.moved = true;
        warp.watch.scattered_lanes = lanes;
        warp.watch.scattered_pc = alone.pc;
        return true;
    }
    return false;
}

Fault* nobody_can_go_on(Warp& warp) {
    for (size_t i = 0; i < warp.stack.size(); ++i) {
        const PathWait& wait = warp.waits[i];
        if (wait.why != Why::barrier) continue;
        warp.at_barrier = true;
        ++warp.block->warps_at_barrier;
        warp.barrier = wait.number;
        warp.barrier_pc = warp.stack[i].pc;
        warp.barrier_lanes = 0;  // the paths say it
        return nullptr;
    }
    const size_t i = last_leaf(warp, Why::members);
    const uint32_t pc = warp.stack[i].pc;
    if (!warp.block->grid->synccheck) return deadlock_of(warp);
    const uint32_t lane = lowest(warp.waits[i].lanes);
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const int32_t offset = members_operand(instruction);
    const std::byte* const from = offset >= 0 ? registers_of(warp, warp.stack[i].frame) + offset : operand(warp, offset);
    const uint32_t members = reinterpret_cast<const uint32_t*>(from)[lane];
    return missing_member(warp, pc, lane, members, warp.waits[i].missing, name_of(instruction));
}

}  // namespace

Fault* const must_wait = &waits;

bool is_leaf(const Warp& warp, size_t i) {
    for (size_t j = i + 1; j < warp.stack.size(); ++j)
        if (!(warp.stack[j].mask & ~warp.stack[i].mask)) return false;
    return true;
}

uint32_t waiting_to_meet(const Warp& warp, size_t i) {
    uint32_t lanes = warp.stack[i].mask;
    for (size_t j = i + 1; j < warp.stack.size(); ++j) lanes &= ~warp.stack[j].mask;
    return lanes;
}

void diverge(Warp& warp, uint32_t target, uint32_t reconvergence, StackEntry& top, uint32_t taken) {
    const StackEntry split = top;
    const uint32_t next = split.pc + 1;
    uint32_t side = reconvergence;
    warp.stack.pop_back();
    if (reconvergence == ptx::no_pc) {
        side = split.reconvergence;
    } else if (reconvergence != split.reconvergence) {
        warp.stack.push_back({reconvergence, split.reconvergence, split.mask, split.frame});
    }
    if (target != side) warp.stack.push_back({target, side, taken, split.frame});
    if (next != side) warp.stack.push_back({next, side, split.mask & ~taken, split.frame});
    if (!warp.waits.empty()) warp.waits.resize(warp.stack.size());
    top = warp.stack.back();
}

bool is_common_tail(const ptx::Program& program, uint32_t pc) {
    using ptx::Kind;
    for (; pc < program.instructions.size(); ++pc) {
        const auto& i = program.instructions[pc];
        if (i.kind == Kind::exit && i.guard == ptx::no_operand) return true;
        const bool plain = i.kind == Kind::lane_wise || i.kind == Kind::lane_wise_many || i.kind == Kind::special_register ||
                           i.kind == Kind::nop || i.kind == Kind::store ||
                           (i.kind == Kind::load && i.space == ptx::Space::param);
        if (!plain) return false;
    }
    return true;
}

// Lanes that wait to meet others where nothing but a common tail is left to do.
static uint32_t as_good_as_gone(const Warp& warp, uint32_t lanes) {
    const ptx::Program& program = *warp.block->grid->program;
    uint32_t found = 0, seen = 0;
    for (size_t i = warp.stack.size(); i-- > 0 && (lanes & ~seen);) {
        const StackEntry& entry = warp.stack[i];
        const uint32_t here = entry.mask & ~seen & lanes;
        seen |= entry.mask;
        if (here && is_common_tail(program, entry.pc)) found |= here;
    }
    return found;
}

uint32_t gone(const Warp& warp) {
    const ptx::Program& program = *warp.block->grid->program;
    uint32_t lanes = warp.exited, seen = 0;
    for (size_t i = warp.stack.size(); i-- > 0;) {  // a lane is where the topmost entry that holds it is
        const StackEntry& entry = warp.stack[i];
        const bool leaves =
            entry.pc >= program.instructions.size() || (program.instructions[entry.pc].kind == ptx::Kind::exit &&
                                                        program.instructions[entry.pc].guard == ptx::no_operand);
        if (leaves) lanes |= entry.mask & ~seen;
        seen |= entry.mask;
    }
    return lanes;
}

Fault* leave(Warp& warp, uint32_t mask, bool& released) {
    Block& block = *warp.block;
    warp.exited |= mask;
    for (StackEntry& entry : warp.stack) entry.mask &= ~mask;
    if (warp.waits.empty()) {
        std::erase_if(warp.stack, [](const StackEntry& entry) { return entry.mask == 0; });
    } else {
        for (size_t i = warp.stack.size(); i-- > 0;)
            if (!warp.stack[i].mask) erase(warp, i);
    }
    warp.done = warp.stack.empty();
    if (warp.done) {
        ++block.warps_done;
        finish_async(warp);
        if (block.warps_done == block.warps.size()) note_end(block);
    }
    const bool some_wait = block.warps_at_barrier || std::any_of(block.warps.begin(), block.warps.end(),
                                                                 [](const Warp& w) { return !w.waits.empty(); });
    if (some_wait && (warp.done || block.grid->independent)) released |= release_all_full(block, &warp);
    return warp.done || warp.waits.empty() ? nullptr : choose_path(warp);
}

Fault* check_members(Warp& warp, uint32_t pc, uint32_t mask, const uint32_t* members, const char* what) {
    const Grid& grid = *warp.block->grid;
    if (!grid.synccheck && !grid.independent) return nullptr;
    uint32_t wanted = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint32_t lane = lowest(rest);
        if (grid.synccheck && !(members[lane] >> lane & 1)) {
            return make_fault(warp, pc, lane, "synccheck",
                              std::string("the ") + what + "'s member mask " + hex32(members[lane]) + " leaves out lane " +
                                  std::to_string(lane) + ", which runs it");
        }
        uint32_t missing = members[lane] & ~warp.exited & ~mask;
        if (missing) missing &= ~gone(warp);
        if (missing && !grid.independent) missing &= ~as_good_as_gone(warp, missing);
        if (missing && !grid.independent) return missing_member(warp, pc, lane, members[lane], missing, what);
        wanted |= missing;
    }
    if (!wanted) return nullptr;
    warp.waits.resize(warp.stack.size());
    warp.waits.back() = {.why = Why::members, .lanes = mask, .missing = wanted};
    return must_wait;
}

Fault* warp_barrier(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    if (p.a != ptx::no_operand) {
        if (Fault* fault = check_members(warp, pc, mask, words(warp, p.a), "warp barrier")) return fault;
        note_warp_barrier(warp, mask, words(warp, p.a));
    } else {
        note_warp_barrier(warp, mask);
    }
    return nullptr;
}

Fault* choose_again(Warp& warp) {
    warp.waits.resize(warp.stack.size());
    for (;;) {
        drop_met(warp);
        bool settled = false;
        if (Fault* fault = settle(warp, settled)) return fault;
        if (settled) {
            warp.watch.moved = true;
            continue;
        }
        merge(warp);
        for (const Why why : {Why::nothing, Why::polite}) {
            if (const size_t i = last_leaf(warp, why); i != SIZE_MAX) {
                put_on_top(warp, i);
                return nullptr;
            }
        }
        const bool proven = last_leaf(warp, Why::spins) != SIZE_MAX, tired = last_leaf(warp, Why::tired) != SIZE_MAX;
        const bool wait_first = (proven || tired) && warp.watch.patient;
        if (!wait_first && scatter(warp)) continue;
        if (!proven && !tired) return nobody_can_go_on(warp);
        warp.watch.patient = false;
        warp.watch.gives_way = true;
        note_round(warp, !tired && !wait_first);
        size_t first = SIZE_MAX;
        for (size_t i = warp.stack.size(); i-- > 0;) {
            if (warp.waits[i].why != Why::spins && warp.waits[i].why != Why::tired) continue;
            warp.waits[i] = {};
            first = i;
        }
        put_on_top(warp, first);
        return nullptr;
    }
}

Fault* meet_others(Warp& warp) {
    warp.stack.pop_back();
    warp.waits.pop_back();
    return choose_path(warp);
}

Fault* choose_path(Warp& warp) {
    warp.watch.moved = true;
    return choose_again(warp);
}

std::byte* kernel_registers(const Warp& warp) {
    const Block& block = *warp.block;
    const auto start = reinterpret_cast<uintptr_t>(block.registers.data());
    const size_t stride = (size_t{block.grid->program->register_bytes} + 63) / 64 * 64;
    return const_cast<std::byte*>(block.registers.data()) + (64 - start % 64) % 64 + warp.index * stride;
}

std::byte* registers_of(const Warp& warp, int32_t frame) {
    if (frame < 0) return kernel_registers(warp);
    return const_cast<std::byte*>(warp.frames[static_cast<size_t>(frame)].registers.front().bytes);
}

}  // namespace lockstep::simt
