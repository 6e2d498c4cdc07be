// See causes.h. Everything here runs once, when a launch is stuck for good.
#include "core/simt/paths/causes.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>

#include "core/base/units.h"
#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/findings.h"
#include "core/simt/memory/access.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;
using Why = PathWait::Why;

// All instructions that a thread may come to from `pc` on; more than `most` of them: none.
std::set<uint32_t> all_behind(const ptx::Program& program, uint32_t pc, size_t most) {
    std::set<uint32_t> seen;
    std::vector<uint32_t> open{pc};
    while (!open.empty()) {
        const uint32_t at = open.back();
        open.pop_back();
        if (at >= program.instructions.size() || !seen.insert(at).second) continue;
        if (seen.size() > most) return {};
        ptx::each_successor(program, at, [&](uint32_t next) { open.push_back(next); });
    }
    return seen;
}

bool is_swap(const ptx::DecodedInstruction& i) {
    if (i.kind != Kind::atomic) return false;
    const auto operation = ptx::as_atomic(i).operation;
    return operation == ptx::AtomicOperation::cas || operation == ptx::AtomicOperation::exch;
}

// The first swap that a thread at `pc` comes to, within a loop's length.
uint32_t next_swap(const ptx::Program& program, uint32_t pc) {
    constexpr size_t most = 64;
    std::set<uint32_t> seen;
    std::vector<uint32_t> open{pc};
    for (size_t k = 0; k < open.size() && seen.size() < most; ++k) {
        if (open[k] >= program.instructions.size() || !seen.insert(open[k]).second) continue;
        if (is_swap(program.instructions[open[k]])) return open[k];
        ptx::each_successor(program, open[k], [&](uint32_t next) { open.push_back(next); });
    }
    return ptx::no_pc;
}

std::string word_name(const Warp& warp, ptx::Space space, uint64_t address) {
    if (space == ptx::Space::shared) {
        uint64_t offset = address;
        const std::string name = shared_variable_at(*warp.block, offset);
        return name.empty() ? "at offset " + std::to_string(offset) + " of shared memory"
                            : "'" + name + "' +" + std::to_string(offset);
    }
    const Allocation* const a = warp.block->grid->memory->find(address);
    return a ? "'" + readable_variable(a->name) + "' +" + std::to_string(address - a->address) : hex(address);
}

// What a load's address names, told from the program alone.
std::string loaded_name(const ptx::Program& program, uint32_t pc) {
    const auto operands = ptx::memory_of(program, program.instructions[pc]);
    if (operands.empty()) return {};
    const auto origin = ptx::Origins(program).pointer_of(pc, operands.front());
    if (!origin || origin->from != ptx::Origin::From::variable) return {};
    return "'" + readable_variable(program.variables[static_cast<size_t>(origin->index)].name) + "'";
}

// The load that the guard of the branch at `pc` was made of, a few steps back; no_pc: none.
uint32_t load_behind_guard(const ptx::Program& program, const ptx::Flow& flow, uint32_t pc) {
    constexpr size_t most = 32;
    struct Wanted {
        uint32_t pc;
        int32_t reg;
    };
    std::vector<Wanted> open{{pc, program.instructions[pc].guard}};
    for (size_t k = 0; k < open.size() && k < most; ++k) {
        for (const uint32_t at : ptx::definitions_of(flow, open[k].pc, open[k].reg).pcs) {
            const auto& i = program.instructions[at];
            const bool memory = (i.kind == Kind::load && i.space != ptx::Space::param) || i.kind == Kind::atomic;
            if (memory) return at;
            ptx::each_use(program.lists, i, [&](const ptx::RegisterUse& use) {
                if (use.role == ptx::Role::source) open.push_back({at, use.reg});
            });
        }
    }
    return ptx::no_pc;
}

std::string thread_of(const Grid& grid, const Holder& h) {
    const Dim3 &blocks = grid.config->grid, &threads = grid.config->block;
    const uint32_t t = h.warp * warp_size + h.lane;
    const Dim3 block{h.block % blocks.x, h.block / blocks.x % blocks.y, h.block / blocks.x / blocks.y};
    const Dim3 thread{t % threads.x, t / threads.x % threads.y, t / threads.x / threads.y};
    return "thread " + triple(thread) + " of block " + triple(block);
}

// Where a lane is that has not ended: the topmost entry that holds it.
uint32_t pc_of_lane(const Warp& warp, uint32_t lane) {
    for (size_t i = warp.stack.size(); i-- > 0;)
        if (warp.stack[i].mask >> lane & 1) return warp.stack[i].pc;
    return ptx::no_pc;
}

