// Activations that are not kept: a piece of a model as one node, which keeps its inputs and runs forward once more in
// backward, on a tape of its own, with the same random numbers. Collectives inside cross again too.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/nn/module.h"
#include "core/parallel/rank.h"

namespace lockstep::parallel {

struct Rerun {  // a piece of a model; outlives the tapes
    Rank* rank = nullptr;
    std::vector<nn::Parameter*> parameters;  // that it uses: they get their gradients from this node
    std::function<tensor::Variable(nn::Pass& pass, std::span<const tensor::Variable> inputs)> inside;
    // Of the last forward: its operations, and how many random counters it drew.
    mutable tensor::OpCost cost = {};
    mutable uint64_t drawn = 0;
};
// `result`: shape and type of what comes out. Where nothing is recorded, `inside` runs as it is.
tensor::Variable rerun(nn::Pass& pass, const Rerun& what, std::span<const tensor::Variable> inputs,
                       const tensor::TensorType& result, tensor::NodeName name);

}  // namespace lockstep::parallel
