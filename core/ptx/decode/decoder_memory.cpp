// Loads, stores, atomics and hints to caches: the space, the address, the registers.
#include "core/ptx/decode/decoder.h"

namespace lockstep::ptx {

namespace {

Space space_among(const std::vector<std::string_view>& modifiers) {
    for (std::string_view m : modifiers) {
        m = m.substr(0, std::min(m.find("::"), m.find('[')));
        if (m == ".global") return Space::global;
        if (m == ".shared") return Space::shared;
        if (m == ".local") return Space::local;
        if (m == ".const") return Space::constant;
        if (m == ".param") return Space::param;
    }
    return Space::generic;
}

uint8_t vector_of(const std::vector<std::string_view>& modifiers) {
    return holds(modifiers, ".v8") ? 8 : holds(modifiers, ".v4") ? 4 : holds(modifiers, ".v2") ? 2 : 1;
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
        if (out.space == Space::param && entry_.function) out.space = Space::local;  // of a parameter: mov gave its address
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
    if (frame_.in_frame(*located)) {
        out.space = Space::local;
        out.address = frame_.local_base(8);
    }
}

// The registers that a load fills or a store takes from, or an atomic's: one, or as many as the vector has, in braces. They
// may be wider than the type; all must be alike. Up to four fit the instruction, more are a list.
void Decoder::take_values(DecodedInstruction& out, const Operand& value, bool written, Type type) {
    const bool list = value.kind == Operand::Kind::vector;
    if (list ? value.elements.size() != out.vector : out.vector != 1)
        complain(
            spelled() + " needs " + std::to_string(out.vector) + (out.vector > 1 ? " registers in braces" : " register"),
            value);
    const Operand* parts = list ? value.elements.data() : &value;
    const auto is_register = [&](const Operand& o) {
        return o.kind == Operand::Kind::name && o.name != "_" && o.name != "WARP_SZ";
    };
    out.destination_type = size_of(type) == 1 ? (is_signed(type) ? Type::s16 : Type::u16) : type;
    bool decided = false;
    for (size_t k = 0; k < out.vector; ++k) {
        if (!is_register(parts[k])) continue;
        const Type have = register_of(parts[k]).type;
        const bool wider = register_size(have) != register_size(type);
        if (have == Type::pred || register_size(have) < register_size(type) || (wider && out.kind == Kind::atomic) ||
            (decided && register_size(have) != register_size(out.destination_type)) ||
            (wider && (is_float(have) || (is_float(type) && have != bits_of(register_size(have))))))
            complain("'" + std::string(parts[k].name) + "' is a register of " + dotted(have) + ", " + spelled() + " needs " +
                         dotted(type),
                     parts[k]);
        if (!decided && wider) out.destination_type = have;
        decided = true;
    }
    std::vector<int32_t> places;
    for (size_t k = 0; k < out.vector; ++k) {
        const Type wanted = decided && is_register(parts[k]) ? register_of(parts[k]).type : out.destination_type;
        places.push_back(written ? destination(parts[k], wanted) : source(parts[k], wanted));
    }
    if (out.kind != Kind::atomic && places.size() <= 4) {
        std::copy(places.begin(), places.end(), written ? out.destination : out.source);
        return;
    }
    if (!out.list_destinations && !out.list_sources) out.list = static_cast<uint32_t>(program_.lists.size());
    (written ? out.list_destinations : out.list_sources) = static_cast<uint16_t>(places.size());
    program_.lists.insert(program_.lists.end(), places.begin(), places.end());
}

void Decoder::decode_memory(DecodedInstruction& out) {
    const bool load = out.kind == Kind::load, hint = holds(modifiers_, ".L2::cache_hint");
    expect_operands(hint ? 3 : 2, hint ? 3 : 2);
    out.space = space_among(modifiers_);
    if (statement_->opcode.starts_with("ldu")) out.space = Space::global;
    out.vector = vector_of(modifiers_);
    AccessView view{.fetches_again = load && holds(modifiers_, ".cv")};
    for (const std::string_view strong : {".volatile", ".relaxed", ".acquire", ".release", ".mmio"})
        view.strong |= holds(modifiers_, strong);
    put(out, view);
    out.type = last_type_;
    const size_t bytes = size_of(out.type) * out.vector;
    if ((out.vector == 8 && size_of(out.type) != 4) || (out.type == Type::b128 && out.vector > 1))
        complain(spelled() + ": there is no such vector");
    if (bytes > 32 || (bytes > 16 && out.space != Space::global))
        complain(spelled() + " would move more than " + (bytes > 32 ? "32" : "16") + " bytes a lane");
    if (holds(modifiers_, ".nc") && out.space != Space::global) complain(spelled() + ": .nc is for .global memory");
    set_address(out, operand(load ? 1 : 0));
    if (!load && (out.space == Space::param || out.space == Space::constant))
        complain("." + std::string(name_of(out.space)) + " memory cannot be written");
    take_values(out, operand(load ? 0 : 1), load, last_type_);
    if (hint) source(operand(2), Type::b64);  // a policy of caches: there is nothing to do for it
    if (load && out.space == Space::param && out.address == no_operand && size_of(out.type) == 8)
        for (size_t i = 0; i < program_.parameters.size(); ++i)
            if (program_.parameters[i].offset == static_cast<uint64_t>(out.offset)) parameter_in_[out.destination[0]] = i;
}

void Decoder::decode_atomic(DecodedInstruction& out) {
    const bool returns = statement_->opcode.starts_with("atom"), hint = holds(modifiers_, ".L2::cache_hint");
    constexpr std::string_view names[] = {".add", ".min", ".max", ".inc", ".dec", ".and", ".or", ".xor", ".exch", ".cas"};
    AtomicView view;
    for (uint8_t i = 0; i < std::size(names); ++i)
        if (holds(modifiers_, names[i])) view.operation = static_cast<AtomicOperation>(i);
    put(out, view);
    const bool swap = view.operation == AtomicOperation::cas;
    const size_t count = (returns ? 2 : 1) + (swap ? 2 : 1) + (hint ? 1 : 0);
    expect_operands(count, count);
    out.space = space_among(modifiers_);
    out.vector = vector_of(modifiers_);
    out.type = out.destination_type = last_type_;
    if (size_of(out.type) * out.vector > 16) complain(spelled() + " would change more than 16 bytes a lane");
    if (out.vector > 1 && out.space != Space::global && out.space != Space::generic)
        complain(spelled() + ": atomics on vectors work on .global memory");
    size_t at = 0;
    if (returns && out.vector == 1) out.destination[0] = destination(operand(at), last_type_);
    if (returns && out.vector > 1) take_values(out, operand(at), true, last_type_);
    if (returns) ++at;
    set_address(out, operand(at));
    if (out.space != Space::global && out.space != Space::shared && out.space != Space::generic)
        complain("atomics work on .global and .shared memory, not on ." + std::string(name_of(out.space)), operand(at));
    ++at;
    if (out.vector > 1)
        take_values(out, operand(at++), false, last_type_);
    else
        out.source[0] = source(operand(at++), last_type_);
    if (swap) out.source[1] = source(operand(at++), last_type_);
    if (hint) source(operand(at), Type::b64);
}

// prefetch, applypriority, discard: hints to caches. Their address may be anything.
void Decoder::decode_hint(DecodedInstruction& out) {
    const bool sized = statement_->opcode.starts_with("applypriority") || statement_->opcode.starts_with("discard");
    expect_operands(sized ? 2 : 1, sized ? 2 : 1);
    out.space = space_among(modifiers_);
    set_address(out, operand(0));
    if (sized && (operand(1).kind != Operand::Kind::integer || operand(1).value != 128))
        complain(spelled() + " is for 128 bytes", operand(1));
}

// createpolicy: the caches of this machine follow no policy, so that any number will do that names it.
void Decoder::decode_policy(DecodedInstruction& out) {
    const bool range = holds(modifiers_, ".range"), fractional = holds(modifiers_, ".fractional");
    expect_operands(range ? 4 : fractional ? 1 : 2, range ? 4 : 2);
    if (range) {
        DecodedInstruction unused;
        unused.space = space_among(modifiers_);
        set_address(unused, operand(1));
        source(operand(2), Type::u32);
        source(operand(3), Type::u32);
    } else if (statement_->operands.size() == 2) {
        source(operand(1), fractional ? Type::f32 : Type::b64);
    }
    const int64_t name = holds(modifiers_, ".L2::evict_last") ? 2 : holds(modifiers_, ".L2::evict_first") ? 1 : 0;
    put(out, SpecialView{.which = SpecialRegister::variable_address, .offset = name});
    out.type = out.destination_type = Type::b64;
    out.destination[0] = destination(operand(0), Type::b64);
}

}  // namespace lockstep::ptx
