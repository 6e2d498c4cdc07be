// Where a thread may go behind an instruction: basic blocks, and where diverged paths meet again.
#pragma once
#include <vector>

#include "core/ptx/decode/views.h"

namespace lockstep::ptx {

// Calls take(pc) for the targets that a branch names, one or a table of them. `lists` is Program::lists.
template <class Take>
void each_target(const std::vector<int32_t>& lists, const DecodedInstruction& i, Take&& take) {
    if (i.kind == Kind::branch) take(i.target);
    if (i.kind != Kind::branch_table) return;
    for (const int32_t target : table_of(lists, i)) take(static_cast<uint32_t>(target));
}

// Whether a thread whose guard holds never comes to the instruction behind this one.
inline bool leaves(const DecodedInstruction& i) {
    return i.kind == Kind::branch || i.kind == Kind::branch_table || i.kind == Kind::exit || i.kind == Kind::return_ ||
           i.kind == Kind::trap;
}

// Calls take(next) for all pcs at which a thread of the function may be behind `pc`. A call comes back.
template <class Take>
void each_successor(const Program& program, uint32_t pc, Take&& take) {
    const DecodedInstruction& i = program.instructions[pc];
    each_target(program.lists, i, take);
    if (!leaves(i) || i.guard != no_operand) take(pc + 1);
}

// Both look at one function: the instructions from `begin` on and before `end`. `lists` is Program::lists.
struct BasicBlock {
    uint32_t begin = 0, end = 0;       // its instructions
    std::vector<uint32_t> successors;  // block numbers
};
std::vector<BasicBlock> basic_blocks(const std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists,
                                     uint32_t begin, uint32_t end);

// Sets `reconvergence` of every branch: the first instruction that all paths from it come to.
void find_reconvergence(std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists, uint32_t begin,
                        uint32_t end);

// The functions of a program as parts of its instructions; a program made by hand may be one part alone. Those that cannot
// run have no instructions.
struct CodeRange {
    uint32_t begin = 0, end = 0;
};
std::vector<CodeRange> functions_of(const Program& program);

}  // namespace lockstep::ptx
