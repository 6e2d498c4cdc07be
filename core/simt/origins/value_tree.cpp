// From registers back to parameters. An operation is believed only when its operands, as they stand now, give its result.
#include "core/simt/origins/value_tree.h"

#include <algorithm>
#include <cstring>

#include "core/base/units.h"
#include "core/ptx/ptx.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/source_text.h"
#include "core/simt/memory/access.h"
#include "core/simt/origins/parameter_text.h"

namespace lockstep::simt {

namespace {

using Is = ValueNode::Is;

uint64_t mask_of(uint32_t bytes) {
    return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * bytes) - 1;
}

int64_t signed_of(uint64_t bits, uint32_t bytes) {
    if (bytes >= 8) return static_cast<int64_t>(bits);
    const unsigned unused = 64 - 8 * bytes;
    return static_cast<int64_t>(bits << unused) >> unused;
}

// "mul.wide.s32" of "mul.wide.s32 %rd1, %r1, 4".
std::string spelling_of(const ptx::Program& program, uint32_t pc) {
    std::string text = ptx::text_of(program, pc);
    if (text.starts_with("@")) text.erase(0, text.find(' ') + 1);
    return text.substr(0, text.find(' '));
}

struct Operation {
    const char* name;
    Is is;
    uint32_t sources;
    bool wide;
};
constexpr Operation operations[] = {
    {"add", Is::add, 2, false},          {"sub", Is::subtract, 2, false},        {"mul.lo", Is::multiply, 2, false},
    {"mul.wide", Is::multiply, 2, true}, {"mad.lo", Is::multiply_add, 3, false}, {"mad.wide", Is::multiply_add, 3, true},
    {"shl", Is::shift_left, 2, false},   {"shr", Is::shift_right, 2, false},     {"div", Is::divide, 2, false},
    {"rem", Is::remainder, 2, false},    {"and", Is::bit_and, 2, false},         {"neg", Is::negate, 1, false},
};

// What an operation gives, all of it, of operands as they are read: signed or not.
Wrapped::Wide value_of(const ValueNode& node, bool as_signed) {
    return as_signed || node.is == Is::number ? Wrapped::Wide{node.as_signed()} : Wrapped::Wide{node.bits};
}
std::optional<Wrapped::Wide> result_of(const ValueNode& node, bool as_signed) {
    const auto operand = [&](size_t k) { return value_of(node.of[k], as_signed); };
    switch (node.is) {
        case Is::add:
            return operand(0) + operand(1);
        case Is::subtract:
            return operand(0) - operand(1);
        case Is::multiply:
            return operand(0) * operand(1);
        case Is::multiply_add:
            return operand(0) * operand(1) + operand(2);
        case Is::shift_left:
            return node.of[1].bits < 63 ? std::optional(operand(0) * (Wrapped::Wide{1} << node.of[1].bits)) : std::nullopt;
        case Is::shift_right:
            return node.of[1].bits < 64 ? std::optional(operand(0) >> node.of[1].bits) : std::nullopt;
        case Is::divide:  // by zero all bits are set
            return operand(1) != 0 ? operand(0) / operand(1) : Wrapped::Wide{-1};
        case Is::remainder:
            return operand(1) != 0 ? operand(0) % operand(1) : Wrapped::Wide{-1};
        case Is::bit_and:
            return Wrapped::Wide(node.of[0].bits & node.of[1].bits);
        case Is::negate:
            return -operand(0);
        default:
            return std::nullopt;
    }
}

const ValueNode& unwidened(const ValueNode& node) {
    return node.is == Is::widened ? unwidened(node.of[0]) : node;
}

// Which operand of a & b is a number's sign, all bits of it: Python counts an index below zero from the end, so that Numba
// adds (index >> 63) & count to each.
std::optional<size_t> sign_in(const ValueNode& node) {
    if (node.is != Is::bit_and) return std::nullopt;
    for (const size_t k : {size_t{0}, size_t{1}}) {
        const ValueNode& side = unwidened(node.of[k]);
        if (side.is == Is::shift_right && side.of[1].is == Is::number && side.of[1].bits == 8 * side.bytes - 1) return k;
    }
    return std::nullopt;
}

const char* name_of_special(int32_t index) {
    constexpr const char* names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockDim.x", "blockDim.y", "blockDim.z",
                                     "blockIdx.x",  "blockIdx.y",  "blockIdx.z",  "gridDim.x",  "gridDim.y",  "gridDim.z"};
    return index >= 0 && static_cast<size_t>(index) < std::size(names) ? names[index] : nullptr;
}

}  // namespace

