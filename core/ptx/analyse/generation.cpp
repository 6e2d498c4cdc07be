#include "core/ptx/analyse/generation.h"

#include <algorithm>

#include "core/ptx/parse/spelling.h"

namespace lockstep::ptx {
namespace {

// "@%p1 ld.global.f32 %f1, [%rd1];" -> "ld.global.f32"
std::string_view spelling_of(std::string_view text) {
    if (text.starts_with('@')) text.remove_prefix(std::min(text.size(), text.find(' ') + 1));
    return text.substr(0, text.find_first_of(" \t;"));
}

uint32_t since_of(SpecialRegister which) {
    using enum SpecialRegister;
    if ((which >= clusterid_x && which <= is_explicit_cluster) || which == aggr_smem_size) return 90;
    return which >= reserved_smem_begin && which <= reserved_smem_end ? 80 : 0;
}

}  // namespace

uint32_t needed_generation(const Opcode& row, std::string_view spelling) {
    uint32_t most = row.facts.since;
    for (const std::string_view modifier : modifiers_of(spelling)) {
        most = std::max(most, since_of(modifier));
        for (const Since& later : row.facts.later)
            if (later.modifier == modifier) most = std::max<uint32_t>(most, later.compute);
    }
    return most;
}

Needed needed_generation(const Program& program) {
    Needed needed;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& in = program.instructions[pc];
        if (in.opcode == nullptr) continue;
        uint32_t compute = needed_generation(*in.opcode, spelling_of(text_of(program, pc)));
        if (in.kind == Kind::special_register) compute = std::max(compute, since_of(static_cast<SpecialRegister>(in.mode)));
        if (compute > needed.compute) needed = {compute, pc};
    }
    return needed;
}

}  // namespace lockstep::ptx
