// One element followed through the whole graph of a step: from the loss back through every op to the element of each input
// that it owes most to. For each edge on the way: local derivative x upstream = product, worked out anew in double by the
// op's own backward on `host` with the recorded values, so it serves every op there is.
#pragma once
#include <cstdint>
#include <stop_token>
#include <vector>

#include "core/nn/train/step_record.h"

namespace lockstep::nn {

struct Passing {          // an edge of the graph, as backward goes: from a node's output o to element i of one of its inputs
    int node = -1;        // the op
    int input = 0;        // which of its inputs
    int from = -1;        // the node that this input is
    double local = 0;     // d output[o] / d input[i]
    double upstream = 0;  // gradient of output[o]
    double product = 0;   // their product: one term of what arrives at input[i]
    double total = 0;     // all that arrives over this edge: the sum over the elements of the output
    int64_t term = 0, terms = 1;  // the product is term number `term` of the `terms` elements that input[i] reaches
};

struct Followed {
    std::vector<int64_t> element;  // by node: index into its values; -1: none
    std::vector<Passing> edges;    // from the loss on; only where a gradient passes
    int example = 0;               // of the batch: the first of sixteen that is misread, else the first
    bool misread = false;

    const Passing* edge(int node, int input) const {
        for (const Passing& edge : edges)
            if (edge.node == node && edge.input == input) return &edge;
        return nullptr;
    }
};

// Of a record with values. Of a large model it takes many times as long as the step itself: where `stop` is requested it
// ends with Cancelled.
Followed follow(const StepRecord& record, const std::stop_token& stop = {});

}  // namespace lockstep::nn
