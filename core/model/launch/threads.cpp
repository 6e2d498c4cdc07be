#include "core/model/launch/threads.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "core/model/launch/ideal.h"
#include "core/simt/async/cluster.h"
#include "core/simt/check/checker.h"
#include "core/simt/check/findings.h"

namespace lockstep::model {
namespace {

constexpr uint64_t least_warps_a_thread = 32;  // in all; a thread costs some 50 µs

bool can_run_on_threads(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
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

struct ThreadsAtWork {
    std::atomic<bool> over{false};  // somebody has to stop, and so all do
    std::atomic_flag held;          // of the queue
    std::vector<uint64_t> queue;    // SMs that nobody visits: a heap, the earliest first

    // Gives back an SM that is not to be visited before `back`, and takes the earliest there is; idle: there is none.
    // `bound`: whose bound becomes that.
    uint64_t exchange(uint64_t back, std::atomic<uint64_t>& bound) {
        uint32_t rounds = 0;
        while (held.test_and_set(std::memory_order_acquire)) wait_a_little(rounds);
        uint64_t taken = back;
        if (!queue.empty() && queue.front() < back) {
            std::pop_heap(queue.begin(), queue.end(), std::greater<>());
            taken = queue.back();
            if (back == SmQueue::idle) {
                queue.pop_back();
            } else {
                queue.back() = back;
                std::push_heap(queue.begin(), queue.end(), std::greater<>());
            }
        }
        bound.store(taken, std::memory_order_release);
        held.clear(std::memory_order_release);
        return taken;
    }
};

void Machine::make_threads(uint32_t count) {
    for (uint32_t k = 0; k < count; ++k) {
        auto thread = std::make_unique<LaunchThread>();
        thread->grid = grid_;
        if (grid_.findings) simt::begin_findings(thread->grid);
        thread->windows = WindowRecorder(program_.instructions.size(), false);
        thread->state = state_;
        thread->state.launch = &state_;
        thread->state.grid = &thread->grid;
        thread->state.windows = &thread->windows;
        threads_.push_back(std::move(thread));
    }
}

void Machine::work(LaunchThread& own, ThreadsAtWork& all) {
    const auto earliest_of_others = [&] {
        uint64_t least = SmQueue::idle;
        for (const auto& other : threads_)
            if (other.get() != &own) least = std::min(least, other->bound.load(std::memory_order_acquire));
        return least;
    };
    uint32_t visits = 0, looks = 0;
    uint64_t given_back = SmQueue::idle;
    while (!all.over.load(std::memory_order_relaxed)) {
        const uint64_t first = all.exchange(given_back, own.bound);
        if (first == SmQueue::idle) {  // all are done, or others visit those that are left
            if (earliest_of_others() == SmQueue::idle) return;
            std::this_thread::yield();
            continue;
        }
        const uint32_t i = SmQueue::sm_of(first);
        Sm& sm = *sms_[i];
        sm.work_for(own.state);
        uint64_t theirs = 0;
        const int64_t far_enough = sm.next() + most_ahead;
        for (uint64_t key = first; sm.next() < far_enough;) {
            own.now = std::max(own.now, sm.next());
            // What the SMs share it may use in the event for which it was taken: nobody who waits comes earlier.
            bool goes_on = sm.cycle(false);
            if (!goes_on && key == first) {
                for (uint32_t rounds = 0; theirs <= key; theirs = earliest_of_others()) {
                    if (all.over.load(std::memory_order_relaxed)) return;
                    wait_a_little(rounds);
                }
                goes_on = sm.cycle(true);
            }
            if (own.state.fault) {
                all.over.store(true, std::memory_order_relaxed);
                return;
            }
            key = SmQueue::key(sm.next(), i);
            if (!goes_on) break;
            own.bound.store(key, std::memory_order_release);
            ++visits;
        }
        given_back = SmQueue::key(sm.next(), i);
        if (visits < visits_between_asks) continue;
        visits = 0;
        own.issues.store(own.state.issues, std::memory_order_relaxed);
        uint64_t issues = 0;
        for (const auto& thread : threads_) issues += thread->issues.load(std::memory_order_relaxed);
        // Warps that come round and change nothing, or too many instructions: one thread finds out.
        const bool spins = own.state.issues - own.state.last_moved > visits_between_looks / 2;
        if (issues >= options_.max_instructions || spins || options_.stop.stop_requested())
            all.over.store(true, std::memory_order_relaxed);
        if (&own == threads_.front().get() && options_.progress && ++looks % 8 == 0)
            options_.progress(std::min(
                1.0, static_cast<double>(own.state.blocks_done * threads_.size()) / static_cast<double>(state_.blocks)));
    }
}

// What a thread has counted, into the launch's account.
void Machine::gather(LaunchThread& thread) {
    state_.issues += thread.state.issues;
    state_.thread_instructions += thread.state.thread_instructions;
    state_.blocks_done += thread.state.blocks_done;
    state_.last_cycle = std::max(state_.last_cycle, thread.state.last_cycle);
    windows_.add(thread.windows);
    now_ = std::max(now_, thread.now);
}

bool Machine::run_on_threads() {
    if (refused_) return true;
    if (state_.fault) return false;
    ThreadsAtWork all;
    for (size_t i = 0; i < sms_.size(); ++i)
        if (sms_[i]->next() != never) all.queue.push_back(SmQueue::key(sms_[i]->next(), static_cast<uint32_t>(i)));
    std::make_heap(all.queue.begin(), all.queue.end(), std::greater<>());
    {
        std::vector<std::jthread> others;
        for (size_t k = 1; k < threads_.size(); ++k) others.emplace_back([&, k] { work(*threads_[k], all); });
        work(*threads_.front(), all);
    }
    result_.stopped = options_.stop.stop_requested();
    bool as_it_should = !all.over;
    for (const auto& thread : threads_) {
        as_it_should = as_it_should && (!thread->grid.findings || thread->grid.findings->warnings.empty());
        gather(*thread);
    }
    as_it_should = as_it_should && state_.issues <= options_.max_instructions;
    for (const auto& sm : sms_) {
        sm->work_for(state_);
        as_it_should = as_it_should && sm->stuck_block() == nullptr;
    }
    return as_it_should || result_.stopped;
}

TimedResult launch_on_threads(const GpuSpec& gpu, const ptx::Program& program, const simt::LaunchConfig& config,
                              simt::Memory& memory, const TimedOptions& options, uint32_t threads) {
    const uint64_t warps = config.grid.count() * ((config.block.count() + simt::warp_size - 1) / simt::warp_size);
    const uint64_t most =
        std::min({uint64_t{threads}, config.grid.count(), uint64_t{gpu.sms}, warps / least_warps_a_thread});
    if (most < 2 || options.ideal != Idealised{} || !can_run_on_threads(gpu, program, config, options))
        return launch(gpu, program, config, memory, options);
    const simt::Memory before(memory);
    std::optional<L2State> l2;
    if (options.l2 != nullptr) l2 = *options.l2;
    {
        Machine machine(gpu, program, config, memory, options, static_cast<uint32_t>(most));
        if (machine.run_on_threads()) return machine.finish();
    }
    memory = before;
    if (l2) *options.l2 = std::move(*l2);
    return launch(gpu, program, config, memory, options);
}

}  // namespace lockstep::model
