// Operands: registers and their types, numbers, addresses of variables.
#include <bit>

#include "core/base/dtype.h"
#include "core/ptx/decode/decoder.h"

namespace lockstep::ptx {

void Decoder::unknown_name(const Operand& o, std::string_view name) {
    complain("unknown name '" + std::string(name.substr(0, 80)) + "'" +
                 frame_.hint_for(name, statement_->scope, special_register_names()),
             o);
}

const Slot& Decoder::register_of(const Operand& o) {
    if (o.kind != Operand::Kind::name) complain("expected a register", o);
    const Slot* slot = frame_.register_named(o.name, statement_->scope);
    if (!slot) unknown_name(o, o.name);
    return *slot;
}

// The bits of a number as a value of a type.
uint64_t Decoder::immediate(const Operand& o, Type wanted) const {
    if (o.kind == Operand::Kind::integer) {
        if (wanted == Type::pred) return o.value ? 0xffffffffu : 0u;
        if (is_float(wanted) && size_of(wanted) > 2 && wanted != Type::f16x2)
            complain(spelled() + " needs a float here, such as 0f3F800000 or 1.0", o);
        return size_of(wanted) >= 8 ? o.value : o.value & ((uint64_t{1} << 8 * register_size(wanted)) - 1);
    }
    const double value = std::bit_cast<double>(o.value);
    switch (wanted) {
        case Type::f64:
            return o.value;
        case Type::b64:
            return o.single ? std::bit_cast<uint32_t>(static_cast<float>(value)) : o.value;
        case Type::b32:
        case Type::f32: {
            const uint32_t narrowed = std::bit_cast<uint32_t>(static_cast<float>(value));
            return value == value ? narrowed
                                  : static_cast<uint32_t>(o.value >> 32 & 0x80000000u) | 0x7f800000u |
                                        std::max<uint32_t>(static_cast<uint32_t>(o.value >> 29) & 0x7fffffu, 1);
        }
        case Type::f16:
            return f32_to_f16(static_cast<float>(value));
        case Type::bf16:
            return f32_to_bf16(static_cast<float>(value));
        default:
            complain(spelled() + " needs an integer here", o);
    }
}

int32_t Decoder::source(const Operand& o, Type wanted) {
    if (o.kind == Operand::Kind::integer || o.kind == Operand::Kind::real)
        return frame_.constant(immediate(o, wanted), register_size(wanted));
    if (o.kind != Operand::Kind::name) complain("expected a register or a number", o);
    if (o.name == "WARP_SZ") return frame_.constant(32, register_size(wanted));
    if (const Slot* slot = frame_.register_named(o.name, statement_->scope)) {
        if (!fits(wanted, slot->type))
            complain("'" + std::string(o.name) + "' is a register of " + dotted(slot->type) + ", " + spelled() + " needs " +
                         dotted(wanted),
                     o);
        return slot->offset;
    }
    if (const Located* located = frame_.variable_named(o.name, statement_->scope)) {
        if (located->variable->space == Space::global || located->variable->space == Space::constant ||
            register_size(wanted) < 4)
            complain("the address of '" + std::string(o.name) + "' can only be moved: use mov.u64", o);
        return frame_.constant(located->offset + o.value, register_size(wanted));
    }
    if (const std::optional<size_t> function = function_named(o.name)) {
        if (register_size(wanted) != 8) complain("the address of a function needs 64 bits", o);
        return frame_.constant(address_of_function(*function) + o.value, 8);
    }
    if (const std::optional<uint64_t> kernel = kernel_named(o.name); kernel && register_size(wanted) == 8)
        return frame_.constant(*kernel + o.value, 8);
    unknown_name(o, o.name);
}

int32_t Decoder::destination_named(std::string_view name, const Operand& at, Type wanted) {
    if (name == "_") return frame_.scratch(wanted == Type::pred ? wanted : bits_of(register_size(wanted)));
    const Slot* slot = frame_.register_named(name, statement_->scope);
    if (!slot) unknown_name(at, name);
    if (!fits(wanted, slot->type))
        complain("'" + std::string(name) + "' is a register of " + dotted(slot->type) + ", " + spelled() + " gives " +
                     dotted(wanted),
                 at);
    return slot->offset;
}

int32_t Decoder::destination(const Operand& o, Type wanted) {
    if (o.kind != Operand::Kind::name) complain("expected a register for the result", o);
    return destination_named(o.name, o, wanted);
}

void Decoder::expect_operands(size_t least, size_t most) const {
    const size_t count = statement_->operands.size();
    if (count >= least && count <= most) return;
    complain(spelled() + " takes " + std::to_string(least) + (most > least ? " to " + std::to_string(most) : "") +
             (most == 1 ? " operand" : " operands") + ", not " + std::to_string(count));
}

}  // namespace lockstep::ptx
