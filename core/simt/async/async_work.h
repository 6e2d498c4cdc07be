// What handlers do with asynchronous work (async.h): finish what was begun. Internal to core/simt.
#pragma once
#include "core/simt/execute/special.h"

namespace lockstep::simt {

WarpCopies& copies_of(Warp& warp);

// Writes what the cp.async of these lanes brought, up to `serial`: of all groups but the newest `keep` that the lane has
// closed; any_group: of those too that are not closed. Returns the cycle at which all of it is there.
constexpr uint32_t any_group = UINT32_MAX;
int64_t write_copies(Warp& warp, uint32_t lanes, uint32_t keep, uint64_t serial = UINT64_MAX);

// The same of a thread's bulk groups.
int64_t write_bulk(Block& block, uint32_t thread, uint32_t keep);

// Writes the bytes of a copy that the block keeps.
void write(Block& block, const BulkCopy& copy);

// cp.async.mbarrier.arrive: notes an arrival at an mbarrier that takes place when the lane's copies are written.
Fault* arrive_after_copies(Special& s);

// Whether the mbarrier operations of others may be told to the block's mbarrier at `offset`; the fault of `s` if not.
Fault* check_mbarrier(const Special& s, uint32_t lane, const Block& block, uint64_t offset);

// "; warp 3 waits there for phase 0 of the mbarrier at offset 16 of its shared memory (made on line 7), which still expects
// 1 arrival and 512 bytes", or nothing: what the warp's last test found.
std::string mbarrier_wait_of(const Warp& warp);

}  // namespace lockstep::simt
