// PyTorch's training rates on this machine, beside the engine's: what `lockstep bench train` is held against.
#pragma once
#include <string_view>
#include <vector>

#include "app/cli/cli.h"

namespace lockstep::cli {

// Rows "train/MODEL/THREADS/torch" for the models of tests/reference/torch_bench.py whose name begins with `wanted`, which
// names "train" at least. Runs that script by a python3 that has PyTorch; where there is none, says so on stderr and returns
// no rows.
std::vector<BenchRow> torch_bench(std::string_view wanted);

}  // namespace lockstep::cli
