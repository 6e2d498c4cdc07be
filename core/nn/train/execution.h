// How a step's launches get to the device: the execution modes of a Trainer. All give the same bits.
//
//   direct  each op launches its kernels at once, on the calling thread
//   eager   each op puts its launches into a queue, from which a thread of its own launches them (graph/queue.h)
//   graph   two steps run as in `direct` and are recorded; if they are the same but for what a replay sets anew, the
//           recording is replayed from then on, in memory that was planned (graph/executor.h); elementwise neighbours are
//           one launch (a bias and its relu), and so are launches of one kernel that need nothing of each other (all
//           updates)
//   fused   the same, and what is elementwise joins products, norms and sums (graph/fusion.h)
//
// Batches of another size are another graph, recorded and kept beside the first. A step whose labels are larger than any
// that an op has checked runs as in `direct` once more.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/executor.h"
#include "core/graph/queue.h"
#include "core/graph/recorder.h"

namespace lockstep::nn {

enum class Mode : uint8_t { direct, eager, graph, fused };
std::string_view name_of(Mode mode);
Mode mode_named(const std::string& name);  // throws Failure with the names

// The device that a step launches on: with a queue before it where the mode asks for one.
std::unique_ptr<device::Device> with_mode(std::unique_ptr<device::Device> device, Mode mode);

class Execution {
  public:
    Execution(Mode mode, tensor::Heap& heap);  // made after the heap and before the model, whose memory it gets to know
    Mode mode() const { return mode_; }

    // After the heap has recycled: what replays a step with these inputs. Null: it runs op by op, between begin() and end().
    graph::Executor* ready(const graph::StepInputs& inputs);
    void begin(tensor::Tape& tape, const graph::StepInputs& inputs);
    // `loss`, `output`: nodes that are read after the step; -1: none. Throws Failure: why this step cannot be replayed.
    void end(int loss, int output);
    void abandon();  // the step failed

    // Of the step that was recorded, as it is launched in this mode; none before, or where it cannot be recorded.
    const std::optional<graph::Traffic>& traffic() const { return traffic_; }

  private:
    Mode mode_;
    tensor::Heap& heap_;
    std::unique_ptr<graph::Recorder> recorder_;                // null: direct
    std::vector<std::unique_ptr<graph::Executor>> executors_;  // one a batch size
    std::optional<graph::Graph> first_;                        // of two recordings
    std::optional<graph::Graph> captured_;                     // becomes an executor when its step's memory is free
    std::optional<graph::StepInputs> unchecked_;               // of a step under way whose labels nobody has checked yet
    graph::Executor* checks_ = nullptr;
    std::optional<graph::Traffic> traffic_;
};

}  // namespace lockstep::nn
