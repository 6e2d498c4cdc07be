// Seeded random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood 2014) as a counter hash.
// The state is one 64-bit number, so a checkpoint of it is a copy.
#pragma once
#include <cmath>
#include <cstdint>

namespace lockstep {

class Rng {
  public:
    explicit Rng(uint64_t seed = 0) : state_(seed) {}

    uint64_t next() {
        uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }                        // [0, 1)
    double uniform(double low, double high) { return low + (high - low) * uniform(); }                // [low, high)
    uint64_t below(uint64_t n) { return static_cast<uint64_t>(uniform() * static_cast<double>(n)); }  // 0 .. n-1
    double normal() {  // Box-Muller, one of the pair
        const double u = 1.0 - uniform(), v = uniform();
        return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * v);
    }

  private:
    uint64_t state_;
};

}  // namespace lockstep
