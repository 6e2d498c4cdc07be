// Shuffles and votes follow the pseudo-code of the PTX ISA (shfl.sync, vote.sync). Each has two parts: are all the lanes
// here that its member mask names (paths.h), and what it does.
#include "core/simt/execute/warp_wide.h"

#include <algorithm>
#include <cstring>

#include "core/ptx/decode/views.h"
#include "core/simt/async/cluster.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/undefined.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

// Whoever looks at the clock again sees that it has moved, in a launch without timing too, where nobody sets it between two
// instructions: otherwise what is measured there takes no time, and loops that wait for the clock run long.
constexpr int64_t ticks_of_a_look = 32;

void special_register(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    using ptx::SpecialRegister;
    const Block& block = *warp.block;
    const Grid& grid = *block.grid;
    const Dim3 extent = grid.config->block, blocks = grid.config->grid;
    const auto which = ptx::as_special(grid.program->instructions[pc]).which;
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
        case SpecialRegister::globaltimer_lo:
            all(ticks & 0xffffffffu);
            warp.block->clock += ticks_of_a_look;
            break;
        case SpecialRegister::clock_hi:
        case SpecialRegister::globaltimer_hi:
            all(ticks >> 32);
            break;
        case SpecialRegister::clock64:
        case SpecialRegister::globaltimer:
            all(ticks);
            warp.block->clock += ticks_of_a_look;
            break;
        case SpecialRegister::dynamic_smem_size:
            all(grid.config->dynamic_shared);
            break;
        case SpecialRegister::total_smem_size:
            all(shared_of_launch(grid));
            break;
        case SpecialRegister::aggr_smem_size:
        case SpecialRegister::reserved_smem_end:
            all(block.shared.size());
            break;
        case SpecialRegister::reserved_smem_begin:
            all(block.shared.size() - grid.program->reserved_shared);
            break;
        case SpecialRegister::reserved_smem_1:
            all(block.shared.size() - grid.program->reserved_shared / 2);
            break;
        case SpecialRegister::envreg1:
            all(grid.workspace >> 32);
            break;
        case SpecialRegister::envreg2:
            all(grid.workspace & 0xffffffffu);
            break;
        case SpecialRegister::zero:
        case SpecialRegister::envreg:
        case SpecialRegister::pm:
        case SpecialRegister::pm_64:
        case SpecialRegister::current_graph_exec:
            all(0);
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
    const int32_t members = warp.block->grid->program->instructions[pc].source[3];
    if (members != ptx::no_operand) {
        if (Fault* fault = check_members(warp, pc, mask, words(warp, members), "shuffle")) return fault;
        note_warp_barrier(warp, mask, words(warp, members));
    }
    shuffle_lanes(warp, pc, p, mask);
    return nullptr;
}

void shuffle_lanes(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const ptx::ShuffleOperation operation = ptx::as_shuffle(instruction).operation;
    const uint32_t* const value = words(warp, p.a);
    const uint32_t* const by = words(warp, p.b);
    const uint32_t* const clamp = words(warp, p.c);
    alignas(64) uint32_t result[warp_size];
    int sources[warp_size];
    uint32_t inside = 0;
    for (uint32_t lane = 0; lane < warp_size; ++lane) {
        const uint32_t b = by[lane] & 31, c = clamp[lane] & 31, segment = clamp[lane] >> 8 & 31;
        const auto last = static_cast<int>((lane & segment) | (c & ~segment));
        const auto first = lane & segment;
        int from = 0;
        bool valid = false;
        switch (operation) {
            case ptx::ShuffleOperation::up:
                from = static_cast<int>(lane) - static_cast<int>(b);
                valid = from >= last;
                break;
            case ptx::ShuffleOperation::down:
                from = static_cast<int>(lane + b), valid = from <= last;
                break;
            case ptx::ShuffleOperation::butterfly:
                from = static_cast<int>(lane ^ b), valid = from <= last;
                break;
            case ptx::ShuffleOperation::index:
                from = static_cast<int>(first | (b & ~segment)), valid = from <= last;
                break;
        }
        if (valid) inside |= 1u << lane;
        sources[lane] = from;
        result[lane] = value[valid ? static_cast<uint32_t>(from) & 31 : lane];
    }
    if (warp.block->grid->findings && warp.block->grid->synccheck && (mask != full_mask || warp.watch.undefined))
        note_shuffle(warp, pc, mask, sources, inside);
    auto* const d = reinterpret_cast<uint32_t*>(operand(warp, p.d));
    if (p.d != ptx::no_operand) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) d[__builtin_ctz(rest)] = result[__builtin_ctz(rest)];
    }
    if (instruction.destination[1] != ptx::no_operand) {
        auto* const predicate = reinterpret_cast<uint32_t*>(operand(warp, instruction.destination[1]));
        *predicate = (*predicate & ~mask) | (inside & mask);
    }
}