int64_t ValueNode::as_signed() const {
    return signed_of(bits, bytes);
}

ValueTrees::ValueTrees(const Warp& warp, uint32_t pc, uint32_t lane)
    : warp_(warp),
      program_(*warp.block->grid->program),
      pc_(pc),
      lane_(lane),
      flow_(program_),
      origins_(program_),
      names_(warp.block->grid->config->names) {
    if (names_.size() == program_.parameters.size()) return;
    names_.clear();
    const auto first = std::find_if(program_.instructions.begin(), program_.instructions.end(),
                                    [](const ptx::DecodedInstruction& i) { return i.line > 0; });
    if (first == program_.instructions.end()) return;
    SourceText source;
    const std::vector<std::string> found =
        parameter_names_in(source.text_of(program_, first->file), ptx::readable_name(program_.kernel));
    if (found.size() == program_.parameters.size())
        for (const std::string& name : found) names_.push_back({name, {}});
}

uint64_t ValueTrees::bits_of(int32_t reg, uint32_t bytes) const {
    uint64_t bits = 0;
    std::memcpy(&bits, operand(warp_, reg) + size_t{lane_} * bytes, std::min<uint32_t>(bytes, 8));
    return bits;
}

ValueNode ValueTrees::build(uint32_t pc, int32_t reg, uint32_t bytes, int depth) const {
    ValueNode node;
    node.bytes = bytes;
    node.reg = reg;
    node.bits = bits_of(reg, bytes);
    node.pc = pc;
    if (reg < 0) {
        node.is = Is::number;
        return node;
    }
    if (depth == 0) return node;
    const ptx::Definitions definitions = ptx::definitions_of(flow_, pc, reg);
    if (definitions.from_entry || definitions.pcs.size() != 1) return node;
    const uint32_t definition = definitions.pcs.front();
    if (ptx::is_conditional(program_.instructions[definition])) return node;
    read_definition(definition, node, depth - 1);
    return node;
}

void ValueTrees::read_definition(uint32_t definition, ValueNode& node, int depth) const {
    const ptx::DecodedInstruction& i = program_.instructions[definition];
    node.pc = definition;
    if (i.kind == ptx::Kind::special_register) {
        const ptx::SpecialView special = ptx::as_special(i);
        if (special.which == ptx::SpecialRegister::variable_address) {
            node.is = Is::address;
            const std::string text = ptx::text_of(program_, definition);
            const size_t name = text.rfind(' ');
            node.name = special.variable >= 0 ? program_.variables[static_cast<size_t>(special.variable)].name
                                              : (name == std::string::npos ? std::string() : text.substr(name + 1));
            node.name = readable_variable(node.name);
        } else if (name_of_special(static_cast<int32_t>(special.which))) {
            node.is = Is::special;
            node.index = static_cast<int32_t>(special.which);
        }
        return;
    }
    if (i.kind == ptx::Kind::load) {
        if (i.space == ptx::Space::param && i.address == ptx::no_operand) {
            for (size_t k = 0; k < program_.parameters.size(); ++k) {
                const ptx::Parameter& p = program_.parameters[k];
                const auto byte = static_cast<uint64_t>(i.offset);
                if (byte - p.offset >= p.bytes || i.vector != 1) continue;
                node.is = Is::parameter;
                node.index = static_cast<int32_t>(k);
                node.at = static_cast<uint32_t>(byte - p.offset);
                const std::vector<std::byte>& held = warp_.block->grid->config->parameters;
                if (ptx::size_of(i.type) != node.bytes || byte + node.bytes > held.size() || node.bytes > 8) continue;
                node.bits = 0;
                std::memcpy(&node.bits, held.data() + byte, node.bytes);
            }
            return;
        }
        node.is = Is::loaded;
        for (const ptx::MemoryOperand& access : ptx::memory_of(program_, i))
            if (const auto pointer = origins_.pointer_of(definition, access)) {
                if (pointer->from == ptx::Origin::From::variable)
                    node.name = readable_variable(program_.variables[static_cast<size_t>(pointer->index)].name);
                else if (knows_names())
                    node.name = parameter_text(pointer->index, pointer->at);
            }
        return;
    }
    if (i.kind == ptx::Kind::lane_wise) read_operation(i, definition, node, depth);
}