// Of a lane that waits for a lock which nobody has taken in this launch: what it held from the beginning.
Cause cause_of_lock_from_before(const Warp& warp, uint32_t lane, uint32_t swap, ptx::Space space, uint64_t address) {
    const ptx::DecodedInstruction& i = warp.block->grid->program->instructions[swap];
    if (ptx::as_atomic(i).operation != ptx::AtomicOperation::cas || ptx::size_of(i.type) != 4) return {};
    int32_t wanted = 0, held = 0;
    std::memcpy(&wanted, operand(warp, i.source[0]) + size_t{lane} * sizeof wanted, sizeof wanted);
    if (space == ptx::Space::shared && address + sizeof held <= warp.block->shared.size())
        std::memcpy(&held, warp.block->shared.data() + address, sizeof held);
    else if (const std::byte* const bytes = warp.block->grid->memory->read(address, sizeof held))
        std::memcpy(&held, bytes, sizeof held);
    else
        return {};
    if (held == wanted) return {};
    return {"; thread " + triple(thread_index(warp, lane)) + " of block " + triple(warp.block->index) + " waits for " +
                word_name(warp, space, address) + " to be " + with_commas(wanted) + " on " +
                place_of(*warp.block->grid->program, swap) + "; it is " + with_commas(held) + ", and no thread holds it",
            "If it is a lock, let it begin as " + std::to_string(wanted) +
                ": inout:i32[1 zero] here, cudaMemset in a program, one thread and a barrier in shared memory."};
}

// Of lanes that come to a swap again and again: whose the lock is that they want.
Cause cause_of_lock(const Warp& warp, uint32_t lanes, uint32_t pc, const FindBlock& find) {
    const Grid& grid = *warp.block->grid;
    const ptx::Program& program = *grid.program;
    const uint32_t swap = next_swap(program, pc);
    if (swap == ptx::no_pc || !grid.findings || !all_behind(program, swap, program.instructions.size()).contains(pc))
        return {};
    thread_local Access access;
    locate(warp, grid.plan->steps[swap], lanes, access);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const auto found = grid.findings->holders.find(token_of_word(*warp.block, access.space, access.addresses[lane]));
        if (found == grid.findings->holders.end()) continue;
        const Holder& h = found->second;
        const Block* const of = h.block == warp.block->linear ? warp.block : find ? find(h.block) : nullptr;
        const Warp* const holder = of && h.warp < of->warps.size() ? &of->warps[h.warp] : nullptr;
        const bool knows = of || find;
        const bool ended = knows && (!holder || holder->done || (holder->exited >> h.lane & 1));
        const bool same_warp = holder == &warp && !ended;
        std::string state;
        if (ended) {
            state = "; that thread has ended, so that nobody gives it back";
        } else if (holder) {
            state = same_warp ? "; that thread is of the same warp and stands on " : "; that thread stands on ";
            state += place_of(program, pc_of_lane(*holder, h.lane));
            if (same_warp && !grid.independent)
                state += " until these lanes come there, as a warp with a stack runs one path";
        }
        Cause cause;
        cause.words = "; thread " + triple(thread_index(warp, lane)) + " of block " + triple(warp.block->index) +
                      " wants the lock " + word_name(warp, access.space, access.addresses[lane]) + " on " +
                      place_of(program, swap) + ", which " + thread_of(grid, h) + " took last, on " +
                      place_of(program, h.pc) + ", and has not given back" + state;
        cause.advice =
            ended ? "Give the lock back on every way out: put atomicExch(&lock, 0), with a __threadfence() before it, "
                    "in front of each return behind the place where it is taken."
            : same_warp && !grid.independent
                ? "Let the thread that takes the lock do its work and give it back inside the loop, under `if "
                  "(atomicCAS(&lock, 0, 1) == 0) { ... }`, so that it need not leave the loop first."
                : "";
        return cause;
    }
    const auto first = static_cast<uint32_t>(__builtin_ctz(lanes));
    return lanes == 0 ? Cause{} : cause_of_lock_from_before(warp, first, swap, access.space, access.addresses[first]);
}

}  // namespace

