// Module -> Program: decides what each statement of one entry means. Statement n becomes instruction n.
// Order: names get places (frame.cpp), statements are decoded one by one, then branches, reconvergence and registers.
#include "core/ptx/decode.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "core/base/dtype.h"
#include "core/ptx/frame.h"
#include "core/ptx/ptx.h"
#include "core/ptx/spelling.h"

namespace lockstep::ptx {
namespace {

bool is_float(Type t) {
    return t == Type::f16 || t == Type::f16x2 || t == Type::bf16 || t == Type::f32 || t == Type::f64;
}
bool is_bits(Type t) {
    return t == Type::b8 || t == Type::b16 || t == Type::b32 || t == Type::b64;
}
bool is_signed(Type t) {
    return t == Type::s8 || t == Type::s16 || t == Type::s32 || t == Type::s64;
}
Type bits_of(size_t bytes) {
    return bytes == 8 ? Type::b64 : bytes == 4 ? Type::b32 : Type::b16;
}
size_t register_size(Type t) {
    return t == Type::pred ? 0 : std::max<size_t>(size_of(t), 2);
}
Type twice(Type t) {
    switch (t) {
        case Type::u16:
            return Type::u32;
        case Type::s16:
            return Type::s32;
        case Type::u32:
            return Type::u64;
        case Type::s32:
            return Type::s64;
        default:
            return Type::b64;
    }
}
// Whether a register may be used where an instruction wants a type (table "Operand Type Checking Rules" of the ISA).
bool fits(Type wanted, Type have) {
    if (wanted == Type::pred || have == Type::pred) return wanted == have;
    if (register_size(wanted) != register_size(have)) return false;
    return is_bits(wanted) || is_bits(have) || is_float(wanted) == is_float(have) || register_size(have) == 2;
}
std::string dotted(Type t) {
    return "." + std::string(name_of(t));
}

struct SpecialName {
    std::string_view name;
    SpecialRegister which;
};
constexpr SpecialName special_names[] = {
    {"%tid.x", SpecialRegister::tid_x},
    {"%tid.y", SpecialRegister::tid_y},
    {"%tid.z", SpecialRegister::tid_z},
    {"%ntid.x", SpecialRegister::ntid_x},
    {"%ntid.y", SpecialRegister::ntid_y},
    {"%ntid.z", SpecialRegister::ntid_z},
    {"%ctaid.x", SpecialRegister::ctaid_x},
    {"%ctaid.y", SpecialRegister::ctaid_y},
    {"%ctaid.z", SpecialRegister::ctaid_z},
    {"%nctaid.x", SpecialRegister::nctaid_x},
    {"%nctaid.y", SpecialRegister::nctaid_y},
    {"%nctaid.z", SpecialRegister::nctaid_z},
    {"%laneid", SpecialRegister::laneid},
    {"%warpid", SpecialRegister::warpid},
    {"%nwarpid", SpecialRegister::nwarpid},
    {"%smid", SpecialRegister::smid},
    {"%nsmid", SpecialRegister::nsmid},
    {"%gridid", SpecialRegister::gridid},
    {"%lanemask_eq", SpecialRegister::lanemask_eq},
    {"%lanemask_lt", SpecialRegister::lanemask_lt},
    {"%lanemask_le", SpecialRegister::lanemask_le},
    {"%lanemask_gt", SpecialRegister::lanemask_gt},
    {"%lanemask_ge", SpecialRegister::lanemask_ge},
    {"%clock", SpecialRegister::clock},
    {"%clock64", SpecialRegister::clock64},
    {"%clock_hi", SpecialRegister::clock_hi},
    {"%globaltimer", SpecialRegister::globaltimer},
    {"%globaltimer_lo", SpecialRegister::globaltimer_lo},
    {"%globaltimer_hi", SpecialRegister::globaltimer_hi},
    {"%dynamic_smem_size", SpecialRegister::dynamic_smem_size},
    {"%total_smem_size", SpecialRegister::total_smem_size},
};

std::optional<SpecialRegister> special_named(std::string_view name) {
    for (const SpecialName& s : special_names)
        if (s.name == name) return s.which;
    return {};
}

template <class T>
bool holds(const std::vector<T>& list, std::string_view word) {
    return std::find(list.begin(), list.end(), word) != list.end();
}

class Decoder {
  public:
    Decoder(const Module& module, const Entry& entry, Program& program)
        : module_(module), entry_(entry), program_(program), frame_(module, entry, program) {}
    void decode();

