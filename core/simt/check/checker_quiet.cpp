// Loads that need no account: from memory that the launch does not write, as its program and its parameters say, and all of
// which has been written before where that is asked. Nothing can race with them, and nothing they find is unset.
#include <algorithm>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"
#include "core/simt/execute/ahead.h"

namespace lockstep::simt {

std::vector<uint8_t> find_quiet(const Grid& grid, bool init) {
    const ptx::Program& program = *grid.program;
    std::vector<uint8_t> quiet(program.instructions.size() + 1, 0);
    if (grid.writes_anywhere) return quiet;
    const ptx::Origins origins(program);
    const auto is_quiet = [&](uint64_t address) {
        if (std::find(grid.written.begin(), grid.written.end(), address) != grid.written.end()) return false;
        const ByteSet* const unwritten = init ? grid.memory->unwritten(address) : nullptr;
        const Allocation* const a = grid.memory->find(address);
        return a && (!unwritten || unwritten->first(0, a->bytes) == a->bytes);
    };
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const auto& i = program.instructions[pc];
        if (!ptx::is_weak_load(i) || i.space != ptx::Space::global) continue;  // a generic address may be of shared memory
        std::vector<uint64_t> from;
        bool known = true;
        for (const ptx::MemoryOperand& access : ptx::memory_of(program, i))
            known = known && find_allocations(grid, origins_of_address(origins, pc, access), from);
        quiet[pc] = known && !from.empty() && std::all_of(from.begin(), from.end(), is_quiet);
    }
    return quiet;
}

}  // namespace lockstep::simt
