// A job is one number: how many parts are left, under a job's number, so that a late thread cannot take a part of a job that
// has ended. Sleepers and posters each write first and look second (sequentially consistent): no wake-up is lost.
#include "core/device/kernels/thread_pool.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace lockstep::device {

namespace {
// A wake-up costs 50 us, and puts a worker beside the caller as often as on an idle processor: workers stay awake over the
// pauses within a training step. The caller waits for parts of 25 us.
constexpr std::chrono::microseconds worker_awake{300}, caller_awake{50};

template <class Condition, class Meanwhile>
bool comes_true_within(std::chrono::microseconds time, const Condition& condition, const Meanwhile& meanwhile) {
    const auto end = std::chrono::steady_clock::now() + time;
    do {
        if (condition()) return true;
        meanwhile();
    } while (std::chrono::steady_clock::now() < end);
    return false;
}
}  // namespace

struct ThreadPool::State {
    std::atomic<uint64_t> left{0};   // job << 32 | parts that nobody has taken
    std::atomic<int> unfinished{0};  // parts of the job
    std::atomic<int> sleepers{0};
    std::atomic<bool> caller_sleeps{false}, closing{false};
    const void* work = nullptr;  // lives until `unfinished` is 0
    void (*part_of)(const void*, int) = nullptr;
    uint32_t job = 0;

    std::mutex mutex;
    std::condition_variable posted, finished;
    std::exception_ptr failure;  // guarded by `mutex`
    std::vector<std::thread> workers;

    bool parts_left() const { return static_cast<uint32_t>(left) > 0; }

    void take_parts() {
        uint64_t seen = left;
        while (static_cast<uint32_t>(seen) > 0) {
            if (!left.compare_exchange_weak(seen, seen - 1)) continue;
            try {
                part_of(work, static_cast<int>(static_cast<uint32_t>(seen) - 1));
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (!failure) failure = std::current_exception();
            }
            if (--unfinished == 0 && caller_sleeps) {
                const std::lock_guard lock(mutex);
                finished.notify_one();
            }
            seen = left;
        }
    }

    void serve() {
        while (!closing) {
            take_parts();
            // It may share its processor with the caller: whoever else wants to run goes first.
            if (comes_true_within(
                    worker_awake, [&] { return parts_left() || closing; }, std::this_thread::yield))
                continue;
            std::unique_lock lock(mutex);
            ++sleepers;
            posted.wait(lock, [&] { return parts_left() || closing; });
            --sleepers;
        }
    }
};

ThreadPool::ThreadPool(int threads) : state_(std::make_unique<State>()) {
    State& s = *state_;
    try {
        for (int i = 1; i < threads; ++i) s.workers.emplace_back([&s] { s.serve(); });
    } catch (const std::system_error&) {  // no more threads
    }
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock(state_->mutex);
        state_->closing = true;
    }
    state_->posted.notify_all();
    for (std::thread& worker : state_->workers) worker.join();
}

int ThreadPool::threads() const {
    return static_cast<int>(state_->workers.size()) + 1;
}

void ThreadPool::run_parts(int parts, const void* work, Part part_of) {
    State& s = *state_;
    if (parts <= 1 || s.workers.empty()) {
        for (int part = 0; part < parts; ++part) part_of(work, part);
        return;
    }
    s.work = work;
    s.part_of = part_of;
    s.unfinished = parts;
    s.left = uint64_t{++s.job} << 32 | static_cast<uint32_t>(parts);
    if (s.sleepers > 0) {
        { const std::lock_guard lock(s.mutex); }  // a thread about to sleep has looked before, or is asleep now
        for (int i = 1; i < parts && i <= static_cast<int>(s.workers.size()); ++i) s.posted.notify_one();
    }
    s.take_parts();
    if (!comes_true_within(
            caller_awake, [&] { return s.unfinished == 0; }, [] {})) {
        std::unique_lock lock(s.mutex);
        s.caller_sleeps = true;
        s.finished.wait(lock, [&] { return s.unfinished == 0; });
        s.caller_sleeps = false;
    }
    const std::lock_guard lock(s.mutex);
    if (s.failure) std::rethrow_exception(std::exchange(s.failure, nullptr));
}

}  // namespace lockstep::device
