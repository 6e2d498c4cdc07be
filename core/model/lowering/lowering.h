// What PTX becomes on silicon: ptxas allocates registers, folds moves and address arithmetic into the instructions that use
// them, and makes wide loads of neighbouring ones. This is a static pass over the decoded program that says so for each
// instruction. The rules are those that comparing PTX with the machine code of nvcc 13 for sm_70 to sm_90 shows;
// lowering_pass.h lists them, a function a rule.
#pragma once
#include <cstdint>
#include <vector>

#include "core/ptx/decode/program.h"

namespace lockstep::model {

constexpr int8_t global_marks = 2;  // the mark of loads from global memory, see Lowered

// What becomes of a branch: it stays one; it decides by a predicate which of the instructions behind it do their work, up to
// where the sides meet; or it is the end of such a side.
enum class Predicated : uint8_t { no, decides, goes_on };

struct Lowered {
    uint8_t instructions = 1;           // machine instructions: 0 folded into another, or merged with a load in front of it
    uint8_t slots = 1;                  // issue slots that those take; of a sequence like a division more than one
    uint32_t merged_with = UINT32_MAX;  // the load from shared memory that brings this one along; instructions is 0
    bool wide_add = false;              // a 64-bit addition that took its multiplication in: one integer multiply-add
    uint8_t wide_bytes = 0;  // of a load that brings others along: what a lane loads, 8 or 16, from an aligned address
    // ptxas moves loads up past what does not concern them. An instruction may be one of three marks, and a load count as
    // issued at one: 0 and 1 for shared memory, 2 for global memory.
    int8_t sets_mark = -1, from_mark = -1;
    // ptxas unrolls a short loop: of so many rounds one behind the other only the first sets the mark of global memory, and
    // what sets it in the others counts as issued then, too. `loop`: of the branch behind its last round, where it begins.
    uint8_t rounds = 1;
    uint32_t loop = UINT32_MAX;
    // A short branch takes no slot, and the instructions of its sides wait for its predicate, `under`. Warps that go past a
    // side issue it too: a slot an instruction.
    Predicated predicated = Predicated::no;
    int32_t under = ptx::no_operand;
    // Of an atomic: all lanes have one address, or one operand, whatever they do.
    bool one_address = false, one_operand = false;
};

// One entry an instruction; at least one. With `enabled` false every instruction stands for itself. `compute`: the GPU's
// compute capability, for which ptxas allocates the registers; 0: the program's own target.
std::vector<Lowered> lower(const ptx::Program& program, bool enabled = true, uint32_t compute = 0);

}  // namespace lockstep::model
