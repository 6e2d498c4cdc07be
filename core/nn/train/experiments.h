// Training runs set beside each other: step sizes, batch sizes, large batches with and without warm-up. Each row of
// experiments() is a list of trials, most of the small `spirals` network; one takes 0.01 to 0.6 s on a core of the host.
//
//     for (const Trial& trial : experiment_named("learning_rates").trials())
//         TrialResult result = run_trial(trial, stop);   // result.steps to the target, result.loss of every step
#pragma once
#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/nn/train/trainer.h"

namespace lockstep::nn {

struct Trial {
    std::string name;  // "batch 64, rate 0.5"
    TrainerOptions options;
    int64_t steps = 1000;  // at most
    double target = 0;     // accuracy on 512 test points, looked at every `look` steps; 0: none, all steps are made
    int64_t look = 10;
};

struct TrialResult {
    std::string name;
    int64_t batch = 0;
    double learning_rate = 0;  // of the last step
    std::vector<double> loss;  // of every step
    double peak = 0;           // the largest of them
    int64_t steps = -1;        // to the target; -1: not reached
    double accuracy = 0;       // at the end, on the whole test set
    bool diverged = false;     // a loss or a parameter was no finite number, or the loss ended above where it began
    double noise_scale = 0;    // where options.noise_scale asked for it, at the last step
    int64_t examples() const { return steps * batch; }
};
TrialResult run_trial(const Trial& trial, const std::stop_token& stop = {});  // throws Failure

struct Experiment {
    std::string_view name, summary;
    std::vector<Trial> (*trials)() = nullptr;
};
std::span<const Experiment> experiments();
const Experiment& experiment_named(const std::string& name);  // throws Failure with the nearest name

// Where more examples a step begin to help less: (steps / least_steps - 1) (examples / least_examples - 1) = 1, fitted to
// steps = least_steps + least_examples / batch by least squares of the relative errors, over the trials that got there, the
// fastest of each batch size. batch = least_examples / least_steps. Throws Failure for fewer than two batch sizes.
struct CriticalBatch {
    double least_steps = 0, least_examples = 0, batch = 0;
};
CriticalBatch critical_batch(std::span<const TrialResult> trials);

}  // namespace lockstep::nn