  private:
    [[noreturn]] void complain(std::string message) const { throw Complaint{std::move(message), statement_->place}; }
    [[noreturn]] void complain(std::string message, const Operand& at) const {
        throw Complaint{std::move(message), at.place};
    }
    std::string spelled() const { return "'" + std::string(statement_->opcode.substr(0, 80)) + "'"; }
    const Operand& operand(size_t i) const { return statement_->operands[i]; }

    const std::vector<Candidate>& rows_of(std::string_view spelling, std::string_view suffix);
    void decode_statement(const Statement& statement);
    bool decode_lane_wise(DecodedInstruction& out, const Candidate& candidate);
    bool shape_fits(std::string_view shape) const;
    bool natural_widths();
    void decode_move(DecodedInstruction& out);
    void decode_memory(DecodedInstruction& out);
    void decode_atomic(DecodedInstruction& out);
    void decode_warp_wide(DecodedInstruction& out);
    void decode_control(DecodedInstruction& out);
    void take_row(DecodedInstruction& out, const Candidate& candidate);
    void expect_operands(size_t least, size_t most) const;
    void set_address(DecodedInstruction& out, const Operand& address);
    int32_t how_to_compare(const Operand* predicate);
    int32_t how_to_convert();

    const Slot& register_of(const Operand& o);
    int32_t source(const Operand& o, Type wanted);
    int32_t destination(const Operand& o, Type wanted);
    int32_t destination_named(std::string_view name, const Operand& at, Type wanted);
    uint64_t immediate(const Operand& o, Type wanted) const;
    [[noreturn]] void unknown_name(const Operand& o, std::string_view name);
    void note_registers(DecodedInstruction& out) const;
    void locate(DecodedInstruction& out);
    void finish();

