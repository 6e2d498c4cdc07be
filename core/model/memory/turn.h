// A queue of something that serves one request after the other: an L2 slice, the bus of a DRAM channel, a port. Requests
// come in the order of their issue and have their turn from there on, however late they arrive: who waits elsewhere leaves
// nothing idle for others. Plain values: a copy is a checkpoint.
#pragma once
#include <algorithm>

#include "core/model/issue/ticks.h"

namespace lockstep::model {

class Turn {
  public:
    // When the request that issues at `since` and takes `takes` ticks has its turn. `early`, in ticks: it counts as issued
    // so long before; it is served then where there was time left, of which nobody else has had any, and else behind those
    // that came before.
    Ticks take(Ticks since, Ticks takes, Ticks early = 0) {
        if (since > free_) {
            left_ = std::min(left_ + since - free_, remembered);
            free_ = since;
        }
        if (takes <= std::min(early, left_)) {
            left_ -= takes;
            return since - early;
        }
        const Ticks turn = free_;
        free_ += takes;
        return turn;
    }
    void hold(Ticks longer) { free_ += longer; }
    Ticks free() const { return free_; }

  private:
    static constexpr Ticks remembered = ticks_of(int64_t{4096});
    Ticks free_ = 0, left_ = 0;  // left: what was idle before `free`
};

}  // namespace lockstep::model
