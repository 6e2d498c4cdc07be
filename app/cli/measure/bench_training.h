// Training steps a second on the host, in every mode of execution.
#pragma once
#include <functional>
#include <string_view>

#include "app/cli/cli.h"
#include "core/nn/train/trainer.h"

namespace lockstep::cli {

// Rows "train/MODEL/THREADS" (op by op), "train/MODEL/eager/THREADS" and so on whose name begins with `wanted`, each given
// to `add` when it is measured; see bench_training.cpp.
void training_bench(std::string_view wanted, const std::function<void(BenchRow)>& add);

// A model's own batch and rate on the host, keeping nothing of a step that a run without views would not keep.
nn::TrainerOptions bench_training_options(const std::string& model, int threads, nn::Mode mode);

}  // namespace lockstep::cli
