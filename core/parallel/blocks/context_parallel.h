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

#include "core/parallel/blocks/comm_ops.h"

namespace lockstep::parallel {

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
