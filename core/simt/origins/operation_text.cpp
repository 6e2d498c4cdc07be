#include "core/simt/origins/operation_text.h"

#include <bit>
#include <cmath>
#include <cstdio>
#include <string_view>

#include "core/base/dtype.h"

namespace lockstep::simt {

namespace {

using ptx::Type;

double as_double(uint64_t bits, Type type) {
    switch (type) {
        case Type::f64:
            return std::bit_cast<double>(bits);
        case Type::f16:
            return static_cast<double>(f16_to_f32(static_cast<uint16_t>(bits)));
        case Type::bf16:
            return static_cast<double>(bf16_to_f32(static_cast<uint16_t>(bits)));
        default:
            return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    }
}

Type half_of(Type type) {
    return type == Type::f16x2 ? Type::f16 : type == Type::bf16x2 ? Type::bf16 : Type::none;
}

// "fma" of "@%p1 fma.rn.f32 %f1, %f2, %f3, %f4".
std::string name_of_instruction(const ptx::Program& program, uint32_t pc) {
    const ptx::DecodedInstruction& i = program.instructions[pc];
    return i.opcode ? std::string(i.opcode->name) : std::string();
}

struct Words {
    const char* name;
    const char* text;  // $1, $2 and $3 stand for the operands
};
constexpr Words words_of_operations[] = {
    {"add", "$1 + $2"},     {"sub", "$1 - $2"},        {"mul", "$1 * $2"},      {"mul24", "$1 * $2"},
    {"div", "$1 / $2"},     {"rem", "$1 % $2"},        {"mad", "$1 * $2 + $3"}, {"fma", "$1 * $2 + $3"},
    {"sqrt", "sqrt($1)"},   {"rsqrt", "1 / sqrt($1)"}, {"rcp", "1 / $1"},       {"ex2", "2 to the power of $1"},
    {"lg2", "log2($1)"},    {"sin", "sin($1)"},        {"cos", "cos($1)"},      {"tanh", "tanh($1)"},
    {"min", "min($1, $2)"}, {"max", "max($1, $2)"},    {"neg", "-($1)"},        {"abs", "|$1|"},
    {"and", "$1 & $2"},     {"or", "$1 | $2"},         {"xor", "$1 ^ $2"},      {"shl", "$1 << $2"},
    {"shr", "$1 >> $2"},
};

}  // namespace

bool is_float(Type type) {
    return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64 || half_of(type) != Type::none;
}

bool holds_nonfinite(uint64_t bits, Type type) {
    switch (type) {
        case Type::f64:
            return (bits >> 52 & 0x7ff) == 0x7ff;
        case Type::f32:
            return (bits >> 23 & 0xff) == 0xff;
        case Type::f16:
            return (bits >> 10 & 0x1f) == 0x1f;
        case Type::bf16:
            return (bits >> 7 & 0xff) == 0xff;
        case Type::f16x2:
        case Type::bf16x2:
            return holds_nonfinite(bits & 0xffff, half_of(type)) || holds_nonfinite(bits >> 16 & 0xffff, half_of(type));
        default:
            return false;
    }
}

std::string number_text(uint64_t bits, Type type) {
    if (half_of(type) != Type::none)
        return "(" + number_text(bits & 0xffff, half_of(type)) + ", " + number_text(bits >> 16 & 0xffff, half_of(type)) +
               ")";
    if (is_float(type)) {
        const double value = as_double(bits, type);
        if (std::isnan(value)) return "nan";
        if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
        char text[32];
        std::snprintf(text, sizeof text, type == Type::f64 ? "%.10g" : "%.6g", value);
        return text;
    }
    const size_t bytes = ptx::size_of(type);
    if (type == Type::u8 || type == Type::u16 || type == Type::u32 || type == Type::u64) return std::to_string(bits);
    const unsigned unused = bytes == 0 || bytes >= 8 ? 0 : static_cast<unsigned>(64 - 8 * bytes);
    return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

std::string operation_text(const ptx::Program& program, uint32_t pc, const ReadOperand& read) {
    const ptx::DecodedInstruction& i = program.instructions[pc];
    if (i.kind == ptx::Kind::matrix) return "a product of matrices";
    if (i.kind != ptx::Kind::lane_wise) return {};
    const std::string name = name_of_instruction(program, pc);
    const auto bytes = static_cast<uint32_t>(ptx::size_of(i.type));
    if (bytes == 0 || bytes > 8) return {};
    const auto operand = [&](size_t k) { return number_text(read(i.source[k], bytes), i.type); };
    for (const Words& words : words_of_operations) {
        if (name != words.name) continue;
        std::string text;
        for (std::string_view rest = words.text; !rest.empty(); rest.remove_prefix(1)) {
            if (rest[0] != '$') {
                text += rest[0];
                continue;
            }
            const auto k = static_cast<size_t>(rest[1] - '1');
            if (i.source[k] == ptx::no_operand) return {};
            text += operand(k);
            rest.remove_prefix(1);
        }
        return text;
    }
    if (name == "cvt" && is_float(i.type)) return operand(0) + " as " + std::string(ptx::name_of(i.destination_type));
    return {};
}

std::string advice_for_nonfinite(const ptx::Program& program, uint32_t pc, const ReadOperand& read) {
    const ptx::DecodedInstruction& i = program.instructions[pc];
    if (i.kind != ptx::Kind::lane_wise || !is_float(i.type) || half_of(i.type) != Type::none) return {};
    const std::string name = name_of_instruction(program, pc);
    const auto value = [&](size_t k) {
        return i.source[k] == ptx::no_operand
                   ? 0
                   : as_double(read(i.source[k], static_cast<uint32_t>(ptx::size_of(i.type))), i.type);
    };
    if ((name == "div" && value(1) == 0) || (name == "rcp" && value(0) == 0) || (name == "rsqrt" && value(0) == 0))
        return "Keep the divisor from being 0, by a test or by a small number that is added to it.";
    if ((name == "sqrt" || name == "rsqrt") && value(0) < 0) return "Keep the root's argument from being negative.";
    if (name == "lg2" && value(0) <= 0) return "Keep the logarithm's argument above 0.";
    if (name == "ex2")
        return "The exponent is too large: take the largest one away from all of them first, as a softmax does.";
    if (name == "add" || name == "mul" || name == "fma" || name == "mad" || name == "sub" || name == "cvt" || name == "div")
        return "The result is larger than " +
               std::string(ptx::name_of(i.destination_type == Type::none ? i.type : i.destination_type)) +
               " holds: scale the values down, or compute in a wider type.";
    return {};
}

}  // namespace lockstep::simt
