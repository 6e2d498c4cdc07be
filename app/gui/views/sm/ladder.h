// How long the loads of each source line took, as plain data: the rungs of the latency ladder.
#pragma once
#include <string>
#include <vector>

#include "core/model/launch/launch.h"

namespace lockstep::gui {

struct LadderRow {
    int32_t line = 0;                            // source line; 0: results of arithmetic, which stay in registers
    std::string what;                            // "tile[s]"
    std::string where;                           // "shared memory", "local, L1 hit"
    int64_t count = 0;                           // warp instructions on the traced SM
    int64_t median = 0, least = 0, longest = 0;  // cycles from issue until the value may be read
};
// By median, the shortest first.
std::vector<LadderRow> ladder_of(const model::KernelRun& run);

}  // namespace lockstep::gui
