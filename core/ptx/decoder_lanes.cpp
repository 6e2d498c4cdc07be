// Lane-wise instructions by the shape that their row gives ("T=TT"), and the many meanings of mov.
#include <optional>

#include "core/ptx/decoder.h"

namespace lockstep::ptx {

namespace {

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

}  // namespace

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
    for (const Candidate& candidate : rows_of(statement_->opcode, ""))
        if (candidate.opcode->kind == Kind::lane_wise && decode_lane_wise(out, candidate)) return;
    complain(unknown_instruction(statement_->opcode));
}

}  // namespace lockstep::ptx
