// The device's own timeline, in simulated microseconds: when the host enqueues, when copies and kernels run.
// The host spends launch_us enqueuing a kernel; a kernel begins when its stream and the compute engine are free, at the
// earliest launch latency after the enqueue's end. Kernels do not share SMs here, so two never run at once; a copy may run
// beside a kernel of another stream. Copies are of pageable memory: the host waits for their end.
#pragma once
#include <algorithm>
#include <map>
#include <vector>

#include "core/device/device.h"

namespace lockstep::device {

class Timeline {
  public:
    explicit Timeline(const model::GpuSpec& gpu)
        : launch_us_(gpu.launch_us), latency_us_(gpu.launch_latency_us), bytes_per_us_(gpu.pcie_gb_per_second * 1e3) {}

    // Puts a kernel of `kernel_us` on the event's stream and fills in the event's times.
    void launch(LaunchEvent& event, double kernel_us) {
        double& stream = streams_[event.stream];
        event.enqueue_begin_us = host_;
        event.enqueue_end_us = host_ += launch_us_;
        event.begin_us = std::max({stream, compute_, event.enqueue_end_us + latency_us_});
        event.end_us = stream = compute_ = event.begin_us + kernel_us;
    }
    void copy(Stream on, size_t bytes) {
        double& stream = streams_[on];
        const double begin = std::max({stream, copies_, host_});
        host_ = stream = copies_ = begin + static_cast<double>(bytes) / bytes_per_us_;
    }
    Event record(Stream stream) {
        events_.push_back(std::max(streams_[stream], host_));
        return static_cast<Event>(events_.size() - 1);
    }
    bool wait(Stream stream, Event event) {  // false: no such event
        if (event >= events_.size()) return false;
        streams_[stream] = std::max(streams_[stream], events_[event]);
        return true;
    }
    void synchronize() {
        for (const auto& [stream, end] : streams_) host_ = std::max(host_, end);
    }

  private:
    double launch_us_, latency_us_, bytes_per_us_;
    double host_ = 0, compute_ = 0, copies_ = 0;  // when each is free
    std::map<Stream, double> streams_;            // the end of each stream's last work
    std::vector<double> events_;
};

}  // namespace lockstep::device
