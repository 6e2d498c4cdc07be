// Cheaper arithmetic in a scene: a model is trained, made cheaper and judged beside f32 (core/nn/cheaper). The losses of all
// trainings are the scene's curves; its figures are the rows of the table.
//
//   train = "cheaper" FORM MODEL { key "=" value }
//   FORM  = "precision" (types=f16,bf16) | "int8" | "prune" (shares=0.5,0.9, or shares=none; two_of_four=0 leaves 2:4 out;
//           fine_tune=N) | "distill" (teacher= temperature= weight= seeds= teacher_steps=) | "lora" (rank= alpha= tune_data=
//           tune_steps=)
//   keys of all: steps, batch, lr, test (held-out examples), seed, data
#pragma once
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/scene/training/training_runs.h"

namespace lockstep::scene {

bool is_cheaper(const std::string& train);  // whether a train= begins with "cheaper"
// A Diagnostic names the setting that is wrong. Throws Cancelled, or Failure for an unknown model.
Result<TrainingRuns> run_cheaper(const std::string& train, const SourceLocation& where, uint64_t seed,
                                 const TrainingRunOptions& options);

}  // namespace lockstep::scene
