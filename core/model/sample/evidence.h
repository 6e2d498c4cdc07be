// What a program's text says about sampling it. Internal to core/model/sample.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "core/ptx/decode/program.h"
#include "core/simt/launch.h"

namespace lockstep::model {

struct Evidence {
    std::string refusal;  // why the launch is not sampled: a sentence without its full stop; "": nothing speaks against it
    // Registers that addresses and branches are made of. Where they come from parameters and counters alone, rounds of a
    // loop can be counted on.
    std::vector<int32_t> steering;
    bool counts = true;  // they do
};
Evidence evidence_of(const ptx::Program&, const simt::LaunchConfig&);

// The program without what its steering does not need, each instruction in its place: products of matrices do nothing, and
// with `accesses` neither do loads and stores. Blocks of it go the same way where `counts` holds, and fault at the same
// accesses where those are kept. Without `counts`: the program as it is.
ptx::Program steering_of(const ptx::Program&, const Evidence&, bool accesses);

}  // namespace lockstep::model
