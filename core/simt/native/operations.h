// Which operations of the opcode table are translated, each with its translation: the same value in every lane, bit for bit,
// as the row's own function gives. What is missing here runs by that function. Internal to core/simt/native.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "core/ptx/decode/program.h"
#include "core/simt/native/writer.h"

namespace lockstep::simt {

// Types of operands by letters: i 32 bits, l 64 bits, f float, d double, p predicate (a bit a lane). F, of a result: a float
// whose NaNs may be any, and count as the one that f32 has.
struct Operation {
    char result = 0;
    std::string operands;  // a letter each
    // What it is to ramps.
    enum class Linear : uint8_t {
        none,
        copy,
        sum,
        difference,
        product,
        multiply_add,
        shift_left,
        widen_signed,
        widen_unsigned
    };
    Linear linear = Linear::none;
    // The value of `lanes` lanes, of operands of as many.
    std::function<std::string(Writer&, int lanes, const std::string* operands)> write;
};

// Nothing: it is not translated. `wrong`: "add.s32" gives a translation of that spelling that is wrong, for tests.
std::optional<Operation> operation_of(const ptx::DecodedInstruction& i, const std::string& wrong = {});

// "add(.u32|.s32)": the name and the spellings of the row's form that the instruction is.
std::string spelling_of(const ptx::DecodedInstruction& i);

// All spellings that have a translation, but for those of setp.
std::vector<std::string> translated_spellings();

// Of a letter: the type of a lane in LLVM's language, and its bits (a predicate: 1).
const char* lane_type(char letter);
uint32_t lane_bits(char letter);

}  // namespace lockstep::simt
