// One instruction in one lane, bit by bit: its operands and its result, and how the one comes from the other, in steps. The
// steps are worked out here from the operands alone (lane_number.h); where their result is not the executor's, there are
// none.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/decode/program.h"
#include "core/simt/history/history.h"

namespace lockstep::gui {

enum class BitPart : uint8_t { plain, sign, exponent, fraction };
struct BitCell {
    bool set = false;
    BitPart part = BitPart::plain;
};
int width_of(ptx::Type type);                                   // bits of a lane; a predicate has one
std::vector<BitCell> bit_cells(uint64_t bits, ptx::Type type);  // the highest first
std::string number_text(uint64_t bits, ptx::Type type);         // all digits that tell it from its neighbours: "0.1", "-inf"
std::string parts_text(uint64_t bits, ptx::Type type);          // "+ 1.25 × 2^-1"; of what is no float: ""

struct Operation {
    std::string name;                                        // "fma"
    std::vector<std::string> modifiers;                      // ".rn"
    ptx::Type type = ptx::Type::none, to = ptx::Type::none;  // of the sources, of the result
    bool has(std::string_view modifier) const;
};
Operation operation_in(const ptx::Program& program, uint32_t pc);
std::string operator_of(const Operation& operation, size_t source);  // that stands in front of a source: "×", "+"

struct LaneValue {
    std::string name;  // "%f3"; of a constant its number
    ptx::Type type = ptx::Type::none;
    uint64_t bits = 0;
    bool constant = false;
};

struct ArithmeticStep {
    std::string what, how;  // "exponents add", "-1 + 0 = -1"
};
struct Explained {
    bool known = false;  // the operation is one that can be explained
    uint64_t bits = 0;   // the result
    std::vector<ArithmeticStep> steps;
};
// What the operation makes of its sources, and how.
Explained explain(const Operation& operation, std::span<const LaneValue> sources);

struct LaneArithmetic {
    Operation operation;
    std::vector<LaneValue> sources;
    LaneValue result;
    std::vector<ArithmeticStep> steps;  // none: it is not one that is explained
};
// The instruction in the lane, on the values that it finds (`before`). None: it computes nothing lane by lane, or a register
// is not among the values.
std::optional<LaneArithmetic> arithmetic_of(const ptx::Program& program, uint32_t pc,
                                            std::span<const simt::LaneValues> before, int lane);
// What the executor's own function makes of them, in all lanes.
std::optional<std::vector<uint64_t>> executed(const ptx::Program& program, uint32_t pc,
                                              std::span<const simt::LaneValues> before);

const simt::LaneValues* values_of(std::span<const simt::LaneValues> values, int32_t offset);  // null: not there

}  // namespace lockstep::gui
