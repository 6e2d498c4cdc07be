// How long the register file is busy with the operands of each instruction. A sub-core has as many banks as it reads
// operands a cycle (GpuSpec::register_reads), each a read of 32 lanes a cycle; a register lies in the bank of its number.
// What the instruction in front of it read in the same place is kept (ptxas marks it .reuse), and constants come from
// elsewhere.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/lowering/lowering.h"
#include "core/ptx/decode/program.h"

namespace lockstep::model {

// Cycles, at least 1, of every instruction. Registers are placed as ptxas must: the words of a wide load lie one behind the
// other, so their banks alternate; an accumulator keeps its place; all others go where they meet least of what is read with
// them. Instructions of 32-bit operands only; others take their pipes for longer than their reads.
std::vector<uint8_t> operand_cycles(const GpuSpec& gpu, const ptx::Program& program, const std::vector<Lowered>& lowered);

}  // namespace lockstep::model
