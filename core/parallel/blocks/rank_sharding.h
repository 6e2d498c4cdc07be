// What a rank among many answers where a model's layers and blocks ask how they are split (core/nn/layers/sharding.h): the
// plan's numbers, and the collectives that take the activations across. What communicates comes from comm_ops.h and
// context_parallel.h.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/nn/models/blocks.h"
#include "core/parallel/blocks/context_parallel.h"
#include "core/parallel/blocks/model.h"

namespace lockstep::parallel {

class RankSharding final : public nn::Sharding {
  public:
    // held[i]: this rank holds block i. All ranks make theirs together. `rank` must outlive it.
    RankSharding(Rank& rank, const nn::ModelShape& shape, std::vector<bool> held);

    ShardedParameter shard_of(nn::Parameter* parameter, const tensor::Shape& full, nn::Cut cut) const;

    bool holds(size_t block) const override { return held_.at(block); }
    nn::Slice slice(nn::Cut cut) const override;
    nn::Piece piece(nn::PieceKind kind, std::vector<nn::Parameter*> parameters, nn::Piece inside,
                    std::string name) const override;
    std::vector<nn::PlaceRun> rotary_rows(int64_t context) const override;
    std::vector<nn::PlaceRun> position_rows(int64_t before, int64_t places, int64_t context) const override;
    int64_t places_outside(int64_t places) const override { return sequence_ ? places / tp : places; }

    tensor::Variable into(nn::Pass& pass, const tensor::Variable& x, const std::string& name) const override;
    tensor::Variable out_of(nn::Pass& pass, const tensor::Variable& x, const std::string& name) const override;
    tensor::Variable take_part(nn::Pass& pass, const tensor::Variable& x, const std::string& name) const override;
    // What was gathered is let go after forward, and gathered again when the gradient of `last` is there.
    void keep_part(nn::Pass& pass, const tensor::Variable& x, const tensor::Variable& gathered, const tensor::Variable& last,
                   const std::string& name, bool in_layer) const override;
    tensor::Variable embedding(nn::Pass& pass, const nn::Embedding& table, const tensor::Variable& ids) const override;
    tensor::Variable attention(nn::Pass& pass, const tensor::Variable& q, const tensor::Variable& k,
                               const tensor::Variable& v, const std::string& name) const override;
    tensor::Variable batch_norm(nn::Pass& pass, const nn::BatchNorm2d& layer, const tensor::Variable& x) const override;

    const Crossing* over_tp() const { return tp_.get(); }  // null: one rank

  private:
    Rank& rank_;
    std::vector<bool> held_;
    int64_t key_heads_ = 1;
    bool sequence_ = false;                         // activations [B,T,D] lie cut along T outside of products
    std::shared_ptr<const Crossing> tp_, cp_, dp_;  // null: one rank; cp: no all-to-all; dp: batch norm is not synchronised
    std::shared_ptr<const Ring> ring_;              // null: no ring
    std::unique_ptr<comm::Communicator> sharing_;   // the tp ranks that hold the same head of keys; null: none does
};

// Batch norm over the pictures of all dp ranks.
tensor::Variable synchronised_batch_norm(nn::Pass& pass, const nn::BatchNorm2d& layer, const tensor::Variable& x,
                                         const Crossing& dp);

}  // namespace lockstep::parallel
