// step(), run() and run_ahead(): the executor of the widest instruction set that this machine has.
#include "core/simt/execute/execute.h"

#include <algorithm>

#include "core/simt/memory/access.h"

namespace lockstep::simt {

Executor executor(ptx::Simd simd) {
    switch (simd) {
        case ptx::Simd::portable:
            return {portable::step, portable::run, portable::run_ahead};
#if defined(__x86_64__)
        case ptx::Simd::avx2:
            if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
                return {avx2::step, avx2::run, avx2::run_ahead};
            break;
        case ptx::Simd::avx512:
            if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
                return {avx512::step, avx512::run, avx512::run_ahead};
            }
            break;
#endif
        default:
            break;
    }
    return {nullptr, nullptr, nullptr};
}

namespace {
Executor best() {
    for (const ptx::Simd simd : {ptx::Simd::avx512, ptx::Simd::avx2}) {
        if (const Executor found = executor(simd); found.run) return found;
    }
    return executor(ptx::Simd::portable);
}
const Executor chosen = best();
}  // namespace

WarpEvent step(Warp& warp) {
    return chosen.step(warp);
}

WarpEvent run(Warp& warp, uint64_t budget, uint64_t& thread_instructions) {
    return chosen.run(warp, budget, thread_instructions);
}

uint32_t run_ahead(Warp& warp, AheadSteps& steps, AheadEnds& ends, const AheadCosts& costs) {
    return chosen.run_ahead(warp, steps, ends, costs);
}

bool barriers_alike(const Grid& grid) {
    return grid.plan->barriers_alike;
}

uint32_t longest_sleep(const Warp& warp, uint32_t pc, uint32_t lanes) {
    const auto& instructions = warp.block->grid->program->instructions;
    if (pc >= instructions.size() || instructions[pc].source[0] == ptx::no_operand) return 0;
    const uint32_t* const wanted = words(warp, instructions[pc].source[0]);
    uint32_t longest = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) longest = std::max(longest, wanted[__builtin_ctz(left)]);
    return std::min(longest, 1'000'000u);
}

}  // namespace lockstep::simt
