// Launches in which one thing costs nothing: "what if there were no bank conflicts". Values, branches and the order of a
// warp's instructions stay as they are, so the difference of two times is about what a change to the kernel gains.
#pragma once
#include "core/model/gpus/gpu_spec.h"

namespace lockstep::model {

struct Idealised {
    bool coalesced = false;     // a request to global memory takes no more sectors than its bytes fill
    bool no_conflicts = false;  // a request to shared memory takes as many passes as its bytes need
    bool l2_hits = false;       // nothing comes from DRAM
    bool fp32 = false;  // FP64 arithmetic goes at the rate and latency of FP32, and conversions from and to it take nothing
    bool spread_atomics = false;   // no two lanes meet at one word
    bool free_local = false;       // accesses to local memory (spills) take an issue slot and nothing else
    bool fast_math = false;        // special functions and conversions go at the rate of FP32
    bool short_division = false;   // divisions, roots and remainders are one instruction each
    bool all_warps = false;        // registers and shared memory never keep a block out
    bool no_latency = false;       // a load's result is there in the next cycle; bandwidths stay
    bool one_constant = false;     // a load of constants names one address, as if all lanes did
    bool short_functions = false;  // sinf, powf and their like are as short as __sinf and __powf
    bool fetched = false;          // no instruction is waited for
    bool operator==(const Idealised&) const = default;
};

// The GPU with those of the figures changed that are the GPU's: `fp32`, `fast_math`, `all_warps`, `no_latency`.
// The others are done in core/model/memory, in make_timing() and in Sm::fetch.
GpuSpec idealised(const GpuSpec& gpu, const Idealised& ideal);

}  // namespace lockstep::model
