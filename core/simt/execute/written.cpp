// Which allocations a launch may write, from its program alone: those that the addresses of its stores may come from.
// Pointers that were loaded from memory may come from anywhere.
#include <algorithm>
#include <cstring>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/special_register.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/execute/plan.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;
using ptx::Space;

constexpr uint64_t anywhere = origin_anywhere, variables = uint64_t{1} << 62;  // beside a bit for each parameter
constexpr uint64_t workspace = uint64_t{1} << 61;                              // of the grid
constexpr size_t most_parameters = 61;

uint64_t bit_of(const ptx::Origin& origin) {
    switch (origin.from) {
        case ptx::Origin::From::parameter:
            return static_cast<size_t>(origin.index) < most_parameters ? uint64_t{1} << origin.index : anywhere;
        case ptx::Origin::From::variable:
            return variables;
        case ptx::Origin::From::special: {
            const auto which = static_cast<ptx::SpecialRegister>(origin.index);
            const bool names_it = which == ptx::SpecialRegister::envreg1 || which == ptx::SpecialRegister::envreg2;
            return names_it ? workspace : 0;
        }
        case ptx::Origin::From::memory:
        case ptx::Origin::From::unknown:
            return anywhere;
    }
    return anywhere;
}

uint64_t origins_of_writes(const ptx::Program& program) {
    const ptx::Origins origins(program);
    uint64_t all = 0;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const ptx::DecodedInstruction& i = program.instructions[pc];
        const ptx::Writes writes = ptx::facts_of(i).writes;
        if (writes == ptx::Writes::anywhere) return anywhere;
        if (writes != ptx::Writes::at_address) continue;
        for (const ptx::MemoryOperand& access : ptx::memory_of(program, i)) {
            if (access.space == Space::shared || access.space == Space::local) continue;
            all |= origins_of_address(origins, pc, access);
        }
    }
    return all;
}

}  // namespace

uint64_t origins_of_address(const ptx::Origins& origins, uint32_t pc, const ptx::MemoryOperand& access) {
    uint64_t found = 0;
    for (const ptx::Origin& origin : origins.of_access(pc, access)) found |= bit_of(origin);
    return found != 0 ? found : anywhere;
}

bool find_allocations(const Grid& grid, uint64_t origins, std::vector<uint64_t>& found) {
    if ((origins & anywhere) != 0) return false;
    const auto add = [&](uint64_t address) {
        const Allocation* const allocation = grid.memory->find(address);
        if (allocation != nullptr) found.push_back(allocation->address);
        return allocation != nullptr;
    };
    if ((origins & variables) != 0)
        for (const uint64_t variable : grid.variables) add(variable);
    if ((origins & workspace) != 0 && !add(grid.workspace)) return false;
    const auto& bytes = grid.config->parameters;
    for (size_t k = 0; k < std::min(grid.program->parameters.size(), most_parameters); ++k) {
        if ((origins >> k & 1) == 0) continue;
        const ptx::Parameter& parameter = grid.program->parameters[k];
        for (size_t at = parameter.offset; at + 8 <= std::min<size_t>(parameter.offset + parameter.bytes, bytes.size());
             at += 8) {
            uint64_t value = 0;
            std::memcpy(&value, bytes.data() + at, 8);
            if (!add(value) && parameter.bytes == 8 && value != 0) return false;
        }
    }
    return true;
}

void find_written(Grid& grid) {
    grid.written.clear();
    grid.writes_anywhere = !find_allocations(grid, origins_of_writes(decoded_of(grid)), grid.written);
}

}  // namespace lockstep::simt
