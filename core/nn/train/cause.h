// Why a training fails, as plain data: a row of causes() (diagnose.h), said in one sentence, and what to change.
#pragma once
#include <cstdint>
#include <string>

namespace lockstep::nn {

struct Cause {
    std::string name;   // "diverged": of its row
    int64_t step = 0;   // from which on
    std::string layer;  // "fc2", or the parameter; "" of no single one
    std::string text;   // a sentence with both
    std::string advice;
    int node = -1;  // of the graph that shows it; -1: none
    bool operator==(const Cause&) const = default;
};

}  // namespace lockstep::nn
