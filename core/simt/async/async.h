// What asynchronous instructions of a block have begun and not ended, as plain copyable data: a checkpoint holds it too.
// An asynchronous copy reads its source, with all checks, when it is issued; it writes when somebody waits for it: at the
// wait of its group, at a test of its mbarrier, at the latest when its warp ends. So whoever forgets to wait reads what was
// there before, as may happen on silicon.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/ptx/decode/views_async.h"
#include "core/ptx/opcodes/opcode.h"

namespace lockstep::simt {

struct LaneCopies {  // one cp.async of a warp
    uint32_t pc = 0;
    uint32_t lanes = 0;  // whose copies are still to be written
    uint32_t bytes = 0;  // a lane: 4, 8 or 16
    uint64_t serial = 0;
    int64_t ready = 0;       // cycle at which the bytes are there; the timed driver knows, otherwise 0
    uint32_t group[32];      // that the lane's next commit closes
    uint32_t to[32];         // offset in shared memory
    std::byte data[32][16];  // as many bytes as `bytes` says
};

struct WarpCopies {               // of one warp
    uint32_t committed[32] = {};  // groups that the lane has closed
    uint64_t serial = 0;          // copies issued so far
    std::vector<LaneCopies> copies;
};

struct LateArrival {  // of cp.async.mbarrier.arrive: arrives when the lane's copies up to `serial` have been written
    uint32_t pc = 0, warp = 0, lane = 0;
    uint32_t mbarrier = 0;  // offset in shared memory
    uint64_t serial = 0;
};

constexpr uint32_t no_mbarrier = UINT32_MAX;

using ptx::BulkOperation;

struct BulkCopy {  // a cp.async.bulk, st.async or red.async whose bytes have been read and not written
    struct Run {
        uint64_t to = 0;  // global: address; shared: offset in the block that keeps this record
        uint32_t bytes = 0;
    };
    uint32_t pc = 0, thread = 0, group = 0;  // who issued it; the bulk group that the thread's next commit closes
    uint32_t rank = 0;                       // of the issuing block in its cluster
    ptx::Space space = ptx::Space::global;   // of the destination
    BulkOperation operation = BulkOperation::copy;
    ptx::Type type = ptx::Type::none;
    uint32_t mbarrier = no_mbarrier;  // offset of the one that hears of it, in the block that keeps this record
    uint32_t signalled = 0;           // bytes that the mbarrier hears of
    int64_t ready = 0;                // cycle
    std::vector<Run> runs;            // one after the other in `data`
    std::vector<std::byte> data;
};

struct MbarrierPlace {
    uint32_t offset = 0;
    uint32_t pc = 0;  // of its mbarrier.init
};

struct AsyncWork {
    std::vector<WarpCopies> warps;         // empty until the block's first cp.async
    std::vector<LateArrival> arrivals;     // oldest first
    std::vector<BulkCopy> bulk;            // oldest first: those of this block's bulk groups and of its mbarriers
    std::vector<uint32_t> bulk_groups;     // that each thread has closed; empty until the first
    std::vector<MbarrierPlace> mbarriers;  // valid ones, by offset
    uint64_t bulk_bytes = 0;               // in `bulk`

    void clear();  // keeps the room of `warps`
};

}  // namespace lockstep::simt
