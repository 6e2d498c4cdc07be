// Launches timed whole and sampled, side by side.
#pragma once
#include <functional>
#include <string_view>

#include "app/cli/cli.h"

namespace lockstep::cli {

// Rows "sample/..." whose name begins with `wanted`, each given to `add` when it is measured.
void sample_bench(std::string_view wanted, const std::function<void(BenchRow)>& add);

// The row "sample/llama-8b": seconds that timing the kernels of one layer takes.
BenchRow layer_bench();

}  // namespace lockstep::cli
