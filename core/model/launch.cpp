// The timed launch: fills the SMs with blocks, then lets them run in the order of their next events, ties by SM number.
// SMs meet only at global memory and at the block scheduler. An SM may run ahead of the others between two such meetings
// (its registers stay in the host's cache) but waits for them before each, so the result is that of strict order.
#include "core/model/launch.h"

#include <algorithm>

#include "core/model/metrics.h"
#include "core/model/sm.h"
#include "core/simt/checker.h"

namespace lockstep::model {
namespace {

constexpr uint32_t visits_between_looks = 1 << 14;  // at the stop token
constexpr int64_t most_ahead = 1 << 12;             // cycles

// The SMs by (next cycle, number), a binary heap of numbers that sort that way.
class Queue {
  public:
    static constexpr uint64_t idle = ~uint64_t{0};
    static uint64_t key(int64_t cycle, uint32_t sm) {
        return cycle == never ? idle : static_cast<uint64_t>(cycle) << 16 | sm;
    }
    static uint32_t sm_of(uint64_t key) { return static_cast<uint32_t>(key & 0xffff); }

    explicit Queue(const std::vector<std::unique_ptr<Sm>>& sms) { rebuild(sms); }
    void rebuild(const std::vector<std::unique_ptr<Sm>>& sms) {
        heap_.clear();
        for (uint32_t i = 0; i < sms.size(); ++i) heap_.push_back(key(sms[i]->next(), i));
        std::sort(heap_.begin(), heap_.end());
    }
    uint64_t first() const { return heap_.empty() ? idle : heap_[0]; }
    uint64_t second() const { return heap_.size() < 2 ? idle : heap_.size() < 3 ? heap_[1] : std::min(heap_[1], heap_[2]); }
    void move_first(uint64_t to) {
        size_t at = 0;
        for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (heap_[child] >= to) break;
            heap_[at] = heap_[child];
            at = child;
        }
        heap_[at] = to;
    }

  private:
    std::vector<uint64_t> heap_;
};

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

// Host memory that the resident blocks take: their virtual registers, local and shared memory.
constexpr uint64_t resident_limit = uint64_t{2} << 30;

// Keeps within the limit by holding fewer blocks an SM. A launch whose SMs cannot hold one block each is refused.
std::optional<simt::Fault> fit_host_memory(SharedState& state, const ptx::Program& program) {
    const uint64_t block = uint64_t{program.register_bytes} * state.warps_per_block +
                           uint64_t{program.local_bytes} * state.warps_per_block * 32 + state.shared_per_block;
    const uint64_t sms = std::min<uint64_t>(state.gpu->sms, state.blocks);
    const uint64_t most = resident_limit / std::max<uint64_t>(1, block * sms);
    if (most >= 1) {
        state.blocks_per_sm = static_cast<uint32_t>(std::min<uint64_t>(state.blocks_per_sm, most));
        return std::nullopt;
    }
    simt::Fault fault;
    fault.kind = "memory";
    fault.kernel = program.shown_name();
    fault.file = program.source_file;
    fault.message = "one block on each of " + std::to_string(sms) + " SMs needs " + std::to_string(block * sms >> 20) +
                    " MiB of registers, local and shared memory: at most " + std::to_string(resident_limit >> 20) + " MiB";
    return fault;
}

bool room_for_a_cluster(const SharedState& state) {
    return state.cluster_blocks > 1 && state.next_block < state.blocks && state.free_places.size() >= state.cluster_blocks;
}

// What blocks of a cluster exchange has to happen in the order of cycles, as global memory has to.
void share_between_sms(std::vector<Timing>& timing, const ptx::Program& program) {
    using ptx::Kind;
    for (uint32_t pc = 0; pc < program.instructions.size(); ++pc) {
        const Kind kind = program.instructions[pc].kind;
        if (kind == Kind::load || kind == Kind::store || kind == Kind::atomic || kind == Kind::cluster ||
            kind == Kind::mbarrier || kind == Kind::bulk_copy || kind == Kind::async_copy || kind == Kind::async_wait ||
            kind == Kind::bulk_wait)
            timing[pc].shared_by_sms = true;
    }
}

// Starts clusters as long as there is room for all blocks of the next one, over as many SMs as possible.
bool start_clusters(SharedState& state, std::vector<std::unique_ptr<Sm>>& sms, int64_t now) {
    bool any = false;
    for (; room_for_a_cluster(state); any = true) {
        const auto number = static_cast<uint32_t>(state.next_block / state.cluster_blocks);
        SharedState::Cluster& cluster = state.clusters[number];
        cluster.running = state.cluster_blocks;
        cluster.places.assign(state.free_places.begin(), state.free_places.begin() + state.cluster_blocks);
        state.free_places.erase(state.free_places.begin(), state.free_places.begin() + state.cluster_blocks);
        std::vector<simt::Block*> by_rank;
        for (uint32_t rank = 0; rank < state.cluster_blocks; ++rank) {
            const SharedState::Place place = cluster.places[rank];
            sms[place.sm]->start_block(place.slot, simt::linear_in_cluster(*state.grid, number, rank), now, number);
            by_rank.push_back(&sms[place.sm]->block_at(place.slot));
        }
        simt::join_cluster(by_rank);
        state.next_block += state.cluster_blocks;
    }
    return any;
}

// Block i goes to SM i % SMs as long as there are free slots.
void fill(SharedState& state, std::vector<std::unique_ptr<Sm>>& sms) {
    if (state.cluster_blocks > 1) {
        for (uint32_t slot = 0; slot < state.blocks_per_sm; ++slot)
            for (uint32_t sm = 0; sm < sms.size(); ++sm) state.free_places.push_back({sm, slot});
        start_clusters(state, sms, 0);
        return;
    }
    for (uint32_t slot = 0; slot < state.blocks_per_sm; ++slot)
        for (auto& sm : sms)
            if (state.next_block < state.blocks) sm->start_block(slot, static_cast<uint32_t>(state.next_block++), 0);
}

}  // namespace

