// See checker.h: the checker of a launch, and the state of its blocks.
#include "core/simt/check/checker.h"

#include <algorithm>

#include "core/ptx/analyse/dataflow.h"
#include "core/ptx/decode/views.h"
#include "core/simt/check/checker_state.h"
#include "core/simt/check/findings.h"
#include "core/simt/execute/ahead.h"

namespace lockstep::simt {

void begin_checks(Grid& grid, const LaunchOptions& options) {
    if (!options.initcheck) grid.memory->assume_written();
    if (options.synccheck || options.racecheck) begin_findings(grid);
    if (!options.racecheck && !options.initcheck) return;
    auto checker = std::make_shared<Checker>();
    checker->racecheck = options.racecheck;
    checker->initcheck = options.initcheck;
    checker->state = std::make_shared<CheckerState>();
    checker->state->owner = checker.get();
    checker->state->race = options.racecheck;
    checker->state->init = options.initcheck;
    find_written(grid);
    grid.checker = std::move(checker);
}

std::vector<Fault> take_reports(Grid& grid) {
    if (!grid.checker) return {};
    std::vector<Fault> reports = std::move(grid.checker->reports);
    const uint64_t more = grid.checker->state->beyond;
    if (more && !reports.empty()) reports.back().message += "; and " + std::to_string(more) + " more reports";
    grid.checker->reports.clear();
    grid.checker->state->beyond = 0;
    return reports;
}

std::vector<std::string> notes_of(const Grid& grid) {
    if (!grid.checker) return {};
    const CheckerState& state = *grid.checker->state;
    std::vector<std::string> notes = state.hints;
    if (state.pages_left_out)
        notes.push_back(
            "racecheck keeps account of 1 GiB of shadow memory: accesses to what lies beyond were not looked at");
    if (state.looked_away)
        notes.push_back(
            "racecheck looked away from accesses that may be a race: what a thread knows of more than 64 blocks, or "
            "through more than a million addresses, counts as all that has happened so far");
    if (state.off) notes.push_back("racecheck stopped looking: this launch has more accesses than it can number");
    return notes;
}

uint32_t advance(CheckerState& state) {
    if (state.now >= UINT32_MAX - 2) state.off = true;
    return ++state.now;
}

namespace {

// What a launch's program and size decide, at the first block.
void begin(CheckerState& state, const Grid& grid) {
    using ptx::Kind;
    state.grid = &grid;
    state.independent = grid.independent;
    state.warps_per_block = static_cast<uint32_t>((grid.config->block.count() + warp_size - 1) / warp_size);
    const auto& instructions = grid.program->instructions;
    state.kinds.assign(instructions.size() + 1, AccessKind::read);
    state.acquires.assign(instructions.size() + 1, true);
    state.load_at.assign(instructions.size() + 1, 0);
    state.loads.clear();
    state.last_global.assign(instructions.size() + 1, nullptr);
    if (state.race) state.hazards = find_group_hazards(*grid.program);
    std::set<int32_t> read;  // registers that some instruction reads
    for (const auto& i : instructions) ptx::each_read(grid.program->lists, i, [&](int32_t reg) { read.insert(reg); });
    for (size_t pc = 0; pc < instructions.size(); ++pc) {
        const auto& i = instructions[pc];
        if (i.kind == Kind::load) {
            state.kinds[pc] = ptx::as_access(i).strong ? AccessKind::strong_read : AccessKind::read;
            state.load_at[pc] = static_cast<uint32_t>(state.loads.size());
            state.loads.push_back(static_cast<uint32_t>(pc));
        }
        if (i.kind == Kind::store) state.kinds[pc] = ptx::as_access(i).strong ? AccessKind::strong_write : AccessKind::write;
        if (i.kind != Kind::atomic) continue;
        state.kinds[pc] = AccessKind::atomic;
        state.acquires[pc] = i.list_destinations || (i.destination[0] != ptx::no_operand && read.contains(i.destination[0]));
    }
    state.quiet = find_quiet(grid, state.init);
    if (state.init) state.copied = find_copied(*grid.program), state.wide = find_wide(*grid.program);
    if (state.race) state.expected = find_expected(*grid.program);
    if (state.race) find_fences(state, *grid.program);
}

}  // namespace

BlockChecks& checks_of(CheckerState& state, const Block& block) {
    if (state.last_block && state.last_block->linear == block.linear) return *state.last_block;
    auto& slot = state.blocks[block.linear];
    if (!slot) {
        if (state.grid != block.grid) begin(state, *block.grid);
        if (!state.idle.empty()) {
            slot = std::move(state.idle.back());
            state.idle.pop_back();
        } else {
            slot = std::make_unique<BlockChecks>();
        }
        const uint32_t now = advance(state);
        slot->linear = block.linear;
        slot->first_warp = block.linear * state.warps_per_block;
        slot->alone = block.cluster.size() < 2;
        slot->groups.clear();
        slot->groups_closed.clear();
        slot->shared.bytes = block.shared.size();
        slot->shared.birth = now;
        slot->shared.pages.resize((block.shared.size() + page_bytes - 1) / page_bytes);
        slot->listed_count = slot->listed_lanes_count = 0;
        slot->listed_lines.assign(slot->shared.pages.size(), 0);
        slot->warps.clear();
        slot->warps.resize(block.warps.size());
        for (uint32_t w = 0; w < slot->warps.size(); ++w) {
            slot->warps[w].number = slot->first_warp + w;
            slot->warps[w].base = now;
            slot->warps[w].warp_base = state.independent ? now : UINT32_MAX;
        }
        slot->fenced_base = 0;
        slot->arrivals = {};
        slot->released.clear();
        slot->local_bytes = 0;
    }
    state.last_block = slot.get();
    return *slot;
}

void note_end(const Block& block) {
    if (!block.grid->checker) return;
    CheckerState& state = *block.grid->checker->state;
    const auto found = state.blocks.find(block.linear);
    if (found == state.blocks.end()) return;
    if (state.last_block == found->second.get()) state.last_block = nullptr;
    state.idle.push_back(std::move(found->second));
    state.blocks.erase(found);
}

}  // namespace lockstep::simt
