// Hierarchical algorithms: the rows that collectives() has of them.
#pragma once
#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

Collective hierarchical_all_reduce(const CollectiveShape& shape);
Collective hierarchical_all_gather(const CollectiveShape& shape);
Collective hierarchical_broadcast(const CollectiveShape& shape);
Collective hierarchical_reduce(const CollectiveShape& shape);
Collective hierarchical_barrier(const CollectiveShape& shape);

}  // namespace lockstep::comm
