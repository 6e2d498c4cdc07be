// A ring of slots that keep their memory. One thread puts in (`put` counts), one takes out (`done` counts); each sleeps only
// after a while of looking, under one mutex. `below_mutex` is held during calls of the device below, whichever thread makes
// them: allocating while a kernel runs is allowed.
#include "core/graph/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "core/base/diagnostic.h"
#include "core/tensor/tape.h"

namespace lockstep::graph {

namespace {
using QueueClock = std::chrono::steady_clock;
constexpr size_t largest_queued_copy = 1 << 20;
constexpr std::chrono::microseconds queue_awake{100};  // a wake-up costs 50 us

template <class Condition>
bool soon(const Condition& condition) {
    const auto end = QueueClock::now() + queue_awake;
    do {
        if (condition()) return true;
        std::this_thread::yield();
    } while (QueueClock::now() < end);
    return condition();
}
}  // namespace

struct Queue::State {
    struct Slot {
        bool copies = false;
        device::LaunchRequest request;
        device::Pointer to;  // of a copy
        device::Stream stream = 0;
        std::vector<std::byte> bytes;
        QueueEvent event;
    };
    std::unique_ptr<device::Device> below;
    std::mutex below_mutex, sleep_mutex;
    std::vector<Slot> slots;
    std::atomic<uint64_t> put{0}, done{0};
    std::atomic<bool> closing{false}, failed{false};
    std::atomic<int> sleepers{0};
    std::condition_variable woken;
    std::exception_ptr failure;  // written before `failed`
    bool timed = false, hears_launches = false, hears_copies = false;
    std::vector<QueueEvent> events;             // of this synchronisation; filled by the dequeue thread
    std::vector<device::LaunchEvent> launches;  // likewise
    std::vector<device::CopyEvent> copies;
    double last_put_us = 0;
    QueueClock::time_point made = QueueClock::now();
    std::thread thread;

    double now() const { return std::chrono::duration<double, std::micro>(QueueClock::now() - made).count(); }
    uint64_t waiting() const { return put - done; }

    void wake() {
        if (sleepers == 0) return;
        { const std::lock_guard lock(sleep_mutex); }
        woken.notify_all();
    }
    template <class Condition>
    void wait_until(const Condition& condition) {
        if (soon(condition)) return;
        std::unique_lock lock(sleep_mutex);
        ++sleepers;
        woken.wait(lock, condition);
        --sleepers;
    }

    Slot& next_slot() {
        wait_until([&] { return waiting() < slots.size(); });
        return slots[put % slots.size()];
    }
    void publish() {
        ++put;
        wake();
    }

    void run(Slot& slot) {
        if (timed) slot.event.dequeue_begin_us = now();
        {
            const std::lock_guard lock(below_mutex);
            if (slot.copies)
                below->copy_in(slot.to, slot.bytes.data(), slot.bytes.size(), slot.stream);
            else
                below->launch(slot.request);
        }
        if (!timed || slot.copies) return;
        slot.event.dequeue_end_us = now();
        events.push_back(slot.event);
    }
    void fail(const Slot& slot) {
        try {
            throw;
        } catch (const Cancelled&) {
            failure = std::current_exception();
        } catch (const Failure& problem) {
            const device::LaunchRequest& r = slot.request;
            if (slot.copies) {
                failure = std::current_exception();
            } else {
                Failure told = problem;
                told.diagnostic.message = fmt::format("{}{}{}: {} failed in the queue: {}", r.label,
                                                      r.op.empty() ? "" : fmt::format(" ({})", r.op),
                                                      r.where.line() > 0 ? ", recorded at " + tensor::place_of(r.where) : "",
                                                      r.kernel, problem.diagnostic.message);
                failure = std::make_exception_ptr(told);
            }
        } catch (...) {
            failure = std::current_exception();
        }
        failed = true;
    }

