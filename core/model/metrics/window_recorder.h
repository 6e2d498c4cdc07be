// What the SMs count while they run: for every window of time the counters of every instruction, and how many cycles SMs and
// schedulers were busy. A launch without windows has a single one. The cycle is that of the issue; a wait is split at the
// windows' borders.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/launch/launch.h"
#include "core/model/metrics/doubling_windows.h"

namespace lockstep::model {

class WindowRecorder {
  public:
    static constexpr uint32_t most_windows = 256;
    static constexpr uint64_t most_bytes = uint64_t{16}
                                           << 20;  // of counters: programs of many instructions get fewer windows

    explicit WindowRecorder(size_t instructions = 1, bool on = false);

    WindowRecorder(WindowRecorder&&) = default;
    WindowRecorder& operator=(WindowRecorder&&) = default;

    // Good until the next call of anything here.
    InstructionCounters& at(int64_t cycle, uint32_t pc) {
        if (cycle < row_begin_ || cycle >= row_end_) find_row(cycle);
        return row_[pc];
    }
    void add_issue(int64_t cycle, bool first) {  // first of its scheduler's in the cycle
        if (!on_) return;
        CycleTotals& totals = *cycles_.at(cycle);
        totals.issue_cycles += first;
        ++totals.issued;
    }
    // A warp that waited for `reason` in front of instruction `pc`, from `begin` to `end` (> begin).
    void add_wait(int64_t begin, int64_t end, uint32_t pc, StallReason reason) {
        if (begin >= row_begin_ && end <= row_end_)
            row_[pc].stalls[static_cast<size_t>(reason)] += static_cast<uint64_t>(end - begin);
        else
            add_long_wait(begin, end, pc, reason);
    }
    bool by_time() const { return on_; }  // more than one window
    void add_active(int64_t begin, int64_t end) { add(begin, end, &CycleTotals::active_cycles); }
    void add_scheduler(int64_t begin, int64_t end) { add(begin, end, &CycleTotals::scheduler_cycles); }

    std::vector<InstructionCounters> sums() const;  // by pc, over all windows
    WindowRecorder empty_copy() const { return WindowRecorder(instructions_, on_); }
    void add(const WindowRecorder& other);  // of the same instructions, with windows or without as this one
    // One window that begins with what was counted before: of a launch that goes on from a checkpoint.
    explicit WindowRecorder(std::vector<InstructionCounters> before);

    // Closes the books: the sums over all windows, and the windows themselves (none, where there was a single one).
    // `dram`: what the channels moved, by time; `l2`: for how long slices took sectors, up to the last cycle.
    std::vector<InstructionCounters> finish(int64_t cycles, DoublingWindows<CycleTotals> dram,
                                            DoublingWindows<CycleTotals> l2, Windows& windows);

  private:
    void add(int64_t begin, int64_t end, int64_t CycleTotals::*field);
    void add_long_wait(int64_t begin, int64_t end, uint32_t pc, StallReason reason);
    void find_row(int64_t cycle);

    uint32_t instructions_;
    bool on_;
    DoublingWindows<InstructionCounters> counters_;
    DoublingWindows<CycleTotals> cycles_;
    InstructionCounters* row_ = nullptr;  // of the window that was used last: cycles row_begin_ to row_end_
    int64_t row_begin_ = 0, row_end_ = 0;
};

}  // namespace lockstep::model
