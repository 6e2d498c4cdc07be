#include "core/simt/execute/pointer_homes.h"

#include <cstring>

#include "core/ptx/analyse/dataflow.h"

namespace lockstep::simt {

namespace {

std::vector<PointerHome> homes_of(const ptx::Program& program) {
    std::vector<PointerHome> homes(program.instructions.size());
    const ptx::Origins origins(program);
    for (uint32_t pc = 0; pc < homes.size(); ++pc) {
        const std::vector<ptx::MemoryOperand> accesses = ptx::memory_of(program, program.instructions[pc]);
        if (accesses.size() != 1) continue;
        const auto origin = origins.pointer_of(pc, accesses.front());
        if (!origin) continue;
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
    std::call_once(plan.homes_known, [&] { plan.homes = homes_of(*grid.program); });
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
