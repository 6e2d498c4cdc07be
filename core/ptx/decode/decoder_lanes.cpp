// Lane-wise instructions by the shape that their row gives ("T=TT"), and the many meanings of mov.
#include <optional>

#include "core/ptx/decode/decoder.h"

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
    {"%envreg1", SpecialRegister::envreg1},
    {"%envreg2", SpecialRegister::envreg2},
    {"%tid.w", SpecialRegister::zero},
    {"%ntid.w", SpecialRegister::zero},
    {"%ctaid.w", SpecialRegister::zero},
    {"%nctaid.w", SpecialRegister::zero},
    {"%reserved_smem_offset_begin", SpecialRegister::reserved_smem_begin},
    {"%reserved_smem_offset_end", SpecialRegister::reserved_smem_end},
    {"%reserved_smem_offset_cap", SpecialRegister::reserved_smem_end},
    {"%reserved_smem_offset_0", SpecialRegister::reserved_smem_begin},
    {"%reserved_smem_offset_1", SpecialRegister::reserved_smem_1},
    {"%aggr_smem_size", SpecialRegister::aggr_smem_size},
    {"%current_graph_exec", SpecialRegister::current_graph_exec},
    {"%clusterid.x", SpecialRegister::clusterid_x},
    {"%clusterid.y", SpecialRegister::clusterid_y},
    {"%clusterid.z", SpecialRegister::clusterid_z},
    {"%clusterid.w", SpecialRegister::zero},
    {"%nclusterid.x", SpecialRegister::nclusterid_x},
    {"%nclusterid.y", SpecialRegister::nclusterid_y},
    {"%nclusterid.z", SpecialRegister::nclusterid_z},
    {"%nclusterid.w", SpecialRegister::zero},
    {"%cluster_ctaid.x", SpecialRegister::cluster_ctaid_x},
    {"%cluster_ctaid.y", SpecialRegister::cluster_ctaid_y},
    {"%cluster_ctaid.z", SpecialRegister::cluster_ctaid_z},
    {"%cluster_ctaid.w", SpecialRegister::zero},
    {"%cluster_nctaid.x", SpecialRegister::cluster_nctaid_x},
    {"%cluster_nctaid.y", SpecialRegister::cluster_nctaid_y},
    {"%cluster_nctaid.z", SpecialRegister::cluster_nctaid_z},
    {"%cluster_nctaid.w", SpecialRegister::zero},
    {"%cluster_ctarank", SpecialRegister::cluster_ctarank},
    {"%cluster_nctarank", SpecialRegister::cluster_nctarank},
    {"%is_explicit_cluster", SpecialRegister::is_explicit_cluster},
};

std::optional<SpecialRegister> special_named(std::string_view name) {
    for (const SpecialName& s : special_names)
        if (s.name == name) return s.which;
    const auto number = [&](size_t at, size_t most) {  // the digits from `at` on say at most `most`
        size_t value = 0;
        for (size_t i = at; i < name.size(); ++i) {
            if (name[i] < '0' || name[i] > '9' || i > at + 1 || (i > at && name[at] == '0')) return false;
            value = value * 10 + static_cast<size_t>(name[i] - '0');
        }
        return name.size() > at && value <= most;
    };
    if (name.starts_with("%envreg") && number(7, 31)) return SpecialRegister::envreg;
    if (name.starts_with("%pm") && number(3, 7)) return SpecialRegister::pm;
    if (name.size() == 7 && name.starts_with("%pm") && name.ends_with("_64") && name[3] >= '0' && name[3] <= '7')
        return SpecialRegister::pm_64;
    return {};
}

// "%r1" and "b0" of "%r1.b0".
std::pair<std::string_view, std::string_view> name_and_part(std::string_view name) {
    const size_t dot = name.find('.');
    return {name.substr(0, dot), dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1)};
}

}  // namespace

std::vector<std::string_view> special_register_names() {
    std::vector<std::string_view> names;
    for (const SpecialName& s : special_names) names.push_back(s.name);
    return names;
}

