// Instructions of the opcode table as text, and values to try them on: every spelling of a row written down with registers
// of its operands' sizes, the edges of each type and random values. The tests of lane-wise instructions and the comparison
// with a real GPU (app/silicon/opcodes/opcode_cases.h) walk the table with these.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/rng.h"
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::ptx::opcode_text {

size_t lane_bytes(Type t);                  // of the register that holds one; pred: 0
uint64_t low(uint64_t bits, size_t bytes);  // the lower ones

// Every spelling of a pattern: all choices, with and without what may be left out.
std::vector<std::string> spellings(std::string_view pattern);

struct Operand {
    Type type = Type::none;  // of the register
    std::string reg;         // "%r1"; empty: the operand is a number
    std::string part;        // "b1" of %r1.b1
    bool negated = false;
};
struct Instruction {
    std::string name, modifiers, text;
    Type first = Type::none, last = Type::none;
    std::vector<Type> types;        // as written
    std::vector<Operand> operands;  // destination first
    Operand second;                 // p|q
    uint64_t table = 0;             // lop3's
    bool has(const std::string& m) const { return (modifiers + ".").find(m + ".") != std::string::npos; }
    bool combined() const { return has(".and") || has(".or") || has(".xor"); }
    Type source_type(size_t k) const { return k + 1 < operands.size() ? operands[k + 1].type : Type::none; }
};

std::string register_name(size_t bytes, size_t k);  // %p for 0 bytes, %h, %r, %rd, %rq

// The spelling as an instruction by its row's shape, variant 0; other variants: registers twice and four times as wide
// (cvt), other parts (video), a negated predicate. Registers are numbered by operand; a second destination is %p9.
Instruction write_down(const Opcode& row, const std::string& modifiers, size_t variant, Rng& rng);

// The edges of a type as bits: zeros, ones, extremes, NaNs with payloads, infinities, subnormals, numbers whose rounding
// ties.
std::vector<uint64_t> edges(Type t);
uint64_t random_value(Rng& rng, Type t);

}  // namespace lockstep::ptx::opcode_text
