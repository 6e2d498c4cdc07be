#include "app/gui/views/machine/lane/lane_bits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "app/gui/views/machine/lane/lane_number.h"
#include "app/gui/views/sm/warp_facts.h"

namespace lockstep::gui {
namespace {

using ptx::Type;

bool has_sign(Type type) {
    return type == Type::s8 || type == Type::s16 || type == Type::s32 || type == Type::s64;
}
bool is_pair(Type type) {
    return type == Type::f16x2 || type == Type::bf16x2;
}
Type half_of(Type type) {
    return type == Type::f16x2 ? Type::f16 : Type::bf16;
}

double float_number(uint64_t bits, const FloatShape& shape) {
    const FloatParts p = parts_of(bits, shape);
    const double size = p.nan ? NAN : p.infinite ? INFINITY : std::ldexp(static_cast<double>(p.significand), p.unit);
    return p.negative ? -size : size;
}

// The shortest digits that only this number has.
std::string float_digits(uint64_t bits, Type type, const FloatShape& shape) {
    const double value = float_number(bits, shape);
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    if (type == Type::f64) return fmt::format("{}", value);
    if (type == Type::f32) return fmt::format("{}", static_cast<float>(value));
    for (int digits = 1; digits < 9; ++digits) {  // of 16 bits
        const std::string text = fmt::format("{:.{}g}", value, digits);
        const double near = std::strtod(text.c_str(), nullptr);
        FloatParts parts;
        parts.negative = std::signbit(near);
        int e = 0;
        parts.significand = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(near), &e), 53));
        parts.unit = e - 53;
        if (round_to(Exact::of(parts), shape, Rounding::nearest).bits == bits) return text;
    }
    return fmt::format("{}", value);
}

}  // namespace

int width_of(Type type) {
    return type == Type::pred ? 1 : static_cast<int>(8 * ptx::size_of(type));
}

std::vector<BitCell> bit_cells(uint64_t bits, Type type) {
    const int width = std::clamp(width_of(type), 1, 64);
    std::vector<BitCell> cells;
    for (int k = width - 1; k >= 0; --k) {
        BitCell cell{(bits >> k & 1) != 0, BitPart::plain};
        const auto shape = float_shape(is_pair(type) ? half_of(type) : type);
        if (shape) {
            const int at = k % shape->width;
            cell.part = at == shape->width - 1  ? BitPart::sign
                        : at >= shape->fraction ? BitPart::exponent
                                                : BitPart::fraction;
        } else if (has_sign(type) && k == width - 1) {
            cell.part = BitPart::sign;
        }
        cells.push_back(cell);
    }
    return cells;
}

