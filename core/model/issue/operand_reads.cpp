// Registers that share a place (an accumulator's values, copies) are one node; two nodes that one instruction reads afresh
// are neighbours and had better lie in different banks. Nodes with a bank by necessity come first, then each of the others
// in program order.
#include "core/model/issue/operand_reads.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::model {
namespace {

using ptx::DecodedInstruction;
using ptx::Kind;
using ptx::no_operand;
using ptx::Space;

constexpr uint32_t most_banks = 8;

struct Fresh {  // what an instruction reads from the register file
    std::array<uint32_t, 3> node{};
    uint32_t count = 0;
};

struct Places {
    const ptx::Program& program;
    const std::vector<Lowered>& lowered;
    std::unordered_map<int32_t, uint32_t> numbers{};  // of registers, dense
    std::vector<uint32_t> same{};                     // union-find over them
    std::unordered_set<int32_t> constants{};          // written by nothing but parameters and constants
    std::array<int32_t, 3> last{no_operand, no_operand, no_operand};

    uint32_t root(uint32_t n) {
        while (same[n] != n) n = same[n] = same[same[n]];
        return n;
    }
    uint32_t node(int32_t reg) {
        const auto [entry, fresh] = numbers.try_emplace(reg, static_cast<uint32_t>(same.size()));
        if (fresh) same.push_back(entry->second);
        return root(entry->second);
    }
    void join(int32_t a, int32_t b) {
        const uint32_t x = node(a), y = node(b);
        same[std::max(x, y)] = std::min(x, y);
    }
    bool folded(uint32_t pc) const { return lowered[pc].instructions == 0; }

    void find_constants();
    void find_places();
    Fresh fresh_of(uint32_t pc);
};

void Places::find_constants() {
    std::unordered_map<int32_t, bool> only;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& in = program.instructions[pc];
        const bool fixed = folded(pc) && ((in.kind == Kind::load && in.space == Space::param) ||
                                          (in.kind == Kind::lane_wise && !ptx::reads_registers(in)));
        for (const int32_t reg : in.destination) {
            if (!ptx::is_register(reg)) continue;
            const auto entry = only.try_emplace(reg, fixed).first;
            entry->second = entry->second && fixed;
        }
    }
    for (const auto& [reg, fixed] : only)
        if (fixed) constants.insert(reg);
}

void Places::find_places() {
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const DecodedInstruction& in = program.instructions[pc];
        if (in.kind != Kind::lane_wise || !ptx::is_register(in.destination[0])) continue;
        const ptx::Does does = ptx::facts_of(in).does;
        const int32_t from = does == ptx::Does::copy           ? in.source[0]
                             : does == ptx::Does::multiply_add ? in.source[2]
                                                               : no_operand;
        if (ptx::is_register(from) && !constants.contains(from) && !constants.contains(in.destination[0]))
            join(in.destination[0], from);
    }
}

Fresh Places::fresh_of(uint32_t pc) {
    const DecodedInstruction& in = program.instructions[pc];
    Fresh fresh;
    std::array<int32_t, 3> now{no_operand, no_operand, no_operand};
    const bool counts = in.kind == Kind::lane_wise && ptx::size_of(in.type) <= 4;
    for (size_t k = 0; counts && k < now.size(); ++k) {
        const int32_t reg = in.source[k];
        if (!ptx::is_register(reg) || constants.contains(reg)) continue;
        now[k] = reg;
        const bool kept = reg == last[k] || (k < 2 && reg == last[1 - k]);  // factors change places
        if (kept || (k > 0 && reg == now[0]) || (k > 1 && reg == now[1])) continue;
        fresh.node[fresh.count++] = node(reg);
    }
    last = now;
    return fresh;
}

}  // namespace

std::vector<uint8_t> operand_cycles(const GpuSpec& gpu, const ptx::Program& program, const std::vector<Lowered>& lowered) {
    const auto size = static_cast<uint32_t>(program.instructions.size());
    std::vector<uint8_t> cycles(std::max(1u, size), 1);
    const uint32_t banks = std::clamp<uint32_t>(gpu.register_reads, 1, most_banks);
    Places places{program, lowered};
    places.find_constants();
    places.find_places();

    std::vector<Fresh> reads(size);
    for (uint32_t pc = 0; pc < size; ++pc)
        if (!places.folded(pc)) reads[pc] = places.fresh_of(pc);
    std::unordered_map<uint32_t, int32_t> bank;  // of a node
    for (uint32_t pc = 0; pc < size; ++pc) {
        const DecodedInstruction& in = program.instructions[pc];
        if (in.kind != Kind::load) continue;
        const uint32_t leader = lowered[pc].merged_with != UINT32_MAX ? lowered[pc].merged_with : pc;
        const bool wide = lowered[leader].wide_bytes != 0 && in.vector == 1;
        for (uint32_t k = 0; k < in.vector && (wide || in.vector > 1); ++k)
            if (ptx::is_register(in.destination[k]))
                bank.try_emplace(places.node(in.destination[k]),
                                 static_cast<int32_t>((wide ? static_cast<uint64_t>(in.offset) / 4 : k) % banks));
    }
    std::unordered_map<uint32_t, std::vector<uint32_t>> neighbours;
    for (const Fresh& fresh : reads)
        for (uint32_t i = 0; i < fresh.count; ++i)
            for (uint32_t j = 0; j < fresh.count; ++j)
                if (fresh.node[i] != fresh.node[j]) neighbours[fresh.node[i]].push_back(fresh.node[j]);
    for (const Fresh& fresh : reads)
        for (uint32_t i = 0; i < fresh.count; ++i) {
            if (bank.contains(fresh.node[i])) continue;
            std::array<uint32_t, most_banks> meets{};
            for (const uint32_t other : neighbours[fresh.node[i]])
                if (const auto found = bank.find(other); found != bank.end()) ++meets[static_cast<size_t>(found->second)];
            const auto* const least = std::min_element(meets.begin(), meets.begin() + banks);
            bank[fresh.node[i]] = static_cast<int32_t>(least - meets.begin());
        }
    for (uint32_t pc = 0; pc < size; ++pc) {
        std::array<uint8_t, most_banks> of_bank{};
        for (uint32_t i = 0; i < reads[pc].count; ++i)
            cycles[pc] = std::max(cycles[pc], ++of_bank[static_cast<size_t>(bank[reads[pc].node[i]])]);
    }
    return cycles;
}

}  // namespace lockstep::model
