// A rank's share of a model: its blocks (core/nn/models/blocks.h) with this rank's shards of their parameters, on the rank's
// clock. One text serves the serial run (a plan of 1s), every parallel run, and planning on `meta`.
//
// Initial values: every rank draws every parameter's full values in the serial order from the one seed, and keeps its slice,
// so that a parallel run begins with the serial run's bits. Nothing is drawn on `meta`.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/nn/models/blocks.h"
#include "core/parallel/plan.h"
#include "core/parallel/train/rank.h"

namespace lockstep::parallel {

using nn::ModelShape;
using nn::PlaceRun;

struct MicroBatch {                // this rank's part: of the batch over dp, of the sequence over cp
    tensor::Tensor input, target;  // tokens i32 [B,T] and their followers [B T]; or pictures and labels
    int64_t examples = 0;          // that the loss is a mean over: tokens, pictures
};

struct Block {  // one of nn::Block, on this rank; counts its ops on the rank's clock
    std::string name;
    std::vector<std::string> prefixes;
    // x: the activation that arrives (of the first block: the input, or none). The last block returns the loss, of one
    // element: the sum over this rank's examples divided by `examples` of the MicroBatch. Null: another rank holds it.
    std::function<tensor::Variable(nn::Pass& pass, const tensor::Variable& x, const MicroBatch& batch)> forward;
    // Of what leaves the block, for one micro-batch; asked on ranks that only receive it.
    std::function<tensor::TensorType(const MicroBatch& batch)> output;
};

struct ShardedParameter {  // beside each nn::Parameter: how the full one was cut over tp
    nn::Parameter* parameter = nullptr;
    tensor::Shape full;           // shape before cutting
    int axis = -1;                // cut along this axis; -1: every tp rank holds all of it
    int64_t parts = 1, part = 0;  // into so many equal parts, of which this is one: with few key heads fewer than tp ranks
    // Ranks that hold the same elements and each have a part of their gradient only, which must be added: norms under
    // sequence parallelism, key heads that several tp ranks share, a tied head on another stage. Null: it is whole.
    comm::Communicator* add_over = nullptr;
    bool counts = true;  // of all tp and pp ranks that hold these elements, the one that norms and checkpoints count
};

struct ParallelModel {
    ModelShape shape;
    nn::ParameterList list;                // of the blocks that this rank holds
    std::vector<ShardedParameter> shards;  // one a parameter of `list`, in its order
    std::vector<Block> blocks;             // all of the model; those that this rank does not hold have no forward
    std::vector<std::unique_ptr<comm::Communicator>> groups;  // that shards name
    std::unique_ptr<nn::Sharding> sharding;                   // that blocks refer to
};

// Makes a model's blocks [held[i].first, held[i].last) for this rank. Throws Failure (refusal()).
struct BlockRange {
    int first = 0, last = 0;
};
int count_blocks(const ModelShape& shape);
// Which blocks each of `stages` pipeline stages holds: runs of them, as even as their operations allow.
std::vector<BlockRange> cut_into_stages(const ModelShape& shape, int stages);
int pipeline_stages(const ParallelPlan& plan);  // of the whole model, in the plan's schedule; 1 without a pipeline
// The same, or as the plan cuts it by hand. Throws Failure where its numbers do not add up.
std::vector<BlockRange> cut_of_plan(const ModelShape& shape, const ParallelPlan& plan, int stages);
std::unique_ptr<ParallelModel> make_model(const ModelShape& shape, const ParallelPlan& plan, Rank& rank,
                                          const std::vector<BlockRange>& held, uint64_t seed, DType dtype,
                                          std::optional<DType> compute = {});

const ModelShape& shape_named(const std::string& model);             // throws Failure with the nearest name
std::vector<int64_t> operations_of_blocks(const ModelShape& shape);  // forward products, of a token or picture
// Which places of a sequence of `context` a rank of the cp axis holds: runs [first, last), in the order of its rows. A
// balanced ring gives rank r the pieces r and 2 cp - 1 - r of 2 cp, so that all see as many keys.
std::vector<PlaceRun> places_of(const ParallelPlan& plan, int cp_rank, int64_t context);
// Why the plan cannot run this model with `batch` examples a step, and what would; nothing: it can.
std::optional<std::string> refusal(const ParallelPlan& plan, const ModelShape& shape, int64_t batch);

}  // namespace lockstep::parallel
