// One warp's registers that are still being written: who writes each, and from which cycle on it may be read. Only
// pending registers are kept, a handful at a time, in place; a 64-bit filter answers most questions.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "core/model/issue/timing.h"

namespace lockstep::model {

struct Pending {
    int64_t ready = 0;
    uint32_t reg : 24 = 0;
    StallReason wait : 8 = StallReason::wait;
    int64_t cause = -1;  // number of the issue
};

class Scoreboard {
  public:
    void clear() {
        count_ = 0;
        filter_ = 0;
    }

    void write(uint32_t reg, int64_t ready, int64_t cause, StallReason wait) {
        const uint64_t bit = uint64_t{1} << reg % 64;
        const Pending fresh{ready, reg & 0xffffffu, wait, cause};
        Pending* const pending = data();
        if ((filter_ & bit) != 0)
            for (uint32_t i = 0; i < count_; ++i)
                if (pending[i].reg == fresh.reg) {
                    pending[i] = fresh;
                    return;
                }
        filter_ |= bit;
        if (count_ < places()) {
            pending[count_++] = fresh;
            return;
        }
        if (!many_) more_.assign(few_.begin(), few_.end());
        many_ = true;
        more_.resize(std::max<size_t>(2 * few_.size(), more_.size() * 2));
        more_[count_++] = fresh;
    }

    // Of the registers that the instruction reads or writes the one that is ready last, if that is after `now`; of several
    // that which was issued first. The answer is good until the next write(). It may be asked of the cycle before, too: what
    // gets ready at `now` is kept.
    const Pending* blocking(const Timing& instruction, int64_t now) {
        if ((filter_ & instruction.filter) == 0) return nullptr;
        Pending* const pending = data();
        const Pending* last = nullptr;
        uint32_t kept = 0;
        filter_ = 0;
        for (uint32_t i = 0; i < count_; ++i) {
            if (pending[i].ready < now) continue;
            if (kept != i) pending[kept] = pending[i];
            const Pending& p = pending[kept++];
            filter_ |= uint64_t{1} << p.reg % 64;
            if (p.ready == now) continue;
            if (last != nullptr && (p.ready < last->ready || (p.ready == last->ready && p.cause >= last->cause))) continue;
            if ((instruction.filter >> p.reg % 64 & 1) != 0 && instruction.names(p.reg)) last = &p;
        }
        count_ = kept;
        return last;
    }

    // The earliest cause of what is pending after `now`; -1: none.
    int64_t oldest_cause(int64_t now) const {
        int64_t oldest = -1;
        const Pending* const pending = many_ ? more_.data() : few_.data();
        for (uint32_t i = 0; i < count_; ++i) {
            const Pending& p = pending[i];
            if (p.ready > now && p.cause >= 0 && (oldest < 0 || p.cause < oldest)) oldest = p.cause;
        }
        return oldest;
    }
    uint64_t bytes() const { return more_.size() * sizeof(Pending); }  // beside the object's own

  private:
    Pending* data() { return many_ ? more_.data() : few_.data(); }
    size_t places() const { return many_ ? more_.size() : few_.size(); }

    uint64_t filter_ = 0;
    uint32_t count_ = 0;
    bool many_ = false;  // beside the count, so that most questions do not touch `more_`
    std::array<Pending, 8> few_{};
    std::vector<Pending> more_;  // instead of those, once they were too few
};

}  // namespace lockstep::model
