// The one thing that all views look at. A view reads it to highlight and writes it when something is clicked; -1: none.
#pragma once
#include <cstdint>

namespace lockstep {

struct Focus {
    int64_t time = -1;    // cycle within the kernel
    int32_t step = -1;    // training step
    int32_t launch = -1;  // kernel of the training step, index into its launches
    int32_t rank = -1;
    int32_t sm = 0;
    int32_t block = -1;  // linear block index
    int32_t warp = -1;   // index into KernelTrace::warps
    int32_t lane = -1;
    int32_t pc = -1;
    int32_t line = -1;  // source line
    int64_t address = -1;
    int32_t op = -1;  // autograd node

    bool operator==(const Focus&) const = default;
};

}  // namespace lockstep
