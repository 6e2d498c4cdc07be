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
    double warp_instructions() const { return values.empty() ? 0 : values[0]; }
};

// Adds them, rounded, to what the machine counted.
void add_to(TimedResult& result, const Account& more);

}  // namespace lockstep::model