namespace {

std::string number_text(const Warp& warp, int32_t source, ptx::Type type, uint32_t lane) {
    const auto bytes = static_cast<uint32_t>(ptx::size_of(type));
    const std::byte* const at = operand(warp, source) + size_t{lane} * bytes;
    char text[32];
    if (type == ptx::Type::f32 || type == ptx::Type::f64) {
        float single = 0;
        double real = 0;
        std::memcpy(type == ptx::Type::f32 ? static_cast<void*>(&single) : &real, at, bytes);
        std::snprintf(text, sizeof text, "%.9g", type == ptx::Type::f32 ? double{single} : real);
        return text;
    }
    uint64_t bits = 0;
    std::memcpy(&bits, at, std::min<uint32_t>(bytes, 8));
    const bool is_unsigned = type == ptx::Type::u16 || type == ptx::Type::u32 || type == ptx::Type::u64;
    const unsigned unused = bytes >= 8 ? 0 : 64 - 8 * bytes;
    const auto as_signed = static_cast<int64_t>(bits << unused) >> unused;
    return with_commas(is_unsigned ? static_cast<int64_t>(bits) : as_signed);
}

// The comparison of two registers or numbers that the guard of a branch is; no_pc: there is none, or several.
uint32_t comparison_of(const ptx::Program& program, uint32_t branch) {
    const int32_t guard = program.instructions[branch].guard;
    if (!ptx::is_register(guard)) return ptx::no_pc;
    const auto pcs = ptx::definitions_of(ptx::Flow(program), branch, guard).pcs;
    if (pcs.size() != 1 || pcs[0] > branch || !ptx::text_of(program, pcs[0]).starts_with("setp.")) return ptx::no_pc;
    const auto& i = program.instructions[pcs[0]];
    const size_t bytes = ptx::size_of(i.type);
    return i.kind == Kind::lane_wise && (bytes == 4 || bytes == 8) ? pcs[0] : ptx::no_pc;
}

// The branch of the loop [begin, end] that goes on or leaves it, the one at its end before one inside it; no_pc: none.
uint32_t condition_of_loop(const ptx::Program& program, uint32_t begin, uint32_t end) {
    if (ptx::is_register(program.instructions[end].guard)) return end;
    for (uint32_t pc = begin; pc < end; ++pc) {
        const auto& i = program.instructions[pc];
        const bool branches = i.kind == Kind::branch && ptx::is_register(i.guard) && i.target != ptx::no_pc;
        if (branches && (i.target > end || i.target < begin)) return pc;
    }
    return ptx::no_pc;
}

constexpr const char* look_for_change =
    "Look at what the loop is to change in each round: a step of 0, a product with 0, or a fraction that is too small to be "
    "added.";
constexpr const char* no_way_out =
    "The compiler has found that nothing leads out of this loop: its condition holds for every value that it can have, as "
    "i >= 0 does for an unsigned i, or its step is 0.";

}  // namespace

Cause cause_of_condition(const Warp& warp, uint32_t pc) {
    const ptx::Program& program = *warp.block->grid->program;
    for (uint32_t end = pc; end < program.instructions.size(); ++end) {  // the innermost loop around it
        const auto& i = program.instructions[end];
        if (i.kind != Kind::branch || i.target == ptx::no_pc || i.target > pc) continue;
        const uint32_t branch = condition_of_loop(program, i.target, end);
        if (branch == ptx::no_pc) return {"", no_way_out};
        const uint32_t compare = comparison_of(program, branch);
        if (compare == ptx::no_pc) return {};
        const auto lane = static_cast<uint32_t>(__builtin_ctz(warp.active() | 0x80000000u));
        const auto& c = program.instructions[compare];
        return {"; its condition on " + place_of(program, compare) + " compares " +
                    number_text(warp, c.source[0], c.type, lane) + " with " + number_text(warp, c.source[1], c.type, lane),
                look_for_change};
    }
    return {};
}

// Whether a thread at `pc` comes to the loop without another choice.
static bool leads_into(const ptx::Program& program, uint32_t pc, const std::set<uint32_t>& loop) {
    for (size_t steps = 0; steps < 64 && pc < program.instructions.size(); ++steps) {
        if (loop.contains(pc)) return true;
        const auto& i = program.instructions[pc];
        if (i.kind == Kind::exit || (i.kind == Kind::branch && ptx::is_register(i.guard))) return false;
        pc = i.kind == Kind::branch ? i.target : pc + 1;
    }
    return false;
}

Cause cause_of_endless_loop(const Warp& warp, uint32_t pc) {
    constexpr size_t longest = 256;
    const ptx::Program& program = *warp.block->grid->program;
    const std::set<uint32_t> loop = all_behind(program, pc, longest);
    if (loop.empty()) return {};
    for (const uint32_t at : loop) {
        const auto& i = program.instructions[at];
        if (i.kind == Kind::exit || i.kind == Kind::atomic || (i.kind == Kind::load && i.space != ptx::Space::param))
            return {};
    }
    const ptx::Flow flow(program);
    for (uint32_t at = 0; at < program.instructions.size(); ++at) {
        const auto& i = program.instructions[at];
        if (i.kind != Kind::branch || i.guard == ptx::no_operand || loop.contains(at)) continue;
        if (leads_into(program, i.target, loop) == leads_into(program, at + 1, loop)) continue;
        if (i.line > 0 && program.instructions[pc].line > 0 && i.line != program.instructions[pc].line) continue;
        const uint32_t load = load_behind_guard(program, flow, at);
        if (load == ptx::no_pc) continue;
        const std::string name = loaded_name(program, load);
        Cause cause;
        cause.words = "; the loop on " + place_of(program, pc) + " reads no memory: the compiler has read " +
                      (name.empty() ? "the word that it waits for" : name) + " once, on " + place_of(program, load) +
                      " in front of the loop, and no write of another thread can end it any more";
        cause.advice =
            "Declare " + (name.empty() ? "the variable" : name) +
            " volatile, or read it by atomicAdd(&x, 0) or a cuda::atomic_ref, so that every round of the loop reads it "
            "anew.";
        return cause;
    }
    return {};
}

