// One training step as plain data: what the training views (D12, D13), `train --json` and lessons read. The trainer fills
// it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/device/device.h"
#include "core/graph/queue.h"

namespace lockstep::tensor {
struct OpRow;
struct Attributes;
}  // namespace lockstep::tensor

namespace lockstep::nn {

struct Followed;  // follow.h

using Values = std::shared_ptr<const std::vector<float>>;  // host copy of a tensor, row-major; null when not kept

struct GraphNode {  // one node of the tape, in forward topological order
    enum class Kind : uint8_t { input, parameter, label, op, loss };
    Kind kind = Kind::op;
    int id = 0;        // its place in StepRecord::nodes
    std::string op;    // "matmul", "add_bias", "relu", "softmax_cross_entropy"; "" for leaves
    std::string name;  // "x", "fc1.weight", "fc1 matmul"
    std::vector<int64_t> shape;
    std::vector<int> inputs;  // ids of earlier nodes
    int64_t bytes = 0;        // of the value
    bool requires_grad = false;
    Values value, gradient;
    int gradient_after = -1;  // launch after which the gradient is complete; -1: none
    std::vector<int> forward_launches, backward_launches, update_launches;  // indices into StepRecord::launches
    std::string saved;                                                      // what backward keeps: "x", "" nothing
    int64_t saved_bytes = 0;
    int freed_after = -1;  // launch after which the saved tensor is freed
    DType dtype = DType::f32;
    const tensor::OpRow* row = nullptr;                    // of an op: its row of the table
    std::shared_ptr<const tensor::Attributes> attributes;  // what the op was told besides its inputs
    bool went_back = false;                                // backward ran through it
    int turn = 0;                                          // of two players: whose turn it belongs to
};

struct NotFinite {  // the first NaN or infinity of a step
    int64_t step = 0;
    std::string phase;     // "data", "forward", "backward", "update"; "" where it cannot be told
    std::string op, name;  // "matmul", "fc1 matmul"; of an update the rule and the parameter
    std::string where;     // of the model's code: "core/nn/layers/layers.cpp:20"
    double value = 0;
    std::string text;  // one sentence
};

struct NoiseScale {                         // core/nn/train/noise_scale.h
    double small_batch = 0, big_batch = 0;  // compared
    double step_gradient_square = 0, step_noise = 0;
    double gradient_square = 0, noise = 0;  // |G|^2 and S, averaged over steps
    double simple = 0;                      // S / |G|^2, in examples
};

struct StepRecord {
    int64_t step = 0;  // from 0
    double loss = 0;
    double train_accuracy = 0;  // of this batch
    double learning_rate = 0;
    double seconds = 0;  // host wall clock
    std::string device;
    bool warm_l2 = false;  // of a simulated device: TrainerOptions::warm_l2
    std::string model;
    int64_t batch = 0;
    double loss_scale = 0;            // of this step's backward; 0: none
    int64_t left_out = 0, grown = 0;  // of loss scaling, so far: steps left out, and how often the scale grew
    double operations = 0,
           moved = 0;  // derived, with keep_cost: arithmetic and bytes of the step, each buffer moved once a kernel
    std::vector<device::LaunchEvent> launches;
    std::vector<device::CopyEvent> copies;  // simulated devices; of the step itself, not of reading its values afterwards
    std::vector<graph::QueueEvent> queue;   // in eager mode with keep_launches: each node's way through the queue
    std::string_view mode = "direct";       // execution.h: "direct", "eager", "graph", "fused"
    bool replayed = false;                  // from a captured graph: there are no nodes
    int64_t batches_ahead = -1;             // with prefetch: made and not yet taken, after the step took its own
    double loader_waited = 0;               // seconds that all steps so far stood still for their batches
    double issue_seconds = 0;               // host wall clock from the first op to the end of the last kernel
    double traffic = -1;                    // bytes that the launches read and write; -1: not counted in this mode
    int64_t peak_bytes = 0;                 // most at once of what is not a parameter, in this step
    int64_t planned_bytes = -1;             // of a replayed step: what its plan said that would be
    int64_t device_bytes = 0;               // taken from the device, parameters too
    std::vector<int64_t> live_bytes;  // after each launch: saved tensors, activations and gradients alive on the device
    std::vector<GraphNode> nodes;     // empty unless the trainer was asked to keep the graph
    std::shared_ptr<const Followed> followed;  // one element through all of the graph; null: nobody worked it out
    int image_rows = 0, image_columns = 0;
    Values images;  // [batch, rows * columns], 0..1
    std::vector<int32_t> labels, predictions;
    std::vector<float> confidence;  // probability of the prediction
    std::optional<NotFinite> not_finite;
    std::optional<NoiseScale> noise_scale;
};

struct Measure {  // of a model that is not judged by an accuracy alone: "modes covered" 7 of 8
    std::string name, unit;
    double value = 0;
};

struct Evaluation {
    int64_t step = 0;
    double loss = 0;
    double accuracy = 0;  // 0..1 on the test set
    std::vector<Measure> measures;
    std::vector<double> parts = {};  // of a generator: the share of its judged samples near each mode of the data
};

}  // namespace lockstep::nn
