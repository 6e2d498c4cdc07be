// Attention over a sequence that is cut over the cp ranks (places_of() in model.h says who holds which places).
//
// Ring: every rank keeps its queries; keys and values travel round the ring, one hop a step, while the rank works on those
// that it has. What each block of keys gives is joined by its log-sum-exp (online softmax), so no row of scores is ever
// whole. Backward sends keys and values round once more, and their gradients after them, until those are home. Blocks
// in the queries' future are skipped: with plain runs of places later ranks work more; balanced, all work the same.
//
// All-to-all (Ulysses): every rank trades its places of all heads for all places of its share of the heads, and back.
#pragma once
#include <memory>
#include <vector>

#include "core/parallel/blocks/comm_ops.h"

namespace lockstep::parallel {

// What a rank of the ring works on in a round, in which it has the keys of the rank so many places before it: pairs of
// pieces of the sequence, of which there are as many as ranks, balanced twice as many.
struct RingPair {
    int query = 0, key = 0;              // pieces, numbered over the whole sequence
    int query_piece = 0, key_piece = 0;  // the same two among those of their ranks: 0, balanced 0 or 1
    bool past = false;                   // each query sees its own past in it; else all keys of the piece
};
std::vector<RingPair> ring_pairs(int ranks, bool balanced, int rank, int round);
int ring_piece(int ranks, int rank, int piece);  // over the whole sequence: rank, and of two pieces the mirror image

struct Ring {  // the context of ring attention; outlives the tapes
    Rank* rank = nullptr;
    comm::Communicator* cp = nullptr;            // on the compute stream
    std::unique_ptr<comm::Communicator> beside;  // the same ranks on context_stream
    bool balanced = false;
};
std::shared_ptr<const Ring> make_ring(Rank& rank);

// Causal, over all places: q [B,T/cp,H,D], k and v [B,T/cp,G,D] -> q's shape.
tensor::Variable ring_attention(tensor::Tape&, const tensor::Variable& q, const tensor::Variable& k,
                                const tensor::Variable& v, const Ring& ring, tensor::NodeName name);
tensor::Variable all_to_all_attention(tensor::Tape&, const tensor::Variable& q, const tensor::Variable& k,
                                      const tensor::Variable& v, const Crossing& cp, const std::string& name);

}  // namespace lockstep::parallel
