// Loads, stores and atomics: the space, the address, the registers.
#include "core/ptx/decoder.h"

namespace lockstep::ptx {

namespace {

Space space_among(const std::vector<std::string_view>& modifiers) {
    for (std::string_view m : modifiers) {
        m = m.substr(0, m.find("::"));
        if (m == ".global") return Space::global;
        if (m == ".shared") return Space::shared;
        if (m == ".local") return Space::local;
        if (m == ".const") return Space::constant;
        if (m == ".param") return Space::param;
    }
    return Space::generic;
}

}  // namespace

void Decoder::set_address(DecodedInstruction& out, const Operand& address) {
    if (address.kind != Operand::Kind::address || !address.elements.empty())
        complain("expected an address such as [%rd1+4]", address);
    out.offset = static_cast<int64_t>(address.value);
    if (address.name.empty()) return;
    if (const Slot* slot = frame_.register_named(address.name, statement_->scope)) {
        if (register_size(slot->type) < 4 || slot->type == Type::f32 || slot->type == Type::f64)
            complain("an address is in a register of .b32 or .b64, '" + std::string(address.name) + "' is of " +
                         dotted(slot->type),
                     address);
        out.address = slot->offset;
        out.address_bytes = static_cast<uint8_t>(register_size(slot->type));
        if (out.space == Space::global || out.space == Space::generic)
            if (const auto loaded = parameter_in_.find(slot->offset); loaded != parameter_in_.end())
                program_.parameters[loaded->second].pointer = true;
        return;
    }
    const Located* located = frame_.variable_named(address.name, statement_->scope);
    if (!located) unknown_name(address, address.name);
    const Space space = located->variable->space;
    if (out.space == Space::generic) out.space = space;
    if (out.space != space)
        complain("'" + std::string(address.name) + "' is in ." + std::string(name_of(space)) + ", not in ." +
                     std::string(name_of(out.space)),
                 address);
    if (space != Space::param) out.variable = located->index;
    out.offset += static_cast<int64_t>(located->offset);
}

// Whether an address is a .param variable of a call's own scope.
bool Decoder::passes_value(const Operand& address) const {
    if (address.kind != Operand::Kind::address) return false;
    const Located* located = frame_.variable_named(address.name, statement_->scope);
    return located && located->variable->space == Space::param && located->index == no_variable;
}

void Decoder::decode_memory(DecodedInstruction& out) {
    expect_operands(2, 2);
    const bool load = out.kind == Kind::load;
    out.space = space_among(modifiers_);
    if (statement_->opcode.starts_with("ldu")) out.space = Space::global;
    out.vector = holds(modifiers_, ".v4") ? 4 : holds(modifiers_, ".v2") ? 2 : 1;
    out.type = last_type_;
    if (size_of(out.type) * out.vector > 16) complain(spelled() + " would move more than 16 bytes a lane");
    const Operand& value = operand(load ? 0 : 1);
    if (passes_value(operand(load ? 1 : 0))) {  // to or from __assertfail, the only function that may be called
        out.kind = Kind::nop;
        return;
    }
    if (!load && (out.space == Space::param || out.space == Space::constant))
        complain("." + std::string(name_of(out.space)) + " memory cannot be written");
    set_address(out, operand(load ? 1 : 0));
    const bool list = value.kind == Operand::Kind::vector;
    if (list ? value.elements.size() != out.vector : out.vector != 1)
        complain(
            spelled() + " needs " + std::to_string(out.vector) + (out.vector > 1 ? " registers in braces" : " register"),
            value);
    const Operand* parts = list ? value.elements.data() : &value;
    // Registers may be wider than the type; all must be alike.
    out.destination_type = size_of(last_type_) == 1 ? (is_signed(last_type_) ? Type::s16 : Type::u16) : last_type_;
    bool decided = false;
    for (size_t k = 0; k < out.vector; ++k) {
        if (parts[k].kind != Operand::Kind::name || parts[k].name == "_" || parts[k].name == "WARP_SZ") continue;
        const Type have = register_of(parts[k]).type;
        if (have == Type::pred || register_size(have) < register_size(last_type_) ||
            (decided && register_size(have) != register_size(out.destination_type)) ||
            (register_size(have) != register_size(last_type_) && (is_float(have) || is_float(last_type_))))
            complain("'" + std::string(parts[k].name) + "' is a register of " + dotted(have) + ", " + spelled() + " needs " +
                         dotted(last_type_),
                     parts[k]);
        if (!decided && register_size(have) != register_size(last_type_)) out.destination_type = have;
        decided = true;
    }
    for (size_t k = 0; k < out.vector; ++k) {
        const Type wanted =
            decided && parts[k].kind == Operand::Kind::name && parts[k].name != "_" && parts[k].name != "WARP_SZ"
                ? register_of(parts[k]).type
                : out.destination_type;
        if (load)
            out.destination[k] = destination(parts[k], wanted);
        else
            out.source[k] = source(parts[k], wanted);
    }
    if (load && out.space == Space::param && out.address == no_operand && size_of(out.type) == 8)
        for (size_t i = 0; i < program_.parameters.size(); ++i)
            if (program_.parameters[i].offset == static_cast<uint64_t>(out.offset)) parameter_in_[out.destination[0]] = i;
}

void Decoder::decode_atomic(DecodedInstruction& out) {
    const bool returns = statement_->opcode.starts_with("atom");
    constexpr std::string_view names[] = {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor", ".exch", ".cas"};
    for (uint8_t i = 0; i < std::size(names); ++i)
        if (holds(modifiers_, names[i])) out.mode = i;
    const bool swap = out.mode == static_cast<uint8_t>(AtomicOperation::cas);
    const size_t count = (returns ? 2 : 1) + (swap ? 2 : 1);
    expect_operands(count, count);
    out.space = space_among(modifiers_);
    out.type = out.destination_type = last_type_;
    size_t at = 0;
    if (returns) out.destination[0] = destination(operand(at++), last_type_);
    set_address(out, operand(at++));
    out.source[0] = source(operand(at++), last_type_);
    if (swap) out.source[1] = source(operand(at), last_type_);
}

}  // namespace lockstep::ptx
