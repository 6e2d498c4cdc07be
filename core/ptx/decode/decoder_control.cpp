// Instructions of the warp together (shuffles, votes) and of control (branches, barriers, the end).
#include "core/ptx/decode/decoder.h"

namespace lockstep::ptx {

void Decoder::decode_warp_wide(DecodedInstruction& out) {
    if (statement_->opcode.starts_with("elect")) return decode_elect(out);
    if (out.kind == Kind::shuffle) {
        const size_t sources = holds(modifiers_, ".sync") ? 4 : 3;  // without it: among the lanes that are here
        expect_operands(sources + 1, sources + 1);
        put(out, ShuffleView{holds(modifiers_, ".up")     ? ShuffleOperation::up
                             : holds(modifiers_, ".down") ? ShuffleOperation::down
                             : holds(modifiers_, ".bfly") ? ShuffleOperation::butterfly
                                                          : ShuffleOperation::index});
        out.type = out.destination_type = Type::b32;
        for (size_t k = 0; k < sources; ++k) out.source[k] = source(operand(k + 1), Type::b32);
        out.destination[0] = destination(operand(0), Type::b32);
        if (!operand(0).second.empty()) out.destination[1] = destination_named(operand(0).second, operand(0), Type::pred);
        return;
    }
    if (statement_->opcode.starts_with("match") || statement_->opcode.starts_with("redux")) {
        constexpr std::string_view names[] = {".any", ".all", ".add", ".min", ".max", ".and", ".or", ".xor"};
        VoteOperation operation = VoteOperation::match_any;
        for (uint8_t i = 0; i < std::size(names); ++i)
            if (holds(modifiers_, names[i]))
                operation = static_cast<VoteOperation>(static_cast<uint8_t>(VoteOperation::match_any) + i);
        put(out, VoteView{operation});
        expect_operands(3, 3);
        out.type = last_type_;
        out.destination_type = Type::b32;
        out.destination[0] = destination(operand(0), Type::b32);
        if (!operand(0).second.empty()) {
            if (operation != VoteOperation::match_all) complain(spelled() + " gives one result", operand(0));
            out.destination[1] = destination_named(operand(0).second, operand(0), Type::pred);
        }
        out.source[0] = source(operand(1), last_type_);
        out.source[1] = source(operand(2), Type::b32);
        return;
    }
    const bool active = statement_->opcode.starts_with("activemask");
    const bool among = holds(modifiers_, ".sync");
    const size_t operands = active ? 1 : among ? 3 : 2;
    expect_operands(operands, operands);
    VoteView view{active                      ? VoteOperation::activemask
                  : holds(modifiers_, ".all") ? VoteOperation::all
                  : holds(modifiers_, ".any") ? VoteOperation::any
                  : holds(modifiers_, ".uni") ? VoteOperation::uni
                                              : VoteOperation::ballot};
    put(out, view);
    out.type = out.destination_type = last_type_;
    out.destination[0] = destination(operand(0), last_type_);
    if (active) return;
    out.source[0] = source(operand(1), Type::pred);
    view.negated = operand(1).negated;
    put(out, view);
    if (among) out.source[1] = source(operand(2), Type::b32);
}

void Decoder::decode_control(DecodedInstruction& out) {
    switch (out.kind) {
        case Kind::branch: {
            expect_operands(1, 1);
            out.uniform = holds(modifiers_, ".uni");
            out.target = place_of_label(operand(0).name, statement_->scope, operand(0).place);
            break;
        }
        case Kind::call:
            decode_call(out);
            break;
        case Kind::branch_table:
            decode_branch_table(out);
            break;
        case Kind::barrier: {
            const bool combines = holds(modifiers_, ".red"), arrives = holds(modifiers_, ".arrive");
            const size_t first = combines ? 1 : 0;
            const size_t last = statement_->operands.size() - first;  // of the operands after the result: the predicate
            expect_operands(combines ? 3 : arrives ? 2 : 1, combines ? 4 : 2);
            BarrierView view{.each_thread = statement_->opcode.starts_with("barrier") && !holds(modifiers_, ".aligned")};
            if (arrives) view.operation = BarrierOperation::arrive;
            if (combines) {
                view.operation = holds(modifiers_, ".popc")  ? BarrierOperation::popc
                                 : holds(modifiers_, ".and") ? BarrierOperation::and_
                                                             : BarrierOperation::or_;
                out.destination_type = view.operation == BarrierOperation::popc ? Type::u32 : Type::pred;
                out.destination[0] = destination(operand(0), out.destination_type);
                out.source[2] = source(operand(last), Type::pred);
                view.negated = operand(last).negated;
            }
            put(out, view);
            for (size_t k = 0; k < (combines ? last - 1 : last); ++k) out.source[k] = source(operand(first + k), Type::u32);
            break;
        }
        case Kind::warp_barrier:
            expect_operands(1, 1);
            out.source[0] = source(operand(0), Type::b32);
            break;
        case Kind::nop:
            if (!statement_->operands.empty() && operand(0).kind == Operand::Kind::address) return decode_hint(out);
            expect_operands(1, 1);
            if (operand(0).kind != Operand::Kind::address) out.source[0] = source(operand(0), Type::u32);
            break;
        default:
            expect_operands(0, 0);
    }
}

}  // namespace lockstep::ptx
