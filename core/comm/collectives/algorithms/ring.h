// Rings and chains: the rows that collectives() has of them.
#pragma once
#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

Collective ring_all_reduce(const CollectiveShape& shape);
Collective ring_reduce_scatter(const CollectiveShape& shape);
Collective ring_all_gather(const CollectiveShape& shape);
Collective chain_broadcast(const CollectiveShape& shape);
Collective chain_reduce(const CollectiveShape& shape);
Collective pairwise_all_to_all(const CollectiveShape& shape);
Collective ring_barrier(const CollectiveShape& shape);

}  // namespace lockstep::comm
