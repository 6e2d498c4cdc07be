// What a Trainer holds from step to step, and the parts of a step that work on it alone. Between trainer.cpp,
// trainer_state.cpp and trainer_kept.cpp.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/nn/data/loader.h"
#include "core/nn/layers/rules.h"
#include "core/nn/models/models.h"
#include "core/nn/train/finite.h"
#include "core/nn/train/graph_record.h"
#include "core/nn/train/noise_scale.h"
#include "core/nn/train/trainer.h"

namespace lockstep::nn {

struct Trainer::State {
    TrainerOptions options;
    const ModelRow& row;
    std::unique_ptr<device::Device> device;
    tensor::Heap heap;
    Execution execution;
    tensor::Tape tape;
    std::unique_ptr<Task> task;
    struct Player {
        Group group;
        Optimizer optimizer;
    };
    std::vector<Player> players;
    int64_t next = 0;
    double next_scale = 0;     // of the loss, in the step to come
    std::vector<Batch> parts;  // of the step's batch: one, unless gradients accumulate
    FiniteWatch watch;
    NoiseMeter noise;
    // Part number % parts of batch number / parts, whichever thread asks.
    std::function<void(uint64_t number, Batch& into)> make_part;
    std::unique_ptr<Loader<Batch>> loader;  // with prefetch: stands at batch number `next`
    // Memory that steps use again.
    graph::StepInputs step_inputs;
    std::vector<double> logits;
    std::shared_ptr<std::vector<float>> pictures;

    struct Evaluator {  // always on the host
        std::unique_ptr<device::Device> device;
        tensor::Heap heap;
        std::unique_ptr<Task> task;
    };
    std::unique_ptr<Evaluator> evaluator;

    explicit State(TrainerOptions o);

    void begin(StepRecord& record);
    struct Learnt {
        Pass pass;  // keeps rounded parameters until the record is made
        Forward made = {};
        int last_part = 0;                        // the first node of the batch's last part
        std::vector<TurnGradients> earlier = {};  // of the turns before the last, with keep_graph
    };
    Learnt learn(StepRecord& record);  // forward, backward and update of every turn
    void note_cost(StepRecord& record) const;

    // What is new in this step, for recording and replay.
    const graph::StepInputs& inputs(double rate);
    uint64_t random_base() const { return static_cast<uint64_t>(next) << 32; }

    // The step from a captured graph.
    void replay(graph::Executor& executor, const graph::StepInputs& with, StepRecord& record);
    void note_scale(StepRecord& record);

    // Only the parameters of the group whose turn it is get gradients.
    void let_learn(size_t turn);

    bool mixed() const { return options.dtype == DType::f16 || options.dtype == DType::bf16; }
    std::optional<LossScaling> scaling() const { return scaling_of(options); }
    TaskOptions task_options() const;
    std::unique_ptr<Task> make_task(tensor::Heap& on) const;

    void load_batch();

    double share(const Batch& part) const {  // of the step's examples
        return double(part.examples(options.batch)) / double(options.batch);
    }

    // What the step says of one part; its output must still be readable.
    void note(StepRecord& record, const Forward& made, const Batch& part) const;
    void note(StepRecord& record, double loss, std::span<const double> said, const Batch& part) const;
    void keep_pictures(StepRecord& record);

    // The parts' gradients add up on the leaves, each with its share as the seed: the mean over the whole batch.
    void learn_part(StepRecord& record, Forward& made, size_t turn, size_t part);
};

}  // namespace lockstep::nn
