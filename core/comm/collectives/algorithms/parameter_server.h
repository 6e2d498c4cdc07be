// Parameter servers: the rows that collectives() has of them.
#pragma once
#include "core/comm/collectives/collectives.h"

namespace lockstep::comm {

Collective server_all_reduce(const CollectiveShape& shape);
Collective server_all_gather(const CollectiveShape& shape);
Collective server_reduce_scatter(const CollectiveShape& shape);
Collective server_broadcast(const CollectiveShape& shape);
Collective server_reduce(const CollectiveShape& shape);
Collective server_barrier(const CollectiveShape& shape);

}  // namespace lockstep::comm