void ValueTrees::read_operation(const ptx::DecodedInstruction& i, uint32_t pc, ValueNode& node, int depth) const {
    const std::string spelling = spelling_of(program_, pc);
    const size_t dot = spelling.rfind('.');
    const ptx::Type type = dot == std::string::npos ? ptx::Type::none : ptx::type_named(spelling.substr(dot));
    const auto size = static_cast<uint32_t>(ptx::size_of(type));
    if (size != 2 && size != 4 && size != 8) return;
    const auto is_integer = [&](ptx::Type t) {
        using enum ptx::Type;
        return t == u16 || t == s16 || t == u32 || t == s32 || t == u64 || t == s64 || t == b32 || t == b64 || t == b16;
    };
    const bool reads_signed = type == ptx::Type::s32 || type == ptx::Type::s64 || type == ptx::Type::s16;
    if (!is_integer(type)) return;
    if (spelling.starts_with("mov") || spelling.starts_with("cvta") || spelling.starts_with("cvt.")) {
        if (spelling.starts_with("cvt.") && !is_integer(i.destination_type)) return;
        if (i.source[0] < 0 && spelling.starts_with("mov")) {  // the address of a shared variable is a number by now
            const std::string text = ptx::text_of(program_, pc);
            const size_t comma = text.find(',');
            const size_t begin = comma == std::string::npos ? comma : text.find_first_not_of(' ', comma + 1);
            const std::string name = begin == std::string::npos ? "" : text.substr(begin, text.find('+') - begin);
            for (const ptx::SharedVariable& variable : program_.shared_variables) {
                if (variable.name != name) continue;
                node.is = Is::address;
                node.name = readable_variable(name);
                node.bits = bits_of(i.source[0], size) & mask_of(node.bytes);
                return;
            }
        }
        ValueNode below = build(pc, i.source[0], size, depth);
        const uint64_t widened = reads_signed ? static_cast<uint64_t>(below.as_signed()) : below.bits;
        // A constant is what it is, also where the register has been used again since.
        if (below.is == Is::number || below.is == Is::parameter) node.bits = widened & mask_of(node.bytes);
        if ((widened & mask_of(node.bytes)) != node.bits) return;
        if (below.bytes == node.bytes) {
            node = std::move(below);
            return;
        }
        node.is = Is::widened;
        node.reads_signed = reads_signed;
        node.of.push_back(std::move(below));
        return;
    }
    const auto operation = std::find_if(std::begin(operations), std::end(operations),
                                        [&](const Operation& o) { return spelling.starts_with(std::string(o.name) + "."); });
    if (operation == std::end(operations) || spelling.find(".sat") != std::string::npos ||
        spelling.find(".cc") != std::string::npos)
        return;
    ValueNode made = node;
    made.is = operation->is;
    made.reads_signed = reads_signed || !operation->wide;
    for (uint32_t k = 0; k < operation->sources; ++k) {
        const bool shift = k == 1 && (operation->is == Is::shift_left || operation->is == Is::shift_right);
        const bool added = operation->wide && k == 2;
        made.of.push_back(build(pc, i.source[k], shift ? 4 : added ? 2 * size : size, depth));
    }
    // What is read as unsigned by the operation itself, such as mul.wide.u32, is as it stands.
    const bool unsigned_operands = type == ptx::Type::u32 || type == ptx::Type::u64 || type == ptx::Type::u16;
    const auto result = result_of(made, !unsigned_operands);
    if (result && (static_cast<uint64_t>(*result) & mask_of(node.bytes)) == node.bits) node = std::move(made);
}