simt::LaunchOptions functional_options(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config) {
    const uint32_t shared = std::max(program.static_shared, program.dynamic_shared_offset) + config.dynamic_shared;
    const auto threads = static_cast<uint32_t>(config.block.count());
    simt::LaunchOptions options;
    options.independent = schedules_threads(gpu);
    options.resident_blocks = gpu.sms * std::max(1u, occupancy(gpu, threads, program.registers_per_thread, shared).blocks);
    return options;
}

TimedResult launch(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                   simt::Memory& device_memory, const TimedOptions& options) {
    TimedResult result;
    const uint32_t shared = std::max(program.static_shared, program.dynamic_shared_offset) + config.dynamic_shared;
    result.occupancy = occupancy(gpu, static_cast<uint32_t>(config.block.count()), program.registers_per_thread, shared);
    SharedState state = make_state(gpu, program, config, result.occupancy);
    result.fault = fit_host_memory(state, program);
    if (result.fault) {
        result.instructions = std::move(state.counters);
        result.metrics = compute_metrics(gpu, program, result, LaunchTotals{});
        return result;
    }

    simt::Grid grid = simt::make_grid(program, config, device_memory);
    grid.sm_count = gpu.sms;
    grid.synccheck = options.synccheck;
    grid.independent = options.independent && schedules_threads(gpu);
    grid.print = options.print;
    simt::begin_checks(grid, options);
    std::vector<Timing> timing = make_timing(gpu, program);
    state.cluster_blocks = simt::cluster_size(grid);
    if (state.cluster_blocks > 1) share_between_sms(timing, program);
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
    fill(state, sms);
    if (state.next_block == 0) {
        simt::Fault fault;
        fault.kind = "launch";
        fault.kernel = program.shown_name();
        fault.file = program.source_file;
        fault.message = "a cluster of " + std::to_string(state.cluster_blocks) + " blocks does not fit on " +
                        std::to_string(sms.size()) + " SMs with room for " + std::to_string(state.blocks_per_sm) +
                        (state.blocks_per_sm == 1 ? " block each" : " blocks each");
        state.fault = std::move(fault);
    }
    Queue queue(sms);
    int64_t now = 0;
    uint32_t visits = 0;
    while (!state.fault && !result.stopped && queue.first() != Queue::idle) {
        const uint32_t i = Queue::sm_of(queue.first());
        Sm& sm = *sms[i];
        const uint64_t others = queue.second();
        const int64_t far_enough = sm.next() + (options.skip_idle ? most_ahead : 1);
        while (sm.next() < far_enough) {
            now = std::max(now, sm.next());
            const int64_t visited = sm.next();
            if (!sm.cycle(Queue::key(visited, i) < others)) break;
            if (!options.skip_idle) sm.visit_next_cycle(visited);
            ++visits;
            if (state.fault || room_for_a_cluster(state)) break;
        }
        if (room_for_a_cluster(state) && start_clusters(state, sms, now))
            queue.rebuild(sms);
        else
            queue.move_first(Queue::key(sm.next(), i));
        if (visits < visits_between_looks) continue;
        visits = 0;
        const auto spins = [](const auto& each) { return each->all_spin(); };
        if (!state.fault && state.issues - state.last_moved > visits_between_looks / 2 &&
            std::all_of(sms.begin(), sms.end(), spins)) {
            for (const auto& each : sms)
                if (const simt::Block* stuck = each->stuck_block(); stuck != nullptr && !state.fault)
                    state.fault = simt::deadlock_fault(*stuck);
        }
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
    result.reports = simt::take_reports(grid);
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
