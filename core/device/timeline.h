// The device's own timeline, in simulated microseconds: when the host calls, when copies and kernels run. The rules are
// those of host programs (core/model/streams/streams.h): copies from the engine's vectors are of pageable memory, so the
// host waits for them; kernels of different streams share the SMs. An event's times are those that hold if nothing else is
// asked for: a later launch on another stream may still take SMs from a kernel that has not ended.
#pragma once
#include <optional>
#include <utility>

#include "core/device/device.h"
#include "core/model/streams/streams.h"

namespace lockstep::device {

class Timeline {
  public:
    explicit Timeline(const model::GpuSpec& gpu) : clock_(gpu) {}

    // Puts a kernel on the event's stream and fills in the event's times.
    void launch(LaunchEvent& event, model::KernelTime kernel) {
        model::HostOperation operation;
        operation.verb = model::HostVerb::launch;
        operation.stream = event.stream;
        operation.kernel = std::make_shared<const model::KernelTime>(std::move(kernel));
        if (in_graph_ && std::exchange(node_of_graph_, true)) operation.us = graph_node_us;
        const model::OperationTime time = issue(operation);
        event.enqueue_begin_us = time.call_begin_us;
        event.enqueue_end_us = time.busy_end_us;
        event.begin_us = time.begin_us;
        event.end_us = time.end_us;
    }
    // Between these the launches are a graph's: the first costs the host what any launch does, the others next to nothing.
    void begin_graph() { in_graph_ = true, node_of_graph_ = false; }
    void end_graph() { in_graph_ = false; }

    void copy(CopyEvent& event) {
        model::HostOperation operation;
        operation.verb = event.to_device ? model::HostVerb::copy_in : model::HostVerb::copy_out;
        operation.stream = event.stream;
        operation.bytes = event.bytes;
        operation.pinned = false;
        const model::OperationTime time = issue(operation);
        event.enqueue_begin_us = time.call_begin_us;
        event.enqueue_end_us = time.busy_end_us;
        event.begin_us = time.begin_us;
        event.end_us = time.end_us;
    }
    Event record(Stream stream) {
        model::HostOperation operation;
        operation.verb = model::HostVerb::record;
        operation.stream = stream;
        operation.event = events_;
        clock_.issue(operation);
        return events_++;
    }
    bool wait(Stream stream, Event event) {  // false: no such event
        if (event >= events_) return false;
        model::HostOperation operation;
        operation.verb = model::HostVerb::wait;
        operation.stream = stream;
        operation.event = event;
        clock_.issue(operation);
        return true;
    }
    void synchronize() {
        model::HostOperation operation;
        operation.verb = model::HostVerb::synchronize;
        clock_.issue(operation);
        clock_.forget();
    }

  private:
    model::OperationTime issue(const model::HostOperation& operation) {
        clock_.forget();
        const size_t index = clock_.issue(operation);
        model::StreamClock ahead = clock_;  // what comes later is not known yet
        ahead.finish();
        return ahead.time_of(index);
    }

    // NVIDIA, "Constant Time Launch for Straight-Line CUDA Graphs" (2024): of CUDA 11.8, for each node after the first.
    static constexpr double graph_node_us = 0.2;

    model::StreamClock clock_;
    Event events_ = 0;
    bool in_graph_ = false, node_of_graph_ = false;
};

}  // namespace lockstep::device
