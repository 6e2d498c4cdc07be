// Fills the SMs with blocks, then lets them run in the order of their next events, ties by SM number. SMs meet only at
// global memory and at the block scheduler. An SM may run ahead of the others between two such meetings (its state stays in
// the host's cache) but waits for them before each, so the result is that of strict order.
#include "core/model/launch/machine.h"

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "core/base/cores.h"
#include "core/model/gpus/refusals.h"
#include "core/model/launch/checkpoint.h"
#include "core/model/metrics/metrics.h"
#include "core/simt/check/checker.h"
#include "core/simt/execute/ahead.h"

namespace lockstep::model {
namespace {

constexpr uint32_t visits_between_asks = 1 << 11;                                // of the stop token: some 10 ms
constexpr uint32_t visits_between_looks = 1 << 14;                               // at the stop token
constexpr uint64_t checkpoint_issues = 1 << 16, checkpoint_bytes_an_issue = 32;  // between checkpoints of a launch
constexpr uint64_t issues_between_looks = 1 << 8;                                // at whether the machine is exact
constexpr int64_t most_ahead = 1 << 12;                                          // cycles
constexpr uint32_t least_pace = 24;  // instructions that an SM issues alone: to give away fewer costs more than it brings
constexpr uint32_t most_crew = 3;    // the launch's own thread has no work for more

SharedState make_state(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                       const Occupancy& occupancy) {
    SharedState state;
    state.gpu = &gpu;
    state.warps_per_block = occupancy.warps_per_block;
    // check_launch knows no allocation granules: a block that just misses fitting runs alone on its SM.
    state.blocks_per_sm = std::max(1u, occupancy.blocks);
    state.shared_per_block = static_cast<uint32_t>(ptx::shared_bytes(program, config.dynamic_shared));
    state.blocks = config.grid.count();
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

std::optional<simt::Fault> refuse_missing_part(const GpuSpec& gpu, const ptx::Program& program) {
    std::optional<std::string> missing = missing_part(gpu, program);
    if (!missing) return std::nullopt;
    simt::Fault fault;
    fault.kind = "launch";
    fault.kernel = program.shown_name();
    fault.file = program.source_file;
    fault.message = std::move(*missing);
    return fault;
}

bool room_for_a_cluster(const SharedState& state) {
    return state.cluster_blocks > 1 && state.next_block < state.blocks && state.free_places.size() >= state.cluster_blocks;
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
        int64_t start = now;  // of all its blocks, when the last one is ready
        for (uint32_t rank = 0; rank < state.cluster_blocks; ++rank) start = start_of_block(state, now);
        for (uint32_t rank = 0; rank < state.cluster_blocks; ++rank) {
            const SharedState::Place place = cluster.places[rank];
            sms[place.sm]->start_block(place.slot, simt::linear_in_cluster(*state.grid, number, rank), start, number);
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
            if (state.next_block < state.blocks)
                sm->start_block(slot, static_cast<uint32_t>(state.next_block++), start_of_block(state, 0));
}

}  // namespace

void SmQueue::rebuild(const std::vector<std::unique_ptr<Sm>>& sms) {
    heap_.clear();
    for (uint32_t i = 0; i < sms.size(); ++i) heap_.push_back(key(sms[i]->next(), i));
    std::sort(heap_.begin(), heap_.end());
}

Machine::Machine(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                 simt::Memory& device_memory, const TimedOptions& options,
                 const std::shared_ptr<const ptx::Packing>& packing)
    : gpu_(gpu),
      program_(program),
      options_(options),
      memory_(gpu, options.ideal),
      recorder_(options.trace, std::min<uint32_t>(options.traced_sm, gpu.sms - 1), options.trace_limit, gpu.warps_per_sm,
                gpu.sub_cores),
      windows_(program.instructions.size(), options.trace),
      crew_due_(options.alone) {
    result_.occupancy =
        occupancy(gpu, static_cast<uint32_t>(config.block.count()), ptx::registers_on(program, gpu.compute.number),
                  ptx::shared_bytes(program, config.dynamic_shared), options.most_blocks_per_sm);
    state_ = make_state(gpu, program, config, result_.occupancy);
    result_.totals.blocks = state_.blocks;
    result_.totals.threads_per_block = static_cast<uint32_t>(config.block.count());
    result_.totals.dynamic_shared = config.dynamic_shared;
    result_.fault = refuse_missing_part(gpu, program);
    if (!result_.fault) result_.fault = fit_host_memory(state_, program);
    refused_ = result_.fault.has_value();
    if (refused_) return;
    if (options.trace && options.machine) {
        recorder_.machine.emplace(gpu, recorder_.trace.sm, state_.blocks);
        memory_.tell(&*recorder_.machine);
    }
    if (options.l2 != nullptr) memory_.take(*options.l2);
    grid_ =
        packing ? simt::make_packed_grid(packing, config, device_memory) : simt::make_grid(program, config, device_memory);
    grid_.sm_count = gpu.sms;
    simt::set_blocks_at_once(grid_, uint64_t{gpu.sms} * state_.blocks_per_sm);
    grid_.synccheck = options.synccheck;
    grid_.independent = options.independent && schedules_threads(gpu);
    grid_.print = options.print;
    if (options.device_runtime) grid_.device_runtime = options.device_runtime;
    simt::begin_checks(grid_, options);
    state_.cluster_blocks = simt::cluster_size(grid_);
    timing_ = make_timing(gpu, program,
                          {.lowering = options.lowering && gpu.folds_ptx != 0,
                           .doubles = !options.ideal.fp32,
                           .sequences = !options.ideal.short_division,
                           .short_functions = options.ideal.short_functions,
                           .clusters = state_.cluster_blocks > 1});
    for (const Timing& t : timing_) wide_loads_.push_back(t.wide_bytes);
    grid_.wide_loads = wide_loads_.data();
    state_.timing = &timing_;
    state_.grid = &grid_;
    state_.memory = &memory_;
    state_.recorder = &recorder_;
    state_.windows = &windows_;
    state_.max_instructions = options.max_instructions;
    const uint32_t line = 128 / std::clamp<uint32_t>(gpu.instruction_bytes, 1, 128);
    state_.code_shift = static_cast<uint32_t>(std::bit_width(line)) - 1;
    state_.scheduler = options.scheduler.value_or(gpu.scheduler.value);
    state_.run_ahead = runs_ahead_ = options.run_ahead && state_.cluster_blocks == 1 &&
                                     !options.ideal.coalesced &&      // which sectors are kept goes by the lanes' addresses
                                     !options.ideal.short_functions;  // whose accesses to local memory cost nothing
    result_.exact = options.exact || options.checkpoint_bytes != 0;
    state_.shared_ahead = !result_.exact;
    if (runs_ahead_) simt::find_written(grid_);
    start();
}

void Machine::start() {
    const uint64_t needed = std::min<uint64_t>(gpu_.sms, state_.blocks);  // an SM without a block does nothing
    for (uint32_t i = 0; i < needed; ++i) sms_.push_back(std::make_unique<Sm>(state_, i));
    fill(state_, sms_);
    if (state_.next_block == 0) {
        simt::Fault fault;
        fault.kind = "launch";
        fault.kernel = program_.shown_name();
        fault.file = program_.source_file;
        fault.message = "a cluster of " + std::to_string(state_.cluster_blocks) + " blocks does not fit on " +
                        std::to_string(sms_.size()) + " SMs with room for " + std::to_string(state_.blocks_per_sm) +
                        (state_.blocks_per_sm == 1 ? " block each" : " blocks each");
        state_.fault = std::move(fault);
    }
    queue_.rebuild(sms_);
    alone_.resize(sms_.size());
    result_.independent = options_.independent;
    result_.synccheck = options_.synccheck;
    result_.scheduler = options_.scheduler;
    result_.max_instructions = options_.max_instructions;
    if (options_.checkpoint_bytes == 0) return;
    checkpoints_ = std::make_shared<Checkpoints>(options_.checkpoint_bytes);
    next_checkpoint_ = checkpoint_issues;
}

bool Machine::is_quiet() const {
    const auto is_stuck = [](const auto& sm) { return sm->stuck_block() != nullptr; };
    return !refused_ && !state_.fault && !simt::has_warnings(grid_) &&
           (result_.stopped || std::none_of(sms_.begin(), sms_.end(), is_stuck));
}

bool Machine::is_exact() const {
    return std::none_of(sms_.begin(), sms_.end(), [](const auto& sm) { return sm->is_ahead(); });
}

// Between two visits every SM is at the end of something: such a state can be gone on from, though some SMs may be ahead.
// From when one is due, nothing runs ahead until all is issued that has: who goes on from it may look at any warp.
void Machine::put_by() {
    gather();
    let_run_ahead(false);
    next_checkpoint_ = state_.issues + issues_between_looks;
    if (!is_exact()) return;
    let_run_ahead(true);
    const uint64_t before = checkpoints_->bytes();
    last_checkpoint_ = save(last_checkpoint_.get(), checkpoints_->pages());
    const uint64_t size =
        std::max(last_checkpoint_->bytes, *checkpoints_->pages() - std::min<uint64_t>(before, *checkpoints_->pages()));
    checkpoints_->add(last_checkpoint_, true);
    if (checkpoints_->before(last_checkpoint_->latest) != last_checkpoint_) last_checkpoint_ = nullptr;
    // As many issues as make up for the work; once the room is full, as many as lie between those that are kept.
    uint64_t gap = std::max(checkpoint_issues, size / checkpoint_bytes_an_issue);
    if (checkpoints_->thinned()) gap = std::max(gap, state_.issues / std::max<size_t>(1, checkpoints_->size()));
    next_checkpoint_ = state_.issues + gap;
}

// Threads run SMs beside one another where all that these do alone touches nothing but the SM and what the thread has
// itself: not where the system is called, every access is followed, or blocks see one another's shared memory.
void Machine::call_crew() {
    crew_due_ = never_due;
    const uint32_t threads = options_.threads != 0 ? options_.threads : cores();
    const auto calls = [](const ptx::DecodedInstruction& in) { return in.kind == ptx::Kind::system; };
    if (threads < 2 || sms_.size() < 2 || state_.cluster_blocks > 1 || grid_.checker ||
        std::any_of(program_.instructions.begin(), program_.instructions.end(), calls))
        return;
    gather();
    for (const uint64_t written : grid_.written)  // moves where it is shared: others are not to look for it meanwhile
        if (const simt::Allocation* const a = grid_.memory->find(written)) grid_.memory->write(written, a->bytes);
    crew_ = std::make_unique<Crew>(sms_, host(), std::min({threads - 1, most_crew, static_cast<uint32_t>(sms_.size())}));
}

void Machine::dismiss_crew() {
    crew_due_ = never_due;
    if (crew_) crew_->each_count([&](const WindowRecorder& theirs) { windows_.add(theirs); });
    crew_ = nullptr;
}

void Machine::look_up() {
    gather();
    visits_ = 0;
    const auto spins = [](const auto& each) { return each->all_spin(); };
    if (!state_.fault && state_.issues - state_.last_moved > visits_between_looks / 2 &&
        std::all_of(sms_.begin(), sms_.end(), spins)) {
        for (const auto& each : sms_)
            if (const simt::Block* stuck = each->stuck_block(); stuck != nullptr && !state_.fault)
                state_.fault = deadlock_of(*stuck);
    }
    result_.stopped = options_.stop.stop_requested();
    if (options_.progress) options_.progress(static_cast<double>(state_.blocks_done) / static_cast<double>(state_.blocks));
}

// Adds what the SM has done to the launch's sums. A fault ends the launch: others only come to its cycle.
void Machine::absorb(uint32_t i) {
    Sm& sm = *sms_[i];
    Sm::Tally& tally = sm.tally();
    // SMs that run alone may have issued more between them than the launch may.
    state_.issues = std::min(state_.issues + tally.issues, state_.max_instructions);
    state_.thread_instructions += tally.thread_instructions;
    state_.blocks_done += tally.blocks_done;
    state_.last_cycle = std::max(state_.last_cycle, tally.last_cycle);
    if (tally.moved_at >= 0) {
        state_.last_moved = state_.issues;
        state_.moved_at = std::max(state_.moved_at, tally.moved_at);
    }
    visits_ += tally.visits;
    now_ = std::max(now_, tally.latest);
    for (const auto& [record, end] : tally.ended) recorder_.end_block(record, end);
    tally.ended.clear();
    tally = {.ended = std::move(tally.ended)};
    if (grid_.findings) simt::move_findings(grid_, *sm.findings());
    if (!sm.faulted() || SmQueue::key(sm.next(), i) >= fault_key_) return;
    first_fault_ = sm.take_fault(state_.issues);
    faulted_at_ = sm.next();
    fault_key_ = SmQueue::key(faulted_at_, i);
}

void Machine::come_back(uint32_t i) {
    if (crew_) crew_->take_back(i);
    alone_[i] = 0;
    absorb(i);
}

void Machine::gather() {
    if (std::find(alone_.begin(), alone_.end(), 1) == alone_.end()) return;
    for (uint32_t i = 0; i < sms_.size(); ++i)
        if (alone_[i] != 0) come_back(i);
    queue_.rebuild(sms_);
}

void Machine::visit(uint32_t i, int64_t until) {
    Sm& sm = *sms_[i];
    if (alone_[i] != 0) {
        come_back(i);
        if (SmQueue::key(sm.next(), i) >= fault_key_) return;  // a fault of its own
    }
    // A cluster starts in the cycle in which its last place gets free, on SMs that must not be past it.
    const bool in_step = !options_.skip_idle || (state_.cluster_blocks > 1 && state_.next_block < state_.blocks);
    const int64_t visited = sm.next();
    now_ = std::max(now_, visited);
    sm.tell(state_);
    std::swap(grid_.findings, sm.findings());
    const bool whole = sm.cycle(true);
    std::swap(grid_.findings, sm.findings());
    visits_ += whole ? 1 : 0;
    absorb(i);
    if (SmQueue::key(visited, i) >= fault_key_) return;  // it has faulted
    if (!options_.skip_idle) sm.visit_next_cycle(visited);
    if (room_for_a_cluster(state_) && start_clusters(state_, sms_, now_)) return queue_.rebuild(sms_);
    int64_t end = std::min(until, visited + most_ahead);
    if (first_fault_) end = std::min(end, faulted_at_ + (SmQueue::key(faulted_at_, i) < fault_key_ ? 1 : 0));
    const int64_t next = sm.next();
    if (!in_step && next < end) {
        alone_[i] = 1;
        sm.tell(state_);
        if (crew_ && sm.pace() >= least_pace && i != recorder_.trace.sm) {
            crew_->give(i, end);
            return queue_.move_first(SmQueue::key(next, i));
        }
        sm.run_alone(host(), end);
    }
    queue_.move_first(SmQueue::key(sm.next(), i));
}

bool Machine::run_until(int64_t until) {
    result_.stopped = false;
    fault_key_ = until == never ? SmQueue::idle : SmQueue::key(std::max<int64_t>(0, until), 0);
    first_fault_.reset();
    uint32_t asked = visits_;  // when the stop token was
    while (!state_.fault && !result_.stopped && queue_.first() < fault_key_ && state_.next_block < pause_blocks_ &&
           state_.issues < pause_issues_) {
        const uint32_t i = SmQueue::sm_of(queue_.first());
        if (crew_ && alone_[i] != 0) {
            const int64_t known = SmQueue::cycle_of(queue_.first()), at = crew_->progress(i, known);
            if (at != known) {
                queue_.move_first(SmQueue::key(at, i));
                continue;
            }
        }
        if (const uint64_t others = queue_.second(); others != SmQueue::idle) {
            const uint32_t next = SmQueue::sm_of(others);
            if (!(crew_ && crew_->is_away(next))) sms_[next]->prefetch();
        }
        visit(i, until);
        if (state_.issues >= crew_due_) call_crew();
        if (visits_ >= visits_between_looks)
            look_up(), asked = 0;
        else if (visits_ - asked >= visits_between_asks)
            asked = visits_, result_.stopped = options_.stop.stop_requested();
        if (state_.issues >= next_checkpoint_ && !first_fault_) put_by();
    }
    gather();
    if (first_fault_) state_.fault = std::move(first_fault_);
    return !state_.fault && !result_.stopped && queue_.first() != SmQueue::idle;
}

WindowRecorder Machine::counted_windows() const {
    WindowRecorder all = windows_.empty_copy();
    all.add(windows_);
    if (crew_) crew_->each_count([&](const WindowRecorder& theirs) { all.add(theirs); });
    return all;
}

void Machine::leave_out(uint64_t blocks) {
    state_.next_block += blocks;
    state_.blocks_done += blocks;
}

Counted Machine::counted() const {
    Counted counted;
    counted.warp_instructions = state_.issues;
    counted.thread_instructions = state_.thread_instructions;
    counted.totals.dram_read = memory_.dram().bytes_read;
    counted.totals.dram_written = memory_.dram().bytes_written;
    counted.totals.l2_reads = memory_.taken.l2_reads;
    counted.totals.l2_writes = memory_.taken.l2_writes;
    for (const auto& sm : sms_) {
        const Sm::Totals t = sm->totals();
        counted.totals.issue_cycles += t.issue_cycles;
        counted.totals.issued += t.issued;
        counted.warp_cycles += t.warp_cycles;
    }
    counted.instructions = counted_windows().sums();
    return counted;
}

void Machine::describe(KernelTrace& trace) const {
    trace.schedulers = gpu_.sub_cores;
    trace.issue_width = gpu_.issue_width;
    trace.warp_slots = gpu_.warps_per_sm;
    trace.block_slots = state_.blocks_per_sm;
}

const simt::Block* Machine::find_block(uint32_t linear) const {
    for (const auto& sm : sms_)
        if (const simt::Block* const block = sm->find_block(linear)) return block;
    return nullptr;
}

simt::Fault Machine::deadlock_of(const simt::Block& stuck) const {
    simt::Fault fault = simt::deadlock_fault(stuck, [&](uint32_t linear) { return find_block(linear); });
    simt::say_what_cannot_start(fault, stuck, state_.blocks - state_.next_block, state_.next_block - state_.blocks_done);
    return fault;
}

TimedResult Machine::finish() {
    if (refused_) {
        result_.instructions.resize(std::max<size_t>(1, program_.instructions.size()));
        result_.metrics = compute_metrics(gpu_, program_, result_, result_.instructions, result_.totals);
        return std::move(result_);
    }
    for (const auto& sm : sms_) {
        const simt::Block* const stuck = state_.fault || result_.stopped ? nullptr : sm->stuck_block();
        if (stuck != nullptr) state_.fault = deadlock_of(*stuck);
    }
    for (const auto& sm : sms_) sm->stop(now_ + 1);
    dismiss_crew();
    if (options_.progress && !result_.stopped) options_.progress(1.0);

    result_.fault = std::move(state_.fault);
    result_.notes = simt::notes_of(grid_);
    result_.reports = simt::take_reports(grid_);
    result_.warnings = simt::take_warnings(grid_);
    result_.warp_instructions = state_.issues;
    result_.thread_instructions = state_.thread_instructions;
    // A fault ends the launch in its cycle, however far other SMs ran ahead of it.
    result_.cycles = faulted_at_ >= 0 ? std::min(state_.last_cycle, faulted_at_ + 1) : state_.last_cycle;
    result_.launch_us = gpu_.launch_latency_us;
    result_.time_us = static_cast<double>(result_.cycles) / gpu_.boost_mhz;
    describe(recorder_.trace);
    result_.checkpoints = std::move(checkpoints_);
    result_.trace = recorder_.finish(result_.cycles, faulted_at_ >= 0);
    LaunchTotals& totals = result_.totals;
    const DoublingWindows<CycleTotals> l2 = memory_.taken_until(state_.last_cycle);
    for (uint64_t w = 0; w < l2.count(); ++w) totals += *l2.row(w);
    result_.instructions = windows_.finish(state_.last_cycle, memory_.dram().windows, l2, result_.windows);
    totals.cycles = state_.last_cycle;
    totals.blocks_per_sm = state_.blocks_per_sm;
    totals.dram_read = memory_.dram().bytes_read;
    totals.dram_written = memory_.dram().bytes_written;
    totals.dram_bytes_per_cycle = memory_.dram().bytes_per_cycle();
    for (const auto& sm : sms_) {
        const Sm::Totals t = sm->totals();
        totals.active_cycles += t.active_cycles;
        totals.scheduler_cycles += t.scheduler_cycles;
        totals.issue_cycles += t.issue_cycles;
        totals.issued += t.issued;
        totals.warp_cycles += t.warp_cycles;
        totals.l1_bytes = sm->l1_bytes();
    }
    if (options_.l2 != nullptr) memory_.leave(*options_.l2);
    result_.timing = std::make_shared<const std::vector<Timing>>(std::move(timing_));
    result_.metrics = compute_metrics(gpu_, program_, result_, result_.instructions, totals);
    return std::move(result_);
}

}  // namespace lockstep::model
