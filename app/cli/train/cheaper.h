// `lockstep train` with --compare, --quantize, --prune, --distill or --lora: a table of the cheaper forms beside f32; with
// --resume, --prune and --lora are the form of a run that begins with the checkpoint's weights.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "app/cli/command.h"
#include "core/base/dtype.h"
#include "core/nn/cheaper/cheaper.h"

namespace lockstep::cli {

struct CheaperChoice {
    bool compare = false;
    std::string quantize, prune, distill, tune_data;
    int64_t lora = 0, tune_steps = 0, seeds = 3;
    double temperature = 4, teacher_weight = 0.7, alpha = 16;

    bool formed() const { return !prune.empty() || lora > 0; }  // what a run of its own can be in
    bool any() const { return compare || !quantize.empty() || !prune.empty() || !distill.empty() || lora > 0; }
};

void add_cheaper(const Command& command, CheaperChoice& choice);
int train_cheaper(const CheaperChoice& choice, const nn::TrainerOptions& options, DType type, std::optional<int64_t> steps,
                  std::optional<int64_t> batch, std::optional<double> learning_rate, const std::string& json);

// With --resume: a run that begins with the checkpoint's weights, pruned or with adapters. Throws Failure: other cheaper
// forms, several shares, no checkpoint.
struct FormedTraining {
    nn::FormedRun run;
    std::string text;  // "pruned to 2:4: 50816 of 101632 weights stay"
    int64_t steps = 0;
};
FormedTraining formed_training(const CheaperChoice& choice, const nn::TrainerOptions& options, const nn::Checkpoint* from,
                               std::optional<int64_t> steps);

}  // namespace lockstep::cli
