// What the families of models hand to make_model (models.cpp), and the little that they share.
#pragma once
#include <memory>
#include <vector>

#include "core/parallel/blocks/model.h"
#include "core/parallel/blocks/tensor_parallel.h"

namespace lockstep::parallel {

// Each adds all blocks of build.model, in order; `held[i]`: this rank holds block i.
void add_transformer(ShardedBuild& build, const std::vector<bool>& held);
void add_perceptron(ShardedBuild& build, const std::vector<bool>& held);
void add_convolutional(ShardedBuild& build, const std::vector<bool>& held);

std::vector<int64_t> operations_of_blocks(const ModelShape& shape);  // forward products, of a token or picture

// A block's forward, its ops counted on the rank's clock; null where it is not held.
using BlockForward = std::function<tensor::Variable(nn::Pass& pass, const tensor::Variable& x, const MicroBatch& batch)>;
BlockForward timed(Rank& rank, BlockForward forward);

// The mean over `rows` as a share of the mean over batch.examples.
tensor::Variable share_of_loss(nn::Pass& pass, const tensor::Variable& loss, int64_t rows, const MicroBatch& batch);

}  // namespace lockstep::parallel