namespace {

// elect: the lowest lane of those members that are here.
void elect(Warp& warp, const ptx::DecodedInstruction& instruction, uint32_t mask) {
    const uint32_t* const members = words(warp, instruction.source[1]);
    auto* const leader = reinterpret_cast<uint32_t*>(operand(warp, instruction.destination[0]));
    auto* const chosen = reinterpret_cast<uint32_t*>(operand(warp, instruction.destination[1]));
    *chosen &= ~mask;
    uint32_t lowest[warp_size];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        lowest[lane] = static_cast<uint32_t>(__builtin_ctz((members[lane] & mask) | 0x80000000u));
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(__builtin_ctz(rest));
        leader[lane] = lowest[lane];
        if (lowest[lane] == lane) *chosen |= 1u << lane;
    }
}

// match and redux: lanes that have the same member mask work together.
void combine_values(Warp& warp, const ptx::DecodedInstruction& instruction, uint32_t mask) {
    using ptx::VoteOperation;
    const VoteOperation operation = ptx::as_vote(instruction).operation;
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
    if (p.b != ptx::no_operand) {
        if (Fault* fault = check_members(warp, pc, mask, words(warp, p.b), "vote")) return fault;
        note_warp_barrier(warp, mask, words(warp, p.b));
    }
    vote_lanes(warp, pc, p, mask);
    return nullptr;
}

void vote_lanes(Warp& warp, uint32_t pc, const Prepared& p, uint32_t mask) {
    using ptx::VoteOperation;
    const auto& instruction = warp.block->grid->program->instructions[pc];
    const VoteOperation operation = ptx::as_vote(instruction).operation;
    if (operation == VoteOperation::elect) return elect(warp, instruction, mask);
    if (operation >= VoteOperation::match_any) return combine_values(warp, instruction, mask);
    uint32_t holds = mask;
    if (p.a != ptx::no_operand) holds = (*words(warp, p.a) ^ (ptx::as_vote(instruction).negated ? full_mask : 0)) & mask;
    const uint32_t* const members = p.b == ptx::no_operand ? nullptr : words(warp, p.b);
    for (uint32_t rest = mask, lanes; rest; rest &= ~lanes) {  // lanes that name the same members vote together
        const uint32_t named = members ? members[__builtin_ctz(rest)] : full_mask, together = named & mask;
        lanes = 0;
        for (uint32_t others = rest; others; others &= others - 1)
            if (!members || members[__builtin_ctz(others)] == named) lanes |= others & -others;
        if (operation == VoteOperation::ballot || operation == VoteOperation::activemask) {
            alignas(64) uint64_t values[warp_size];
            std::fill(values, values + warp_size, holds & together);
            write_lanes(operand(warp, p.d), p.register_bytes, values, lanes);
            continue;
        }
        const uint32_t ours = holds & together;
        const bool result = operation == VoteOperation::all   ? ours == together
                            : operation == VoteOperation::any ? ours != 0
                                                              : ours == together || ours == 0;
        auto* const d = reinterpret_cast<uint32_t*>(operand(warp, p.d));
        *d = (*d & ~lanes) | (result ? lanes : 0);
    }
}

}  // namespace lockstep::simt
