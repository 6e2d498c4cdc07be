// Program -> Plan: which of the executor's cases an instruction is, and the few numbers that the case needs.
#include "core/simt/execute/plan.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/execute/special.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;
using ptx::Space;
using ptx::Type;

// wgmma.fence and its like, which are nothing to the machine.
bool orders_products(const ptx::DecodedInstruction& i) {
    return ptx::as_group_order(i).order != ptx::GroupOrder::none;
}

Code code_of(const ptx::DecodedInstruction& i) {
    // The fast cases take whole words that need no widening.
    const size_t element = ptx::size_of(i.type);
    const bool plain = i.vector == 1 && (element == 4 || element == 8) && element == ptx::size_of(i.destination_type);
    const bool global = i.space == Space::global || i.space == Space::generic || i.space == Space::constant;
    switch (i.kind) {
        case Kind::lane_wise:
            return i.lanes ? Code::lane_wise : Code::nop;
        case Kind::lane_wise_many:
            return i.many ? Code::lane_wise_many : Code::nop;
        case Kind::special_register:
            return Code::special_register;
        case Kind::load:
            if (plain && i.space == Space::param && i.address == ptx::no_operand) return Code::load_param;
            if (plain && i.space == Space::shared) return Code::load_shared;
            return plain && global ? Code::load_global : Code::load_any;
        case Kind::store:
            if (plain && i.space == Space::shared) return Code::store_shared;
            return plain && global ? Code::store_global : Code::store_any;
        case Kind::branch:
            return Code::branch;
        case Kind::branch_table:
            return Code::branch_table;
        case Kind::call:
            return Code::call;
        case Kind::return_:
            return Code::return_;
        case Kind::exit:
            return Code::exit;
        case Kind::barrier:
            return Code::barrier;
        case Kind::warp_barrier:
            return Code::warp_barrier;
        case Kind::shuffle:
            return Code::shuffle;
        case Kind::vote:
            return Code::vote;
        case Kind::atomic:
            return Code::atomic;
        case Kind::trap:
            return Code::trap;
        case Kind::fence:
            return Code::nop;
        case Kind::nop:
            return orders_products(i) ? Code::special : Code::nop;
        default:
            return handler_of(i.kind) ? Code::special : Code::nop;
    }
    return Code::nop;
}

// Arithmetic, branches, weak loads and stores: between two accesses that put the order of others' in place (strong ones,
// fences, barriers) it makes no difference when a warp runs them. (What races is outside that promise, as it is on silicon.)
bool runs_ahead(const ptx::DecodedInstruction& i, Code code) {
    using ptx::SpecialRegister;
    switch (code) {
        case Code::lane_wise:
        case Code::branch:
            return true;
        case Code::load_shared:
        case Code::load_global:
        case Code::load_any:
            return ptx::is_weak_load(i) && (i.space == Space::shared || i.space == Space::global) &&
                   !ptx::as_access(i).fetches_again;
        case Code::store_shared:
        case Code::store_any:
            return i.kind == Kind::store && i.space == Space::shared && !ptx::as_access(i).strong;
        case Code::load_param:
        case Code::barrier:
            return true;
        case Code::special_register:
            switch (ptx::as_special(i).which) {
                case SpecialRegister::clock:
                case SpecialRegister::clock_hi:
                case SpecialRegister::clock64:
                case SpecialRegister::globaltimer:
                case SpecialRegister::globaltimer_lo:
                case SpecialRegister::globaltimer_hi:
                    return false;
                default:
                    return true;
            }
        default:
            return false;
    }
}

Prepared prepare(const ptx::DecodedInstruction& i, const std::vector<uint64_t>& variables, uint32_t count) {
    Prepared p;
    p.code = code_of(i);
    p.space = i.space;
    p.register_bytes = static_cast<uint8_t>(ptx::size_of(i.destination_type));
    p.element_bytes = static_cast<uint8_t>(ptx::size_of(i.type));
    p.vector = i.vector;
    p.sign_extends = i.type == Type::s8 || i.type == Type::s16 || i.type == Type::s32;
    p.wide_address = i.address_bytes == 8;
    p.guard = i.guard;
    p.guard_flip = i.guard_negated ? full_mask : 0;
    p.d = i.destination[0];
    p.a = i.source[0];
    p.b = i.source[1];
    p.c = i.source[2];
    p.address = i.address;
    p.target = i.target < count ? i.target : count;  // beyond the end is an exit
    p.reconvergence = i.reconvergence < count ? i.reconvergence : ptx::no_pc;
    const bool accesses_shared = p.space == Space::shared && p.code != Code::lane_wise;
    p.ahead = count >= most_ahead_pc || !runs_ahead(i, p.code) ? Ahead::never : accesses_shared ? Ahead::shared : Ahead::own;
    p.offset = i.offset;
    if (i.variable >= 0 && static_cast<size_t>(i.variable) < variables.size()) {
        p.offset = static_cast<int64_t>(static_cast<uint64_t>(p.offset) + variables[static_cast<size_t>(i.variable)]);
    }
    if (p.code == Code::special)
        p.handler = orders_products(i) ? run_group_order : handler_of(i.kind);
    else
        p.lanes = i.lanes;
    return p;
}

