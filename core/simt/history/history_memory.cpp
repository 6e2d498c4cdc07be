// By replay (rerun.h), until the warp stands before the instruction; then that instruction runs once more, to see what it
// touches.
#include "core/simt/history/history_memory.h"

#include <algorithm>

#include "core/simt/execute/plan.h"
#include "core/simt/history/rerun.h"

namespace lockstep::simt {

namespace {

AccessAt access_of(Warp& warp) {
    AccessAt access;
    if (warp.done || warp.at_barrier) return access;
    const WarpEvent event = step(warp);
    access.faults = event.kind == WarpEvent::Kind::fault;
    if (event.kind != WarpEvent::Kind::memory || event.addresses == nullptr) return access;
    access.any = true;
    access.is_store = event.is_store;
    access.is_atomic = event.is_atomic;
    access.space = event.space;
    access.bytes = event.bytes;
    access.lanes = event.executed;
    std::copy_n(event.addresses, warp_size, access.addresses);
    return access;
}

}  // namespace

MemoryAt memory_at(const ptx::Program& program, const LaunchConfig& config, const Memory& before, uint32_t block_index,
                   uint32_t warp_index, uint64_t step_number, bool beside) {
    MemoryAt found;
    if (block_index >= config.grid.count() || uint64_t{warp_index} * warp_size >= config.block.count()) return found;
    Rerun rerun(program, config, before, block_index, beside);
    bool read = false;
    const auto keep = [&] {
        found.shared = rerun.block().shared;
        found.global = rerun.memory();
        read = true;
    };
    rerun.run(warp_index, [&](Warp& warp) -> std::optional<WarpEvent> {
        uint64_t threads = 0;
        const uint64_t left = step_number - std::min(step_number, warp.instructions);
        if (left == 0) {
            keep();
            found.access = access_of(warp);
            return std::nullopt;
        }
        const WarpEvent event = run(warp, std::min(left, rerun.turn()), threads);
        // Before other warps go on, unless they are what it waits for: one of them may fault.
        const bool there = warp.instructions == step_number && !warp.at_barrier && event.kind != WarpEvent::Kind::fault;
        if (warp.done || there) {
            keep();
            if (!warp.done) found.access = access_of(warp);
            return std::nullopt;
        }
        return event;
    });
    if (!read) keep();  // a fault or a dead-lock came first
    return found;
}

MemoryAt memory_of(const Block& block, uint32_t warp) {
    MemoryAt found;
    found.shared = block.shared;
    found.global = *block.grid->memory;
    if (warp >= block.warps.size() || !block.cluster.empty() || block.warps[warp].blocked) return found;
    Memory scratch = found.global;
    Grid grid = *block.grid;
    grid.memory = &scratch;
    grid.print = {};
    grid.checker = nullptr;
    Block copy = block;
    copy.grid = &grid;
    found.access = access_of(copy.warps[warp]);
    return found;
}

std::vector<std::byte> shared_at(const ptx::Program& program, const LaunchConfig& config, const Memory& before,
                                 uint32_t block, uint32_t warp, uint64_t step, bool beside) {
    return memory_at(program, config, before, block, warp, step, beside).shared;
}

}  // namespace lockstep::simt
