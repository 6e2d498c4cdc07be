// A task: a model, its data and its loss, as the Trainer steps it. One is made per device; a second one on the host serves
// evaluations. Every model file (models/<model>.cpp) makes one.
//
// A step's batch depends on the step's number alone (and on the seed), and make_batch may run on another thread ahead of
// time. So a step can be run again: with the parameters and the state that it began with, bit for bit.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/nn/layers/module.h"
#include "core/nn/train/step_record.h"

namespace lockstep::nn {

struct TaskOptions {
    int64_t steps = 0;  // that are planned; 0: not known
    std::string data;   // "" the model's own
    int64_t batch = 64;
    uint64_t seed = 1;
    DType dtype = DType::f32;           // of parameters, losses and optimisers
    std::optional<DType> compute = {};  // of layers: f16 or bf16 beside f32; none: dtype
    // How often values are dropped while the model learns; none: the model's own.
    std::optional<double> dropout = {};
    int rank = 0, world = 1;  // of a data-parallel run: batch is this rank's share
};

struct Batch {                    // on the host; a task fills what it needs
    std::vector<float> values;    // pictures, points: [examples, ...]
    std::vector<int32_t> labels;  // classes
    std::vector<int64_t> tokens;  // [sequences, length]
    // Which of the step's examples: `count` from `first` on; -1: all.
    int64_t first = 0, count = -1;
    int64_t examples(int64_t of) const { return count < 0 ? of : count; }
};

struct Forward {
    tensor::Variable loss;    // one element
    tensor::Variable output;  // logits, predictions: read after the step where its value is still there; node -1: none
};

struct Group {  // parameters that one optimiser updates
    std::string name;
    std::vector<Parameter*> parameters;
};

struct Task {
    std::string model, data;
    ParameterList list;
    std::vector<Group> groups;  // none: one of all parameters. Several (two players): forward is called once for each
    int rows = 0, columns = 0;  // of the pictures in Batch::values; 0: no pictures
    bool classifies = false;    // output is logits [examples, classes], Batch::labels their classes

    std::function<void(uint64_t step, Batch& batch)> make_batch;  // thread-safe; null: there is none
    // Whose turn it is: 0, or the number of the group whose parameters learn.
    std::function<Forward(Pass& pass, const Batch& batch, size_t turn)> forward;
    // Where parameters are not learnt from gradients: called instead of backward and the optimiser.
    std::function<void(Pass& pass, const Forward& made)> update;
    // On the whole test set, or on its first `examples`. `heap` is recycled as it goes. Throws Cancelled.
    std::function<Evaluation(tensor::Heap& heap, int64_t examples, const std::stop_token& stop)> evaluate;
    // Of a language model: `count` characters that follow the prompt. Null: it makes no text.
    std::function<std::string(tensor::Heap& heap, const std::string& prompt, int64_t count, uint64_t seed)> sample;
};

}  // namespace lockstep::nn
