// What the steps of decoding share; see decode.cpp.
#pragma once
#include <vector>

#include "core/ptx/decode/program.h"

namespace lockstep::ptx {

// All three look at one function: the instructions from `begin` on and before `end`. `lists` is Program::lists.

// Sets `reconvergence` of every branch: the first instruction that all paths from it come to.
void find_reconvergence(std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists, uint32_t begin,
                        uint32_t end);

struct LiveAtCall {
    uint32_t pc = 0;
    uint32_t registers = 0;  // 32-bit registers a thread that the caller needs after the call
};

// The most 32-bit registers that are live at once, plus 2 that every kernel uses for addresses of its own.
// `slot_registers[i]`: 32-bit registers of the slot at byte offset 64 * i of the register file; 0 for predicates. What the
// function needs at its calls goes behind `live`, in their order.
uint32_t count_registers(const std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists,
                         const std::vector<uint8_t>& slot_registers, uint32_t begin, uint32_t end,
                         std::vector<LiveAtCall>& live);

// Basic blocks: begin is the first instruction; successors are block numbers.
struct BasicBlock {
    uint32_t begin = 0, end = 0;
    std::vector<uint32_t> successors;
};
std::vector<BasicBlock> basic_blocks(const std::vector<DecodedInstruction>& instructions, const std::vector<int32_t>& lists,
                                     uint32_t begin, uint32_t end);

}  // namespace lockstep::ptx
