// What all lanes of a warp have alike.
#include <unordered_set>

#include "core/model/lowering/lowering_pass.h"
#include "core/ptx/decode/views.h"

namespace lockstep::model::lowering {

// What is made of parameters, constants and the block's place alone is the same in all lanes.
void Pass::find_uniform() {
    std::unordered_set<int32_t> varies;
    const auto differs = [&](const DecodedInstruction& in) {
        bool any = false;
        each_read(in, [&](int32_t r) { any |= varies.contains(r); });
        return any;
    };
    size_t before = SIZE_MAX;
    for (uint32_t pass = 0; pass < most_passes && before != varies.size(); ++pass) {
        before = varies.size();
        for (const DecodedInstruction& in : code) {
            using ptx::SpecialRegister;
            const bool special = in.kind == Kind::special_register;
            const SpecialRegister which = special ? ptx::as_special(in).which : SpecialRegister::tid_x;
            const bool place = which >= SpecialRegister::ntid_x && which <= SpecialRegister::nctaid_z;
            const bool constant = in.kind == Kind::load && (in.space == Space::param || in.space == Space::constant);
            const bool arithmetic = in.kind == Kind::lane_wise || in.kind == Kind::lane_wise_many;
            if ((place || constant || arithmetic) && !differs(in)) continue;
            each_write(in, [&](int32_t r) { varies.insert(r); });
        }
    }
    if (before != varies.size()) return;
    for (uint32_t pc = 0; pc < code.size(); ++pc) {
        const DecodedInstruction& in = code[pc];
        if (in.kind != Kind::atomic) continue;
        out[pc].one_address = !varies.contains(in.address);
        out[pc].one_operand = !varies.contains(in.source[0]);
    }
}

}  // namespace lockstep::model::lowering
