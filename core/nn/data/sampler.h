// Which example stands where in a batch, as pure functions: no state, so any step of any rank can be asked for again.
//
// All ranks together take, at step s, the examples [s * batch * world, (s + 1) * batch * world); rank r has the r-th run of
// `batch` of them. So the union of the ranks' batches is the batch of one process with batch * world examples, in order.
#pragma once
#include <cstdint>

namespace lockstep::nn {

struct Sampler {
    int64_t batch = 64;  // examples a step, of this rank
    int rank = 0, world = 1;

    uint64_t index(uint64_t step, int64_t i) const {
        return (step * static_cast<uint64_t>(world) + static_cast<uint64_t>(rank)) * static_cast<uint64_t>(batch) +
               static_cast<uint64_t>(i);
    }
};

// A permutation of 0 .. count-1, another one for each key: where `place` goes. A Feistel network over the next power of
// four, walked until it lands inside (Black, Rogaway 2002): no table, so an epoch of any size costs nothing to shuffle.
uint64_t shuffled(uint64_t place, uint64_t count, uint64_t key);

// The place of the index-th example when a set of `count` is gone through for ever, reshuffled every epoch.
uint64_t place_of(uint64_t index, uint64_t count, uint64_t seed);

}  // namespace lockstep::nn
