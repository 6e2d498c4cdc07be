// Instructions that ptxas folds into others, and those that become several.
#include "core/model/lowering/lowering_pass.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model::lowering {
namespace {
constexpr uint32_t most_distance = 256;  // between what is folded and its user
}

uint32_t Pass::only_user(uint32_t pc) const {
    const DecodedInstruction& in = code[pc];
    const int32_t result = ptx::only_result(in);
    const auto used = uses.find(result), written = writes.find(result);
    if (result == no_operand || used == uses.end() || used->second != 1 || written->second != 1) return none;
    for (uint32_t at = pc + 1; at < std::min(block_end[pc], pc + most_distance); ++at) {
        if (reads(at, result)) return at;
        bool changed = false;
        each_write(code[at], [&](int32_t r) { changed |= reads(pc, r); });
        if (changed) return none;
    }
    return none;
}

// Parameters and what the launch fixes are operands in constant memory; copies go when registers are allocated; addresses of
// global memory are generic ones already.
void Pass::moves(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (in.kind == Kind::load && in.space == Space::param && in.address == no_operand && in.guard == no_operand) {
        fold(pc);
        return;
    }
    if (in.kind == Kind::special_register) {
        using ptx::SpecialRegister;
        switch (ptx::as_special(in).which) {
            case SpecialRegister::ntid_x:
            case SpecialRegister::ntid_y:
            case SpecialRegister::ntid_z:
            case SpecialRegister::nctaid_x:
            case SpecialRegister::nctaid_y:
            case SpecialRegister::nctaid_z:
            case SpecialRegister::variable_address:
                fold(pc);
                return;
            default:
                return;
        }
    }
    const bool lanes = in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many;
    if (!lanes || in.guard != no_operand) return;
    const auto is_word = [](Type type) { return is_integer(type, 4) || is_integer(type, 8); };
    switch (does(pc)) {
        case Does::copy:
        case Does::address:
            return fold(pc);
        case Does::convert:  // the lower word of two, or a word and its sign
            if (is_word(in.type) && is_word(in.destination_type) && size_of(in.type) != size_of(in.destination_type))
                fold(pc);
            return;
        case Does::not_:
            if (in.type == Type::pred) fold(pc);
            return;
        case Does::sign:
            return fold(pc);
        default:
            return;
    }
}

// [register + constant] is an operand of every access.
void Pass::addresses(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (!plain(pc) || does(pc) != Does::sum || out[pc].instructions == 0) return;
    const int32_t result = ptx::only_result(in), from = in.source[0];
    if (from < 0 || in.source[1] >= 0 || result == no_operand) return;
    if (result == from || writes[result] != 1) return;
    uint32_t left = uses[result];
    if (left == 0) return;
    for (uint32_t at = pc + 1; at < std::min(block_end[pc], pc + most_distance) && left != 0; ++at) {
        if (reads(at, result)) {
            const DecodedInstruction& user = code[at];
            const bool access = user.kind == Kind::load || user.kind == Kind::store || user.kind == Kind::atomic;
            if (!access || user.address != result) return;
            for (const int32_t value : user.source)
                if (value == result) return;
            --left;
        }
        if (left != 0 && writes_to(at, from)) return;
    }
    if (left == 0) fold(pc);
}

namespace {
bool is_logic(Does does) {
    return does == Does::and_ || does == Does::or_ || does == Does::xor_ || does == Does::not_;
}
// Whether one machine instruction does `first` and then, with its result, `second`.
bool make_one(Does first, Type type, Does second, Type second_type) {
    const bool word = is_integer(type, 4),
               into_sum = second == Does::sum && (is_integer(second_type, 4) || is_integer(second_type, 8));
    switch (first) {
        case Does::product:  // IMAD, IMAD.WIDE
            return word && into_sum;
        case Does::shift_left:  // LEA
            return into_sum;
        case Does::sum:  // IADD3
        case Does::difference:
            return word && second == Does::sum && is_integer(second_type, 4);
        default:  // LOP3
            return is_logic(first) && is_logic(second) && type == second_type && type != Type::pred;
    }
}
}  // namespace

// An instruction of floats as the PTX spells it, "mul.ftz.f32", where its rounding is left to ptxas; else empty. A product
// and a sum of such become one multiply-add (PTX ISA, mul: "may be optimized aggressively").
std::string_view Pass::freely_rounded(uint32_t pc) const {
    if (pc >= program.texts.size()) return {};
    const std::string_view text = std::string_view(program.ptx).substr(program.texts[pc].begin, program.texts[pc].length);
    const std::string_view spelled = text.substr(0, text.find_first_of(" \t"));
    for (const std::string_view kept : {".rn", ".rz", ".rm", ".rp", ".sat"})
        if (spelled.find(kept) != std::string_view::npos) return {};
    const ptx::Counts counts = ptx::facts_of(code[pc]).counts;
    return counts == ptx::Counts::addition || counts == ptx::Counts::multiplication ? spelled : std::string_view();
}

// One instruction where PTX has two.
void Pass::pairs(uint32_t pc) {
    if (!plain(pc) || out[pc].instructions == 0 || took[pc]) return;
    const DecodedInstruction& in = code[pc];
    if (does(pc) == Does::shift_left && in.source[1] >= 0) return;  // not by a constant
    const bool product = freely_rounded(pc).starts_with("mul.");
    if (does(pc) == Does::other && !product) return;
    const uint32_t user = only_user(pc);
    if (user == none || !plain(user) || out[user].instructions == 0 || took[user]) return;
    const std::string_view sum = product ? freely_rounded(user) : std::string_view();
    const bool fused = in.type == code[user].type && (sum.starts_with("add.") || sum.starts_with("sub."));
    if (!fused && !make_one(does(pc), in.type, does(user), code[user].type)) return;
    out[user].wide_add |= !fused && does(pc) == Does::product;
    fold(pc);
    took[user] = true;
}

// ISETP and FSETP combine with a predicate.
void Pass::predicates(uint32_t pc) {
    if (!plain(pc) || does(pc) != Does::compare) return;
    const uint32_t user = only_user(pc);
    if (user == none || code[user].type != Type::pred || took[user] || out[user].instructions == 0) return;
    if (!is_logic(does(user)) || does(user) == Does::not_) return;
    fold(pc);
    took[user] = true;
}

// 64-bit integers are pairs of registers.
void Pass::wide(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (in.kind != Kind::lane_wise || out[pc].instructions == 0 || out[pc].wide_add || !is_integer(in.type, 8)) return;
    out[pc].instructions = ptx::facts_of(in).words;
}

}  // namespace lockstep::model::lowering
