// cp.async.bulk and its relatives: what a thread's bulk groups and the mbarriers of a block still have to hear of.
#include <algorithm>
#include <cstring>

#include "core/simt/async_work.h"
#include "core/simt/checker.h"
#include "core/simt/listed.h"

namespace lockstep::simt {

void write(Block& block, const BulkCopy& copy) {
    const std::byte* from = copy.data.data();
    for (const BulkCopy::Run& run : copy.runs) {
        std::byte* to = nullptr;
        if (copy.space == ptx::Space::shared)
            to = shared_pointer({&block, run.to}, run.bytes);
        else
            to = block.grid->memory->write(run.to, run.bytes);
        if (to) std::memcpy(to, from, run.bytes);  // null: the memory was released since the copy began
        from += run.bytes;
    }
}

int64_t write_bulk(Block& block, uint32_t thread, uint32_t keep) {
    AsyncWork& async = block.async;
    const uint64_t closed = thread < async.bulk_groups.size() ? async.bulk_groups[thread] : 0;
    int64_t ready = 0;
    std::erase_if(async.bulk, [&](const BulkCopy& copy) {
        if (copy.mbarrier != no_mbarrier || copy.thread != thread) return false;
        if (keep != any_group && uint64_t{copy.group} + keep >= closed) return false;
        write(block, copy);
        ready = std::max(ready, copy.ready);
        async.bulk_bytes -= copy.data.size();
        return true;
    });
    return ready;
}

}  // namespace lockstep::simt