    const Module& module_;
    const Entry& entry_;
    Program& program_;
    Frame frame_;
    const Statement* statement_ = nullptr;
    std::vector<std::string_view> modifiers_;
    Type first_type_ = Type::none, last_type_ = Type::none;
    std::unordered_map<std::string, std::vector<Candidate>> rows_;
    std::map<std::tuple<int, int, int>, int> inlined_;  // place -> the location that says where it is inlined
    std::unordered_map<int32_t, size_t> parameter_in_;  // register offset -> parameter that was loaded into it
    int source_file_ = 0;
};

// --- operands -------------------------------------------------------------------------------------------------------

void Decoder::unknown_name(const Operand& o, std::string_view name) {
    complain("unknown name '" + std::string(name.substr(0, 80)) + "'" + did_you_mean(name, frame_.known_names()), o);
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

// --- lane-wise instructions -----------------------------------------------------------------------------------------

const std::vector<Candidate>& Decoder::rows_of(std::string_view spelling, std::string_view suffix) {
    const auto [found, fresh] = rows_.try_emplace(std::string(spelling) + std::string(suffix));
    if (fresh) {
        const std::string_view stem = stem_of(spelling);
        found->second = candidates(stem, std::string(spelling.substr(stem.size())) + std::string(suffix));
    }
    return found->second;
}

void Decoder::take_row(DecodedInstruction& out, const Candidate& candidate) {
    out.opcode = candidate.opcode;
    out.kind = candidate.opcode->kind;
    out.lanes = candidate.form->lanes;
    out.many = candidate.form->many;
}

// "Pp=TTpX": hidden operands (C, X) are not written, lower case may be absent, a second destination follows a '|'.
bool Decoder::shape_fits(std::string_view shape) const {
    const size_t equals = shape.find('=');
    const std::string_view results = shape.substr(0, equals), sources = shape.substr(equals + 1);
    size_t least = 1, most = 1;
    for (char c : sources) {
        if (c == 'C' || c == 'X') continue;
        ++most;
        if (c >= 'A' && c <= 'Z') ++least;
    }
    const size_t count = statement_->operands.size();
    const bool pair = count > 0 && !operand(0).second.empty();
    return count >= least && count <= most && (!pair || results == "Pp");
}

// Whether the registers of a cvt have the sizes of its types.
bool Decoder::natural_widths() {
    for (size_t i = 0; i < 2 && i < statement_->operands.size(); ++i) {
        const Operand& o = operand(i);
        if (o.kind != Operand::Kind::name || o.name == "_") continue;
        const Slot* slot = frame_.register_named(o.name, statement_->scope);
        if (slot && register_size(slot->type) != register_size(i ? last_type_ : first_type_)) return false;
    }
    return true;
}

int32_t Decoder::how_to_compare(const Operand* predicate) {
    uint32_t comparison = 0, combination = 0;
    for (std::string_view modifier : modifiers_) {
        for (uint32_t i = 0; i < std::size(comparisons); ++i)
            if (comparisons[i] == modifier) comparison = i;
        for (uint32_t i = 1; i < std::size(combinations); ++i)
            if (combinations[i] == modifier) combination = i;
    }
    const uint32_t yes = first_type_ == Type::f32 ? 0x3f800000u : first_type_ == Type::f16 ? 0x3c00u : 0xffffffffu;
    return frame_.constant_lanes({comparison, combination, predicate && predicate->negated, yes});
}

int32_t Decoder::how_to_convert() {
    const auto width = [&](size_t i, Type type) {
        if (operand(i).kind != Operand::Kind::name) return register_size(type);
        const Slot* slot = frame_.register_named(operand(i).name, statement_->scope);
        return slot ? register_size(slot->type) : register_size(type);
    };
    const size_t to = width(0, first_type_), from = width(1, last_type_);
    if (to < register_size(first_type_))
        complain("the register for the result is smaller than " + dotted(first_type_), operand(0));
    if (from < register_size(last_type_)) complain("the register is smaller than " + dotted(last_type_), operand(1));
    return frame_.constant_lanes({static_cast<uint32_t>(from), static_cast<uint32_t>(8 * size_of(last_type_)),
                                  is_signed(last_type_), static_cast<uint32_t>(8 * size_of(first_type_)),
                                  is_signed(first_type_), static_cast<uint32_t>(to), holds(modifiers_, ".sat")});
}

bool Decoder::decode_lane_wise(DecodedInstruction& out, const Candidate& candidate) {
    const std::string_view shape = candidate.opcode->operands;
    if (!shape_fits(shape)) return false;
    const bool convert = candidate.opcode->name == "cvt";
    if (convert && shape == "D=T" && !natural_widths()) return false;
    take_row(out, candidate);
    out.type = last_type_;
    const auto type_of = [&](char c) {
        switch (c) {
            case 'D':
                return first_type_;
            case 'W':
                return twice(last_type_);
            case 'P':
            case 'p':
                return Type::pred;
            case 'U':
                return Type::u32;
            case 'A':
                return Type::u64;
            default:
                return last_type_;
        }
    };
    const size_t equals = shape.find('=');
    size_t written = 1;
    const Operand* predicate = nullptr;
    const bool wide_convert = convert && shape == "D=TX";
    for (size_t i = 0, k = 0; i + equals + 1 < shape.size(); ++i, ++k) {
        const char c = shape[equals + 1 + i];
        if (c == 'C') {
            out.source[k] = frame_.carry(last_type_).offset;
        } else if (c == 'X') {
            out.source[candidate.opcode->name == "cvt" ? 1 : 3] =
                wide_convert ? how_to_convert() : how_to_compare(predicate);
        } else if (written < statement_->operands.size()) {
            const Operand& o = operand(written++);
            if (o.negated && c != 'p') complain("'!' is only for the predicate that is combined", o);
            if (c == 'p') predicate = &o;
            const Type wanted = wide_convert && o.kind == Operand::Kind::name ? register_of(o).type : type_of(c);
            out.source[k] = source(o, wanted);
        }
    }
    const bool combined = holds(modifiers_, ".and") || holds(modifiers_, ".or") || holds(modifiers_, ".xor");
    if (shape.find("pX") != std::string_view::npos && combined != (predicate != nullptr))
        complain(combined ? spelled() + " needs a predicate to combine with" : spelled() + " combines with no predicate",
                 operand(0));
    for (size_t k = 0; k < equals; ++k) {
        const char c = shape[k];
        const bool carries = c == 'C' || (c == 'c' && holds(modifiers_, ".cc"));
        if (carries) {
            out.destination[k] = frame_.carry(last_type_).offset;
        } else if (k == 0) {
            Type wanted = type_of(c);
            if (wide_convert && operand(0).name != "_") wanted = register_of(operand(0)).type;
            out.destination[0] = destination(operand(0), wanted);
            out.destination_type = wanted;
        } else if (c == 'p' && !operand(0).second.empty()) {
            out.destination[1] = destination_named(operand(0).second, operand(0), Type::pred);
        }
    }
    if (candidate.opcode->name == "cvta" && holds(modifiers_, ".to") && holds(modifiers_, ".global"))
        if (const auto loaded = parameter_in_.find(out.source[0]); loaded != parameter_in_.end())
            program_.parameters[loaded->second].pointer = true;
    return true;
}

// mov: of a special register, of a variable's address, packing {a, b}, unpacking {d, e}; else like the others. cvta of a
// global variable is its address too.
void Decoder::decode_move(DecodedInstruction& out) {
    expect_operands(2, 2);
    const Operand& to = operand(0);
    const Operand& from = operand(1);
    const bool pack = from.kind == Operand::Kind::vector, unpack = to.kind == Operand::Kind::vector;
    if (pack || unpack) {
        const std::vector<Operand>& parts = pack ? from.elements : to.elements;
        const size_t whole = register_size(last_type_);
        const std::string_view shape = pack ? "pack" : "unpack";
        for (const Candidate& candidate :
             rows_of("mov." + std::string(name_of(bits_of(whole))), ".v" + std::to_string(parts.size())))
            if (candidate.opcode->operands == shape) take_row(out, candidate);
        if (!out.opcode || (pack && unpack)) complain("this mov cannot pack or unpack so", pack ? from : to);
        const Type part = bits_of(whole / parts.size());
        for (size_t k = 0; k < parts.size(); ++k) {
            if (pack)
                out.source[k] = source(parts[k], part);
            else if (parts[k].name != "_")
                out.destination[k] = destination(parts[k], part);
        }
        (pack ? out.destination : out.source)[0] = pack ? destination(to, bits_of(whole)) : source(from, bits_of(whole));
        out.type = last_type_;
        out.destination_type = pack ? last_type_ : part;
        return;
    }
    const bool plain_name =
        from.kind == Operand::Kind::name && from.name != "WARP_SZ" && !frame_.register_named(from.name, statement_->scope);
    const auto special = plain_name ? special_named(from.name) : std::nullopt;
    const Located* located = plain_name && !special ? frame_.variable_named(from.name, statement_->scope) : nullptr;
    const bool device = located && located->index != no_variable && located->variable->space != Space::param;
    if (device && size_of(last_type_) != 8) complain("the address of '" + std::string(from.name) + "' needs 64 bits", from);
    if (special || device) {
        for (const Candidate& candidate : rows_of(statement_->opcode, ""))
            if (candidate.opcode->kind == Kind::special_register || device) take_row(out, candidate);
        if (!out.opcode || size_of(last_type_) < 4) complain(unknown_instruction(statement_->opcode));
        out.kind = Kind::special_register;
        out.lanes = nullptr;
        out.mode = static_cast<uint8_t>(special ? *special : SpecialRegister::variable_address);
        if (device) {
            out.variable = located->index;
            out.offset = static_cast<int64_t>(from.value);
        }
        out.type = out.destination_type = last_type_;
        out.destination[0] = destination(to, last_type_);
        return;
    }
    if (plain_name && !located && holds(module_.functions, from.name))
        complain("the address of a function cannot be taken: calls are not supported", from);
    for (const Candidate& candidate : rows_of(statement_->opcode, ""))
        if (candidate.opcode->kind == Kind::lane_wise && decode_lane_wise(out, candidate)) return;
    complain(unknown_instruction(statement_->opcode));
}

// --- memory ---------------------------------------------------------------------------------------------------------

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
    if (space == Space::param && located->index == no_variable)
        complain("functions that the compiler has not inlined are not supported: '" + std::string(address.name) +
                     "' passes a value to one",
                 address);
    if (out.space == Space::generic) out.space = space;
    if (out.space != space)
        complain("'" + std::string(address.name) + "' is in ." + std::string(name_of(space)) + ", not in ." +
                     std::string(name_of(out.space)),
                 address);
    if (space != Space::param) out.variable = located->index;
    out.offset += static_cast<int64_t>(located->offset);
}

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

void Decoder::decode_memory(DecodedInstruction& out) {
    expect_operands(2, 2);
    const bool load = out.kind == Kind::load;
    out.space = space_among(modifiers_);
    if (statement_->opcode.starts_with("ldu")) out.space = Space::global;
    out.vector = holds(modifiers_, ".v4") ? 4 : holds(modifiers_, ".v2") ? 2 : 1;
    out.type = last_type_;
    if (size_of(out.type) * out.vector > 16) complain(spelled() + " would move more than 16 bytes a lane");
    const Operand& value = operand(load ? 0 : 1);
    if (!load && (out.space == Space::param || out.space == Space::constant))
        complain(out.space == Space::param
                     ? "functions that the compiler has not inlined are not supported: st.param passes a value to one"
                     : "constant memory cannot be written");
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

// --- the warp together, and control -----------------------------------------------------------------------------------

void Decoder::decode_warp_wide(DecodedInstruction& out) {
    if (out.kind == Kind::shuffle) {
        expect_operands(5, 5);
        out.mode = holds(modifiers_, ".up") ? 0 : holds(modifiers_, ".down") ? 1 : holds(modifiers_, ".bfly") ? 2 : 3;
        out.type = out.destination_type = Type::b32;
        for (size_t k = 0; k < 4; ++k) out.source[k] = source(operand(k + 1), Type::b32);
        out.destination[0] = destination(operand(0), Type::b32);
        if (!operand(0).second.empty()) out.destination[1] = destination_named(operand(0).second, operand(0), Type::pred);
        return;
    }
    const bool active = statement_->opcode.starts_with("activemask");
    expect_operands(active ? 1 : 3, active ? 1 : 3);
    out.mode = active                      ? 4
               : holds(modifiers_, ".all") ? 0
               : holds(modifiers_, ".any") ? 1
               : holds(modifiers_, ".uni") ? 2
                                           : 3;
    out.type = out.destination_type = last_type_;
    out.destination[0] = destination(operand(0), last_type_);
    if (active) return;
    out.source[0] = source(operand(1), Type::pred);
    out.negated_source = operand(1).negated;
    out.source[1] = source(operand(2), Type::b32);
}

void Decoder::decode_control(DecodedInstruction& out) {
    switch (out.kind) {
        case Kind::branch: {
            expect_operands(1, 1);
            out.uniform = holds(modifiers_, ".uni");
            const uint32_t* target =
                operand(0).kind == Operand::Kind::name ? frame_.label_named(operand(0).name, statement_->scope) : nullptr;
            if (!target) {
                std::vector<std::string_view> labels;
                for (size_t i = 0; i < entry_.labels.size() && i < 2000; ++i) labels.push_back(entry_.labels[i].name);
                complain("no label '" + std::string(operand(0).name.substr(0, 80)) + "' in sight" +
                             did_you_mean(operand(0).name, labels),
                         operand(0));
            }
            out.target = *target;
            break;
        }
        case Kind::barrier:
            expect_operands(1, 2);
            for (size_t k = 0; k < statement_->operands.size(); ++k) out.source[k] = source(operand(k), Type::u32);
            break;
        case Kind::nop:
            expect_operands(1, 1);
            if (operand(0).kind != Operand::Kind::address) out.source[0] = source(operand(0), Type::u32);
            break;
        default:
            expect_operands(0, 0);
    }
}

void Decoder::decode_statement(const Statement& statement) {
    statement_ = &statement;
    modifiers_ = modifiers_of(statement.opcode);
    first_type_ = last_type_ = Type::none;
    for (std::string_view modifier : modifiers_)
        if (const Type type = type_named(modifier); type != Type::none) {
            if (first_type_ == Type::none) first_type_ = type;
            last_type_ = type;
        }
    DecodedInstruction out;
    out.ptx_line = statement.place.line;
    if (!statement.guard.empty()) {
        const Slot* slot = frame_.register_named(statement.guard, statement.scope);
        if (!slot)
            complain("unknown predicate '" + std::string(statement.guard.substr(0, 80)) + "'" +
                     did_you_mean(statement.guard, frame_.known_names()));
        if (slot->type != Type::pred)
            complain("the guard '" + std::string(statement.guard) + "' is a register of " + dotted(slot->type) +
                     ", not .pred");
        out.guard = slot->offset;
        out.guard_negated = statement.guard_negated;
    }
    const std::string_view stem = stem_of(statement.opcode);
    const std::vector<Candidate>& rows = rows_of(statement.opcode, "");
    if (rows.empty()) complain(unknown_instruction(statement.opcode));
    const bool device_address = stem == "cvta" && statement.operands.size() == 2 && operand(1).kind == Operand::Kind::name &&
                                !frame_.register_named(operand(1).name, statement.scope);
    if (stem == "mov" || device_address) {
        decode_move(out);
    } else if (rows[0].opcode->kind == Kind::lane_wise || rows[0].opcode->kind == Kind::lane_wise_many) {
        bool done = false;
        for (const Candidate& candidate : rows) {
            done = decode_lane_wise(out, candidate);
            if (done) break;
        }
        if (!done) {
            const std::string_view shape = rows[0].opcode->operands;
            if (stem == "cvt" && shape_fits(shape))
                complain("the registers do not have the sizes of the types of " + spelled());
            complain(spelled() + " takes " +
                     std::to_string(std::count_if(shape.begin() + static_cast<std::ptrdiff_t>(shape.find('=')), shape.end(),
                                                  [](char c) { return c != 'C' && c != 'X'; })) +
                     " operands (" + std::string(rows[0].opcode->summary) + "), not " +
                     std::to_string(statement.operands.size()));
        }
    } else {
        take_row(out, rows[0]);
        switch (out.kind) {
            case Kind::load:
            case Kind::store:
                decode_memory(out);
                break;
            case Kind::atomic:
                decode_atomic(out);
                break;
            case Kind::shuffle:
            case Kind::vote:
                decode_warp_wide(out);
                break;
            default:
                decode_control(out);
        }
    }
    note_registers(out);
    locate(out);
    program_.instructions.push_back(out);
    program_.texts.push_back(
        {static_cast<uint32_t>(statement.text.data() - module_.text->data()), static_cast<uint32_t>(statement.text.size())});
}

void Decoder::note_registers(DecodedInstruction& out) const {
    const auto read = [&](int32_t operand_offset) {
        if (operand_offset == no_operand || operand_offset < 0) return;
        if (std::find(out.reads, out.reads + out.registers_read, operand_offset) == out.reads + out.registers_read)
            out.reads[out.registers_read++] = operand_offset;
    };
    read(out.guard);
    read(out.address);
    for (int32_t s : out.source) read(s);
    for (int32_t d : out.destination)
        if (d != no_operand) out.writes[out.registers_written++] = d;
}

// --- lines ------------------------------------------------------------------------------------------------------------

// Code inlined from a header counts as the line of the kernel's own file that it is inlined at.
void Decoder::locate(DecodedInstruction& out) {
    if (statement_->location < 0) return;
    LineLocation at = entry_.locations[static_cast<size_t>(statement_->location)];
    out.file = at.file;
    out.line = at.line;
    for (int depth = 0; depth < 16 && at.file != source_file_; ++depth) {
        const auto known = inlined_.find({at.file, at.line, at.column});
        if (!at.inlined_file && known != inlined_.end()) at = entry_.locations[static_cast<size_t>(known->second)];
        if (!at.inlined_file) return;
        at = LineLocation{.file = at.inlined_file, .line = at.inlined_line, .column = at.inlined_column};
    }
    if (at.file == source_file_) {
        out.file = at.file;
        out.line = at.line;
    }
}

// --- all of it --------------------------------------------------------------------------------------------------------

void Decoder::decode() {
    if (!entry_.locations.empty()) source_file_ = entry_.locations[0].file;
    for (size_t i = 0; i < entry_.locations.size(); ++i) {
        const LineLocation& at = entry_.locations[i];
        if (at.inlined_file) inlined_.try_emplace({at.file, at.line, at.column}, static_cast<int>(i));
    }
    for (const Statement& s : entry_.statements) {
        if (stem_of(s.opcode) != "call") continue;
        std::string_view callee;
        for (const Operand& o : s.operands)
            if (o.kind == Operand::Kind::name && callee.empty()) callee = o.name;
        throw Complaint{"functions that the compiler has not inlined are not supported: this calls '" +
                            std::string(callee.substr(0, 80)) + "'",
                        s.place};
    }
    program_.instructions.reserve(entry_.statements.size() + 1);
    for (const Statement& statement : entry_.statements) decode_statement(statement);
    finish();
}

void Decoder::finish() {
    auto& instructions = program_.instructions;
    const bool labelled_end = std::any_of(entry_.labels.begin(), entry_.labels.end(),
                                          [&](const Label& label) { return label.statement >= instructions.size(); });
    const bool ends = !instructions.empty() && instructions.back().guard == no_operand &&
                      (instructions.back().kind == Kind::exit || instructions.back().kind == Kind::branch ||
                       instructions.back().kind == Kind::trap);
    if (!ends || labelled_end) {
        DecodedInstruction exit;
        take_row(exit, candidates("exit", "").front());
        exit.ptx_line = instructions.empty() ? entry_.place.line : instructions.back().ptx_line;
        instructions.push_back(exit);
        program_.texts.push_back({});
    }
    find_reconvergence(instructions);
    program_.registers_per_thread = count_registers(instructions, frame_.slot_registers());
    if (entry_.max_registers) program_.registers_per_thread = std::min(program_.registers_per_thread, entry_.max_registers);
    if (program_.constants.empty()) program_.constants.resize(64);
    if (static_cast<size_t>(source_file_) < module_.files.size())
        program_.source_file = module_.files[static_cast<size_t>(source_file_)];
}

// matmul of _Z6matmulPKf, of _ZN4math6matmulEPKf and of _Z6matmulILi4EEvPf; empty for names that are not mangled.
std::string_view plain_name(std::string_view mangled) {
    if (!mangled.starts_with("_Z")) return {};
    mangled.remove_prefix(2);
    if (mangled.starts_with("N")) mangled.remove_prefix(1);
    if (mangled.starts_with("L")) mangled.remove_prefix(1);
    std::string_view last;
    while (!mangled.empty() && mangled[0] >= '0' && mangled[0] <= '9') {
        size_t length = 0, digits = 0;
        while (digits < mangled.size() && digits < 6 && mangled[digits] >= '0' && mangled[digits] <= '9')
            length = length * 10 + static_cast<size_t>(mangled[digits++] - '0');
        last = mangled.substr(digits, length);
        mangled.remove_prefix(std::min(mangled.size(), digits + length));
    }
    return last;
}

const Entry* find_entry(const Module& module, const std::string& kernel, std::string& problem) {
    std::string list;
    std::vector<std::string_view> names;
    std::vector<const Entry*> plain;
    for (const Entry& entry : module.entries) {
        if (entry.name == kernel) return &entry;
        const std::string_view readable = plain_name(entry.name);
        if (readable == kernel && !kernel.empty()) plain.push_back(&entry);
        names.push_back(readable.empty() ? entry.name : readable);
        if (names.size() <= 12) list += (list.empty() ? "" : ", ") + std::string(names.back());
    }
    if (names.size() > 12) list += " and " + std::to_string(names.size() - 12) + " more";
    if (plain.size() == 1) return plain[0];
    if (kernel.empty() && module.entries.size() == 1) return &module.entries[0];
    if (module.entries.empty())
        problem = "there is no kernel (.entry) in this PTX";
    else if (kernel.empty())
        problem = "there are " + std::to_string(module.entries.size()) + " kernels here, one has to be named: " + list;
    else if (plain.size() > 1)
        problem = "there are " + std::to_string(plain.size()) + " kernels called '" + kernel +
                  "' here: use the mangled name, such as " + std::string(plain[0]->name);
    else
        problem = "there is no kernel '" + kernel + "' here" +
                  (did_you_mean(kernel, names).empty() ? ", there is " + list : did_you_mean(kernel, names));
    return nullptr;
}

}  // namespace

Result<std::shared_ptr<const Program>> decode(const Module& module, const std::string& kernel) {
    std::string problem;
    const Entry* entry = find_entry(module, kernel, problem);
    if (!entry) return Diagnostic{problem, {module.file}};
    auto program = std::make_shared<Program>();
    program->kernel = entry->name;
    program->target = module.target;
    program->max_threads = entry->max_threads;
    std::copy(std::begin(entry->required_threads), std::end(entry->required_threads), std::begin(program->required_threads));
    program->files = module.files;
    program->ptx = *module.text;
    program->ptx_file = module.file;
    try {
        Decoder(module, *entry, *program).decode();
    } catch (const Complaint& complaint) {
        return diagnostic_of(complaint, *module.text, module.file);
    }
    return std::shared_ptr<const Program>(std::move(program));
}

std::string text_of(const Program& program, uint32_t pc) {
    if (pc >= program.texts.size()) return {};
    const TextRange range = program.texts[pc];
    if (!range.length) return "exit";
    std::string text = program.ptx.substr(range.begin, range.length);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n' || c == '\r'; }, ' ');
    text.erase(std::unique(text.begin(), text.end(), [](char a, char b) { return a == ' ' && b == ' '; }), text.end());
    return text;
}

}  // namespace lockstep::ptx
