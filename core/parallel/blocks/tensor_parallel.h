// A vocabulary that is cut over the tp ranks: the cross-entropy of its logits, and labels as one rank has them.
#pragma once
#include <string>

#include "core/nn/layers/module.h"
#include "core/parallel/blocks/comm_ops.h"

namespace lockstep::parallel {

// The mean over rows of -log softmax(logits)[label], logits[R, classes / tp] cut over the ranks: the rows' largest logits,
// sums of exponentials and targets' logits cross, never the logits.
tensor::Variable vocabulary_parallel_cross_entropy(nn::Pass& pass, const tensor::Variable& logits,
                                                   const tensor::Tensor& labels, const Crossing& tp, tensor::NodeName name);

// Labels i32 of any shape as this part of `parts` of the classes has them: its own from 0 on, and which those are.
struct LocalLabels {
    tensor::Tensor row;    // i32 [R]: the label here; of others: 0
    tensor::Tensor label;  // i32 [R]: the label here; of others: -1
    tensor::Tensor mine;   // `type` [R]: 1 or 0
};
LocalLabels local_labels(tensor::Heap& heap, const tensor::Tensor& labels, int64_t classes, int64_t parts, int64_t part,
                         DType type, const std::string& name);

}  // namespace lockstep::parallel
