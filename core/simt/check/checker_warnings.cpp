// Warnings of racecheck: what is no race by the rules of this machine, and a matter of luck on a GPU.
#include <tuple>

#include "core/simt/check/checker_state.h"
#include "core/simt/check/faults.h"
#include "core/simt/check/findings.h"

namespace lockstep::simt {

namespace {

struct Actor {  // who did one of the two accesses
    Dim3 block, thread;
    uint32_t pc = 0;
    std::string file;
    int32_t line = 0, ptx_line = 0;
    std::string at() const { return file + ":" + std::to_string(line > 0 ? line : ptx_line); }
};

Actor actor_of(const CheckerState& state, const Grid& grid, const Recorded& r, uint32_t lane) {
    const uint32_t block = r.warp / state.warps_per_block, thread = r.warp % state.warps_per_block * warp_size + lane;
    const Dim3 &blocks = grid.config->grid, &threads = grid.config->block;
    Actor actor;
    actor.block = {block % blocks.x, block / blocks.x % blocks.y, block / blocks.x / blocks.y};
    actor.thread = {thread % threads.x, thread / threads.x % threads.y, thread / threads.x / threads.y};
    actor.pc = r.pc();
    locate_fault(*grid.program, r.pc(), actor.file, actor.line, actor.ptx_line);
    return actor;
}

void name_other(Fault& fault, const Actor& other) {
    fault.other_file = other.file;
    fault.other_line = other.line;
    fault.other_ptx_line = other.ptx_line;
    fault.other_pc = other.pc;
    fault.other_block = other.block;
    fault.other_thread = other.thread;
}

std::string at_of(const Fault& fault) {
    return fault.file + ":" + std::to_string(fault.line > 0 ? fault.line : fault.ptx_line);
}

}  // namespace

void warn_of_volatile(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, AccessKind kind, const Place& place,
                      const Recorded& other, AccessKind other_kind) {
    const Grid& grid = *warp.block->grid;
    if (!grid.findings) return;
    const uint32_t number = state.last_block->first_warp + warp.index;
    const bool one_warp = other.warp == number;
    const uint32_t other_lane = one_warp && other.first_lane() == lane ? other.last_lane() : other.first_lane();
    Actor first = actor_of(state, grid, other, other_lane);
    Actor second = actor_of(state, grid, {0, number, how_of(pc, lane, lane)}, lane);
    // The write before the read; of two writes as the lines go: the same words whatever ran first.
    const auto line_of = [](const Actor& a) { return std::tie(a.file, a.line, a.ptx_line); };
    const bool reads = kind == AccessKind::strong_read || other_kind == AccessKind::strong_read;
    if (reads ? other_kind == AccessKind::strong_read : line_of(second) < line_of(first)) std::swap(first, second);
    Fault fault = *make_fault(warp, first.pc, 0, "racecheck", {});
    fault.thread = first.thread;
    fault.block = first.block;
    uint64_t offset = place.address;
    fault.allocation = shared_variable_at(*warp.block, offset);
    fault.offset = offset;
    name_other(fault, second);
    const bool down = !(line_of(second) < line_of(first));
    const std::string upper = down ? first.at() : second.at(), lower = down ? second.at() : first.at();
    fault.message =
        "volatile is no barrier: thread " + triple(first.thread) + " writes " + bytes_text(place.bytes) +
        " of shared memory " + (fault.allocation.empty() ? "at offset " : "'" + fault.allocation + "' +") +
        std::to_string(offset) + " at " + first.at() + ", and thread " + triple(second.thread) +
        (one_warp ? " of the same warp" : " of another warp") + (reads ? " reads" : " writes") + " them at " + second.at() +
        ", with no barrier between them; volatile makes each of the two go to memory, and nothing says which comes "
        "first" +
        (one_warp ? ": since Volta threads of one warp do not run in step" : "");
    fault.advice =
        one_warp ? "Put a __syncwarp() behind every step, between what reads and what writes as well, or add up with "
                   "__shfl_down_sync(), which needs no shared memory."
                 : "Put a __syncthreads() between " + upper + " and " + lower + "; the variable need not be volatile then.";
    add_warning(grid, "volatile " + upper + " " + lower + (one_warp ? " warp" : ""), std::move(fault));
}

void warn_of_missing_fence(CheckerState& state, const Warp& warp, uint32_t pc, uint32_t lane, AccessKind kind,
                           const Place& place, const Recorded& write, uint32_t told_at) {
    const Grid& grid = *warp.block->grid;
    if (!grid.findings) return;
    const Actor writer = actor_of(state, grid, write, write.first_lane());
    Fault fault = *make_fault(warp, pc, lane, "racecheck", {}, place.address);
    const Allocation* const a = grid.memory->find(place.address);
    if (a) fault.allocation = readable_variable(a->name), fault.offset = place.address - a->address;
    name_other(fault, writer);
    std::string file;
    int32_t line = 0, ptx_line = 0;
    locate_fault(*grid.program, told_at, file, line, ptx_line);
    const std::string teller = file + ":" + std::to_string(line > 0 ? line : ptx_line);
    const bool atomic = told_at < state.kinds.size() && state.kinds[told_at] == AccessKind::atomic;
    const std::string what = atomic ? "the atomic at " : "the volatile write at ";
    const bool reads = kind == AccessKind::read || kind == AccessKind::strong_read;
    fault.message = "a fence is missing: thread " + triple(writer.thread) + " of block " + triple(writer.block) +
                    " writes " + (a ? "'" + fault.allocation + "' +" + std::to_string(fault.offset) : hex(place.address)) +
                    " at " + writer.at() + " and tells of it by " + what + teller + ", and thread " + triple(fault.thread) +
                    " of block " + triple(fault.block) + ", which has seen that, " + (reads ? "reads" : "writes") +
                    " it at " + at_of(fault) + "; no __threadfence() stands between the write and " + what + teller +
                    ", so that another SM may see the second before the first" + (reads ? " and read an old value" : "");
    fault.advice = "Put a __threadfence() in front of " + what + teller + ".";
    add_warning(grid, "fence " + writer.at() + " " + teller, std::move(fault));
}

}  // namespace lockstep::simt
