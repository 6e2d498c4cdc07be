// Writes the KernelTrace while the SMs run: issues and stall runs of the traced SM, blocks of all. When the bound is met
// the trace ends at that cycle; the overview of the SM goes on.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>

#include "core/model/launch/machine_log.h"
#include "core/trace/kernel_trace.h"

namespace lockstep::model {

class Recorder {
  public:
    // `limit`: issues kept, and four times as many runs. The overview of `slots` warp slots (0: none) covers all of the run.
    Recorder(bool on, uint32_t sm, uint64_t limit, uint32_t slots = 0, uint32_t schedulers = 0)
        : overview(slots, schedulers), on_(on), sm_(sm), limit_(limit) {
        trace.sm = sm;
    }

    bool traces(uint32_t sm) const { return on_ && sm == sm_; }
    bool full() const { return trace.truncated; }  // no tracks any more, only the overview

    // Called at the beginning of each cycle of the traced SM; true in the one in which the bound is met.
    bool meets_bound(int64_t now) {
        if (trace.truncated || (trace.issues.size() < limit_ && runs_ < 4 * limit_)) return false;
        trace.truncated = true;
        trace.kept_until = now;
        return true;
    }

    int32_t add_track(uint32_t block, uint32_t warp, uint32_t slot, uint32_t scheduler, int64_t begin,
                      uint64_t issued_before = 0);
    // `number`: of the issue on its SM; from the first one on none may be left out.
    void add_issue(int32_t track, int64_t number, const IssueRecord& issue);
    void add_run(int32_t track, StallRun run, int64_t cause);  // cause: the number of an issue, -1: none; sets run.cause
    void end_track(int32_t track, int64_t end) { trace.warps[static_cast<size_t>(track)].end = end; }

    int64_t add_block(const BlockRun& block);  // its index, -1: not kept
    void end_block(int64_t index, int64_t end) {
        if (index >= 0) trace.blocks[static_cast<size_t>(index)].end = end;
    }

    // Sorts, and cuts what lies behind kept_until; `faulted`: what SMs did behind the end, ahead of the one that faulted.
    KernelTrace finish(int64_t cycles, bool faulted = false);

    KernelTrace trace;
    OverviewBuilder overview;
    std::optional<MachineLog> machine;  // none: nobody asked for it

  private:
    bool on_, blocks_cut_ = false;
    uint32_t sm_;
    uint64_t limit_, runs_ = 0;
    int64_t first_ = std::numeric_limits<int64_t>::max();  // number of the first issue that is kept
};

}  // namespace lockstep::model
