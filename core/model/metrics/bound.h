// What bounds a launch, told from its counters alone, and how far the simulated times of kernels of that sort were from
// published measurements. The same function sorts the rows of `lockstep validate kernels` and any launch; the errors are
// those of known_errors.cpp, which that command writes.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "core/model/launch/launch.h"

namespace lockstep::model {

enum class Bound : uint8_t {
    start,       // over before its warps have settled: what it costs to start and to end
    dram,        // bandwidth
    l2,          // bandwidth
    l1,          // the data pipe of L1 and shared memory
    tensor,      // tensor cores
    fp64,        // the FP64 pipe
    arithmetic,  // issue slots, or the FP32, integer and special function pipes
    atomics,     // waiting for atomics
    barriers,    // waiting at barriers
    latency,     // waiting for memory or for results, with too few warps to hide it
    count
};
std::string_view name_of(Bound bound);    // "dram": JSON
std::string_view words_for(Bound bound);  // "bound by DRAM"

// Of a timed launch that ended: its cycles and its metrics.
Bound bound_of(const TimedResult& result);

// A published measurement of a whole kernel, as `validate kernels` had it when the table was written.
struct KnownError {
    std::string_view name;  // "v100/sum_divergent"
    Bound bound = Bound::latency;
    double error = 0;        // of the simulated time, a share of the measured one
    bool predicted = false;  // its figure went into no GPU's row
};
std::span<const KnownError> known_errors();

// Over the predicted ones.
struct BoundError {
    size_t kernels = 0;
    double mean = 0, median = 0;  // of |error|
    double worst = 0;             // with its sign
};
BoundError error_of(Bound bound, std::span<const KnownError> errors = known_errors());

// "kernels bound by DRAM: 9 % off on average, +31 % at worst (24 published)"; says so where there is none.
std::string trust_in(Bound bound, std::span<const KnownError> errors = known_errors());

}  // namespace lockstep::model
