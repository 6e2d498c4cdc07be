// Training in a scene: one step on the modelled GPU, or several runs of many steps on the host, overlaid.
//
//   train = run { ";" run }, or the name of a file *.train with a run a line ("#" begins a comment)
//   run   = MODEL { key "=" value } of the first; the others say only what differs: { key "=" value }
//   keys  = name data batch lr steps optimizer schedule momentum weight_decay clip warm_up scale noise seed test target
//           dtype (f32, f16, bf16) loss_scale timed seeds
// Without steps: one step, timed on the lesson's GPU. With steps: on the host; `test=N` measures on N held-out examples
// after the last step, `target=X` ends nothing but says when the mean of five losses first was X or less, and `timed=1` runs
// the first run's last step again on the modelled GPU, so that its kernels can be opened. `seeds=3` makes three runs of one,
// NAME_1 to NAME_3, with the seed and the next ones; figures@curve:NAME are then their mean.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/nn/cheaper/cheaper.h"
#include "core/nn/train/trainer.h"

namespace lockstep::scene {

struct TrainingSpec {
    std::string name;  // "lr 0.1"; "" none
    nn::TrainerOptions options;
    int64_t steps = 0;  // 0: one timed step
    int64_t test = 0;
    double target = 0;
    bool timed = false;
    int64_t seeds = 1;  // of the row: how many runs it is
};
// Throws nothing; a Diagnostic names the setting.
Result<std::vector<TrainingSpec>> parse_training(const std::string& text, const SourceLocation& where, uint64_t seed);

struct TrainedRun {
    TrainingSpec spec;
    std::vector<double> loss, accuracy;  // of the batch, by step; accuracy empty where the model has none
    std::optional<nn::Evaluation> test;
    std::optional<double> noise_scale;  // in examples, with noise=1
    int64_t parameters = 0;
    std::string text;  // what a language model writes after training; "" for others
};
// The step after which the mean of five losses first is the target or less; 0: none is, or it has no target.
int64_t steps_to_target_of(const TrainedRun& run);
struct TrainingRuns {
    std::vector<TrainedRun> runs;
    std::shared_ptr<const nn::StepRecord> step;        // of the first run, the last one
    std::shared_ptr<const nn::StepRecord> first_step;  // of the first run, with keep_values and several steps
    std::optional<nn::Comparison> comparison;          // of cheaper forms: cheaper_runs.h
};
struct TrainingRunOptions {
    std::string gpu = {};
    bool keep_runs = false, keep_values = true;
    std::stop_token stop = {};
    std::function<void(double)> progress = {};
};
Result<TrainingRuns> run_training(const std::vector<TrainingSpec>& specs, const TrainingRunOptions& options);

}  // namespace lockstep::scene
