// Steps are claimed in order under one mutex; step s is made into slot (s - first) % depth, which is free once step
// s - depth has been released. The caller waits for the one slot that is next.
#include "core/nn/data/loader.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "core/base/diagnostic.h"

namespace lockstep::nn {

struct Prefetcher::State {
    LoaderOptions options;
    std::function<void(uint64_t, size_t)> make;
    mutable std::mutex mutex;
    std::condition_variable_any free, ready;
    uint64_t claimed = 0, taken = 0, released = 0, made = 0;  // batches, counted from `first`
    std::vector<char> finished;                               // by slot
    std::vector<std::exception_ptr> failures;                 // by slot
    double waited_seconds = 0;
    std::stop_source stop;
    std::optional<std::stop_callback<std::function<void()>>> forward;  // of the caller's stop
    std::vector<std::jthread> threads;

    size_t slot(uint64_t count) const { return static_cast<size_t>(count % static_cast<uint64_t>(options.depth)); }
    bool may_claim() const { return claimed < options.steps && claimed < released + static_cast<uint64_t>(options.depth); }

    void work() {
        std::unique_lock lock(mutex);
        while (free.wait(lock, stop.get_token(), [&] { return may_claim() || claimed >= options.steps; }) && may_claim()) {
            const uint64_t count = claimed++;
            lock.unlock();
            std::exception_ptr failure;
            try {
                make(options.first + count, slot(count));
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            failures[slot(count)] = failure;
            finished[slot(count)] = 1;
            ++made;
            if (failure) claimed = options.steps;  // nobody comes past it
            ready.notify_all();
        }
    }
};

Prefetcher::Prefetcher(LoaderOptions options, std::function<void(uint64_t, size_t)> make) {
    if (options.depth < 1 || options.depth > 1024)
        throw Failure(fmt::format("a loader {} batches deep is impossible: 1 to 1024", options.depth));
    if (options.threads < 1 || options.threads > 64)
        throw Failure(fmt::format("{} loader threads are impossible: 1 to 64", options.threads));
    state_ = std::make_unique<State>();
    State& s = *state_;
    s.options = std::move(options);
    s.make = std::move(make);
    s.finished.resize(static_cast<size_t>(s.options.depth));
    s.failures.resize(static_cast<size_t>(s.options.depth));
    s.forward.emplace(s.options.stop, [&s] { s.stop.request_stop(); });
    for (int i = 0; i < s.options.threads; ++i) s.threads.emplace_back([&s] { s.work(); });
}

Prefetcher::~Prefetcher() {
    state_->stop.request_stop();
    state_->threads.clear();  // joins
    state_->forward.reset();
}

std::optional<size_t> Prefetcher::take() {
    State& s = *state_;
    LoaderProgress now;
    size_t slot = 0;
    {
        std::unique_lock lock(s.mutex);
        if (s.taken >= s.options.steps) return std::nullopt;
        slot = s.slot(s.taken);
        if (!s.finished[slot]) {
            const auto from = std::chrono::steady_clock::now();
            s.ready.wait(lock, s.stop.get_token(), [&] { return s.finished[slot] != 0; });
            s.waited_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
        }
        throw_if_stopped(s.stop.get_token());
        if (s.failures[slot]) std::rethrow_exception(s.failures[slot]);
        ++s.taken;
        now = {s.taken, s.made, s.options.steps, s.waited_seconds};
    }
    if (s.options.on_progress) s.options.on_progress(now);
    return slot;
}

void Prefetcher::release() {
    State& s = *state_;
    {
        const std::lock_guard lock(s.mutex);
        s.finished[s.slot(s.released)] = 0;
        ++s.released;
    }
    s.free.notify_one();
}

LoaderProgress Prefetcher::progress() const {
    const std::lock_guard lock(state_->mutex);
    return {state_->taken, state_->made, state_->options.steps, state_->waited_seconds};
}

}  // namespace lockstep::nn
