// What one lane's instruction computed, in words: "0 / 0", "2 * 3.5 + 1". Internal to core/simt.
#pragma once
#include <functional>
#include <string>

#include "core/simt/execute/plan.h"

namespace lockstep::simt {

using ReadOperand = std::function<uint64_t(int32_t operand, uint32_t bytes)>;  // a lane's bits

// As people write the number: "3.5", "-inf", "nan", "42".
std::string number_text(uint64_t bits, ptx::Type type);
bool is_float(ptx::Type type);
// Of one or two numbers of a floating type; false for other types.
bool holds_nonfinite(uint64_t bits, ptx::Type type);

// The operation of a lane-wise instruction with its operands; "" for one that only moves a value.
std::string operation_text(const ptx::Program& program, uint32_t pc, const ReadOperand& read);
// What most likely keeps the operation from giving a NaN or an infinity: a full sentence, or "".
std::string advice_for_nonfinite(const ptx::Program& program, uint32_t pc, const ReadOperand& read);

}  // namespace lockstep::simt
