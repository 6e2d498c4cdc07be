// The executor as compiled for each instruction set; step() and run() in warp.h choose. Internal to core/simt, open to
// tests that compare them.
#pragma once
#include "core/simt/execute/ahead.h"

namespace lockstep::simt {

struct Executor {
    WarpEvent (*step)(Warp& warp);
    WarpEvent (*run)(Warp& warp, uint64_t budget, uint64_t& thread_instructions);
    uint32_t (*run_ahead)(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs) = nullptr;
};

// Null pointers where this machine or this build lacks the instruction set.
Executor executor(ptx::Simd simd);

namespace portable {
WarpEvent step(Warp& warp);
WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions);
uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs);
}  // namespace portable
namespace avx2 {
WarpEvent step(Warp& warp);
WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions);
uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs);
}  // namespace avx2
namespace avx512 {
WarpEvent step(Warp& warp);
WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions);
uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs);
}  // namespace avx512

}  // namespace lockstep::simt
