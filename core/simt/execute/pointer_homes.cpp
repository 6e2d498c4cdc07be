#include "core/simt/execute/pointer_homes.h"

#include <cstring>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::simt {

namespace {

// Whether another pointer may have had a part in the address, as the distance of two pointers: then nobody can say whose it
// is. An index of 64 bits looks the same.
bool meets_another(const ptx::Program& program, const std::vector<ptx::Origin>& origins, const ptx::Origin& pointer) {
    for (const ptx::Origin& origin : origins) {
        using From = ptx::Origin::From;
        const bool same = origin.from == pointer.from && origin.index == pointer.index && origin.at == pointer.at;
        if (same || origin.from == From::special) continue;
        if (origin.from == From::parameter && program.parameters[static_cast<size_t>(origin.index)].bytes < 8) continue;
        return true;
    }
    return false;
}

std::vector<PointerHome> homes_of(const ptx::Program& program) {
    std::vector<PointerHome> homes(program.instructions.size());
    const ptx::Origins origins(program);
    for (uint32_t pc = 0; pc < homes.size(); ++pc) {
        const std::vector<ptx::MemoryOperand> accesses = ptx::memory_of(program, program.instructions[pc]);
        if (accesses.size() != 1) continue;
        const auto origin = origins.pointer_of(pc, accesses.front());
        if (!origin || meets_another(program, origins.of_access(pc, accesses.front()), *origin)) continue;
        if (origin->from == ptx::Origin::From::variable)
            homes[pc].variable = origin->index;
        else if (const ptx::Parameter& p = program.parameters[static_cast<size_t>(origin->index)];
                 origin->at + sizeof(uint64_t) <= p.bytes)
            homes[pc].parameter = static_cast<int32_t>(p.offset + origin->at);
    }
    return homes;
}

}  // namespace

bool strays(const Grid& grid, uint32_t pc, const Allocation& landed) {
    const Plan& plan = *grid.plan;
    std::call_once(plan.homes_known, [&] { plan.homes = homes_of(decoded_of(grid)); });
    if (pc >= plan.homes.size()) return false;
    const PointerHome home = plan.homes[pc];
    uint64_t pointer = 0;
    if (home.variable >= 0)
        pointer = grid.variables[static_cast<size_t>(home.variable)];
    else if (home.parameter >= 0 && static_cast<size_t>(home.parameter) + 8 <= grid.config->parameters.size())
        std::memcpy(&pointer, grid.config->parameters.data() + home.parameter, sizeof pointer);
    const Allocation* const own = pointer ? grid.memory->find(pointer) : nullptr;
    // Where two allocations touch, a pointer to the begin of one may be meant as the end of the other.
    return own && own->address != landed.address && !(pointer == own->address && landed.address + landed.bytes == pointer);
}

}  // namespace lockstep::simt
