// The machine goes forward only; backwards is: restore what was put by in front of the wanted cycle, and run. On the way to
// a cycle the last stretch is paved with checkpoints so close that any step back within it costs a few milliseconds.
#include "core/model/launch/replay.h"

#include <algorithm>

#include "core/model/launch/machine.h"

namespace lockstep::model {
namespace {

constexpr double dense_issues = 1 << 14;  // warp instructions between two dense checkpoints: some milliseconds
constexpr double bytes_an_issue = 96;     // large checkpoints lie further apart: putting by costs no more than running
constexpr uint64_t most_dense = 64;
constexpr int64_t coarse_parts = 64;  // of the way to the dense stretch
constexpr int64_t settling = 4;       // steps in front of a checkpoint in which nothing runs ahead any more
constexpr uint64_t most_issues = 2'000'000;

}  // namespace

TimedOptions options_of(const TimedResult& result) {
    TimedOptions options;
    options.independent = result.independent;
    options.synccheck = result.synccheck;
    options.scheduler = result.scheduler;
    options.max_instructions = result.max_instructions;
    options.most_blocks_per_sm = result.occupancy.by_choice;
    options.exact = result.exact;
    return options;
}

std::shared_ptr<L2State> l2_of(const KernelRun& run) {
    return run.l2 ? std::make_shared<L2State>(*run.l2) : nullptr;
}

Replay::Replay(std::shared_ptr<const KernelRun> run, uint64_t most_bytes) : run_(std::move(run)), near_(most_bytes) {
    options_ = options_of(run_->result);
    options_.trace = false;
    options_.exact = true;
    begin_again();
}

Replay::~Replay() = default;

void Replay::begin_again() {
    machine_.reset();
    memory_ = *run_->before;
    l2_ = l2_of(*run_);
    options_.l2 = l2_.get();
    machine_ = std::make_unique<Machine>(run_->gpu, *run_->program, run_->config, memory_, options_);
    last_ = nullptr;
    cycle_ = 0;
    clean_ = 0;
}

void Replay::go_to(const Checkpoint* from) {
    if (from == nullptr) return begin_again();
    machine_->restore(*from);
    cycle_ = clean_ = from->latest;
}

std::shared_ptr<const Checkpoint> Replay::before(int64_t cycle) const {
    std::shared_ptr<const Checkpoint> best = near_.before(cycle);
    if (run_->result.checkpoints)
        if (auto other = run_->result.checkpoints->before(cycle); other && (!best || other->latest > best->latest))
            best = std::move(other);
    return best;
}

void Replay::put_by() {
    if (last_ && last_->latest >= machine_->cycle()) return;
    last_ = machine_->save(last_.get(), near_.pages());
    near_.add(last_, false);
    if (near_.before(last_->latest) != last_) last_ = nullptr;  // there is no room for even one
}

bool Replay::run_to(int64_t cycle, const ReplayWatch& watch, bool ahead) {
    options_.stop = watch.stop;
    const int64_t start = clean_;
    const auto& result = run_->result;
    const double rate = std::max(
        1e-3, static_cast<double>(result.warp_instructions) / static_cast<double>(std::max<int64_t>(1, result.cycles)));
    // What a checkpoint costs: what is copied, and device memory, which is compared.
    const double size =
        (last_ ? static_cast<double>(last_->bytes) : 1 << 20) + static_cast<double>(memory_.live_bytes()) / 8;
    const auto step = static_cast<int64_t>(std::max(16.0, std::max(dense_issues, size / bytes_an_issue) / rate));
    const double room = static_cast<double>(near_.most_bytes()) / 2 / size;
    const auto dense = static_cast<int64_t>(std::min<double>(static_cast<double>(most_dense), std::max(2.0, room)));
    const int64_t dense_from = std::max(start, cycle - dense * step);
    const int64_t stride = std::max(16 * step, (dense_from - start) / coarse_parts);
    for (int64_t at = start; at < cycle;) {
        const int64_t next = at < dense_from ? std::min(at + stride, dense_from) : std::min(at + step, cycle);
        const bool whole = next - at >= std::min(step, cycle - start);
        machine_->let_run_ahead(ahead);
        if (ahead && next - settling * step > at) machine_->run_until(next - settling * step);
        machine_->let_run_ahead(false);
        if (!watch.stop.stop_requested()) machine_->run_until(next);
        clean_ = std::max(clean_, machine_->cycle());
        if (watch.stop.stop_requested()) {
            cycle_ = clean_;
            return false;
        }
        at = next;
        clean_ = cycle_ = at;
        if (whole && machine_->is_exact()) put_by();
        if (watch.progress) watch.progress(static_cast<double>(at - start) / static_cast<double>(cycle - start));
    }
    cycle_ = clean_ = std::max(clean_, cycle);
    return true;
}

bool Replay::seek(int64_t cycle, const ReplayWatch& watch) {
    cycle = std::clamp<int64_t>(cycle, 0, run_->result.cycles);
    const std::shared_ptr<const Checkpoint> nearest = before(cycle);
    if (clean_ > cycle || (nearest && nearest->latest > clean_)) {
        go_to(nearest.get());
        last_ = nearest;
    }
    if (!run_to(cycle, watch)) return false;
    if (machine_->is_exact()) return true;
    // A warp has waited all along with instructions that it had run before.
    last_ = before(cycle);
    go_to(last_.get());
    return run_to(cycle, watch, false);
}

std::optional<WarpState> Replay::warp(uint32_t block_index, uint32_t warp_in_block) const {
    const simt::Block* const where = block(block_index);
    if (where == nullptr || warp_in_block >= where->warps.size()) return std::nullopt;
    const simt::Warp& w = where->warps[warp_in_block];
    WarpState state;
    state.block = block_index;
    state.warp_in_block = warp_in_block;
    state.sm = where->sm;
    state.pc = w.stack.empty() ? ptx::no_pc : w.pc();
    state.active = w.stack.empty() ? 0 : w.active();
    state.exited = w.exited;
    state.at_barrier = w.at_barrier;
    state.done = w.done;
    state.instructions = w.instructions;
    state.stack = w.stack;
    state.values = simt::lane_values(w);
    return state;
}

const simt::Block* Replay::block(uint32_t linear) const {
    return machine_->find_block(linear);
}

const simt::Memory& Replay::device_memory() const {
    return memory_;
}

std::optional<KernelTrace> Replay::trace(uint32_t sm, int64_t begin, int64_t end, const ReplayWatch& watch) {
    const auto& whole = run_->result;
    begin = std::clamp<int64_t>(begin, 0, whole.cycles);
    end = std::clamp<int64_t>(end, begin, whole.cycles);
    const std::shared_ptr<const Checkpoint> nearest = before(begin);
    std::shared_ptr<const Checkpoint> from = nearest;
    // What a warp waits for may have been issued long ago: from there on everything of this SM is recorded.
    if (nearest && sm < nearest->sms.size())
        while (from && from->sms[sm].state.issued_ > nearest->sms[sm].oldest_cause) from = before(from->latest - 1);
    for (;;) {
        go_to(from.get());
        last_ = from;
        machine_->trace(sm, most_issues, whole.trace.machine != nullptr);
        if (!run_to(begin, watch) || !run_to(end, watch)) return std::nullopt;
        KernelTrace found = machine_->trace_so_far(end);
        if (found.truncated && found.kept_until <= begin && from != nearest) {
            from = nearest;  // too much lies between: without the causes in front of the stretch
            continue;
        }
        if (!seek(end, watch)) return std::nullopt;
        if (found.truncated) end = std::max(begin, std::min(end, found.kept_until));
        found.cycles = whole.cycles;
        found.blocks = whole.trace.blocks;
        if (sm == whole.trace.sm) found.overview = whole.trace.overview;
        KernelTrace stretch = stretch_of(found, begin, end);
        if (stretch.machine) {  // the queues are those of the whole launch
            auto machine = std::make_shared<MachineTrace>(*stretch.machine);
            machine->queues = whole.trace.machine->queues;
            stretch.machine = std::move(machine);
        }
        return stretch;
    }
}

}  // namespace lockstep::model