const std::vector<Candidate>& Decoder::rows_of(std::string_view spelling, std::string_view suffix) {
    const auto [found, fresh] = common_.rows.try_emplace(std::string(spelling) + std::string(suffix));
    if (fresh) {
        const std::string_view stem = stem_of(spelling);
        found->second = common_.table.candidates(stem, std::string(spelling.substr(stem.size())) + std::string(suffix));
        if (found->second.empty())
            if (const std::string ordered = in_matrix_order(spelling); !ordered.empty())
                found->second = common_.table.candidates(stem, ordered);
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
    return count >= least && count <= most && (pair ? results == "Pp" || results == "TP" : results != "TP");
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
    uint32_t outcomes = 0, results = combinations[0].results;
    for (std::string_view modifier : modifiers_) {
        for (const Comparison& c : comparisons)
            if (c.name == modifier) outcomes = c.outcomes;
        for (const Combination& c : combinations)
            if (c.name == modifier) results = c.results;
    }
    const uint32_t yes = first_type_ == Type::f32                                   ? 0x3f800000u
                         : first_type_ == Type::f16 || first_type_ == Type::f16x2   ? 0x3c00u
                         : first_type_ == Type::bf16 || first_type_ == Type::bf16x2 ? 0x3f80u
                                                                                    : 0xffffffffu;
    return frame_.constant_lanes({outcomes, results, predicate && predicate->negated, yes});
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
    const auto kind = [](Type t) { return is_float(t) ? 2u : is_signed(t) ? 1u : 0u; };
    const auto fraction = [](Type t) { return t == Type::f16 ? 10u : t == Type::bf16 ? 7u : t == Type::f32 ? 23u : 52u; };
    const auto among = [&](std::initializer_list<std::string_view> words) {  // 0: none of them
        uint32_t at = 0, found = 0;
        for (std::string_view word : words) found = ++at && holds(modifiers_, word) ? at : found;
        return found;
    };
    const uint32_t rounding = among({".rn", ".rz", ".rm", ".rp"}), ftz = holds(modifiers_, ".ftz");
    std::vector<uint32_t> how(convert_lane::count);
    how[convert_lane::from_bytes] = static_cast<uint32_t>(from);
    how[convert_lane::from_width] = static_cast<uint32_t>(8 * size_of(last_type_));
    how[convert_lane::from_kind] = kind(last_type_);
    how[convert_lane::from_fraction] = fraction(last_type_);
    how[convert_lane::to_bytes] = static_cast<uint32_t>(to);
    how[convert_lane::to_width] = static_cast<uint32_t>(8 * size_of(first_type_));
    how[convert_lane::to_kind] = kind(first_type_);
    how[convert_lane::to_fraction] = fraction(first_type_);
    how[convert_lane::rounding] = rounding ? rounding - 1 : 0;
    how[convert_lane::to_integral] = among({".rni", ".rzi", ".rmi", ".rpi"});
    how[convert_lane::flush_from] = ftz && last_type_ == Type::f32 && first_type_ != Type::f16;  // an H200 does not
    how[convert_lane::flush_to] = ftz && first_type_ == Type::f32;
    how[convert_lane::saturated] = holds(modifiers_, ".sat");
    return frame_.constant_lanes(how);
}

int32_t Decoder::how_to_combine_logic(const Operand& table, const Operand& predicate) {
    if (table.kind != Operand::Kind::integer || table.value > 255)
        complain("the table of " + spelled() + " is a number from 0 to 255", table);
    return frame_.constant_lanes({static_cast<uint32_t>(table.value), holds(modifiers_, ".or"), predicate.negated});
}

// What ".b1" of a video instruction's operand means in a lane of X (see video_lane); source 0: the destination.
//   part = "b" digit | "h" digit;  of SIMD, with one digit for each part, the highest first: "h" digits | "b" digits
uint32_t Decoder::part_selected(const Operand& o, std::string_view part, size_t source) const {
    const char simd = stem_of(statement_->opcode).back();
    const auto refuse = [&]() -> uint32_t {
        complain("'." + std::string(part.substr(0, 20)) + "' selects no part here", o);
    };
    if (simd != '2' && simd != '4') {
        if (part.empty()) return 32u << 8;
        const uint32_t width = part[0] == 'h' ? 16 : 8, at = part.size() == 2 ? static_cast<uint32_t>(part[1] - '0') : 99;
        if ((part[0] != 'h' && part[0] != 'b') || at >= 32 / width) return refuse();
        return at * width | width << 8;
    }
    const size_t parts = simd == '2' ? 2 : 4;
    if (part.empty()) {
        if (source == 0) return parts == 2 ? 3u : 15u;
        return parts == 2 ? (source == 1 ? 0x10u : 0x32u) : source == 1 ? 0x3210u : 0x7654u;
    }
    const std::string_view digits = part.substr(1);
    if (part[0] != (parts == 2 ? 'h' : 'b') || digits.empty() || digits.size() > parts || (source && digits.size() != parts))
        return refuse();
    uint32_t picked = 0, mask = 0;
    for (size_t i = 0; i < digits.size(); ++i) {
        const auto digit = static_cast<uint32_t>(digits[i] - '0');
        if (digit >= (source ? 2 * parts : parts) || (!source && i > 0 && digits[i] >= digits[i - 1])) return refuse();
        picked = picked << 4 | digit;
        mask |= 1u << digit;
    }
    return source ? picked : mask;
}

// The constant of a video instruction: its types, the parts of its operands and its modifiers.
int32_t Decoder::how_to_select_parts() {
    const std::string_view stem = stem_of(statement_->opcode);
    const bool compares = stem.starts_with("vset"), simd = stem.back() == '2' || stem.back() == '4';
    std::vector<uint32_t> how(video_lane::count);
    std::vector<Type> types;
    for (std::string_view modifier : modifiers_)
        if (const Type type = type_named(modifier); type != Type::none) types.push_back(type);
    if (compares) types.insert(types.begin(), simd ? Type::u32 : types.at(0));  // c and d are of a's type
    how[video_lane::d_signed] = is_signed(types.at(0));
    how[video_lane::a_signed] = is_signed(types.at(1));
    how[video_lane::b_signed] = is_signed(types.at(2));
    how[video_lane::saturate] = holds(modifiers_, ".sat");
    const auto part_of = [&](size_t i) {
        return operand(i).kind == Operand::Kind::name ? name_and_part(operand(i).name).second : std::string_view();
    };
    how[video_lane::d_part] = part_selected(operand(0), part_of(0), 0);
    how[video_lane::a_part] = part_selected(operand(1), part_of(1), 1);
    how[video_lane::b_part] = part_selected(operand(2), part_of(2), 2);
    how[video_lane::merge] = !part_of(0).empty();
    how[video_lane::combine] = holds(modifiers_, ".add")   ? 1
                               : holds(modifiers_, ".min") ? 2
                               : holds(modifiers_, ".max") ? 3
                                                           : 0;
    if (compares)
        for (std::string_view modifier : modifiers_)
            for (const Comparison& c : comparisons)
                if (c.name == modifier) how[video_lane::how] = c.outcomes;
    if (stem == "vshl" || stem == "vshr") how[video_lane::how] = holds(modifiers_, ".wrap");
    const bool has_c = statement_->operands.size() > 3;
    if (has_c && !part_of(3).empty()) complain("no part of the third operand can be selected", operand(3));
    if (!has_c && (how[video_lane::merge] || how[video_lane::combine]))
        complain(spelled() + " needs a third operand to combine with");
    if (!simd && how[video_lane::merge] && how[video_lane::combine])
        complain(spelled() + " gives all of its result, no part", operand(0));
    bool negated = false;
    for (size_t i = 1; i < statement_->operands.size(); ++i) negated |= operand(i).negated;
    if (stem == "vmad") {
        how[video_lane::how] = holds(modifiers_, ".shr7") ? 7 : holds(modifiers_, ".shr15") ? 15 : 0;
        how[video_lane::plus_one] = holds(modifiers_, ".po");
        how[video_lane::negate_product] = operand(1).negated != operand(2).negated;
        how[video_lane::negate_c] = operand(3).negated;
        if (how[video_lane::merge]) complain(spelled() + " gives all of its result, no part", operand(0));
        if ((how[video_lane::plus_one] && negated) || (how[video_lane::negate_product] && how[video_lane::negate_c]))
            complain(spelled() + " cannot be negated so");
    } else if (negated) {
        complain("only the operands of vmad can be negated");
    }
    return frame_.constant_lanes(how);
}

bool Decoder::decode_lane_wise(DecodedInstruction& out, const Candidate& candidate) {
    const std::string_view shape = candidate.opcode->operands;
    if (!shape_fits(shape)) return false;
    if (shape == "D=T" && !natural_widths()) return false;
    const bool logic = shape == "T=TTX" || (shape == "T=TT" && last_type_ == Type::pred);
    if (logic && (operand(1).negated || operand(2).negated) != (shape == "T=TTX")) return false;
    take_row(out, candidate);
    out.type = last_type_;
    const auto type_of = [&](char c) { return operand_type(c, first_type_, last_type_); };
    const size_t equals = shape.find('=');
    size_t written = 1, k = 0;
    const Operand *predicate = nullptr, *number = nullptr;
    const bool wide_convert = shape == "D=TX";
    for (const char c : shape.substr(equals + 1)) {
        if (c == 'C') {
            out.source[k++] = frame_.carry().offset;
        } else if (c == 'X') {
            out.source[k++] = wide_convert      ? how_to_convert()
                              : number          ? how_to_combine_logic(*number, *predicate)
                              : logic           ? frame_.constant_lanes({operand(1).negated, operand(2).negated})
                              : shape[0] == 'S' ? how_to_select_parts()
                                                : how_to_compare(predicate);
        } else if (c == 'I') {
            number = &operand(written++);
        } else if (written < statement_->operands.size()) {
            const Operand& o = operand(written++);
            const bool may_be_negated = c == 'p' || c == 'P' || c == 'S' || c == 's' || logic;
            if (o.negated && !may_be_negated) complain("only predicates can be negated", o);
            if (c == 'p' || c == 'P') predicate = &o;
            Operand whole = o;
            if ((c == 'S' || c == 's') && o.kind == Operand::Kind::name) whole.name = name_and_part(o.name).first;
            const Type wanted = wide_convert && o.kind == Operand::Kind::name ? register_of(o).type : type_of(c);
            out.source[k++] = source(whole, wanted);
        } else {
            ++k;
        }
    }
    if (shape == "T=TTP" && predicate && predicate->negated) std::swap(out.source[0], out.source[1]);  // selp of !p
    const bool combined = holds(modifiers_, ".and") || holds(modifiers_, ".or") || holds(modifiers_, ".xor");
    if (shape.find("pX") != std::string_view::npos && combined != (predicate != nullptr))
        complain(combined ? spelled() + " needs a predicate to combine with" : spelled() + " combines with no predicate",
                 operand(0));
    for (k = 0; k < equals; ++k) {
        const char c = shape[k];
        const bool carries = c == 'C' || (c == 'c' && holds(modifiers_, ".cc"));
        if (carries) {
            out.destination[k] = frame_.carry().offset;
            out.second_type = Type::pred;
        } else if (k == 0) {
            Type wanted = type_of(c);
            if (wide_convert && operand(0).name != "_") wanted = register_of(operand(0)).type;
            Operand whole = operand(0);
            if (c == 'S') whole.name = name_and_part(whole.name).first;
            out.destination[0] = destination(whole, wanted);
            out.destination_type = wanted;
        } else if (c == 'P' || (c == 'p' && !operand(0).second.empty())) {
            out.destination[1] = destination_named(operand(0).second, operand(0), Type::pred);
            out.second_type = Type::pred;
        }
    }
    if (candidate.opcode->facts.does == Does::address && holds(modifiers_, ".to") && holds(modifiers_, ".global"))
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
        const Type part = whole == parts.size() ? Type::b8 : bits_of(whole / parts.size());
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
        const bool predicate = special == SpecialRegister::is_explicit_cluster;
        if (!out.opcode || (predicate ? last_type_ != Type::pred : size_of(last_type_) < 2))
            complain(common_.table.unknown_instruction(statement_->opcode));
        out.kind = Kind::special_register;
        out.lanes = nullptr;
        SpecialView view{special ? *special : SpecialRegister::variable_address};
        if (special == SpecialRegister::reserved_smem_begin || special == SpecialRegister::reserved_smem_1 ||
            special == SpecialRegister::reserved_smem_end)
            program_.reserved_shared = reserved_shared_bytes;
        if (device) {
            view.variable = located->index;
            view.offset = static_cast<int64_t>(from.value);
        }
        put(out, view);
        out.type = out.destination_type = last_type_;
        out.destination[0] = destination(to, last_type_);
        return;
    }
    if (located && frame_.in_frame(*located) && entry_.function) return decode_local_address(out, *located);
    for (const Candidate& candidate : rows_of(statement_->opcode, ""))
        if (candidate.opcode->kind == Kind::lane_wise && decode_lane_wise(out, candidate)) return;
    complain(common_.table.unknown_instruction(statement_->opcode));
}

// The address of a variable in a called function's frame: a sum, because each call has a frame of its own. With cvta.local
// as a generic address.
void Decoder::decode_local_address(DecodedInstruction& out, const Located& located) {
    const size_t bytes = size_of(last_type_);
    if (bytes != 4 && bytes != 8) complain("the address of '" + std::string(operand(1).name) + "' needs 32 or 64 bits");
    const std::vector<Candidate> sum = common_.table.candidates("add", bytes == 8 ? ".u64" : ".u32");
    for (const Candidate& candidate : rows_of(statement_->opcode, ""))
        if (candidate.opcode->kind == Kind::lane_wise) take_row(out, candidate);
    if (sum.empty() || !out.opcode) complain(common_.table.unknown_instruction(statement_->opcode));
    out.lanes = sum[0].form->lanes;
    out.type = out.destination_type = last_type_;
    const uint64_t window = out.opcode->facts.does == Does::address ? local_window : 0;
    out.source[0] = frame_.local_base(bytes);
    out.source[1] = frame_.constant(located.offset + operand(1).value + window, bytes);
    out.destination[0] = destination(operand(0), last_type_);
}

}  // namespace lockstep::ptx
