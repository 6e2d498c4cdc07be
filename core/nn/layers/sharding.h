// How a model is split over ranks, as its layers and blocks ask while they are made and while they run. The functions here
// are those of a run on one rank: parameters are whole, activations cross nothing, and nothing more is recorded than the
// model itself. core/parallel/blocks/rank_sharding.h has those of one rank among many.
//
// Products come in pairs: the first is cut by its outputs (columns), the second by its inputs (rows), so that a pair needs
// one all-reduce forward and one backward:
//
//     x = into(pass, x)     // every rank's copy of x; with sequence parallelism its places are gathered
//     y = column(pass, x)   // [.., outputs / tp]
//     z = row(pass, y)      // partial sums, which out_of() adds up; then the bias
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/tape.h"

namespace lockstep::nn {

struct BatchNorm2d;
struct Embedding;
struct Parameter;
struct Pass;

// What several ranks may hold of a parameter. keys: columns in units of a head of keys, of which there may be fewer than
// ranks; then several ranks hold the same head.
enum class Cut : uint8_t { whole, columns, rows, keys };

struct Slice {  // part number `part` of `parts` equal ones along `axis`; axis -1: all of it
    int axis = -1;
    int64_t parts = 1, part = 0;
};

struct PlaceRun {  // places [first, last) of a sequence
    int64_t first = 0, last = 0;
    bool operator==(const PlaceRun&) const = default;
};

// A piece of a model between activations, which may be run again in backward instead of keeping what is inside.
using Piece = std::function<tensor::Variable(Pass& pass, std::span<const tensor::Variable> inputs)>;
enum class PieceKind : uint8_t { layer, attention };

struct Sharding {
    int64_t tp = 1;  // ranks that products are cut over
    virtual ~Sharding() = default;

    // While a model is made: whether this rank holds block number `block`, and what of a parameter.
    virtual bool holds(size_t /*block*/) const { return true; }
    virtual Slice slice(Cut) const { return {}; }
    virtual Piece piece(PieceKind, std::vector<Parameter*> /*it uses*/, Piece inside, std::string /*name*/) const {
        return inside;
    }
    // Which rows of a table of all positions this rank's products meet, in their order; and which rows activations of
    // `places` places take outside of products, behind `before` others.
    virtual std::vector<PlaceRun> rotary_rows(int64_t context) const { return {{0, context}}; }
    virtual std::vector<PlaceRun> position_rows(int64_t before, int64_t places, int64_t /*context*/) const {
        return {{before, before + places}};
    }
    virtual int64_t places_outside(int64_t places) const { return places; }  // of products: cut by sequence parallelism

    // While it runs: activations on their way into a product cut by columns and out of one cut by rows; and this rank's
    // part of an activation [B, D] that all have alike.
    virtual tensor::Variable into(Pass&, const tensor::Variable& x, const std::string& /*name*/) const { return x; }
    virtual tensor::Variable out_of(Pass&, const tensor::Variable& x, const std::string& /*name*/) const { return x; }
    virtual tensor::Variable take_part(Pass&, const tensor::Variable& x, const std::string& /*name*/) const { return x; }
    // `gathered` is what into() made of x, and `last` the last that was made of it: backward may keep x alone, and gather
    // it again. in_layer: inside of a piece of kind layer.
    virtual void keep_part(Pass&, const tensor::Variable& /*x*/, const tensor::Variable& /*gathered*/,
                           const tensor::Variable& /*last*/, const std::string& /*name*/, bool /*in_layer*/) const {}
    // Rows of a table whose vocabulary is cut by columns: i32 [..] -> [.., D].
    virtual tensor::Variable embedding(Pass&, const Embedding& table, const tensor::Variable& ids) const;
    // Causal, over all places of the sequence: q [B,T,H,D], k and v [B,T,G,D] -> [B,T,H,D].
    virtual tensor::Variable attention(Pass&, const tensor::Variable& q, const tensor::Variable& k,
                                       const tensor::Variable& v, const std::string& name) const;
    virtual tensor::Variable batch_norm(Pass&, const BatchNorm2d& layer, const tensor::Variable& x) const;
};

inline const Sharding one_rank = {};

}  // namespace lockstep::nn