Cause cause_of_runaway(Warp& warp, uint32_t branch, uint32_t lane) {
    constexpr int most_steps = 100'000, most_rounds = 1000;
    const ptx::Program& program = *warp.block->grid->program;
    if (branch >= program.instructions.size() || program.instructions[branch].kind != Kind::branch) return {};
    const uint32_t condition = condition_of_loop(program, program.instructions[branch].target, branch);
    if (condition == ptx::no_pc) return {"", no_way_out};
    const uint32_t compare = comparison_of(program, condition);
    Cause cause;
    if (compare == ptx::no_pc) return {};
    const uint32_t load = load_behind_guard(program, ptx::Flow(program), condition);
    const bool waits_for_memory = load != ptx::no_pc && load >= program.instructions[branch].target && load <= branch;
    if (waits_for_memory) return {};  // others may change it
    const auto& i = program.instructions[compare];
    std::string first[2], last[2];
    int rounds = 0;
    for (int k = 0; k < most_steps && rounds < most_rounds && !warp.done && !warp.at_barrier; ++k) {
        if (warp.pc() == compare && (warp.active() >> lane & 1)) {
            for (const int side : {0, 1}) last[side] = number_text(warp, i.source[side], i.type, lane);
            if (rounds++ == 0) first[0] = last[0], first[1] = last[1];
        }
        if (step(warp).kind == WarpEvent::Kind::fault) break;
    }
    if (rounds < 2) return {};
    const bool stays = first[0] == last[0] && first[1] == last[1];
    cause.words = "; its condition on " + place_of(program, compare) + " compares " + last[0] + " with " + last[1];
    if (stays) {
        cause.words += ", and neither of them changes from round to round";
        cause.advice = look_for_change;
    } else {
        const int moves = first[0] != last[0] ? 0 : 1;
        cause.words += ", where " + first[moves] + " stood " + std::to_string(rounds - 1) + " rounds before";
        cause.advice =
            "Look whether it comes to its end at all: a != that is stepped over, a step in the wrong direction, or "
            "a number that begins again at 0 when it no longer fits.";
    }
    return cause;
}

Cause cause_of_waits(const Block& block, const FindBlock& find) {
    for (const Warp& warp : block.warps) {
        if (warp.done || (warp.at_barrier && warp.barrier_lanes)) continue;
        for (size_t i = warp.stack.size(); i-- > 0;) {
            const Why why = warp.waits.empty() ? Why::nothing : warp.waits[i].why;
            const bool spins = why == Why::spins || why == Why::tired || (why == Why::nothing && is_leaf(warp, i));
            if (!spins || warp.stack[i].frame >= 0) continue;
            Cause cause = cause_of_lock(warp, warp.stack[i].mask, warp.stack[i].pc, find);
            if (cause.words.empty()) cause = cause_of_endless_loop(warp, warp.stack[i].pc);
            if (!cause.words.empty()) return cause;
        }
    }
    return {};
}

std::string waits_for_word(const Block& block) {
    for (const Warp& warp : block.warps) {
        if (warp.done || warp.at_barrier || warp.watch.read_pc == ptx::no_pc) continue;
        const uint32_t pc = warp.watch.read_pc;
        const Prepared& p = block.grid->plan->steps[pc];
        if (p.code != Code::load_global && p.code != Code::load_any && p.code != Code::atomic) continue;
        thread_local Access access;
        const uint32_t lanes = warp.active();
        locate(warp, p, lanes, access);
        if (access.space != ptx::Space::global) continue;
        return word_name(warp, access.space, access.addresses[__builtin_ctz(lanes)]) + " on " +
               place_of(*block.grid->program, pc);
    }
    return {};
}

void say_what_cannot_start(Fault& fault, const Block& block, uint64_t blocks, uint64_t resident) {
    if (blocks == 0) return;
    fault.message += "; " + std::to_string(blocks) + (blocks == 1 ? " block" : " blocks") +
                     " cannot start before one of the " + std::to_string(resident) + " that run has ended";
    const std::string word = waits_for_word(block);
    if (word.empty() || !fault.advice.empty()) return;
    fault.advice = "The blocks that run wait for others to change " + word +
                   ": a block may wait only for blocks that are there at "
                   "the same time. Launch at most " +
                   std::to_string(resident) +
                   " blocks of this size on this GPU and let each do its share of the work in a loop; a "
                   "cooperative launch with grid.sync() refuses more.";
}

}  // namespace lockstep::simt