    void serve() {
        while (true) {
            wait_until([&] { return waiting() > 0 || closing; });
            if (waiting() == 0) return;
            Slot& slot = slots[done % slots.size()];
            if (!failed) {  // what stands behind a failure does not run
                try {
                    run(slot);
                } catch (...) {
                    fail(slot);
                }
            }
            ++done;
            wake();
        }
    }
};

Queue::Queue(std::unique_ptr<device::Device> below, int depth) : state_(std::make_unique<State>()) {
    if (depth < 1 || depth > 65536) throw Failure(fmt::format("a queue of {} nodes is impossible: 1 to 65536", depth));
    State& s = *state_;
    s.below = std::move(below);
    s.slots.resize(static_cast<size_t>(depth));
    s.thread = std::thread([&s] { s.serve(); });
}

Queue::~Queue() {
    state_->closing = true;
    { const std::lock_guard lock(state_->sleep_mutex); }
    state_->woken.notify_all();
    state_->thread.join();
}

std::string Queue::name() const {
    return state_->below->name();
}
std::string Queue::description() const {
    return fmt::format("{}, behind a queue of {} nodes", state_->below->description(), state_->slots.size());
}
std::string_view Queue::provenance() const {
    return state_->below->provenance();
}

device::Pointer Queue::allocate(size_t bytes, std::string_view buffer) {
    const std::lock_guard lock(state_->below_mutex);
    return state_->below->allocate(bytes, buffer);
}
void Queue::release(device::Pointer pointer) {
    State& s = *state_;
    s.wait_until([&] { return s.waiting() == 0; });  // nobody may still use it
    const std::lock_guard lock(s.below_mutex);
    s.below->release(pointer);
}

void Queue::copy_in(device::Pointer to, const void* from, size_t bytes, device::Stream stream) {
    State& s = *state_;
    if (s.waiting() == 0 || bytes > largest_queued_copy) {
        drain();
        s.below->copy_in(to, from, bytes, stream);
        return hand_out();
    }
    State::Slot& slot = s.next_slot();
    slot.copies = true;
    slot.to = to;
    slot.stream = stream;
    slot.bytes.resize(bytes);
    std::memcpy(slot.bytes.data(), from, bytes);
    s.publish();
}

void Queue::copy_out(void* to, device::Pointer from, size_t bytes, device::Stream stream) {
    drain();
    state_->below->copy_out(to, from, bytes, stream);
    hand_out();
}

void Queue::launch(const device::LaunchRequest& request) {
    State& s = *state_;
    const bool timed = on_queue != nullptr;
    const bool launches = on_launch != nullptr, copies = on_copy != nullptr;
    if (timed != s.timed || launches != s.hears_launches || copies != s.hears_copies) {
        drain();
        s.timed = timed;
        s.hears_launches = launches;
        s.hears_copies = copies;
        s.last_put_us = s.now();
        s.below->on_launch = nullptr;
        s.below->on_copy = nullptr;
        if (on_launch) s.below->on_launch = [&s](const device::LaunchEvent& event) { s.launches.push_back(event); };
        if (on_copy) s.below->on_copy = [&s](const device::CopyEvent& event) { s.copies.push_back(event); };
    }
    const double begin = timed ? s.now() : 0;
    State::Slot& slot = s.next_slot();
    slot.copies = false;
    slot.request = request;
    if (timed) {
        QueueEvent& event = slot.event;
        event.kernel = request.kernel;
        event.op = request.op;
        event.label = request.label;
        event.depth = static_cast<int>(s.waiting()) + 1;
        event.lookup_begin_us = s.last_put_us;
        event.enqueue_begin_us = begin;
        event.enqueue_end_us = s.last_put_us = s.now();
    }
    s.publish();
}

void Queue::launch_graph(std::span<const device::LaunchRequest> requests) {
    drain();
    State& s = *state_;
    const std::lock_guard lock(s.below_mutex);
    s.below->on_launch = on_launch;
    s.below->on_copy = on_copy;
    s.hears_launches = on_launch == nullptr;  // so that the next launch() sets them anew
    s.below->launch_graph(requests);
}

device::Event Queue::record(device::Stream stream) {
    drain();
    const std::lock_guard lock(state_->below_mutex);
    return state_->below->record(stream);
}
void Queue::wait(device::Stream stream, device::Event event) {
    drain();
    const std::lock_guard lock(state_->below_mutex);
    state_->below->wait(stream, event);
}
void Queue::synchronize() {
    drain();
    const std::lock_guard lock(state_->below_mutex);
    state_->below->synchronize();
}

void Queue::drain() {
    State& s = *state_;
    s.wait_until([&] { return s.waiting() == 0; });
    hand_out();
    if (s.timed) s.last_put_us = s.now();
    if (!s.failed) return;
    s.failed = false;
    std::rethrow_exception(std::exchange(s.failure, nullptr));
}

void Queue::hand_out() {
    State& s = *state_;
    for (const device::LaunchEvent& event : s.launches)
        if (on_launch) on_launch(event);
    for (const device::CopyEvent& event : s.copies)
        if (on_copy) on_copy(event);
    for (const QueueEvent& event : s.events)
        if (on_queue) on_queue(event);
    s.launches.clear();
    s.copies.clear();
    s.events.clear();
}

Trace trace_of(const std::string& device, std::span<const QueueEvent> nodes, std::span<const device::LaunchEvent> launches,
               int depth, double call_us) {
    const bool host = device == "host";
    Trace trace;
    trace.tracks = {{"enqueue thread"}, {"dequeue thread"}, {device}};
    const auto ns = [](double us) { return static_cast<int64_t>(us * 1000); };
    const size_t count = std::min(nodes.size(), launches.size());
    double ahead = 0;  // when the enqueue thread is free again, derived
    for (size_t i = 0; i < count; ++i) {
        const QueueEvent& node = nodes[i];
        const device::LaunchEvent& launch = launches[i];
        const double dequeue_begin = host ? node.dequeue_begin_us : launch.enqueue_begin_us;
        const double dequeue_end = host ? node.dequeue_end_us : launch.enqueue_end_us;
        double begin = node.lookup_begin_us, end = node.enqueue_end_us;
        if (!host) {
            begin = i == 0 ? dequeue_begin - call_us : ahead;
            if (i >= static_cast<size_t>(depth))
                begin = std::max(begin, launches[i - static_cast<size_t>(depth)].enqueue_end_us);
            end = ahead = begin + call_us;
        }
        const auto detail = static_cast<int64_t>(i);
        trace.spans.push_back(
            {0, ns(begin), ns(end),
             fmt::format("{} -> {}, {} in queue", node.op.empty() ? node.label : node.op, node.kernel, node.depth), detail});
        trace.spans.push_back({1, ns(dequeue_begin), ns(dequeue_end), "launch " + node.label, detail});
        // A host's kernel runs within the launch call, whose clock this is.
        trace.spans.push_back(
            {2, ns(host ? dequeue_begin : launch.begin_us), ns(host ? dequeue_end : launch.end_us), node.label, detail});
        const auto first = static_cast<int>(3 * i);
        trace.arrows.push_back({first, first + 1});
        trace.arrows.push_back({first + 1, first + 2});
    }
    return trace;
}

}  // namespace lockstep::graph
