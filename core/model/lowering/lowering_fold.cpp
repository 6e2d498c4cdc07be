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
    const std::string_view op = name(pc);
    if (op == "mov" || op == "cvta") fold(pc);
    if (op == "cvt" && is_integer(in.type, 4) && is_integer(in.destination_type, 8)) fold(pc);
    if (op == "cvt" && is_integer(in.type, 8) && is_integer(in.destination_type, 4)) fold(pc);
    if (op == "not" && in.type == Type::pred) fold(pc);
    if ((op == "neg" || op == "abs") && (in.type == Type::f32 || in.type == Type::f64)) fold(pc);
}

// [register + constant] is an operand of every access.
void Pass::addresses(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (!plain(pc) || name(pc) != "add" || out[pc].instructions == 0) return;
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

// IMAD.WIDE, LEA, IADD3, LOP3: one instruction where PTX has two.
void Pass::pairs(uint32_t pc) {
    if (!plain(pc) || out[pc].instructions == 0 || took[pc]) return;
    const DecodedInstruction& in = code[pc];
    const std::string_view op = name(pc);
    const auto logic = [](std::string_view n) { return n == "and" || n == "or" || n == "xor" || n == "not"; };
    const bool wide_product = op == "mul" && is_integer(in.type, 4) && in.destination_type != in.type;
    const bool product = op == "mul" && is_integer(in.type, 4);
    const bool shift = op == "shl" && in.source[1] < 0;
    if (!product && !wide_product && !shift && !logic(op) && op != "add" && op != "sub") return;
    if (in.type == Type::pred) return;
    const uint32_t user = only_user(pc);
    if (user == none || !plain(user) || out[user].instructions == 0 || took[user]) return;
    const std::string_view into = name(user);
    const DecodedInstruction& taker = code[user];
    const bool adds32 = into == "add" && is_integer(taker.type, 4), adds64 = into == "add" && is_integer(taker.type, 8);
    if ((wide_product || product) && (adds64 || adds32)) {
        out[user].wide_add = true;
    } else if (shift && (adds32 || adds64)) {
        // LEA
    } else if ((op == "add" || op == "sub") && is_integer(in.type, 4) && adds32) {
        // IADD3
    } else if (logic(op) && logic(into) && in.type == taker.type) {
        // LOP3
    } else {
        return;
    }
    fold(pc);
    took[user] = true;
}

// ISETP and FSETP combine with a predicate.
void Pass::predicates(uint32_t pc) {
    if (!plain(pc) || name(pc) != "setp") return;
    const uint32_t user = only_user(pc);
    if (user == none || code[user].type != Type::pred || took[user] || out[user].instructions == 0) return;
    if (name(user) != "and" && name(user) != "or" && name(user) != "xor") return;
    fold(pc);
    took[user] = true;
}

// 64-bit integers are pairs of registers.
void Pass::wide(uint32_t pc) {
    const DecodedInstruction& in = code[pc];
    if (in.kind != Kind::lane_wise || out[pc].instructions == 0 || out[pc].wide_add || !is_integer(in.type, 8)) return;
    const std::string_view op = name(pc);
    if (op == "mul" || op == "mad")
        out[pc].instructions = 4;
    else if (op == "min" || op == "max" || op == "shl" || op == "shr")
        out[pc].instructions = 3;
    else if (op == "add" || op == "sub" || op == "and" || op == "or" || op == "xor" || op == "not" || op == "setp" ||
             op == "selp" || op == "neg")
        out[pc].instructions = 2;
}

}  // namespace lockstep::model::lowering
