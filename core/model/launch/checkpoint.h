// A launch put by in the middle, and how many of those are kept. A checkpoint is a copy of what changes; registers, shared,
// local and device memory lie in pages that it shares with its neighbours where they are equal.
#pragma once
#include <memory>
#include <vector>

#include "core/model/issue/sm.h"
#include "core/simt/history/checkpoint.h"

namespace lockstep::model {

struct SmCheckpoint {
    struct Slot {
        SmState::BlockPlace place;
        simt::BlockCheckpoint block;
    };
    SmState state;
    std::vector<Slot> blocks;
    simt::AheadRings ahead;    // none where all that has run has been issued
    int64_t oldest_cause = 0;  // the number of the earliest issue that a wait still refers to; state.issued_: none
};

struct Checkpoint {
    int64_t begin = 0;   // all that happens before this cycle has happened
    int64_t latest = 0;  // and nothing that happens in this cycle or later
    SharedState state;
    std::vector<InstructionCounters> counters;                 // by pc
    std::shared_ptr<std::vector<std::atomic<uint8_t>>> usual;  // simt::Grid::usual
    std::vector<SmCheckpoint> sms;
    MemorySystem memory;
    simt::MemoryCheckpoint device;
    std::shared_ptr<const simt::DeviceRuntime> device_runtime;  // null: the kernel launches none
    uint32_t visits = 0;
    uint64_t bytes = 0;  // beside the pages, which PageCount counts
};

// Checkpoints of one launch in order of time, as many as the budget allows. When it is exceeded the one goes whose
// neighbours are closest for how far back they lie: the latest stretch stays dense and the beginning is kept too.
class Checkpoints {
  public:
    explicit Checkpoints(uint64_t most_bytes) : most_bytes_(most_bytes) {}

    void add(std::shared_ptr<const Checkpoint> checkpoint, bool evenly);  // evenly: thin all of the run alike
    // The latest from which the state at the beginning of `cycle` can be reached; null: only the launch's beginning.
    std::shared_ptr<const Checkpoint> before(int64_t cycle) const;

    uint64_t bytes() const { return own_bytes_ + *pages_; }  // of pages that are shared with another collection too
    uint64_t most_bytes() const { return most_bytes_; }
    bool thinned() const { return thinned_; }  // some have gone
    size_t size() const { return kept_.size(); }
    const simt::PageCount& pages() const { return pages_; }
    const std::vector<std::shared_ptr<const Checkpoint>>& all() const { return kept_; }

  private:
    bool thinned_ = false;
    uint64_t most_bytes_, own_bytes_ = 0;
    simt::PageCount pages_ = std::make_shared<std::atomic<uint64_t>>(0);
    std::vector<std::shared_ptr<const Checkpoint>> kept_;
};

}  // namespace lockstep::model
