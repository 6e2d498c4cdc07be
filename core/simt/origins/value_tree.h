// How a lane's register got its value: the instructions that made it, as a tree, found backwards from an instruction that
// is about to run. Everything is read from the registers as they stand, so that a launch pays nothing for it; where a
// register has been used again since, the tree ends there with the value that is known. Internal to core/simt.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/ptx/analyse/dataflow.h"
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

struct ValueNode {
    enum class Is : uint8_t {
        value,      // nothing more is known
        number,     // a constant of the program
        parameter,  // `index` of Program::parameters, from byte `at` on
        special,    // a SpecialRegister, `index`
        address,    // of a variable: `name`
        loaded,     // read from memory: `name` says from what, where that is known
        widened,    // another size, of the one below it; `reads_signed` says how
        add,
        subtract,
        multiply,
        multiply_add,
        shift_left,
        shift_right,
        divide,
        remainder,
        bit_and,
        negate
    };
    Is is = Is::value;
    uint32_t bytes = 4;  // of the value
    uint64_t bits = 0;   // as the register has it, zero-extended
    uint32_t pc = 0;     // of the instruction that made it
    int32_t reg = 0;     // or a constant
    bool reads_signed = true;
    int32_t index = -1;
    uint32_t at = 0;
    std::string name;
    std::vector<ValueNode> of;

    int64_t as_signed() const;  // sign-extended from `bytes`
    bool is_operation() const { return is >= Is::add; }
};

// Of one lane in front of the instruction at `pc`. Both cost milliseconds for a program of thousands of instructions.
class ValueTrees {
  public:
    ValueTrees(const Warp& warp, uint32_t pc, uint32_t lane);

    ValueNode of(int32_t operand, uint32_t bytes) const { return build(pc_, operand, bytes, 12); }
    // As it is written in CUDA C++: "blockIdx.x * blockDim.x + threadIdx.x"; what has no name is its value.
    std::string text_of(const ValueNode& node) const;
    std::string parameter_text(int32_t index, uint32_t at) const;  // "n", "s.width", "argument 3"
    bool knows_names() const;                                      // of parameters

    // The pointer that an access goes through; none: it may be several.
    std::optional<ptx::Origin> pointer_of(uint32_t pc, const ptx::MemoryOperand& access) const {
        return origins_.pointer_of(pc, access);
    }
    uint64_t bits_of(int32_t operand, uint32_t bytes) const;
    const ptx::Flow& flow() const { return flow_; }
    const Warp& warp() const { return warp_; }
    const ptx::Program& program() const { return program_; }

  private:
    ValueNode build(uint32_t pc, int32_t operand, uint32_t bytes, int depth) const;
    void read_definition(uint32_t definition, ValueNode& node, int depth) const;
    void read_operation(const ptx::DecodedInstruction& i, uint32_t pc, ValueNode& node, int depth) const;

    const Warp& warp_;
    const ptx::Program& program_;
    uint32_t pc_, lane_;
    ptx::Flow flow_;
    ptx::Origins origins_;
    std::vector<ParameterName> names_;  // empty: nobody knows them
};

// The first operation below `node`, innermost first, whose result does not fit its 32 bits; `exact` is what it would be.
struct Wrapped {
    const ValueNode* node = nullptr;
    __extension__ using Wide = __int128;
    Wide exact = 0;
    bool as_unsigned = false;  // what uses the value reads it as an unsigned one
};
std::optional<Wrapped> find_wrapped(const ValueNode& node, bool as_unsigned);
std::string text_of_wide(Wrapped::Wide value);  // "3,000,000,000"

// An address as a sum: what points, a number of bytes, and terms that count elements.
struct AddressSum {
    struct Term {
        int64_t scale = 0;  // bytes
        ValueNode node;
        bool as_unsigned = false;  // it was widened with zeros
    };
    std::vector<Term> terms;
    int64_t bytes = 0;
    std::string variable;  // whose address is among it
    int pointers = 0;      // parameters of 8 bytes, addresses of variables and pointers from memory
};
AddressSum sum_of(const ValueNode& address);

}  // namespace lockstep::simt
