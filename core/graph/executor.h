// Replays a graph: takes the arena of its plan and the memory of its constants from the heap once, makes every launch's
// arguments once, and then a step is: copy the feeds in, set the arguments that change, hand the launches to the device in
// one call. No op is looked up, no tensor made, nothing allocated.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/plan.h"
#include "core/graph/recorder.h"

namespace lockstep::graph {

class Executor {
  public:
    Executor(tensor::Heap& heap, Graph graph);  // the heap must outlive it, and the graph's persistent memory too

    // Whether the sources have the sizes and types of the recorded ones: otherwise this is another graph.
    bool fits(const StepInputs& inputs) const;
    // Whether no label or index is larger than those that an eager step's ops have checked. Where one is, the step runs
    // eagerly, and then checked() says that its checks have passed.
    bool in_range(const StepInputs& inputs) const;
    void checked(const StepInputs& inputs);
    void replay(const StepInputs& inputs);  // throws Failure: kernel fault; Cancelled

    // After a replay, in logical order.
    std::vector<double> values(size_t output) const;
    // Into memory that is used again: a replayed step allocates nothing.
    void values(size_t output, std::vector<double>& into);
    double scalar(size_t output) const;  // the first element, without allocating

    const Graph& graph() const { return graph_; }
    const Plan& plan() const { return plan_; }
    int64_t bytes() const;  // of the arena and the constants
    device::Pointer address_of(int buffer) const;

  private:
    struct Change {  // an argument that is set anew in every step
        size_t launch = 0, argument = 0;
        int64_t distance = 0;  // random_offset
        bool rate = false;     // learning_rate
    };
    void feed(const Feed& feed, const Source& source);

    tensor::Heap& heap_;
    Graph graph_;
    Plan plan_;
    std::shared_ptr<tensor::Storage> arena_;
    std::vector<std::shared_ptr<tensor::Storage>> constants_;
    std::vector<device::Pointer> address_;  // by buffer
    std::vector<device::LaunchRequest> requests_;
    std::vector<Change> changes_;
    std::vector<std::byte> staging_;  // for feeds of another type than their source
    std::vector<std::byte> read_;     // an output's bytes
};

}  // namespace lockstep::graph
