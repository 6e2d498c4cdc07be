// The timed launch: fills the SMs with blocks, then visits them in the order of their next events, ties by SM number.
// SMs meet only behind L1 (MemorySystem) and at the block scheduler, so this order makes the whole run deterministic.
#include "core/model/launch.h"

#include <algorithm>

#include "core/model/metrics.h"
#include "core/model/sm.h"

namespace lockstep::model {
namespace {

constexpr uint32_t visits_between_looks = 1 << 14;  // at the stop token

SharedState make_state(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                       const Occupancy& occupancy) {
    SharedState state;
    state.gpu = &gpu;
    state.warps_per_block = occupancy.warps_per_block;
    // check_launch knows no allocation granules: a block that just misses fitting runs alone on its SM.
    state.blocks_per_sm = std::max(1u, occupancy.blocks);
    state.shared_per_block = std::max(program.static_shared, program.dynamic_shared_offset) + config.dynamic_shared;
    state.blocks = config.grid.count();
    state.counters.resize(std::max<size_t>(1, program.instructions.size()));
    return state;
}

// Block i goes to SM i % SMs as long as there are free slots.
void fill(SharedState& state, std::vector<std::unique_ptr<Sm>>& sms) {
    for (uint32_t slot = 0; slot < state.blocks_per_sm; ++slot)
        for (auto& sm : sms)
            if (state.next_block < state.blocks) sm->start_block(slot, static_cast<uint32_t>(state.next_block++), 0);
}

}  // namespace

TimedResult launch(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                   simt::Memory& device_memory, const TimedOptions& options) {
    TimedResult result;
    const uint32_t shared = std::max(program.static_shared, program.dynamic_shared_offset) + config.dynamic_shared;
    result.occupancy = occupancy(gpu, static_cast<uint32_t>(config.block.count()), program.registers_per_thread, shared);
    SharedState state = make_state(gpu, program, config, result.occupancy);

    simt::Grid grid = simt::make_grid(program, config, device_memory);
    grid.sm_count = gpu.sms;
    grid.synccheck = options.synccheck;
    const std::vector<Timing> timing = make_timing(gpu, program);
    MemorySystem memory(gpu);
    const uint32_t traced = std::min<uint32_t>(options.traced_sm, gpu.sms - 1);
    Recorder recorder(options.trace, traced, options.trace_limit);
    state.timing = &timing;
    state.grid = &grid;
    state.memory = &memory;
    state.recorder = &recorder;
    state.max_instructions = options.max_instructions;

    std::vector<std::unique_ptr<Sm>> sms;
    const uint64_t needed = std::min<uint64_t>(gpu.sms, state.blocks);  // an SM without a block does nothing
    for (uint32_t i = 0; i < needed; ++i) sms.push_back(std::make_unique<Sm>(state, i));
    std::vector<int64_t> next(sms.size());
    fill(state, sms);

    int64_t now = 0;
    uint32_t visits = 0;
    while (!state.fault && !result.stopped) {
        int64_t first = never;
        for (size_t i = 0; i < sms.size(); ++i) first = std::min(first, next[i]);
        if (first == never) break;
        now = options.skip_idle ? first : std::min(first, now + 1);
        for (size_t i = 0; i < sms.size() && !state.fault; ++i) {
            if (next[i] > now) continue;
            sms[i]->cycle(now);
            next[i] = options.skip_idle || sms[i]->next() == never ? sms[i]->next() : now + 1;
            ++visits;
        }
        if (visits < visits_between_looks) continue;
        visits = 0;
        result.stopped = options.stop.stop_requested();
        if (options.progress) options.progress(static_cast<double>(state.blocks_done) / static_cast<double>(state.blocks));
    }
    for (const auto& sm : sms) {
        const simt::Block* const stuck = state.fault || result.stopped ? nullptr : sm->stuck_block();
        if (stuck != nullptr) state.fault = simt::deadlock_fault(*stuck);
    }
    for (const auto& sm : sms) sm->stop(now + 1);
    if (options.progress && !result.stopped) options.progress(1.0);

    result.fault = std::move(state.fault);
    result.warp_instructions = state.issues;
    result.thread_instructions = state.thread_instructions;
    result.cycles = state.last_cycle;
    result.time_us = static_cast<double>(result.cycles) / gpu.boost_mhz;
    recorder.trace.schedulers = gpu.sub_cores;
    recorder.trace.issue_width = gpu.issue_width;
    recorder.trace.warp_slots = gpu.warps_per_sm;
    recorder.trace.block_slots = state.blocks_per_sm;
    result.trace = recorder.finish(result.cycles);
    result.instructions = std::move(state.counters);

    LaunchTotals totals;
    totals.cycles = result.cycles;
    totals.blocks = state.blocks;
    totals.blocks_per_sm = state.blocks_per_sm;
    totals.dram_read = memory.dram().bytes_read;
    totals.dram_written = memory.dram().bytes_written;
    totals.dram_bytes_per_cycle = memory.dram().bytes_per_cycle();
    for (const auto& sm : sms) {
        const Sm::Totals t = sm->totals();
        totals.active_cycles += t.active_cycles;
        totals.scheduler_cycles += t.scheduler_cycles;
        totals.issue_cycles += t.issue_cycles;
        totals.warp_cycles += t.warp_cycles;
    }
    result.metrics = compute_metrics(gpu, program, result, totals);
    return result;
}

}  // namespace lockstep::model
