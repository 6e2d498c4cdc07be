// Shuffles and votes follow the pseudo-code of the PTX ISA (shfl.sync, vote.sync); barriers count warps, and warps that
// have exited count as arrived.
#include "core/simt/warp_wide.h"

#include <algorithm>
#include <cstring>

#include "core/simt/cluster.h"
#include "core/simt/faults.h"

namespace lockstep::simt {

namespace {

std::string hex32(uint32_t value) {
    char text[16];
    std::snprintf(text, sizeof text, "0x%08x", value);
    return text;
}

// Lanes that have exited, or whose next instruction is an exit: `if (i >= n) return;` is compiled as a branch to the last
// ret, where those lanes wait for the others; a barrier or a shuffle in between does not need them.
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

// A lane that takes part must be in its own member mask, and the members must be here or gone.
Fault* check_members(const Warp& warp, uint32_t pc, uint32_t mask, const uint32_t* members, const char* what) {
    if (!warp.block->grid->synccheck) return nullptr;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        if (!(members[lane] >> lane & 1)) {
            return make_fault(warp, pc, lane, "synccheck",
                              std::string("the ") + what + "'s member mask " + hex32(members[lane]) + " leaves out lane " +
                                  std::to_string(lane) + ", which runs it");
        }
        uint32_t missing = members[lane] & ~warp.exited & ~mask;
        if (missing) missing &= ~gone(warp);
        if (missing) {
            return make_fault(warp, pc, lane, "synccheck",
                              std::string("the ") + what + "'s member mask " + hex32(members[lane]) + " names lane " +
                                  std::to_string(__builtin_ctz(missing)) + ", which is not here: it is on another path");
        }
    }
    return nullptr;
}

// bar.red: what the predicates of all that wait at barrier `number` say together, written to each warp's result.
void combine_at_barrier(Block& block, uint32_t number) {
    const auto& instructions = block.grid->program->instructions;
    uint32_t count = 0;
    bool every = true;
    for (const Warp& w : block.warps) {
        if (!w.at_barrier || w.barrier != number) continue;
        count += static_cast<uint32_t>(__builtin_popcount(w.barrier_says));
        every = every && w.barrier_says == w.barrier_lanes;
    }
    for (Warp& w : block.warps) {
        if (!w.at_barrier || w.barrier != number) continue;
        const auto& instruction = instructions[w.barrier_pc];
        if (instruction.mode == 0 || instruction.destination[0] == ptx::no_operand) continue;
        auto* const d = reinterpret_cast<uint32_t*>(operand(w, instruction.destination[0]));
        if (instruction.mode == 1) {
            for (uint32_t rest = w.barrier_lanes; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = count;
        } else {
            const bool result = instruction.mode == 2 ? every : count > 0;
            *d = (*d & ~w.barrier_lanes) | (result ? w.barrier_lanes : 0);
        }
    }
}

// Lets everybody go who waits at barrier `number`, when all that it waits for are there.
bool release_if_full(Block& block, uint32_t number) {
    uint32_t arrived = 0, threads = 0;
    for (const Warp& w : block.warps) {
        if (!w.at_barrier || w.barrier != number) continue;
        ++arrived;
        threads = std::max(threads, w.barrier_threads);
    }
    if (!arrived) return false;
    const bool full = threads ? arrived * warp_size >= threads : arrived + block.warps_done == block.warps.size();
    if (!full) return false;
    combine_at_barrier(block, number);
    for (Warp& w : block.warps) {
        if (w.at_barrier && w.barrier == number) {
            w.at_barrier = false;
            --block.warps_at_barrier;
        }
    }
    return true;
}

}  // namespace

Fault* arrive(Warp& warp, uint32_t pc, uint32_t active, uint32_t mask, bool& released) {
    Block& block = *warp.block;
    const auto& instruction = block.grid->program->instructions[pc];
    const uint32_t live = ~warp.exited;
    const auto lane = static_cast<uint32_t>(__builtin_ctz(mask));
    const uint32_t missing = mask == live ? 0 : live & ~mask & ~gone(warp);
    if (block.grid->synccheck && missing) {
        return make_fault(warp, pc, lane, "synccheck",
                          "a barrier in divergent code: only " + std::to_string(__builtin_popcount(mask)) +
                              " of the warp's " + std::to_string(__builtin_popcount(live)) + " threads are here, thread " +
                              std::to_string(warp.index * warp_size + static_cast<uint32_t>(__builtin_ctz(missing))) +
                              (active & missing ? " skips it" : " is on another path"));
    }
    const auto value = [&](int32_t source) { return source == ptx::no_operand ? 0u : words(warp, source)[lane]; };
    warp.barrier = value(instruction.source[0]);
    warp.barrier_threads = value(instruction.source[1]);
    warp.barrier_pc = pc;
    if (warp.barrier > 15) {
        return make_fault(warp, pc, lane, "synccheck",
                          "barrier " + std::to_string(warp.barrier) + " does not exist: a block has barriers 0 to 15");
    }
    if (warp.barrier_threads % warp_size) {
        return make_fault(warp, pc, lane, "synccheck",
                          "a barrier for " + std::to_string(warp.barrier_threads) +
                              " threads: the count must be a multiple of the warp size, 32");
    }
    warp.barrier_lanes = mask;
    warp.barrier_says = 0;
    if (instruction.mode != 0 && instruction.source[2] != ptx::no_operand)
        warp.barrier_says = (*words(warp, instruction.source[2]) ^ (instruction.negated_source ? full_mask : 0)) & mask;
    warp.at_barrier = true;
    ++block.warps_at_barrier;
    released = release_if_full(block, warp.barrier);
    return nullptr;
}

void diverge(Warp& warp, uint32_t target, uint32_t reconvergence, StackEntry& top, uint32_t taken) {
    const StackEntry split = top;
    const uint32_t next = split.pc + 1;
    uint32_t side = reconvergence;
    warp.stack.pop_back();
    if (reconvergence == ptx::no_pc) {
        side = split.reconvergence;
    } else if (reconvergence != split.reconvergence) {
        warp.stack.push_back({reconvergence, split.reconvergence, split.mask});
    }
    if (target != side) warp.stack.push_back({target, side, taken});
    if (next != side) warp.stack.push_back({next, side, split.mask & ~taken});
    top = warp.stack.back();
}

bool leave(Warp& warp, uint32_t mask) {
    warp.exited |= mask;
    for (StackEntry& entry : warp.stack) entry.mask &= ~mask;
    std::erase_if(warp.stack, [](const StackEntry& entry) { return entry.mask == 0; });
    if (!warp.stack.empty()) return false;
    warp.done = true;
    Block& block = *warp.block;
    ++block.warps_done;
    if (!block.warps_at_barrier) return false;
    bool released = false;
    for (uint32_t number = 0; number < 16; ++number) released |= release_if_full(block, number);
    return released;
}

void special_register(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    using ptx::SpecialRegister;
    const Block& block = *warp.block;
    const Grid& grid = *block.grid;
    const Dim3 extent = grid.config->block, blocks = grid.config->grid;
    const auto which = static_cast<SpecialRegister>(grid.program->instructions[pc].mode);
    const auto ticks = static_cast<uint64_t>(block.clock);
    alignas(64) uint64_t values[warp_size];
    const auto all = [&](uint64_t value) { std::fill(values, values + warp_size, value); };
    const auto each = [&](auto&& of) {
        for (uint32_t lane = 0; lane < warp_size; ++lane) values[lane] = of(lane);
    };
    const auto thread = [&](auto&& coordinate) {
        Dim3 at = thread_index(warp, 0);
        for (uint32_t lane = 0; lane < warp_size; ++lane) {
            values[lane] = coordinate(at);
            if (++at.x == extent.x) {
                at.x = 0;
                if (++at.y == extent.y) at = {0, 0, at.z + 1};
            }
        }
    };
    switch (which) {
        case SpecialRegister::tid_x:
            thread([](const Dim3& at) { return at.x; });
            break;
        case SpecialRegister::tid_y:
            thread([](const Dim3& at) { return at.y; });
            break;
        case SpecialRegister::tid_z:
            thread([](const Dim3& at) { return at.z; });
            break;
        case SpecialRegister::ntid_x:
            all(extent.x);
            break;
        case SpecialRegister::ntid_y:
            all(extent.y);
            break;
        case SpecialRegister::ntid_z:
            all(extent.z);
            break;
        case SpecialRegister::ctaid_x:
            all(block.index.x);
            break;
        case SpecialRegister::ctaid_y:
            all(block.index.y);
            break;
        case SpecialRegister::ctaid_z:
            all(block.index.z);
            break;
        case SpecialRegister::nctaid_x:
            all(blocks.x);
            break;
        case SpecialRegister::nctaid_y:
            all(blocks.y);
            break;
        case SpecialRegister::nctaid_z:
            all(blocks.z);
            break;
        case SpecialRegister::laneid:
            each([](uint32_t lane) { return lane; });
            break;
        case SpecialRegister::warpid:
            all(warp.index);
            break;
        case SpecialRegister::nwarpid:
            all(block.warps.size());
            break;
        case SpecialRegister::smid:
            all(block.sm);
            break;
        case SpecialRegister::nsmid:
            all(grid.sm_count);
            break;
        case SpecialRegister::gridid:
            all(1);
            break;
        case SpecialRegister::lanemask_eq:
            each([](uint32_t lane) { return 1u << lane; });
            break;
        case SpecialRegister::lanemask_lt:
            each([](uint32_t lane) { return (1u << lane) - 1; });
            break;
        case SpecialRegister::lanemask_le:
            each([](uint32_t lane) { return (2u << lane) - 1; });
            break;
        case SpecialRegister::lanemask_gt:
            each([](uint32_t lane) { return ~((2u << lane) - 1); });
            break;
        case SpecialRegister::lanemask_ge:
            each([](uint32_t lane) { return ~((1u << lane) - 1); });
            break;
        case SpecialRegister::clock:
            all(ticks & 0xffffffffu);
            break;
        case SpecialRegister::clock_hi:
        case SpecialRegister::globaltimer_hi:
            all(ticks >> 32);
            break;
        case SpecialRegister::clock64:
        case SpecialRegister::globaltimer:
            all(ticks);
            break;
        case SpecialRegister::globaltimer_lo:
            all(ticks & 0xffffffffu);
            break;
        case SpecialRegister::dynamic_smem_size:
            all(grid.config->dynamic_shared);
            break;
        case SpecialRegister::total_smem_size:
            all(block.shared.size());
            break;
        case SpecialRegister::variable_address:
            all(static_cast<uint64_t>(p.offset));
            break;
        default:
            all(cluster_register(block, which));
            break;
    }
    if (p.register_bytes == 0) {  // a predicate, the same in all lanes
        auto* const d = reinterpret_cast<uint32_t*>(operand(warp, p.d));
        *d = values[0] ? *d | mask : *d & ~mask;
        return;
    }
    write_lanes(operand(warp, p.d), p.register_bytes, values, mask);
}

Fault* shuffle(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const uint32_t* const value = words(warp, p.a);
    const uint32_t* const by = words(warp, p.b);
    const uint32_t* const clamp = words(warp, p.c);
    if (instruction.source[3] != ptx::no_operand) {
        if (Fault* fault = check_members(warp, pc, mask, words(warp, instruction.source[3]), "shuffle")) return fault;
    }
    alignas(64) uint32_t result[warp_size];
    uint32_t inside = 0;
    for (uint32_t lane = 0; lane < warp_size; ++lane) {
        const uint32_t b = by[lane] & 31, c = clamp[lane] & 31, segment = clamp[lane] >> 8 & 31;
        const auto last = static_cast<int>((lane & segment) | (c & ~segment));
        const auto first = lane & segment;
        int from = 0;
        bool valid = false;
        switch (instruction.mode) {
            case 0:
                from = static_cast<int>(lane) - static_cast<int>(b);
                valid = from >= last;
                break;
            case 1:
                from = static_cast<int>(lane + b), valid = from <= last;
                break;
            case 2:
                from = static_cast<int>(lane ^ b), valid = from <= last;
                break;
            default:
                from = static_cast<int>(first | (b & ~segment)), valid = from <= last;
                break;
        }
        if (valid) inside |= 1u << lane;
        result[lane] = value[valid ? static_cast<uint32_t>(from) & 31 : lane];
    }
    auto* const d = reinterpret_cast<uint32_t*>(operand(warp, p.d));
    if (p.d != ptx::no_operand) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = result[__builtin_ctz(rest)];
    }
    if (instruction.destination[1] != ptx::no_operand) {
        auto* const predicate = reinterpret_cast<uint32_t*>(operand(warp, instruction.destination[1]));
        *predicate = (*predicate & ~mask) | (inside & mask);
    }
    return nullptr;
}

