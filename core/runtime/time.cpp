// Streams, events and the model's clock.
#include <fmt/format.h>

#include <algorithm>

#include "core/runtime/runtime.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {

size_t Runtime::issue(model::HostOperation operation) {
    tidy();
    if (node_us_) {
        operation.in_graph = true;
        operation.us = *node_us_;
    }
    const size_t index = clock_.issue(operation);
    last_in_stream_[operation.stream] = index;
    return index;
}

void Runtime::tidy() {
    clock_.advance();
    resolve();  // before the clock forgets them
    clock_.forget();
}

void Runtime::resolve() {
    // In the order in which they were issued: the clock keeps an operation as long as one before it has not ended.
    for (; !pending_.empty() && clock_.has_ended(pending_.front().operation); pending_.pop_front()) {
        const model::OperationTime time = clock_.time_of(pending_.front().operation);
        *pending_.front().begin_us = time.begin_us;
        *pending_.front().end_us = time.end_us;
    }
    std::erase_if(recorded_, [&](const std::pair<uint32_t, size_t>& recording) {
        if (!clock_.has_ended(recording.second)) return false;
        for (auto& [handle, event] : events_)
            if (event->number == recording.first && event->operation == recording.second)
                event->at_us = clock_.time_of(recording.second).end_us;
        return true;
    });
}

uint32_t Runtime::add_stream(uint32_t flags, int priority) {
    const uint32_t number = next_stream_++;
    if ((flags & cudaStreamNonBlocking) != 0) clock_.set_independent(number), order_.set_independent(number);
    streams_[number] = {.number = number, .device = device_, .flags = flags, .priority = priority};
    return number;
}

// A stream's handle is its entry's address; 0 and cudaStreamLegacy are the default stream. cudaStreamPerThread is one of the
// calling thread's own, on each device.
StreamState* Runtime::stream_of(const void* handle) {
    if (handle == nullptr || handle == cudaStreamLegacy) return &streams_[0];
    if (handle == cudaStreamPerThread) {
        thread_local std::map<uint32_t, uint32_t> own;
        uint32_t& number = own[device_];
        if (number == 0) number = add_stream(0, 0);
        return &streams_.at(number);
    }
    for (auto& [number, stream] : streams_)
        if (&stream == handle) return &stream;
    return nullptr;
}

void* Runtime::handle_of(uint32_t stream) {
    return &streams_.at(stream);
}

void Runtime::remove_stream(uint32_t stream) {
    // What a stream that joined a capture has recorded stays in it.
    if (Capture* const capture = streams_.at(stream).capture; capture && capture->origin == stream) abandon(*capture);
    streams_.erase(stream);
}

EventState* Runtime::add_event(uint32_t flags) {
    auto event = std::make_unique<EventState>();
    event->number = next_event_++;
    event->device = device_;
    event->flags = flags;
    EventState* const handle = event.get();
    events_[handle] = std::move(event);
    return handle;
}

bool Runtime::is_event(const EventState* event) const {
    return events_.contains(event);
}

void Runtime::remove_event(EventState* event) {
    events_.erase(event);
}

void Runtime::mark(model::HostVerb verb, uint32_t stream, uint32_t event) {
    model::HostOperation operation;
    operation.verb = verb;
    operation.stream = stream;
    operation.event = event;
    issue(operation);
    if (verb == model::HostVerb::record) order_.record(event, stream);
    if (verb == model::HostVerb::wait) order_.wait(stream, event);
}

void Runtime::run_record(uint32_t stream, EventState& event) {
    mark(model::HostVerb::record, stream, event.number);
    event.operation = last_in_stream_.at(stream);
    event.recorded = true;
    event.capture = 0;
    event.front.clear();
    event.at_us.reset();
    recorded_.emplace_back(event.number, event.operation);
}

void Runtime::run_wait(uint32_t stream, const EventState& event) {
    if (event.recorded)
        mark(model::HostVerb::wait, stream, event.number);  // one that was never recorded is over, as in CUDA
}

void Runtime::synchronize(model::SyncWith with, uint32_t stream, const EventState* event) {
    need_synchronizable(with, stream, event);
    if (with == model::SyncWith::stream) give_call_stream(stream);
    settle(with, stream, event);
    if (event && event->recorded) order_.host_waits_for_event(event->number);
    if (with == model::SyncWith::stream) order_.host_waits_for_stream(stream);
    if (with == model::SyncWith::device) order_.host_waits_for_all();
    if (sticky_error_ != 0) throw CallFailure{sticky_error_, "a kernel ended in a fault"};
}

void Runtime::settle(model::SyncWith with, uint32_t stream, const EventState* event) {
    if (event && !event->recorded) return;
    model::HostOperation operation;
    operation.verb = model::HostVerb::synchronize;
    operation.with = with;
    operation.stream = stream;
    operation.event = event ? event->number : 0;
    clock_.issue(operation);
    resolve();
}

bool Runtime::is_done(const EventState& event) {
    need_synchronizable(model::SyncWith::event, 0, &event);
    tidy();
    const bool done = !event.recorded || event.at_us.has_value();
    if (done && event.recorded) order_.host_waits_for_event(event.number);
    return done;
}

bool Runtime::is_done(uint32_t stream) {
    need_synchronizable(model::SyncWith::stream, stream, nullptr);
    tidy();
    const bool done = std::all_of(last_in_stream_.begin(), last_in_stream_.end(), [&](const auto& last) {
        return (stream != 0 && last.first != stream) || clock_.has_ended(last.second);
    });
    if (done) order_.host_waits_for_stream(stream);
    return done;
}

bool Runtime::set_peer(uint32_t peer, bool enabled) {
    const std::pair pair(device_, peer);
    const bool before = std::find(peers_.begin(), peers_.end(), pair) != peers_.end();
    if (before == enabled) return false;
    if (enabled)
        peers_.push_back(pair);
    else
        std::erase(peers_, pair);
    return true;
}

// The device forgets all that the program gave it, and the fault of a kernel too.
void Runtime::reset_device() {
    sticky_error_ = last_error_ = 0;
    synchronize(model::SyncWith::device, 0, nullptr);
    l2_.erase(device_);
    std::vector<std::pair<uint64_t, bool>> all;
    for (const auto& [address, block] : blocks_)
        if (!block.freed && block.device == device_)
            all.emplace_back(address, block.kind == MemoryKind::pinned || block.kind == MemoryKind::registered);
    for (const auto& [address, of_host] : all) release(address, of_host);
    for (auto& [host, variable] : variables_)
        if (!variable.managed) variable.addresses[device_] = 0;
}

}  // namespace lockstep::runtime
