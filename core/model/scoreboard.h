// One warp's registers that are still being written: who writes each, and from which cycle on it may be read. Only
// pending registers are kept, a handful at a time; a 64-bit filter answers most questions.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/model/timing.h"

namespace lockstep::model {

struct Pending {
    int64_t ready = 0;
    uint32_t reg = 0;
    int32_t cause = -1;  // index into KernelTrace::issues
    StallReason wait = StallReason::wait;
};

class Scoreboard {
  public:
    void clear() {
        pending_.clear();
        filter_ = 0;
    }

    void write(uint32_t reg, int64_t ready, int32_t cause, StallReason wait) {
        for (Pending& p : pending_)
            if (p.reg == reg) {
                p = {ready, reg, cause, wait};
                return;
            }
        pending_.push_back({ready, reg, cause, wait});
        filter_ |= uint64_t{1} << reg % 64;
    }

    // Of the registers that the instruction reads or writes the one that is ready last, if that is after `now`. The
    // answer is good until the next write().
    const Pending* blocking(const Timing& instruction, int64_t now) {
        if ((filter_ & instruction.filter) == 0) return nullptr;
        const Pending* last = nullptr;
        filter_ = 0;
        size_t kept = 0;
        for (const Pending& p : pending_) {
            if (p.ready <= now) continue;
            pending_[kept++] = p;
            filter_ |= uint64_t{1} << p.reg % 64;
        }
        pending_.resize(kept);
        for (const Pending& p : pending_) {
            if (last != nullptr && p.ready <= last->ready) continue;
            const auto names = [&](const uint32_t* registers, uint32_t count) {
                return std::find(registers, registers + count, p.reg) != registers + count;
            };
            if (names(instruction.reads, instruction.registers_read) ||
                names(instruction.writes, instruction.registers_written) ||
                names(instruction.list.data(), static_cast<uint32_t>(instruction.list.size())))
                last = &p;
        }
        return last;
    }

    // The earliest cause of what is pending after `now`; -1: none.
    int32_t oldest_cause(int64_t now) const {
        int32_t oldest = -1;
        for (const Pending& p : pending_)
            if (p.ready > now && p.cause >= 0 && (oldest < 0 || p.cause < oldest)) oldest = p.cause;
        return oldest;
    }
    uint64_t bytes() const { return pending_.size() * sizeof(Pending); }

  private:
    uint64_t filter_ = 0;
    std::vector<Pending> pending_;
};

}  // namespace lockstep::model
