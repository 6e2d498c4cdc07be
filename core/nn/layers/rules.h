// What a run's options and its model's row say of the update: the rule, the rate of each step, clipping, loss scaling. One
// answer for Trainer and for training on many ranks.
#pragma once
#include <optional>

#include "core/nn/layers/optim.h"
#include "core/nn/train/trainer.h"

namespace lockstep::nn {

Rule rule_of(const TrainerOptions& options);  // throws Failure for an unknown name
double rate_at(const TrainerOptions& options, int64_t step);
Clipping clipping_of(const TrainerOptions& options);
std::optional<LossScaling> scaling_of(const TrainerOptions& options);

}  // namespace lockstep::nn
