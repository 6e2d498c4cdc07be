// Where the buffers of a graph live: one arena, offsets chosen so that two buffers share bytes only where the lifetimes by
// their launches do not meet. Largest buffer first, each into the smallest gap that holds it among those already placed that
// live at the same time (best fit). A feed lives from the step's start, an output to its end; persistent and constant
// buffers have memory of their own.
#pragma once
#include <cstdint>
#include <vector>

#include "core/graph/graph.h"

namespace lockstep::graph {

struct Plan {
    std::vector<int64_t> place;  // byte in the arena, by buffer; -1: not in it
    int64_t arena = 0;           // bytes: what the graph takes from the device, the predicted peak
    int64_t live_peak = 0;       // the most bytes alive at one launch: no plan is smaller
    int64_t unshared = 0;        // with memory of its own for each buffer, as an eager step takes it from the device
    std::vector<int64_t> live;   // bytes alive at each launch
};
Plan plan_memory(const Graph& graph, int64_t alignment = 256);

}  // namespace lockstep::graph
