#include "core/nn/data/sampler.h"

#include <bit>
#include <cassert>
#include <utility>

#include "core/base/rng.h"

namespace lockstep::nn {

uint64_t shuffled(uint64_t place, uint64_t count, uint64_t key) {
    assert(count > 0);
    const int half = (static_cast<int>(std::bit_width(count > 1 ? count - 1 : 1)) + 1) / 2;
    const uint64_t mask = (uint64_t{1} << half) - 1;
    do {
        uint64_t left = place >> half, right = place & mask;
        for (uint64_t round = 0; round < 6; ++round) {
            const uint64_t mixed = Rng(key ^ (right << 3 | round)).next() & mask;
            left = std::exchange(right, left ^ mixed);
        }
        place = left << half | right;
    } while (place >= count);
    return place;
}

uint64_t place_of(uint64_t index, uint64_t count, uint64_t seed) {
    return shuffled(index % count, count, Rng(Rng(seed).next() + index / count).next());
}

}  // namespace lockstep::nn
