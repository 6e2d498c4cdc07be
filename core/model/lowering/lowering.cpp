// Uses and definitions are counted over the whole program; what is folded is folded into a user in the same basic block,
// behind it, with none of its sources written in between. lowering_pass.h has the rules.
#include "core/model/lowering/lowering.h"

#include "core/model/lowering/lowering_pass.h"

namespace lockstep::model {
namespace lowering {

bool is_integer(Type type, size_t bytes) {
    switch (type) {
        case Type::b32:
        case Type::u32:
        case Type::s32:
            return bytes == 4;
        case Type::b64:
        case Type::u64:
        case Type::s64:
            return bytes == 8;
        default:
            return false;
    }
}

Pass::Pass(const ptx::Program& of, std::vector<Lowered>& found)
    : program(of),
      code(of.instructions),
      out(found),
      registers(of.registers_per_thread),
      block_end(code.size(), static_cast<uint32_t>(code.size())),
      took(code.size()) {
    for (const ptx::CodeRange function : ptx::functions_of(program))
        for (ptx::BasicBlock& block : ptx::basic_blocks(code, program.lists, function.begin, function.end))
            blocks.push_back(std::move(block));
    for (const ptx::BasicBlock& block : blocks)
        for (uint32_t pc = block.begin; pc < block.end; ++pc) block_end[pc] = block.end;
    for (const DecodedInstruction& in : code) {
        each_read(in, [&](int32_t r) { ++uses[r]; });
        each_write(in, [&](int32_t r) { ++writes[r]; });
    }
}

}  // namespace lowering

std::vector<Lowered> lower(const ptx::Program& program, bool enabled, uint32_t compute) {
    std::vector<Lowered> out(std::max<size_t>(1, program.instructions.size()));
    if (program.instructions.empty()) return out;
    const auto size = static_cast<uint32_t>(program.instructions.size());
    lowering::Pass pass(program, out);
    if (compute != 0) pass.registers = ptx::registers_on(program, compute);
    if (!enabled) {
        for (uint32_t pc = 0; pc < size; ++pc) pass.wide(pc);
        return out;
    }
    for (uint32_t pc = 0; pc < size; ++pc) pass.moves(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.addresses(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.pairs(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.predicates(pc);
    for (uint32_t pc = 0; pc < size; ++pc) pass.wide(pc);
    pass.find_zero_bits();
    pass.find_uniform();
    for (const ptx::BasicBlock& block : pass.blocks) pass.merge_loads(block.begin, block.end);
    for (uint32_t pc = 0; pc < size; ++pc) pass.count_slots(pc);
    for (const ptx::CodeRange stretch : pass.find_stretches()) pass.hoist_loads(stretch.begin, stretch.end);
    return out;
}

}  // namespace lockstep::model
