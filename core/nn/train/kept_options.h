// The options of a training run as texts, as a checkpoint keeps them: under the names that `lockstep train` gives them,
// "lr", "weight-decay". Device, threads and what is recorded of a step are left out: a run may go on elsewhere.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/nn/train/trainer.h"

namespace lockstep::nn {

std::map<std::string, std::string> texts_of(const TrainerOptions& options);

// What the checkpoint was trained with goes into `options`, model and seed too, but for the names that `keep` is true for.
// Names that it lacks are left alone. Throws Failure with the name where a text cannot be read.
void take_options(TrainerOptions& options, const Checkpoint& checkpoint,
                  const std::function<bool(std::string_view)>& keep = {});

// Throws Failure where the checkpoint is of another model, or was trained on other data, in other batches or by another
// optimizer: it would go on, but not as the same run.
void check_goes_on(const TrainerOptions& options, const Checkpoint& checkpoint);

}  // namespace lockstep::nn
