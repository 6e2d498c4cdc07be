// Time within the memory side: whole numbers of 1/1024 of a cycle of the boost clock. Rates that are no whole number of
// cycles keep their fraction, sums stay exact, and a run gives the same cycles on every computer.
#pragma once
#include <cstdint>

namespace lockstep::model {

using Ticks = int64_t;
constexpr uint32_t tick_bits = 10;
constexpr Ticks ticks_a_cycle = Ticks{1} << tick_bits;

constexpr Ticks ticks_of(int64_t cycles) {
    return cycles * ticks_a_cycle;
}
constexpr Ticks ticks_of(double cycles) {
    return static_cast<Ticks>(cycles * static_cast<double>(ticks_a_cycle) + 0.5);
}
// The first cycle that does not begin before `time`.
constexpr int64_t cycle_of(Ticks time) {
    return (time + ticks_a_cycle - 1) >> tick_bits;
}

}  // namespace lockstep::model
