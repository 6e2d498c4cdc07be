// Which rows of the opcode table an instruction as written may be.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/parse/module.h"

namespace lockstep::ptx {

struct Candidate {
    const Opcode* opcode = nullptr;
    const Form* form = nullptr;
};

std::string_view stem_of(std::string_view spelling);                    // "mad" of "mad.lo.s32"
std::vector<std::string_view> modifiers_of(std::string_view spelling);  // ".lo", ".s32"
// The modifiers of a matrix instruction in the order that the table has them; empty for other instructions.
std::string in_matrix_order(std::string_view spelling);

// The type that a letter of a row's shape (Opcode::operands) stands for, in an instruction whose types as written begin with
// `first` and end with `last`.
Type operand_type(char letter, Type first, Type last);

// A table of opcodes by their names.
class Rows {
  public:
    explicit Rows(std::span<const Opcode> table);
    std::vector<Candidate> candidates(std::string_view stem, std::string_view modifiers) const;
    // One sentence about a spelling without candidates, with the nearest one that there is.
    std::string unknown_instruction(std::string_view spelling) const;

  private:
    std::span<const Opcode> table_;
    std::multimap<std::string_view, const Opcode*> by_name_;
};
const Rows& all_rows();  // of opcodes()

}  // namespace lockstep::ptx
