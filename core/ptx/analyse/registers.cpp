// How many registers a thread needs, from live ranges. ptxas allocates better or worse than the maximum of live values by a
// few; good enough for occupancy.
#include "core/ptx/analyse/registers.h"

#include <algorithm>
#include <bit>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::ptx {
namespace {

constexpr uint32_t reserved = 2;

// A constant that nothing else writes is an operand of the instructions that use it, not a register.
bool is_constant(const DecodedInstruction& i) {
    if (reads_registers(i) || i.list_sources != 0) return false;
    if (i.kind == Kind::load) return i.space == Space::constant && i.address == no_operand;
    return i.kind == Kind::lane_wise && facts_of(i).does == Does::copy;
}

// By number: the 32-bit registers that each takes.
std::vector<uint32_t> widths_of(const Program& program, const Function& function, const Liveness& liveness) {
    std::vector<int32_t> constants, others;
    for (uint32_t pc = function.begin; pc < function.end; ++pc) {
        std::vector<int32_t>& written = is_constant(program.instructions[pc]) ? constants : others;
        each_written(program.lists, program.instructions[pc], [&](int32_t reg) { written.push_back(reg); });
    }
    std::sort(constants.begin(), constants.end());
    std::sort(others.begin(), others.end());
    std::vector<uint32_t> widths;
    for (const int32_t reg : liveness.registers()) {
        const bool constant = std::binary_search(constants.begin(), constants.end(), reg) &&
                              !std::binary_search(others.begin(), others.end(), reg);
        widths.push_back(constant ? 0 : words_of(function, reg));
    }
    return widths;
}

}  // namespace

uint32_t count_registers(const Program& program, const Function& function, std::vector<LiveAtCall>& live_at_calls) {
    const Liveness liveness(program.instructions, program.lists, function.begin, function.end);
    const std::vector<uint32_t> width = widths_of(program, function, liveness);
    const size_t first_call = live_at_calls.size();
    for (uint32_t pc = function.begin; pc < function.end; ++pc)
        if (program.instructions[pc].kind == Kind::call) live_at_calls.push_back({pc, 0});
    if (!liveness.known()) {
        uint32_t all = 0;
        for (const uint32_t words : width) all += words;
        for (size_t k = first_call; k < live_at_calls.size(); ++k) live_at_calls[k].registers = all;
        return std::min(all + reserved, 255u);
    }
    uint32_t most = 0;
    size_t next_call = live_at_calls.size();  // the walk meets them backwards
    for (size_t b = liveness.blocks().size(); b-- > 0;) {
        const BasicBlock& block = liveness.blocks()[b];
        Liveness::Set live = liveness.behind(b);
        uint32_t now = 0;
        for (size_t w = 0; w < live.size(); ++w)
            for (uint64_t rest = live[w]; rest != 0; rest &= rest - 1)
                now += width[w * 64 + static_cast<size_t>(std::countr_zero(rest))];
        most = std::max(most, now);
        for (uint32_t pc = block.end; pc-- > block.begin;) {
            liveness.take_written(pc, live, [&](uint32_t n) { now -= width[n]; });
            if (program.instructions[pc].kind == Kind::call) live_at_calls[--next_call].registers = now;
            liveness.add_read(pc, live, [&](uint32_t n) { now += width[n]; });
            most = std::max(most, now);
        }
    }
    return std::min(most + reserved, 255u);
}

}  // namespace lockstep::ptx
