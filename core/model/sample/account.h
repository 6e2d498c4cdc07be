// What a launch has counted, as one row of numbers that can be scaled and added up. Internal to core/model/sample.
#pragma once
#include <vector>

#include "core/model/launch/machine.h"

namespace lockstep::model {

struct Account {
    std::vector<double> values;

    Account() = default;
    explicit Account(const Counted& counted);
    void add(const Account& other, double times = 1);
    // Leaves what warps that ran counted in a loop: of others and of those that ended it keeps only what is no
    // instruction's.
    void keep_loop(uint32_t begin, uint32_t end);
    double warp_instructions() const { return values.empty() ? 0 : values[0]; }
};

// The same counters so many times.
void multiply(InstructionCounters& counters, double times);
// Adds them, rounded, to what the machine counted.
void add_to(TimedResult& result, const Account& more);

}  // namespace lockstep::model
