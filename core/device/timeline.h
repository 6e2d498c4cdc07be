// The device's own timeline, in simulated microseconds: when the host calls, when copies and kernels run. The rules are
// those of host programs (core/model/streams.h): copies from the engine's vectors are of pageable memory, so the host waits
// for them; kernels of different streams share the SMs. An event's times are those that hold if nothing else is asked for:
// a later launch on another stream may still take SMs from a kernel that has not ended.
#pragma once
#include <optional>

#include "core/device/device.h"
#include "core/model/streams.h"

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
        const model::OperationTime time = issue(operation);
        event.enqueue_begin_us = time.call_begin_us;
        event.enqueue_end_us = time.busy_end_us;
        event.begin_us = time.begin_us;
        event.end_us = time.end_us;
    }
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

    model::StreamClock clock_;
    Event events_ = 0;
};

}  // namespace lockstep::device