// Where basic blocks begin.
std::vector<bool> leaders_of(const ptx::Program& program) {
    const auto count = static_cast<uint32_t>(program.instructions.size());
    std::vector<bool> leader(count + 1, false);
    for (uint32_t pc = 0; pc < count; ++pc) {
        const auto& i = program.instructions[pc];
        ptx::each_target(program.lists, i, [&](uint32_t target) { leader[std::min(target, count)] = true; });
        if (i.kind == Kind::branch || i.kind == Kind::branch_table) leader[std::min(i.reconvergence, count)] = true;
        if (i.kind == Kind::branch || i.kind == Kind::branch_table || i.kind == Kind::call || i.kind == Kind::return_ ||
            i.kind == Kind::exit || i.kind == Kind::barrier)
            leader[pc + 1] = true;
    }
    return leader;
}

// Accesses of one basic block through one base register that does not change between them find its pattern (one address
// for all lanes, one after the other) once. Guarded instructions take no part, so all of these run under one mask.
void mark_shapes(const ptx::Program& program, const std::vector<bool>& leader, std::vector<Prepared>& steps) {
    const auto count = static_cast<uint32_t>(program.instructions.size());
    int32_t holds[shape_slots + 1];
    uint8_t next = 0;
    for (uint32_t pc = 0; pc < count; ++pc) {
        if (leader[pc] || pc == 0) std::fill(holds, holds + shape_slots + 1, ptx::no_operand);
        const auto& i = program.instructions[pc];
        Prepared& p = steps[pc];
        const bool fast = p.code == Code::load_global || p.code == Code::load_shared || p.code == Code::store_global ||
                          p.code == Code::store_shared;
        if (fast && p.address != ptx::no_operand && p.guard == ptx::no_operand) {
            for (uint8_t slot = 1; slot <= shape_slots; ++slot) {
                if (holds[slot] == p.address) p.shape = slot | shape_known;
            }
            if (!p.shape) {
                next = static_cast<uint8_t>(next % shape_slots + 1);
                holds[next] = p.address;
                p.shape = next;
            }
        }
        ptx::each_written(program.lists, i, [&](int32_t reg) {
            for (uint8_t slot = 1; slot <= shape_slots; ++slot)
                if (holds[slot] == reg) holds[slot] = ptx::no_operand;
        });
    }
}

// Unguarded arithmetic and loads from shared memory by a known pattern: the loop runs a stretch of them without looking up.
void mark_straight(const std::vector<bool>& leader, std::vector<Prepared>& steps) {
    for (size_t pc = steps.size(); pc-- > 0;) {
        Prepared& p = steps[pc];
        const bool load = p.code == Code::load_shared && (p.shape & shape_known) != 0 && p.element_bytes == 4;
        if ((p.code != Code::lane_wise && !load) || p.guard != ptx::no_operand || leader[pc + 1]) continue;
        p.straight = static_cast<uint8_t>(pc + 1 < steps.size() ? std::min(255, steps[pc + 1].straight + 1) : 1);
    }
}

}  // namespace

std::shared_ptr<Plan> make_plan(const ptx::Program& program, const std::vector<uint64_t>& variables) {
    auto plan = std::make_shared<Plan>();
    plan->program = &program;
    plan->variables = variables;
    const auto count = static_cast<uint32_t>(program.instructions.size());
    plan->steps.reserve(count + 1);
    int32_t number = ptx::no_operand;
    for (const auto& instruction : program.instructions) {
        plan->steps.push_back(prepare(instruction, variables, count));
        if (instruction.kind != Kind::barrier) continue;
        plan->counted_barriers |= instruction.source[1] != ptx::no_operand;
        if (number == ptx::no_operand) number = instruction.source[0];
        plan->barriers_alike = plan->barriers_alike && !plan->counted_barriers &&
                               ptx::as_barrier(instruction).operation == ptx::BarrierOperation::sync &&
                               instruction.source[0] < 0 && instruction.source[0] == number;
    }
    assert(plan->steps.size() == count);
    const std::vector<bool> leader = leaders_of(program);
    mark_shapes(program, leader, plan->steps);
    mark_straight(leader, plan->steps);
    plan->steps.emplace_back();
    const size_t bytes = program.constants.size();
    plan->storage = std::make_unique<std::byte[]>(bytes + 64);
    const auto start = reinterpret_cast<uintptr_t>(plan->storage.get());
    std::byte* aligned = plan->storage.get() + ((64 - start % 64) % 64);
    if (bytes) std::memcpy(aligned, program.constants.data(), bytes);
    plan->constants = aligned;
    return plan;
}

}  // namespace lockstep::simt