std::string number_text(uint64_t bits, Type type) {
    if (is_pair(type))
        return number_text(bits & 0xffff, half_of(type)) + " | " + number_text(bits >> 16 & 0xffff, half_of(type));
    if (const auto shape = float_shape(type)) return float_digits(bits, type, *shape);
    if (type == Type::pred) return (bits & 1) != 0 ? "true" : "false";
    const int width = std::clamp(width_of(type), 1, 64);
    const uint64_t kept = width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
    if (has_sign(type)) return with_commas(static_cast<int64_t>(kept << (64 - width)) >> (64 - width));
    if (kept > 999'999'999'999ull) return fmt::format("0x{:x}", kept);
    return with_commas(static_cast<int64_t>(kept));
}

std::string parts_text(uint64_t bits, Type type) {
    const auto shape = float_shape(type);
    if (!shape) return "";
    const FloatParts p = parts_of(bits, *shape);
    const std::string_view sign = p.negative ? "−" : "+";
    if (p.nan) return "no number";
    if (p.infinite) return fmt::format("{} infinity", sign);
    if (p.zero()) return fmt::format("{} 0", sign);
    const std::string lead = fmt::format("{:.{}g}", p.lead(), shape->width == 64 ? 17 : 10);
    return fmt::format("{} {} × 2^{}{}", sign, lead, p.exponent(), p.subnormal ? ", subnormal" : "");
}

bool Operation::has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Operation operation_in(const ptx::Program& program, uint32_t pc) {
    Operation operation;
    if (pc >= program.instructions.size()) return operation;
    const ptx::DecodedInstruction& in = program.instructions[pc];
    const std::string text = operation_of(program, pc);
    size_t at = std::min(text.find('.'), text.size());
    operation.name = in.opcode != nullptr ? std::string(in.opcode->name) : text.substr(0, at);
    while (at < text.size()) {
        const size_t next = std::min(text.find('.', at + 1), text.size());
        operation.modifiers.push_back(text.substr(at, next - at));
        at = next;
    }
    operation.type = in.type;
    operation.to = in.destination_type;
    if (operation.name == "cvt" && operation.modifiers.size() >= 2) {  // as written: from registers of any size
        operation.type = ptx::type_named(operation.modifiers.back());
        for (size_t k = operation.modifiers.size(); k-- > 0;)
            if (const Type type = ptx::type_named(operation.modifiers[k]); type != Type::none) operation.to = type;
    }
    return operation;
}

std::string operator_of(const Operation& operation, size_t source) {
    const std::string& n = operation.name;
    if (n == "cvt" || n == "mov" || n == "cvta" || n == "not" || n == "neg" || n == "abs") {
        return source > 0 ? "" : n == "neg" ? "−" : n == "not" ? "~" : "";
    }
    if (source == 0) return "";
    if (n == "add") return "+";
    if (n == "sub") return "−";
    if (n == "mul" || n == "mul24") return "×";
    if (n == "fma" || n == "mad" || n == "mad24") return source == 1 ? "×" : "+";
    if (n == "and") return "&";
    if (n == "or") return "|";
    if (n == "xor") return "^";
    if (n == "shl") return "<<";
    if (n == "shr") return ">>";
    if (n == "div") return "/";
    if (n == "rem") return "%";
    if (n == "setp" || n == "set") {
        static constexpr std::pair<std::string_view, std::string_view> words[] = {
            {".eq", "="},  {".ne", "≠"},  {".lt", "<"},  {".le", "≤"}, {".gt", ">"},  {".ge", "≥"},
            {".lo", "<"},  {".ls", "≤"},  {".hi", ">"},  {".hs", "≥"}, {".equ", "="}, {".neu", "≠"},
            {".ltu", "<"}, {".leu", "≤"}, {".gtu", ">"}, {".geu", "≥"}};
        for (const auto& [word, sign] : words)
            if (operation.has(word)) return source == 1 ? std::string(sign) : "";
    }
    return "";
}

const simt::LaneValues* values_of(std::span<const simt::LaneValues> values, int32_t offset) {
    for (const simt::LaneValues& v : values)
        if (v.reg.offset == offset) return &v;
    return nullptr;
}

namespace {

// What the row of the opcode table says of a source: "T=TTU" and the third is U.
Type source_type(const ptx::DecodedInstruction& in, size_t k) {
    const std::string_view operands = in.opcode != nullptr ? in.opcode->operands : "";
    const size_t equals = operands.find('=');
    if (equals == std::string_view::npos || equals + 1 + k >= operands.size()) return in.type;
    switch (operands[equals + 1 + k]) {
        case 'D':
        case 'W':
            return in.destination_type;
        case 'P':
        case 'p':
        case 'C':
        case 'c':
            return Type::pred;
        case 'U':
        case 'S':
        case 'I':
            return Type::u32;
        case 'A':
            return Type::u64;
        default:
            return in.type;
    }
}
bool is_shown(const ptx::DecodedInstruction& in, size_t k) {
    const std::string_view operands = in.opcode != nullptr ? in.opcode->operands : "";
    const size_t equals = operands.find('=');
    return equals == std::string_view::npos || equals + 1 + k >= operands.size() || operands[equals + 1 + k] != 'X';
}

struct alignas(64) LaneBuffer {
    std::byte bytes[32 * 16] = {};
};

void fill_lanes(LaneBuffer& buffer, const simt::LaneValues& values) {
    const size_t bytes = std::min<size_t>(8, ptx::size_of(values.reg.type));
    if (values.reg.type == Type::pred) {
        uint32_t mask = 0;
        for (int lane = 0; lane < 32; ++lane) mask |= static_cast<uint32_t>(values.bits[lane] & 1) << lane;
        std::memcpy(buffer.bytes, &mask, 4);
        return;
    }
    for (size_t lane = 0; lane < 32; ++lane) std::memcpy(buffer.bytes + lane * bytes, &values.bits[lane], bytes);
}

uint64_t of_lane(const std::byte* bytes, Type type, int lane) {
    uint64_t value = 0;
    if (type == Type::pred) {
        uint32_t mask = 0;
        std::memcpy(&mask, bytes, 4);
        return mask >> lane & 1;
    }
    const size_t size = std::min<size_t>(8, ptx::size_of(type));
    std::memcpy(&value, bytes + static_cast<size_t>(lane) * size, size);
    return value;
}

bool runs_by_lane(const ptx::DecodedInstruction& in) {
    return (in.kind == ptx::Kind::lane_wise && in.lanes != nullptr) ||
           (in.kind == ptx::Kind::lane_wise_many && in.many != nullptr);
}

}  // namespace

std::optional<std::vector<uint64_t>> executed(const ptx::Program& program, uint32_t pc,
                                              std::span<const simt::LaneValues> before) {
    if (pc >= program.instructions.size()) return std::nullopt;
    const ptx::DecodedInstruction& in = program.instructions[pc];
    if (!runs_by_lane(in) || in.type == Type::b128 || in.destination_type == Type::b128) return std::nullopt;
    const simt::LaneValues* to = ptx::no_operand == in.destination[0] ? nullptr : values_of(before, in.destination[0]);
    if (to == nullptr) return std::nullopt;
    LaneBuffer sources[5], results[4];
    const std::byte* s[5] = {};
    std::byte* d[4] = {};
    for (size_t k = 0; k < 5; ++k) {
        if (in.source[k] == ptx::no_operand) continue;
        if (in.source[k] < 0) {
            std::memcpy(sources[k].bytes, program.constants.data() + ~in.source[k],
                        std::min(sizeof sources[k].bytes, program.constants.size() - static_cast<size_t>(~in.source[k])));
        } else {
            const simt::LaneValues* from = values_of(before, in.source[k]);
            if (from == nullptr) return std::nullopt;
            fill_lanes(sources[k], *from);
        }
        s[k] = sources[k].bytes;
    }
    for (size_t k = 0; k < 4; ++k)
        if (in.destination[k] != ptx::no_operand) d[k] = results[k].bytes;
    if (in.lanes != nullptr)
        in.lanes(d[0], s[0], s[1], s[2]);
    else
        in.many(d, s);
    std::vector<uint64_t> values;
    for (int lane = 0; lane < 32; ++lane) values.push_back(of_lane(results[0].bytes, to->reg.type, lane));
    return values;
}

std::optional<LaneArithmetic> arithmetic_of(const ptx::Program& program, uint32_t pc,
                                            std::span<const simt::LaneValues> before, int lane) {
    const auto results = executed(program, pc, before);
    if (!results) return std::nullopt;
    const ptx::DecodedInstruction& in = program.instructions[pc];
    LaneArithmetic a;
    a.operation = operation_in(program, pc);
    for (size_t k = 0; k < 5; ++k) {
        if (in.source[k] == ptx::no_operand || !is_shown(in, k)) continue;
        LaneValue value{{}, a.operation.name == "cvt" ? a.operation.type : source_type(in, k), 0, in.source[k] < 0};
        if (in.source[k] < 0) {
            value.bits = of_lane(program.constants.data() + ~in.source[k], value.type, lane);
        } else {
            const simt::LaneValues& from = *values_of(before, in.source[k]);
            value.name = from.reg.name;
            value.bits = from.bits[lane];
            if (value.type == Type::none) value.type = from.reg.type;
        }
        a.sources.push_back(std::move(value));
    }
    const simt::LaneValues& to = *values_of(before, in.destination[0]);
    const Type written = a.operation.name == "cvt" ? a.operation.to : in.destination_type;
    a.result = {to.reg.name, to.reg.type == Type::pred ? Type::pred : written, (*results)[static_cast<size_t>(lane)], false};
    if (a.result.type == Type::none || ptx::size_of(a.result.type) == 0)
        if (a.result.type != Type::pred) a.result.type = to.reg.type;
    const Explained explained = explain(a.operation, a.sources);
    const int width = width_of(a.result.type);
    const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
    if (explained.known && (explained.bits & mask) == (a.result.bits & mask)) a.steps = explained.steps;
    return a;
}

}  // namespace lockstep::gui
