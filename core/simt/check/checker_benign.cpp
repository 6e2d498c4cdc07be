// Races that change nothing, as in a search by levels:
//
//   if (level[w] == -1) { level[w] = depth + 1; *changed = 1; }
//
// Several threads may find -1 and all write the same; one that finds the new value writes nothing, which comes to the same.
// That is so where what is written is the same for all threads of the launch, is written only over one known value, and the
// threads that find it do nothing beside but such stores. Another read of the word is harmless where the old and the new
// value answer all its comparisons alike: `if (level[v] != depth) return`. What cannot be seen to be so stays a race.
#include <algorithm>
#include <cstring>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"
#include "core/simt/memory/access.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;
constexpr size_t most_of_region = 200, most_uniform = 50;

// The one instruction that gives a register its value at `pc`; no_pc: there are several, or it is not known.
uint32_t only_definition(const ptx::Flow& flow, uint32_t pc, int32_t reg) {
    const ptx::Definitions found = ptx::definitions_of(flow, pc, reg);
    return found.pcs.size() == 1 && !found.from_entry ? found.pcs[0] : ptx::no_pc;
}

// Whether an operand is the same for all threads: a constant, or made of parameters and constants in a straight line.
bool is_uniform(const ptx::Flow& flow, uint32_t pc, int32_t operand, size_t depth = 0) {
    if (operand < 0) return true;  // a constant
    if (operand == ptx::no_operand || depth > most_uniform) return false;
    const uint32_t at = only_definition(flow, pc, operand);
    if (at == ptx::no_pc) return false;
    const ptx::DecodedInstruction& i = flow.program.instructions[at];
    if (ptx::is_conditional(i)) return false;
    if (i.kind == Kind::load) return i.space == ptx::Space::param && !ptx::is_register(i.address);
    if (i.kind != Kind::lane_wise || !i.opcode || i.list_sources > 0) return false;
    const std::string_view name = i.opcode->name;
    if (name != "mov" && name != "add" && name != "sub" && name != "mul" && name != "cvt" && name != "shl") return false;
    bool all = true;
    for (const int32_t source : i.source)
        if (source != ptx::no_operand) all = all && is_uniform(flow, at, source, depth + 1);
    return all;
}

bool is_comparison(const ptx::DecodedInstruction& i) {
    return i.kind == Kind::lane_wise && i.opcode && i.opcode->name == "setp" && i.lanes && ptx::size_of(i.type) == 4 &&
           i.source[2] == ptx::no_operand && i.destination[1] == ptx::no_operand;
}

// What a comparison says of two values in place of its `which`-th operand; the other one has `other`.
uint32_t answers(const ptx::DecodedInstruction& i, size_t which, uint32_t first, uint32_t second, uint32_t other) {
    alignas(64) uint32_t values[warp_size] = {}, others[warp_size] = {}, third[warp_size] = {}, result[warp_size] = {};
    values[0] = first, values[1] = second;
    others[0] = others[1] = other;
    const auto* const mine = reinterpret_cast<const std::byte*>(values);
    const auto* const theirs = reinterpret_cast<const std::byte*>(others);
    i.lanes(reinterpret_cast<std::byte*>(result), which == 0 ? mine : theirs, which == 0 ? theirs : mine,
            reinterpret_cast<const std::byte*>(third));
    return result[0] & 3;
}

// A plain store that only sets: see the head of this file.
bool sets_alike(const ptx::Flow& flow, uint32_t pc) {
    const ptx::DecodedInstruction& i = flow.program.instructions[pc];
    return i.kind == Kind::store && !ptx::as_access(i).strong && i.vector == 1 && ptx::size_of(i.type) == 4 &&
           i.source[0] != ptx::no_operand && is_uniform(flow, pc, i.source[0]);
}

// The instructions that threads run which turn to `from` at the branch, until all meet again. False: too many.
bool region_behind(const ptx::Program& program, uint32_t from, uint32_t reconvergence, std::vector<uint32_t>& region) {
    std::vector<uint32_t> open = {from};
    while (!open.empty()) {
        const uint32_t pc = open.back();
        open.pop_back();
        if (pc == reconvergence || pc >= program.instructions.size() ||
            std::find(region.begin(), region.end(), pc) != region.end())
            continue;
        if (region.size() >= most_of_region) return false;
        region.push_back(pc);
        ptx::each_successor(program, pc, [&](uint32_t next) { open.push_back(next); });
    }
    return true;
}

bool same_place(const ptx::DecodedInstruction& a, const ptx::DecodedInstruction& b) {
    return a.space == b.space && a.address == b.address && a.offset == b.offset && a.variable == b.variable &&
           ptx::is_register(a.address);
}

// A compiler loads again what a store might have changed. Where nothing does, that gives what the register held.
bool loads_again(const CheckerState& state, const ptx::Program& program, uint32_t pc) {
    const ptx::DecodedInstruction& again = program.instructions[pc];
    if (again.kind != Kind::load || pc >= state.quiet.size() || !state.quiet[pc]) return false;
    for (uint32_t other = 0; other < pc; ++other) {
        const ptx::DecodedInstruction& i = program.instructions[other];
        if (i.kind == Kind::load && i.destination[0] == again.destination[0] && same_place(i, again)) return true;
    }
    return false;
}

