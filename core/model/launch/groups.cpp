#include "core/model/launch/groups.h"

#include <algorithm>
#include <thread>

#include "core/model/launch/ideal.h"
#include "core/simt/async/cluster.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/findings.h"

namespace lockstep::model {
namespace {

constexpr int64_t most_ahead = 1 << 12;  // cycles
constexpr uint32_t visits_between_asks = 1 << 11, visits_between_looks = 1 << 14;
constexpr uint64_t least_warps_a_thread = 32;  // in all; a thread costs some 50 µs

bool can_run_in_groups(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                       const TimedOptions& options) {
    const bool looked_at = options.trace || options.machine || options.checkpoint_bytes != 0 || options.racecheck ||
                           options.initcheck || !options.skip_idle;
    simt::Grid grid;
    grid.program = &program;
    grid.config = &config;
    return !looked_at && gpu.sms > 1 && program.calls.empty() && simt::cluster_of(program, config).count() == 1;
}

// Gives the other thread of a core the core, and after a while another program's.
void wait_a_little(uint32_t& rounds) {
    if (++rounds < 2000) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    } else {
        std::this_thread::yield();
    }
}

}  // namespace

void Machine::make_groups(uint32_t count) {
    for (uint32_t g = 0; g < count; ++g) {
        auto group = std::make_unique<SmGroup>();
        group->grid = grid_;
        if (grid_.findings) simt::begin_findings(group->grid);
        group->windows = WindowRecorder(program_.instructions.size(), false);
        group->state = state_;
        group->state.launch = &state_;
        group->state.grid = &group->grid;
        group->state.windows = &group->windows;
        groups_.push_back(std::move(group));
    }
}

void Machine::run_group(size_t number, std::atomic<bool>& over) {
    SmGroup& own = *groups_[number];
    const auto earliest_of_others = [&] {
        uint64_t least = SmQueue::idle;
        for (size_t g = 0; g < groups_.size(); ++g)
            if (g != number) least = std::min(least, groups_[g]->bound.load(std::memory_order_acquire));
        return least;
    };
    std::vector<uint64_t> stopped_at(sms_.size(), SmQueue::idle);  // where an SM waited for others last
    uint32_t visits = 0, asked = 0;
    uint64_t theirs = 0;
    while (!over.load(std::memory_order_relaxed)) {
        const uint64_t first = own.queue.first(), second = own.queue.second();
        own.bound.store(first, std::memory_order_release);
        if (first == SmQueue::idle) return;
        const uint32_t i = SmQueue::sm_of(first);
        Sm& sm = *sms_[i];
        if (stopped_at[i] == first)
            for (uint32_t rounds = 0; theirs <= first; theirs = earliest_of_others()) {
                if (over.load(std::memory_order_relaxed)) return;
                wait_a_little(rounds);
            }
        if (second != SmQueue::idle) sms_[SmQueue::sm_of(second)]->prefetch();
        const int64_t far_enough = sm.next() + most_ahead;
        while (sm.next() < far_enough) {
            own.now = std::max(own.now, sm.next());
            const uint64_t key = SmQueue::key(sm.next(), i);
            if (key < second && theirs <= key) theirs = earliest_of_others();
            const bool goes_on = sm.cycle(key < second && key < theirs);
            if (own.state.fault) {
                over.store(true, std::memory_order_relaxed);
                return;
            }
            const uint64_t next = SmQueue::key(sm.next(), i);
            own.bound.store(std::min(second, next), std::memory_order_release);
            if (!goes_on) {
                stopped_at[i] = next;
                break;
            }
            ++visits;
        }
        own.queue.move_first(SmQueue::key(sm.next(), i));
        if (visits - asked < visits_between_asks) continue;
        asked = visits;
        own.issues.store(own.state.issues, std::memory_order_relaxed);
        uint64_t issues = 0;
        bool all_spin = true;
        if (visits >= visits_between_looks) {
            visits = asked = 0;
            bool spins = own.state.issues - own.state.last_moved > visits_between_looks / 2;
            for (size_t each = number; each < sms_.size() && spins; each += groups_.size()) spins = sms_[each]->all_spin();
            own.spins.store(spins, std::memory_order_relaxed);
            if (number == 0 && options_.progress)
                options_.progress(std::min(
                    1.0, static_cast<double>(own.state.blocks_done * groups_.size()) / static_cast<double>(state_.blocks)));
        }
        for (const auto& group : groups_) {
            issues += group->issues.load(std::memory_order_relaxed);
            all_spin = all_spin && (group->spins.load(std::memory_order_relaxed) ||
                                    group->bound.load(std::memory_order_relaxed) == SmQueue::idle);
        }
        if (issues >= options_.max_instructions || all_spin || options_.stop.stop_requested())
            over.store(true, std::memory_order_relaxed);
    }
}

// What a group has counted, into the launch's account.
void Machine::gather(SmGroup& group) {
    state_.issues += group.state.issues;
    state_.thread_instructions += group.state.thread_instructions;
    state_.blocks_done += group.state.blocks_done;
    state_.last_cycle = std::max(state_.last_cycle, group.state.last_cycle);
    windows_.add(group.windows);
    now_ = std::max(now_, group.now);
}

bool Machine::run_in_groups() {
    if (refused_) return true;
    if (state_.fault) return false;
    for (size_t g = 0; g < groups_.size(); ++g) {
        std::vector<uint64_t> keys;
        for (size_t i = g; i < sms_.size(); i += groups_.size())
            keys.push_back(SmQueue::key(sms_[i]->next(), static_cast<uint32_t>(i)));
        groups_[g]->queue.rebuild(std::move(keys));
        groups_[g]->bound.store(groups_[g]->queue.first(), std::memory_order_relaxed);
    }
    std::atomic<bool> over = false;
    {
        std::vector<std::jthread> threads;
        for (size_t g = 1; g < groups_.size(); ++g) threads.emplace_back([&, g] { run_group(g, over); });
        run_group(0, over);
    }
    result_.stopped = options_.stop.stop_requested();
    bool as_it_should = !over;
    for (const auto& group : groups_) {
        as_it_should = as_it_should && group->state.issues <= options_.max_instructions &&
                       (!group->grid.findings || group->grid.findings->warnings.empty());
        gather(*group);
    }
    as_it_should = as_it_should && state_.issues <= options_.max_instructions;
    for (const auto& sm : sms_) as_it_should = as_it_should && sm->stuck_block() == nullptr;
    return as_it_should || result_.stopped;
}

TimedResult launch_on_threads(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                              simt::Memory& memory, const TimedOptions& options, uint32_t threads) {
    const uint64_t warps = config.grid.count() * ((config.block.count() + simt::warp_size - 1) / simt::warp_size);
    const uint64_t most =
        std::min({uint64_t{threads}, config.grid.count(), uint64_t{gpu.sms}, warps / least_warps_a_thread});
    if (most < 2 || options.ideal != Idealised{} || !can_run_in_groups(gpu, program, config, options))
        return launch(gpu, program, config, memory, options);
    const simt::Memory before(memory);
    std::optional<L2State> l2;
    if (options.l2 != nullptr) l2 = *options.l2;
    {
        Machine machine(gpu, program, config, memory, options, static_cast<uint32_t>(most));
        if (machine.run_in_groups()) return machine.finish();
    }
    memory = before;
    if (l2) *options.l2 = std::move(*l2);
    return launch(gpu, program, config, memory, options);
}

}  // namespace lockstep::model
