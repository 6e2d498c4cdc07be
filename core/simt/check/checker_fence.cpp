// Fences between blocks. A thread that writes and then tells of it by an atomic or a volatile write needs a __threadfence()
// between the two: without one another SM may see the second before the first. In this machine every write is seen at once,
// so that such a kernel gives the right result here; that is why it is told of.
//
// What happened before is known by the times in Clock::known; beside each time there is `fenced`: of what the warp (or its
// whole block, by its last barrier) had done, so much had passed a fence when it was told of. A fence covers what its warp
// did and knew; where all warps of a block have fenced what they wrote before a barrier, whoever tells of it behind the
// barrier needs none. What passes on the knowledge of others needs no fence of its own here.
//
// And volatile accesses of shared memory that are no flags: a flag is read in a loop that does nothing else until it is
// right.
#include <algorithm>
#include <set>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"

namespace lockstep::simt {

namespace {

using ptx::Kind;

bool says(const ptx::Program& program, uint32_t pc, const char* word) {
    return pc < program.texts.size() && ptx::text_of(program, pc).find(word) != std::string::npos;
}

// The registers that are made of what the instruction at `pc` gives, in its function.
std::set<int32_t> made_of(const ptx::Program& program, ptx::CodeRange function, uint32_t pc) {
    std::set<int32_t> made;
    ptx::each_written(program.lists, program.instructions[pc], [&](int32_t reg) { made.insert(reg); });
    for (bool grown = true; grown;) {
        grown = false;
        for (uint32_t at = function.begin; at < function.end; ++at) {
            const auto& i = program.instructions[at];
            bool uses = false;
            ptx::each_use(program.lists, i, [&](const ptx::RegisterUse& use) {
                uses = uses || (use.role == ptx::Role::source && made.contains(use.reg));
            });
            if (uses && (i.kind == Kind::lane_wise || i.kind == Kind::lane_wise_many))
                ptx::each_written(program.lists, i, [&](int32_t reg) { grown |= made.insert(reg).second; });
        }
    }
    return made;
}

// Whether a thread may come from `from` to `to` and change no memory on the way.
bool leads_idly(const ptx::Program& program, uint32_t from, uint32_t to) {
    std::vector<bool> seen(program.instructions.size(), false);
    std::vector<uint32_t> open{from};
    while (!open.empty()) {
        const uint32_t pc = open.back();
        open.pop_back();
        if (pc == to) return true;
        if (pc >= seen.size() || seen[pc]) continue;
        seen[pc] = true;
        const Kind kind = program.instructions[pc].kind;
        if (kind == Kind::store || kind == Kind::atomic || kind == Kind::barrier || kind == Kind::call) continue;
        ptx::each_successor(program, pc, [&](uint32_t next) { open.push_back(next); });
    }
    return false;
}

// Whether the load at `pc` waits for a flag: its value decides whether the thread comes to it again at once.
bool waits_for_flag(const ptx::Program& program, ptx::CodeRange function, uint32_t pc) {
    const std::set<int32_t> made = made_of(program, function, pc);
    for (uint32_t at = function.begin; at < function.end; ++at) {
        const auto& i = program.instructions[at];
        if (i.kind != Kind::branch || i.guard == ptx::no_operand || !made.contains(i.guard)) continue;
        if (leads_idly(program, i.target, pc) || leads_idly(program, at + 1, pc)) return true;
    }
    return false;
}

}  // namespace

void find_fences(CheckerState& state, const ptx::Program& program) {
    const auto& instructions = program.instructions;
    state.fences.assign(instructions.size() + 1, false);
    state.releases.assign(instructions.size() + 1, false);
    state.volatiles.assign(instructions.size() + 1, false);
    for (uint32_t pc = 0; pc < instructions.size(); ++pc) {
        const auto& i = instructions[pc];
        if (i.kind == Kind::fence) state.fences[pc] = !says(program, pc, ".cta");
        const bool strong = (i.kind == Kind::load || i.kind == Kind::store) && ptx::as_access(i).strong;
        if (!strong && i.kind != Kind::atomic) continue;
        state.releases[pc] = says(program, pc, ".release") || says(program, pc, ".acq_rel");
        const bool may_be_shared = i.space == ptx::Space::shared || i.space == ptx::Space::generic;
        state.volatiles[pc] = strong && may_be_shared && says(program, pc, ".volatile");
    }
    for (const ptx::CodeRange function : ptx::functions_of(program))
        for (uint32_t pc = function.begin; pc < function.end; ++pc)
            if (state.volatiles[pc] && instructions[pc].kind == Kind::load && waits_for_flag(program, function, pc))
                state.volatiles[pc] = false;
}

void note_fence(const Warp& warp, uint32_t pc, uint32_t lanes) {
    CheckerState& state = *warp.block->grid->checker->state;
    BlockChecks& block = checks_of(state, *warp.block);
    if (!state.race || state.off || pc >= state.fences.size() || !state.fences[pc] || !lanes) return;
    WarpChecks& w = block.warps[warp.index];
    w.unfenced &= ~lanes;
    w.fence_time = advance(state);
    w.fence_base = w.base;
}

uint32_t told_without_fence(const CheckerState& state, const BlockChecks& block, const WarpChecks& warp, uint32_t lane,
                            const Recorded& r, uint32_t birth) {
    const uint32_t of = r.warp / state.warps_per_block;
    if (r.time < birth || of == block.linear || warp.clocks.empty() || !warp.clocks[lane]) return ptx::no_pc;
    const Known known = warp.clocks[lane]->knows(of, r.warp % state.warps_per_block);
    return known.time > r.time && known.fenced <= r.time ? known.pc : ptx::no_pc;
}

}  // namespace lockstep::simt
