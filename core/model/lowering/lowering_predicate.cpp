// Short branches become predicates, as the machine code of nvcc 13 for sm_75 to sm_90 shows: of
//
//   @%p1 bra SIDE;  bra.uni OTHER;  SIDE: ld.global ...;  bra.uni JOIN;  OTHER: mov ...;  JOIN:
//
// both branches go, and the instructions of both sides are issued, by all warps, under the predicate. That is so where a
// side has nothing but arithmetic, loads and stores, holds no other decision, and is short: the sizes below are those up to
// which ptxas does it. Where the sides meet at the end of the kernel ptxas ends the warp instead: that stays a branch.
#include "core/model/lowering/lowering_pass.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model::lowering {
namespace {
// Machine instructions: of one side, of two sides together, of one side that stores.
constexpr uint32_t most_of_one = 18, most_of_two = 12, most_with_stores = 8;
constexpr uint32_t most_apart = 96;  // PTX instructions between a branch and where its sides meet

bool may_be_predicated(const DecodedInstruction& in) {
    switch (in.kind) {
        case Kind::lane_wise:
        case Kind::lane_wise_many:  // divisions and roots have a slow path that is a call
            return ptx::facts_of(in).sequences.empty() || (in.approximate && in.type != Type::f64);
        case Kind::special_register: {
            const ptx::SpecialRegister which = ptx::as_special(in).which;
            return which <= ptx::SpecialRegister::laneid || which == ptx::SpecialRegister::variable_address;
        }
        case Kind::load:
        case Kind::store:
            return !ptx::as_access(in).strong;
        case Kind::branch:
            return in.guard == no_operand;
        default:
            return false;
    }
}
}  // namespace

// The range of instructions that jump to each one.
void Pass::find_jumps() {
    jumps.assign(code.size() + 1, Jumps{});
    for (uint32_t pc = 0; pc < code.size(); ++pc)
        ptx::each_target(program.lists, code[pc], [&](uint32_t target) {
            if (target >= jumps.size()) return;
            jumps[target].first = std::min(jumps[target].first, pc);
            jumps[target].last = std::max(jumps[target].last, pc);
        });
}

// The branch at `pc` and its sides, up to where they meet.
void Pass::predicate(uint32_t pc) {
    const DecodedInstruction& decides = code[pc];
    const uint32_t join = decides.reconvergence;
    if (decides.kind != Kind::branch || decides.guard == no_operand || join == ptx::no_pc) return;
    if (join <= pc + 1 || join >= code.size() || join - pc > most_apart) return;
    if (decides.target <= pc || decides.target > join) return;
    if (code[join].kind == Kind::exit || code[join].kind == Kind::return_) return;
    uint32_t total = 0, sides = 0, side = 0;
    bool stores = false;
    for (uint32_t at = pc + 1; at < join; ++at) {
        const DecodedInstruction& in = code[at];
        const bool jump = in.kind == Kind::branch;
        if (!may_be_predicated(in) || (jump && (in.target <= at || in.target > join))) return;
        if (jumps[at].first < pc || (jumps[at].last >= join && jumps[at].last != none)) return;
        if (jumps[at].last != none || jump) side = 0;
        stores |= in.kind == Kind::store;
        const uint32_t takes = jump ? 0 : out[at].slots;
        if (takes != 0 && side == 0) ++sides;
        side += takes;
        total += takes;
    }
    if (total > (stores ? most_with_stores : sides > 1 ? most_of_two : most_of_one)) return;
    for (uint32_t at = pc; at < join; ++at) {
        const bool jump = code[at].kind == Kind::branch;
        if (at != pc && !jump) out[at].under = decides.guard;
        if (jump) {
            out[at].predicated = at == pc ? Predicated::decides : Predicated::goes_on;
            out[at].slots = 0;
            fold(at);
        }
        if (at != pc) goes_on[at] = true;
    }
    goes_on[join] = jumps[join].last == none || (jumps[join].first >= pc && jumps[join].last < join);
}

// Basic blocks with nothing but predicates between them are one to the rules that move loads.
std::vector<ptx::CodeRange> Pass::find_stretches() {
    find_jumps();
    goes_on.assign(code.size() + 1, false);
    for (uint32_t pc = 0; pc < code.size(); ++pc) predicate(pc);
    std::vector<ptx::CodeRange> stretches;
    for (const ptx::BasicBlock& block : blocks) {
        if (!stretches.empty() && stretches.back().end == block.begin && goes_on[block.begin])
            stretches.back().end = block.end;
        else
            stretches.push_back({block.begin, block.end});
    }
    return stretches;
}

}  // namespace lockstep::model::lowering
