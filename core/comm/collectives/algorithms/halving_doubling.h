// Recursive halving and doubling: the rows that collectives() has of them.
#pragma once
#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

Collective halving_doubling_all_reduce(const CollectiveShape& shape);
Collective recursive_halving_reduce_scatter(const CollectiveShape& shape);
Collective recursive_doubling_all_gather(const CollectiveShape& shape);
Collective dissemination_barrier(const CollectiveShape& shape);

}  // namespace lockstep::comm
