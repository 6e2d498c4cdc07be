// Eager execution with two threads, as TensorFlow's: the caller's thread looks an op up, chooses its kernel by name and type
// and puts a node into a bounded queue; the dequeue thread takes nodes in order and launches them on the device below.
// Queue is a Device, so the engine above does not know. Whoever reads a value, records or waits for an event, or
// synchronises, waits until the queue is empty; small copies in queue up like launches.
//
//     Queue device(open_device("host", {}).value());
//     Heap heap(device); Tape tape(heap); ...
//
// A launch that fails is reported by the next call that waits, with kernel, op, layer and the model's line; what was queued
// behind it does not run. on_launch and on_queue are called by the calls that wait, on the caller's thread.
#pragma once
#include <memory>

#include "core/device/device.h"
#include "core/trace/trace.h"

namespace lockstep::graph {

constexpr int usual_depth = 64;  // nodes

struct QueueEvent {  // one node. Microseconds of the steady clock from the queue's making: measured on the host
    std::string kernel, op, label;
    int depth = 0;               // nodes in the queue once this one is in, itself included
    double lookup_begin_us = 0;  // since the node before was put in: the op, its tensors, its kernel
    double enqueue_begin_us = 0, enqueue_end_us = 0;
    double dequeue_begin_us = 0, dequeue_end_us = 0;  // the device's launch call
};

class Queue final : public device::Device {
  public:
    explicit Queue(std::unique_ptr<device::Device> below, int depth = usual_depth);  // throws Failure: 1 to 65536 nodes
    ~Queue() override;

    std::string name() const override;
    std::string description() const override;
    std::string_view provenance() const override;
    device::Pointer allocate(size_t bytes, std::string_view name) override;
    void release(device::Pointer pointer) override;
    void copy_in(device::Pointer to, const void* from, size_t bytes, device::Stream stream) override;
    void copy_out(void* to, device::Pointer from, size_t bytes, device::Stream stream) override;
    void launch(const device::LaunchRequest& request) override;
    void launch_graph(std::span<const device::LaunchRequest> requests) override;
    device::Event record(device::Stream stream) override;
    void wait(device::Stream stream, device::Event event) override;
    void synchronize() override;

    std::function<void(const QueueEvent&)> on_queue;  // null: nothing is timed

  private:
    struct State;
    void drain();     // waits until the queue is empty, hands out events, throws what a launch threw
    void hand_out();  // events, with nothing in the queue
    std::unique_ptr<State> state_;
};

// The steps of two threads as tracks: enqueue, dequeue, the device; arrows from a node's enqueue to its launch and on to its
// kernel. For host devices the times are those measured. For simulated ones the device's are simulated, and the enqueue
// thread's are derived: a node takes `call_us` of it, and it is at most `depth` nodes ahead.
Trace trace_of(const std::string& device, std::span<const QueueEvent> nodes, std::span<const device::LaunchEvent> launches,
               int depth, double call_us);

}  // namespace lockstep::graph
