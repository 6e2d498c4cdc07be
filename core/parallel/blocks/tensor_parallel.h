// Layers cut over the tp ranks. A column-parallel product has a part of the outputs each, a row-parallel one a part of the
// inputs, so that a pair of them needs one all-reduce forward and one backward:
//
//     x = into(pass, x)                  // spread_copy, or with sequence parallelism all-gather of the places
//     y = column(pass, x)                // [.., outputs / tp]: what the whole layer has there, but for the order of sums
//     z = row(pass, relu(y))             // partial products, added up; then the bias
//
// Initial values are drawn in full, in the serial order, on every rank; each keeps its part (ShardedBuild).
#pragma once
#include <memory>
#include <string>

#include "core/nn/layers/layers.h"
#include "core/parallel/blocks/comm_ops.h"
#include "core/parallel/blocks/model.h"

namespace lockstep::parallel {

struct Split {  // what a rank keeps of a parameter
    int axis = -1;
    int64_t parts = 1, part = 0;
    comm::Communicator* add_over = nullptr;
    bool counts = true;
};

struct ShardedBuild {
    Rank& rank;
    ParallelModel& model;
    Rng rng;
    DType dtype = DType::f32;
    std::optional<DType> compute = {};
    bool held = true;  // by this rank; otherwise values are drawn and let go, and parameter() gives null
    comm::Communicator* sharing = nullptr;  // of the tp ranks that hold the same head of keys; null: not made yet

    // Throws Failure where the extent does not divide.
    nn::Parameter* parameter(const std::string& name, const tensor::Shape& full, nn::Init init, const Split& split = {});
    DType activations() const { return compute.value_or(dtype); }
    int tp() const { return rank.plan.tp; }
    int tp_rank() const { return rank.along("tp"); }
    Split cut(int axis) const { return {axis, tp(), tp_rank()}; }
    Split whole() const { return {.counts = tp_rank() == 0}; }  // the same on every tp rank, and so is its gradient
    // The same on every tp rank, but each sees a part of the places only where `parts` says so.
    Split whole_of_parts(bool parts) const {
        return {.add_over = parts ? rank.tp.get() : nullptr, .counts = tp_rank() == 0};
    }
};

// [outputs, inputs] and a bias; `column` cuts the outputs, `row` the inputs. Values begin as nn::Linear's.
nn::Linear column_linear(ShardedBuild& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias);
nn::Linear whole_linear(ShardedBuild& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias);
nn::LayerNorm layer_norm_of(ShardedBuild& build, const std::string& name, int64_t width, bool parts_of_places);
nn::RMSNorm rms_norm_of(ShardedBuild& build, const std::string& name, int64_t width, bool parts_of_places);

// How activations cross between what every tp rank has alike and what is cut: the pair of Megatron's f and g, or of
// all-gather and reduce-scatter along the places (axis 1). With one rank nothing is recorded.
struct TensorCrossing {
    std::shared_ptr<const Crossing> tp;  // null: one rank
    bool sequence = false;               // [B,T,D] lies cut along T outside

    tensor::Variable into(nn::Pass& pass, const tensor::Variable& x, const std::string& name) const;
    tensor::Variable out_of(nn::Pass& pass, const tensor::Variable& x, const std::string& name) const;
    // After into(): backward keeps the places of `x` alone. What was gathered is let go, and gathered again when the
    // gradient of `last` is there: the last that was made of it. The tape must stay where it is.
    void keep_part(nn::Pass& pass, const tensor::Variable& x, const tensor::Variable& gathered, const tensor::Variable& last,
                   const std::string& name) const;
};

struct RowParallelLinear {  // x[.., inputs / tp] -> [.., outputs]
    nn::Linear product;     // without its bias
    nn::Parameter* bias = nullptr;
    TensorCrossing crossing;

    RowParallelLinear() = default;
    RowParallelLinear(ShardedBuild& build, const std::string& name, int64_t inputs, int64_t outputs, bool with_bias,
                      const TensorCrossing& crossing);
    tensor::Variable operator()(nn::Pass& pass, const tensor::Variable& x) const;
};

struct VocabularyParallelEmbedding {  // weight[vocabulary / tp, width] ~ N(0, deviation)
    std::string name;
    nn::Parameter* weight = nullptr;
    int64_t vocabulary = 0;
    TensorCrossing crossing;

    VocabularyParallelEmbedding() = default;
    VocabularyParallelEmbedding(ShardedBuild& build, const std::string& name, int64_t vocabulary, int64_t width,
                                double deviation, const TensorCrossing& crossing);
    tensor::Variable operator()(nn::Pass& pass, const tensor::Variable& tokens) const;  // i32 [B,T] -> [B,T,width]
};

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
