// Activations that are not kept: a piece of a model as one node, which keeps its inputs and runs forward once more in
// backward, on a tape of its own, with the same random numbers. Collectives inside cross again too. Where backward comes in
// two parts (I, then W), forward runs again before the first, and what the weights' gradients need is kept until the second.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "core/nn/layers/module.h"
#include "core/parallel/train/rank.h"

namespace lockstep::parallel {

struct RerunBackward;  // one that has come to its I

struct Rerun {  // a piece of a model; outlives the tapes
    Rank* rank = nullptr;
    std::vector<nn::Parameter*> parameters;  // that it uses: they get their gradients from this node
    std::function<tensor::Variable(nn::Pass& pass, std::span<const tensor::Variable> inputs)> inside;
    // Of the last forward: its operations, and how many random counters it drew.
    mutable tensor::OpCost cost = {};
    mutable uint64_t drawn = 0;
    // By a node's list of inputs, which stays where it is while its tape is not cleared.
    mutable std::map<const int*, std::shared_ptr<RerunBackward>> to_come = {};
};
// `result`: shape and type of what comes out. Where nothing is recorded, `inside` runs as it is.
tensor::Variable rerun(nn::Pass& pass, const Rerun& what, std::span<const tensor::Variable> inputs,
                       const tensor::TensorType& result, tensor::NodeName name);

}  // namespace lockstep::parallel