bool does_nothing_else(const CheckerState& state, const ptx::Flow& flow, const std::vector<uint32_t>& region,
                       uint32_t reconvergence) {
    const ptx::Program& program = flow.program;
    std::vector<int32_t> written;
    for (const uint32_t pc : region) {
        const ptx::DecodedInstruction& i = program.instructions[pc];
        const bool is_plain = i.kind == Kind::lane_wise || i.kind == Kind::lane_wise_many || i.kind == Kind::load ||
                              i.kind == Kind::special_register || i.kind == Kind::branch || i.kind == Kind::nop;
        if (!is_plain && !sets_alike(flow, pc)) return false;
        if (i.kind == Kind::branch && i.target <= pc && i.target != reconvergence) return false;  // a loop
        if (!loads_again(state, program, pc))
            ptx::each_written(program.lists, i, [&](int32_t reg) { written.push_back(reg); });
    }
    if (reconvergence == ptx::no_pc) return true;
    for (const ptx::CodeRange function : ptx::functions_of(program)) {
        if (reconvergence < function.begin || reconvergence >= function.end) continue;
        const ptx::Liveness live(program.instructions, program.lists, function.begin, function.end);
        if (!live.known()) return false;
        for (const int32_t reg : live.before(reconvergence))
            if (std::find(written.begin(), written.end(), reg) != written.end()) return false;
    }
    return true;
}

// The load whose value is compared with a constant before the store, and the constant; no_pc: there is none such.
SetOnce set_once_at(const CheckerState& state, const ptx::Program& program, uint32_t store_pc) {
    const ptx::Flow flow(program);
    if (store_pc >= program.instructions.size() || !sets_alike(flow, store_pc)) return {};
    const ptx::DecodedInstruction& store = program.instructions[store_pc];
    for (uint32_t compare_pc = 0; compare_pc < store_pc; ++compare_pc) {
        const ptx::DecodedInstruction& compare = program.instructions[compare_pc];
        if (!is_comparison(compare) || !ptx::is_register(compare.source[0]) || compare.source[1] >= 0) continue;
        const uint32_t load_pc = only_definition(flow, compare_pc, compare.source[0]);
        if (load_pc == ptx::no_pc || program.instructions[load_pc].kind != Kind::load ||
            ptx::as_access(program.instructions[load_pc]).strong || !same_place(program.instructions[load_pc], store))
            continue;
        uint32_t old = 0;
        std::memcpy(&old, program.constants.data() + static_cast<size_t>(~compare.source[1]), 4);
        // Of equality alone the store's side knows what it writes over.
        const bool equal = answers(compare, 0, old, old ^ 1, old) == 1,
                   unequal = answers(compare, 0, old, old ^ 1, old) == 2;
        if (!equal && !unequal) continue;
        for (uint32_t pc = compare_pc + 1; pc < store_pc; ++pc) {
            const ptx::DecodedInstruction& branch = program.instructions[pc];
            if (branch.kind != Kind::branch || branch.guard != compare.destination[0] ||
                only_definition(flow, pc, branch.guard) != compare_pc)
                continue;
            const bool taken_on_old = equal != branch.guard_negated;
            std::vector<uint32_t> region;
            const uint32_t from = taken_on_old ? branch.target : pc + 1;
            if (!region_behind(program, from, branch.reconvergence, region) ||
                std::find(region.begin(), region.end(), store_pc) == region.end() ||
                !does_nothing_else(state, flow, region, branch.reconvergence))
                continue;
            return {load_pc, old};
        }
    }
    return {};
}

}  // namespace

bool comes_to_the_same(CheckerState& state, const Warp& warp, uint32_t lane, uint32_t read_pc, uint32_t write_pc,
                       bool writes_now, const Place& place) {
    const ptx::Program& program = *state.grid->program;
    const auto& code = program.instructions;
    if (read_pc >= code.size() || write_pc >= code.size() || place.bytes != 4 || place.space != ptx::Space::global)
        return false;
    const ptx::DecodedInstruction &read = code[read_pc], &store = code[write_pc];
    if (read.kind != Kind::load || read.vector != 1 || store.kind != Kind::store || !warp.frames.empty()) return false;
    const auto [known, fresh] = state.set_once.try_emplace(write_pc);
    if (fresh) known->second = set_once_at(state, program, write_pc);
    const SetOnce& set = known->second;
    if (set.load == ptx::no_pc) return false;
    if (set.load == read_pc) return true;
    uint32_t after = 0;
    if (writes_now) {
        after = words(warp, store.source[0])[lane];
    } else {
        const std::byte* const now = state.grid->memory->read(place.address, 4);
        if (!now) return false;
        std::memcpy(&after, now, 4);
    }
    const ptx::Flow flow(program);
    bool alike = true, any = false;
    for (uint32_t pc = 0; pc < code.size() && alike; ++pc) {
        const ptx::DecodedInstruction& i = code[pc];
        bool uses = false;
        ptx::each_read(program.lists, i, [&](int32_t reg) { uses |= reg == read.destination[0]; });
        if (!uses) continue;
        const auto& pcs = ptx::definitions_of(flow, pc, read.destination[0]).pcs;
        if (std::find(pcs.begin(), pcs.end(), read_pc) == pcs.end()) continue;
        any = true;
        const size_t which = i.source[0] == read.destination[0] ? 0 : 1;
        const int32_t other = i.source[1 - which];
        alike = is_comparison(i) && pcs.size() == 1 && other != read.destination[0] && is_uniform(flow, pc, other);
        if (!alike) break;
        const uint32_t answer = answers(i, which, set.old, after, words(warp, other)[lane]);
        alike = answer == 0 || answer == 3;
    }
    return alike && any;
}

}  // namespace lockstep::simt