bool ValueTrees::knows_names() const {
    return !names_.empty();
}

std::string ValueTrees::parameter_text(int32_t index, uint32_t at) const {
    const auto k = static_cast<size_t>(index);
    if (!knows_names() || names_[k].name.empty())
        return (at > 0 ? "byte " + std::to_string(at) + " of " : "") + "argument " + std::to_string(index + 1);
    for (const ParameterName::Member& member : names_[k].members)
        if (member.at == at) return names_[k].name + "." + member.name;
    return (at > 0 ? "byte " + std::to_string(at) + " of " : "") + names_[k].name;
}

std::string ValueTrees::text_of(const ValueNode& node) const {
    // Nothing, and so made that nobody would write it: the sign above, or a choice between a count and 0.
    const auto adds_nothing = [&](const ValueNode& below) {
        const ValueNode& inner = unwidened(below);
        if (inner.bits != 0) return false;
        if (sign_in(inner)) return true;
        return inner.is == Is::value && inner.pc < pc_ && spelling_of(program_, inner.pc).starts_with("selp.");
    };
    const auto side = [&](const ValueNode& below, bool tight) {
        const std::string text = text_of(below);
        const ValueNode* inner = &unwidened(below);
        const bool sum = inner->is == Is::add || inner->is == Is::subtract || inner->is == Is::multiply_add;
        const bool below_sums = (inner->is == Is::bit_and && !sign_in(*inner)) || inner->is == Is::shift_right;
        return (tight && sum) || below_sums || (inner->is == Is::number && text.starts_with("-") && tight) ? "(" + text + ")"
                                                                                                           : text;
    };
    const auto joined = [&](const char* with, bool tight) {
        return side(node.of[0], tight) + with + side(node.of[1], tight);
    };
    switch (node.is) {
        case Is::parameter:
            return knows_names() ? parameter_text(node.index, node.at) : std::to_string(node.as_signed());
        case Is::special:
            return name_of_special(node.index);
        case Is::address:
            return node.name;
        case Is::loaded:
            return node.name.empty() ? std::to_string(node.as_signed()) : node.name + "[...]";
        case Is::widened:
            return text_of(node.of[0]);
        case Is::add:
            for (const size_t k : {size_t{0}, size_t{1}})
                if (adds_nothing(node.of[k])) return text_of(node.of[1 - k]);
            if (node.of[1].is == Is::number && node.of[1].as_signed() < 0)
                return side(node.of[0], false) + " - " + std::to_string(-node.of[1].as_signed());
            return joined(" + ", false);
        case Is::subtract:
            return side(node.of[0], false) + " - " + side(node.of[1], true);
        case Is::multiply:
            return joined(" * ", true);
        case Is::multiply_add:
            return joined(" * ", true) + " + " + side(node.of[2], false);
        case Is::shift_left:
            if (node.of[1].is != Is::number || node.of[1].bits > 40) return joined(" << ", true);
            return side(node.of[0], true) + " * " + std::to_string(uint64_t{1} << node.of[1].bits);
        case Is::shift_right:
            return joined(" >> ", true);
        case Is::divide:
            return joined(" / ", true);
        case Is::remainder:
            return joined(" % ", true);
        case Is::bit_and:
            if (const auto sign = sign_in(node)) return node.bits == 0 ? "0" : text_of(node.of[1 - *sign]);
            return joined(" & ", true);
        case Is::negate:
            return "-" + side(node.of[0], true);
        default:
            return std::to_string(node.as_signed());
    }
}