namespace {

// match and redux: lanes that have the same member mask work together.
void combine_values(Warp& warp, const ptx::DecodedInstruction& instruction, uint32_t mask) {
    using ptx::VoteOperation;
    const auto operation = static_cast<VoteOperation>(instruction.mode);
    const std::byte* const from = operand(warp, instruction.source[0]);
    const uint32_t* const members = words(warp, instruction.source[1]);
    const bool wide = ptx::size_of(instruction.type) == 8, is_signed = instruction.type == ptx::Type::s32;
    const auto value = [&](uint32_t lane) -> uint64_t {
        return wide ? reinterpret_cast<const uint64_t*>(from)[lane] : reinterpret_cast<const uint32_t*>(from)[lane];
    };
    uint32_t result[warp_size] = {}, alike = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        const uint32_t together = members[lane] & mask;
        uint32_t same = 0;
        auto sum = static_cast<uint32_t>(value(lane));
        for (uint32_t others = together; others; others &= others - 1) {
            const auto other = static_cast<uint32_t>(__builtin_ctz(others));
            const auto b = static_cast<uint32_t>(value(other));
            if (value(other) == value(lane)) same |= 1u << other;
            if (other == lane) continue;
            const bool less = is_signed ? static_cast<int32_t>(b) < static_cast<int32_t>(sum) : b < sum;
            switch (operation) {
                case VoteOperation::redux_add:
                    sum += b;
                    break;
                case VoteOperation::redux_min:
                    sum = less ? b : sum;
                    break;
                case VoteOperation::redux_max:
                    sum = less ? sum : b;
                    break;
                case VoteOperation::redux_and:
                    sum &= b;
                    break;
                case VoteOperation::redux_or:
                    sum |= b;
                    break;
                case VoteOperation::redux_xor:
                    sum ^= b;
                    break;
                default:
                    break;
            }
        }
        if (same == together) alike |= 1u << lane;
        result[lane] = operation == VoteOperation::match_any   ? same
                       : operation == VoteOperation::match_all ? (same == together ? together : 0)
                                                               : sum;
    }
    if (instruction.destination[0] != ptx::no_operand) {
        auto* const d = reinterpret_cast<uint32_t*>(operand(warp, instruction.destination[0]));
        for (uint32_t rest = mask; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = result[__builtin_ctz(rest)];
    }
    if (instruction.destination[1] != ptx::no_operand) {
        auto* const predicate = reinterpret_cast<uint32_t*>(operand(warp, instruction.destination[1]));
        *predicate = (*predicate & ~mask) | (alike & mask);
    }
}

}  // namespace

Fault* vote(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    const auto& instruction = warp.block->grid->program->instructions[pc];
    if (p.b != ptx::no_operand) {
        if (Fault* fault = check_members(warp, pc, mask, words(warp, p.b), "vote")) return fault;
    }
    if (instruction.mode >= static_cast<uint8_t>(ptx::VoteOperation::match_any)) {
        combine_values(warp, instruction, mask);
        return nullptr;
    }
    uint32_t holds = mask;
    if (p.a != ptx::no_operand) holds = (*words(warp, p.a) ^ (instruction.negated_source ? full_mask : 0)) & mask;
    bool result = false;
    switch (instruction.mode) {
        case 0:
            result = holds == mask;
            break;
        case 1:
            result = holds != 0;
            break;
        case 2:
            result = holds == mask || holds == 0;
            break;
        default: {
            alignas(64) uint64_t values[warp_size];
            std::fill(values, values + warp_size, holds);
            write_lanes(operand(warp, p.d), p.register_bytes, values, mask);
            return nullptr;
        }
    }
    auto* const d = reinterpret_cast<uint32_t*>(operand(warp, p.d));
    *d = (*d & ~mask) | (result ? mask : 0);
    return nullptr;
}

}  // namespace lockstep::simt
