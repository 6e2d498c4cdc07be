// PyTorch's and JAX's training rates on this machine, beside the engine's: what `lockstep bench train` is held against.
#pragma once
#include <string_view>
#include <vector>

#include "app/cli/cli.h"

namespace lockstep::cli {

// Rows "train/MODEL/THREADS/torch", ".../torch-compiled" and ".../jax" whose name begins with `wanted`, which names "train"
// at least. Runs tests/reference/torch_bench.py and jax_bench.py by a python3 that has the framework; where there is none,
// says so on stderr.
std::vector<BenchRow> torch_bench(std::string_view wanted);

// For each model and thread count that has both: the engine's best mode over the best of the others,
// "train/MODEL/THREADS/lead".
std::vector<BenchRow> training_leads(const std::vector<BenchRow>& rows);

}  // namespace lockstep::cli