namespace {

std::optional<Wrapped> wrapped_below(const ValueNode& node, bool as_unsigned) {
    const bool unsigned_below =
        node.is == Is::widened || (node.bytes == 8 && node.is == Is::multiply && !node.of.empty() && node.of[0].bytes == 4)
            ? !node.reads_signed
            : as_unsigned;
    for (const ValueNode& below : node.of)
        if (auto found = wrapped_below(below, unsigned_below)) return found;
    const bool sums = node.is == Is::add || node.is == Is::subtract || node.is == Is::multiply ||
                      node.is == Is::multiply_add || node.is == Is::shift_left;
    if (!sums || node.bytes != 4) return std::nullopt;
    const auto exact = result_of(node, !as_unsigned);
    if (!exact) return std::nullopt;
    const Wrapped::Wide least = as_unsigned ? Wrapped::Wide{0} : Wrapped::Wide{INT32_MIN};
    const Wrapped::Wide most = as_unsigned ? Wrapped::Wide{UINT32_MAX} : Wrapped::Wide{INT32_MAX};
    if (*exact >= least && *exact <= most) return std::nullopt;
    return Wrapped{&node, *exact, as_unsigned};
}

bool is_pointer(const ValueNode& node) {
    return node.bytes == 8 && (node.is == Is::parameter || node.is == Is::loaded);
}

// What a known number multiplies is an index, and stays whole.
void add_scaled(const ValueNode& by, int64_t scale, AddressSum& sum) {
    const ValueNode& node = by.of[0];
    if (node.is == Is::number)
        sum.bytes += scale * node.as_signed();
    else if (scale != 0)
        sum.terms.push_back({scale, node, node.bytes < by.bytes && !by.reads_signed});
}

void add_terms(const ValueNode& node, int64_t scale, AddressSum& sum) {
    const auto number = [](const ValueNode& n) { return n.is == Is::number; };
    switch (node.is) {
        case Is::number:
            sum.bytes += scale * node.as_signed();
            return;
        case Is::address:
            sum.variable = node.name;
            ++sum.pointers;
            return;
        case Is::add:
            add_terms(node.of[0], scale, sum);
            return add_terms(node.of[1], scale, sum);
        case Is::subtract:
            add_terms(node.of[0], scale, sum);
            return add_terms(node.of[1], -scale, sum);
        case Is::multiply:
            if (!number(node.of[1])) break;
            return add_scaled(node, scale * node.of[1].as_signed(), sum);
        case Is::multiply_add:
            if (!number(node.of[1])) break;
            add_scaled(node, scale * node.of[1].as_signed(), sum);
            return add_terms(node.of[2], scale, sum);
        case Is::shift_left:
            if (!number(node.of[1]) || node.of[1].bits >= 32) break;
            return add_scaled(node, scale * (int64_t{1} << node.of[1].bits), sum);
        default:
            break;
    }
    if (is_pointer(node) && scale == 1) {
        ++sum.pointers;
        return;
    }
    sum.terms.push_back({scale, node, false});
}

}  // namespace

std::optional<Wrapped> find_wrapped(const ValueNode& node, bool as_unsigned) {
    return wrapped_below(node, as_unsigned);
}

std::string text_of_wide(Wrapped::Wide value) {
    if (value >= INT64_MIN && value <= INT64_MAX) return with_commas(static_cast<int64_t>(value));
    return value < 0 ? "less than -9,223,372,036,854,775,808" : "more than 9,223,372,036,854,775,807";
}

AddressSum sum_of(const ValueNode& address) {
    AddressSum sum;
    add_terms(address, 1, sum);
    return sum;
}

}  // namespace lockstep::simt
