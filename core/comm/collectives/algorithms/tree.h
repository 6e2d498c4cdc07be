// Trees: the rows that collectives() has of them.
#pragma once
#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

Collective double_tree_all_reduce(const CollectiveShape& shape);
Collective binomial_broadcast(const CollectiveShape& shape);
Collective binomial_reduce(const CollectiveShape& shape);
Collective tree_barrier(const CollectiveShape& shape);

}  // namespace lockstep::comm
