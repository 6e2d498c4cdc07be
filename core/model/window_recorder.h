// What the SMs count while they run: for every window of time the counters of every instruction, and how many cycles SMs and
// schedulers were busy. A launch without windows has a single one. The cycle is that of the issue; a wait is split at the
// windows' borders.
#pragma once
#include <cstdint>
#include <vector>

#include "core/model/doubling_windows.h"
#include "core/model/launch.h"

namespace lockstep::model {

class WindowRecorder {
  public:
    static constexpr uint32_t most_windows = 256;
    static constexpr uint64_t most_bytes = uint64_t{16}
                                           << 20;  // of counters: programs of many instructions get fewer windows

    explicit WindowRecorder(size_t instructions = 1, bool on = false);

    // Good until the next call of anything here.
    InstructionCounters& at(int64_t cycle, uint32_t pc) { return counters_.at(cycle)[pc]; }
    void add_issue_cycle(int64_t cycle) { ++cycles_.at(cycle)->issue_cycles; }
    // A warp that waited for `reason` in front of instruction `pc`, from `begin` to `end`.
    void add_wait(int64_t begin, int64_t end, uint32_t pc, StallReason reason) {
        while (begin < end) {
            const int64_t now = std::min(end, counters_.border(begin));
            counters_.at(begin)[pc].stalls[static_cast<size_t>(reason)] += static_cast<uint64_t>(now - begin);
            begin = now;
        }
    }
    void add_active(int64_t begin, int64_t end) { add(begin, end, &CycleTotals::active_cycles); }
    void add_scheduler(int64_t begin, int64_t end) { add(begin, end, &CycleTotals::scheduler_cycles); }

    std::vector<InstructionCounters> sums() const;  // by pc, over all windows
    // One window that begins with what was counted before: of a launch that goes on from a checkpoint.
    explicit WindowRecorder(std::vector<InstructionCounters> before);

    // Closes the books: the sums over all windows, and the windows themselves (none, where there was a single one).
    // `dram`: what the channels moved, by time.
    std::vector<InstructionCounters> finish(int64_t cycles, DoublingWindows<CycleTotals> dram, Windows& windows);

  private:
    void add(int64_t begin, int64_t end, int64_t CycleTotals::*field);

    uint32_t instructions_;
    bool on_;
    DoublingWindows<InstructionCounters> counters_;
    DoublingWindows<CycleTotals> cycles_;
};

}  // namespace lockstep::model
