// Captures: streams that record what they are asked for as nodes of a graph instead of running it, and what may not be asked
// meanwhile. An event recorded in a capture brings the stream that waits for it into the capture.
#include <algorithm>

#include "core/runtime/runtime.h"
#include "kernels/include/program/driver_types.h"

namespace lockstep::runtime {
namespace {

thread_local int capture_mode_of_thread = cudaStreamCaptureModeGlobal;

void append(std::vector<Node*>& front, const std::vector<Node*>& more) {
    for (Node* node : more)
        if (std::find(front.begin(), front.end(), node) == front.end()) front.push_back(node);
}

void mark_reached(const std::vector<Node*>& front, std::unordered_set<const Node*>& reached) {
    std::vector<const Node*> open(front.begin(), front.end());
    while (!open.empty()) {
        const Node* node = open.back();
        open.pop_back();
        if (!reached.insert(node).second) continue;
        open.insert(open.end(), node->after.begin(), node->after.end());
    }
}

}  // namespace

int exchange_capture_mode(int mode) {
    return std::exchange(capture_mode_of_thread, mode);
}

Capture* Runtime::capture_of(uint64_t number) {
    for (const auto& capture : captures_)
        if (capture->number == number) return capture.get();
    return nullptr;
}

void Runtime::invalidate_captures() {
    for (const auto& capture : captures_) capture->invalid = true;
}

void Runtime::abandon(Capture& capture) {
    for (auto& [number, state] : streams_)
        if (state.capture == &capture) state.capture = nullptr;
    std::erase_if(captures_, [&](const auto& other) { return other.get() == &capture; });
}

void Runtime::submit(uint32_t stream, Work work, bool blocking) {
    give_call_stream(stream);
    if (Capture* const capture = streams_.at(stream).capture) {
        if (capture->invalid)
            throw CallFailure{cudaErrorStreamCaptureInvalidated, "an earlier call made the capture invalid"};
        std::vector<Node*>& front = capture->fronts[stream];
        Node* const node = capture->graph->add(std::move(work), front);
        front = {node};
        return;
    }
    if (stream == 0) need_default_stream_apart();
    run(stream, work, blocking);
}

void Runtime::need_default_stream_apart() {
    for (const auto& capture : captures_)
        for (const auto& [other, front] : capture->fronts)
            if (streams_.contains(other) && (streams_.at(other).flags & cudaStreamNonBlocking) == 0) {
                capture->invalid = true;
                throw CallFailure{cudaErrorStreamCaptureImplicit,
                                  "the default stream would wait for a stream that is capturing"};
            }
}

void Runtime::record(EventState& event, uint32_t stream, bool as_node) {
    Capture* const capture = streams_.at(stream).capture;
    if (!capture || as_node || capture->invalid) return submit(stream, RecordWork{&event});
    event.capture = capture->number;
    event.front = capture->fronts[stream];
}

void Runtime::wait(uint32_t stream, EventState& event, bool as_node) {
    StreamState& state = streams_.at(stream);
    if (event.capture == 0) {
        if (!state.capture || as_node || state.capture->invalid) return submit(stream, WaitWork{&event});
        if (!event.recorded) return;
        state.capture->invalid = true;
        throw CallFailure{cudaErrorStreamCaptureIsolation, "the event was recorded in a stream that was not capturing"};
    }
    Capture* const capture = capture_of(event.capture);
    if (!capture) throw CallFailure{cudaErrorCapturedEvent, "the event was recorded in a capture that is over"};
    if (capture->invalid) throw CallFailure{cudaErrorStreamCaptureInvalidated, "an earlier call made the capture invalid"};
    if (stream == 0) {
        capture->invalid = true;
        throw CallFailure{cudaErrorStreamCaptureImplicit, "the default stream cannot take part in a capture"};
    }
    if (state.capture && state.capture != capture) {
        capture->invalid = state.capture->invalid = true;
        throw CallFailure{cudaErrorStreamCaptureMerge, "the event belongs to another capture than the stream"};
    }
    state.capture = capture;
    append(capture->fronts[stream], event.front);
}

Capture& Runtime::begin_capture(StreamState& stream, int mode, std::shared_ptr<Graph> into) {
    if (stream.number == 0)
        throw CallFailure{cudaErrorStreamCaptureUnsupported, "the default stream cannot be captured: make a stream for it"};
    if (stream.capture) throw CallFailure{cudaErrorIllegalState, "the stream is capturing already"};
    if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed)
        throw CallFailure{cudaErrorInvalidValue, "there is no such capture mode"};
    auto capture = std::make_unique<Capture>();
    capture->number = next_capture_++;
    capture->of_the_program = into != nullptr;
    capture->graph = into ? std::move(into) : std::make_shared<Graph>(handles_);
    capture->origin = stream.number;
    capture->mode = mode;
    capture->thread = std::this_thread::get_id();
    capture->fronts[stream.number];
    stream.capture = capture.get();
    captures_.push_back(std::move(capture));
    return *captures_.back();
}

std::shared_ptr<Graph> Runtime::end_capture(StreamState& stream) {
    Capture* const capture = stream.capture;
    if (!capture) throw CallFailure{cudaErrorIllegalState, "the stream is not capturing"};
    if (capture->mode != cudaStreamCaptureModeRelaxed && capture->thread != std::this_thread::get_id())
        throw CallFailure{cudaErrorStreamCaptureWrongThread, "another thread began the capture"};
    const bool unmatched = stream.number != capture->origin;
    std::unordered_set<const Node*> reached;
    mark_reached(capture->fronts[capture->origin], reached);
    bool unjoined = false;
    for (const auto& [number, front] : capture->fronts)
        for (const Node* node : front) unjoined |= !reached.contains(node);
    const bool invalid = capture->invalid;
    const std::shared_ptr<Graph> graph = capture->graph;
    abandon(*capture);
    if (unmatched) throw CallFailure{cudaErrorStreamCaptureUnmatched, "the capture began in another stream"};
    if (invalid) throw CallFailure{cudaErrorStreamCaptureInvalidated, "an earlier call made the capture invalid"};
    if (unjoined)
        throw CallFailure{cudaErrorStreamCaptureUnjoined,
                          "another stream's captured work was not joined: the first stream has to wait for its event"};
    return graph;
}

void Runtime::need_synchronizable(model::SyncWith with, uint32_t stream, const EventState* event) {
    if (captures_.empty()) return;
    if (with == model::SyncWith::event) {
        if (event->capture == 0) return;
        invalidate_captures();
        throw CallFailure{cudaErrorCapturedEvent, "the event was recorded in a capture: nothing has run yet"};
    }
    const auto state = streams_.find(stream);
    const bool capturing = with == model::SyncWith::device || (state != streams_.end() && state->second.capture);
    if (!capturing) return;
    invalidate_captures();
    throw CallFailure{cudaErrorStreamCaptureUnsupported,
                      "a stream is capturing: its work has not begun, so nothing can wait"};
}

void Runtime::need_no_capture() {
    if (capture_mode_of_thread == cudaStreamCaptureModeRelaxed) return;
    for (const auto& capture : captures_) {
        const bool own = capture->thread == std::this_thread::get_id();
        const bool counts =
            own ? capture->mode != cudaStreamCaptureModeRelaxed
                : capture->mode == cudaStreamCaptureModeGlobal && capture_mode_of_thread == cudaStreamCaptureModeGlobal;
        if (!counts) continue;
        capture->invalid = true;
        throw CallFailure{cudaErrorStreamCaptureUnsupported, "a stream is capturing, and this call may wait for the device"};
    }
}

}  // namespace lockstep::runtime
