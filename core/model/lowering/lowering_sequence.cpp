// Instructions that are sequences on silicon: the issue slots of their usual way through, counted in the machine code of
// nvcc 13 for sm_75, sm_80 and sm_90, which agree within one. The slow way, a call, is not counted. What they take of their
// pipe stands in the opcode table.
#include <string_view>

#include "core/model/lowering/lowering_pass.h"

namespace lockstep::model::lowering {
namespace {
struct Steps {
    std::string_view name;
    Type type;
    bool approximate;
    uint8_t slots, flushing;  // flushing: with .ftz
};
constexpr Steps table[] = {
    {"div", Type::f64, false, 16, 16}, {"rcp", Type::f64, false, 11, 11},  {"sqrt", Type::f64, false, 18, 18},
    {"rsqrt", Type::f64, true, 14, 3}, {"rcp", Type::f64, true, 3, 3},     {"div", Type::f32, false, 10, 10},
    {"rcp", Type::f32, false, 10, 10}, {"sqrt", Type::f32, false, 10, 10}, {"div", Type::f32, true, 5, 2},
    {"rcp", Type::f32, true, 7, 1},    {"sqrt", Type::f32, true, 5, 2},    {"rsqrt", Type::f32, true, 4, 1},
    {"ex2", Type::f32, true, 4, 1},    {"lg2", Type::f32, true, 4, 1},     {"sin", Type::f32, true, 2, 2},
    {"cos", Type::f32, true, 2, 2},    {"div", Type::s32, false, 24, 24},  {"rem", Type::s32, false, 22, 22},
    {"div", Type::u32, false, 18, 18}, {"rem", Type::u32, false, 18, 18},  {"div", Type::s64, false, 80, 80},
    {"rem", Type::s64, false, 80, 80}, {"div", Type::u64, false, 70, 70},  {"rem", Type::u64, false, 70, 70},
};
}  // namespace

// The slots that a sequence takes; 0: it is none.
uint32_t Pass::steps_of(uint32_t pc) const {
    const DecodedInstruction& in = code[pc];
    if (in.opcode == nullptr || in.kind != Kind::lane_wise) return 0;
    for (const Steps& steps : table) {
        if (steps.name != in.opcode->name || steps.type != in.type || steps.approximate != in.approximate) continue;
        if (pc >= program.texts.size()) return steps.slots;
        const ptx::TextRange range = program.texts[pc];
        const std::string_view text = std::string_view(program.ptx).substr(range.begin, range.length);
        return text.find(".ftz") != std::string_view::npos ? steps.flushing : steps.slots;
    }
    return 0;
}

void Pass::count_slots(uint32_t pc) {
    out[pc].slots = out[pc].instructions;
    if (out[pc].instructions != 0) out[pc].slots = static_cast<uint8_t>(std::max<uint32_t>(out[pc].slots, steps_of(pc)));
}

}  // namespace lockstep::model::lowering
