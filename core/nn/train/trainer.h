// Training as a sequence of plain StepRecords. A Trainer owns a device, a model's parameters and a place in the data; step()
// runs forward, backward and update and says what happened. The same options give the same bits, on every device of one
// kind.
//
//     Trainer trainer({.model = "mlp", .device = "sim:v100", .keep_graph = true});
//     StepRecord record = trainer.step();           // throws Failure: bad option, kernel fault; Cancelled
//     Evaluation test = trainer.evaluate();
//
// To rewind or to go on another day: keep checkpoint(), later restore() it. The data, noise and dropout of a step depend on
// the seed and the step's number alone, so the run goes on bit for bit, on this Trainer or on one with other keep_ options.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/nn/data/files/checkpoint.h"
#include "core/nn/train/cause.h"
#include "core/nn/train/execution.h"
#include "core/nn/train/step_record.h"
#include "core/nn/train/task.h"

namespace lockstep::nn {

struct NamedTensor;

enum class NanPolicy : uint8_t {
    stop,  // the step in which the loss or a gradient is no finite number throws NotFiniteFailure, with the cause
    warn   // its record says so
};

struct TrainerOptions {
    std::string model = "mlp";    // a row of models()
    std::string data = "";        // "" the model's own; "digits", a folder with MNIST's IDX files, ... (data_sets())
    std::string device = "host";  // as device::open_device takes it
    int64_t batch = 64;
    double learning_rate = 0.1;
    std::string optimizer = "";               // "" the model's own; a row of optimizers()
    double momentum = -1, weight_decay = -1;  // below 0: the optimiser's own
    bool nesterov = false;
    double clip_norm = -1;        // of all gradients together; 0: none, below 0: the model's own
    double dropout = -1;          // of models that drop values while they learn; below 0: the model's own
    std::string schedule = "";    // "" the model's own; "constant", "step", "cosine", "warm_up", "warm_up_cosine"
    int64_t planned_steps = 0;    // of the schedule; 0: the model's own
    int64_t warm_up = -1;         // steps of a linear warm-up before the schedule; below 0: the schedule's own
    std::string scale_rate = "";  // "linear", "sqrt": the rate is for the model's own batch and grows with this one
    int64_t accumulate = 1;       // a step's batch goes through in so many parts, whose gradients add up to the whole one's
    bool noise_scale = false;     // measured at every step, from the parts: 2 of them unless `accumulate` says more
    NanPolicy nan = NanPolicy::stop;
    uint64_t seed = 1;             // parameters and data; the test set is the same for every seed
    bool functional = false;       // sim: no timing, much faster
    int threads = 1;               // host
    DType dtype = DType::f32;      // of parameters and activations; f16 and bf16: of activations, beside f32 parameters
    double loss_scale = -1;        // to begin with; 0: none, below 0: 65536 with f16, otherwise none
    int64_t scale_interval = 200;  // good steps after which the loss scale doubles
    Mode mode = Mode::direct;      // how launches get to the device: execution.h. The bits are the same
    bool keep_cost = false;        // fill StepRecord::operations and moved
    bool prefetch = false;         // batches are made ahead on a thread of their own
    bool keep_launches = true;     // fill StepRecord::launches
    bool keep_graph = false;       // fill StepRecord::nodes and live_bytes
    bool keep_values = false;      // with keep_graph: host copies of every value and gradient
    bool keep_images = true;       // fill StepRecord::images
    bool warm_l2 = false;          // sim, timed: L2 keeps from launch to launch what it holds
    bool keep_runs = false;        // sim, timed: LaunchEvent::run of every launch (memory and trace: tens of MB a step)
    // Called on every task that is made, the evaluator's too, before its optimisers: masks, adapters, int8
    // (core/nn/cheaper).
    std::function<void(Task& task, tensor::Heap& heap)> alter = {};
    std::stop_token stop = {};  // a step under way ends early with a Cancelled
};

class Trainer {
  public:
    explicit Trainer(TrainerOptions options);  // throws Failure: unknown names say the nearest known one
    ~Trainer();
    Trainer(Trainer&&) noexcept;
    Trainer& operator=(Trainer&&) noexcept;

    StepRecord step();  // runs step number next_step()
    // The same into a record whose memory is used again: a step that is replayed from a graph on the host allocates nothing.
    void step(StepRecord& record);
    Evaluation evaluate(int64_t examples = 0);  // on the test set, 0: all of it; runs on `host` whatever the device
    // What a language model writes after the prompt, `count` characters. Throws Failure for other models. On `host`.
    std::string sample(const std::string& prompt, int64_t count);
    int64_t next_step() const;                     // 0 before the first
    void set_learning_rate(double learning_rate);  // from the next step on
    // Whether steps record what they do from here on: graph, values, pictures and launches. It changes no value.
    void set_recording(bool on);
    const TrainerOptions& options() const;

    // For a diagnosis (diagnose.h): beside the run, on the host; neither its values nor its times change.
    std::vector<GraphNode> examine(int64_t step);  // forward and backward of that step's batch with the parameters of now
    // The largest eigenvalue of the loss's Hessian where the seed begins, on that step's batch: differences of gradients.
    double curvature_at_beginning(int64_t step);
    std::vector<double> gradient_norms() const;  // of the step that ran last, by parameter; op by op modes
    bool takes_batches_of_examples() const;      // one player that learns by gradients: its loss says how well it does
    int64_t trained_parameters() const;          // elements that optimisers update
    int64_t optimizer_bytes() const;             // that they keep from step to step

    // Called after every launch of a step under way with the launches so far (progress); on the calling thread.
    std::function<void(const device::LaunchEvent&)> on_launch;

    // All that the next step depends on: parameters, running statistics, what the optimizers keep, the step's number; and
    // the options, as core/nn/train/training_options.h writes them.
    Checkpoint checkpoint() const;
    // Throws Failure before it changes anything where the checkpoint is of another run (model, data, batch, seed, optimizer)
    // or its tensors are not this model's.
    void restore(const Checkpoint& checkpoint);

    // All parameters end to end, in the model's order (fc1.weight, fc1.bias, fc2.weight, ...).
    std::vector<float> export_parameters() const;
    void import_parameters(std::span<const float> values, int64_t next_step);  // throws Failure on another length
    struct ParameterInfo {
        std::string name;
        std::vector<int64_t> shape;
        int64_t offset = 0;  // into export_parameters()
    };
    std::vector<ParameterInfo> parameters() const;

  private:
    struct State;
    std::vector<NamedTensor> kept() const;
    State& on_host();  // the evaluator holds the parameters of now
    std::unique_ptr<State> state_;
};

// `steps` steps, each handed to `each`, which says whether to go on.
struct TrainRequest {
    TrainerOptions options;
    int64_t steps = 100;
    int64_t evaluate_every = 0;        // 0: only at the end
    const Checkpoint* from = nullptr;  // goes on from there
    std::string save;                  // folder of a checkpoint after the last step; "" none
    int64_t save_every = 0;            // and every so many steps
    std::function<void(int64_t step)> on_save;
    std::function<void(Trainer&)> on_begin;                // before the first step
    std::function<bool(const StepRecord&)> on_step;        // false stops
    std::function<void(const Cause&)> on_cause;            // why it fails, when it shows; null: nobody looks (diagnose.h)
    std::function<void(const Evaluation&)> on_evaluation;  // null: no evaluation
    std::function<void(Trainer&)> on_end;                  // after the last step
};
void train(const TrainRequest& request);

}  // namespace lockstep::nn
