// Whole programs: what building and running one takes, what its calls cost.
#pragma once
#include <functional>
#include <string_view>

#include "app/cli/cli.h"

namespace lockstep::cli {

// Rows "program/..." whose name begins with `wanted`, each given to `add` when it is measured; compilers that are not here
// have none.
void program_bench(std::string_view wanted, const std::function<void(BenchRow)>& add);

}  // namespace lockstep::cli
