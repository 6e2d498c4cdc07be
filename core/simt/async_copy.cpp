// cp.async: copies of 4, 8 or 16 bytes a lane from global to shared memory, their groups and their waits.
#include "core/simt/async.h"

namespace lockstep::simt {

void AsyncWork::clear() {
    for (WarpCopies& warp : warps) {
        for (uint32_t& groups : warp.committed) groups = 0;
        warp.serial = 0;
        warp.ready = 0;
        warp.copies.clear();
    }
    arrivals.clear();
    bulk.clear();
    bulk_groups.clear();
    mbarriers.clear();
    bulk_bytes = 0;
}

}  // namespace lockstep::simt
