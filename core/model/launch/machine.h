// The modelled GPU in the middle of one launch: grid, SMs, memory system, block scheduler, and the queue that visits the SMs
// in the order of their next events. launch() runs one from the first cycle to the last; who wants to look in between runs
// it piece by piece.
#pragma once
#include <memory>
#include <vector>

#include "core/model/issue/sm.h"
#include "core/model/launch/crew.h"

namespace lockstep::model {

// The SMs by (next cycle, number), a binary heap of numbers that sort that way.
class SmQueue {
  public:
    static constexpr uint64_t idle = ~uint64_t{0};
    static uint64_t key(int64_t cycle, uint32_t sm) {
        return cycle == never ? idle : static_cast<uint64_t>(cycle) << 16 | sm;
    }
    static int64_t cycle_of(uint64_t key) { return static_cast<int64_t>(key >> 16); }
    static uint32_t sm_of(uint64_t key) { return static_cast<uint32_t>(key & 0xffff); }

    void rebuild(const std::vector<std::unique_ptr<Sm>>& sms);
    uint64_t first() const { return heap_.empty() ? idle : heap_[0]; }
    uint64_t second() const { return heap_.size() < 2 ? idle : heap_.size() < 3 ? heap_[1] : std::min(heap_[1], heap_[2]); }
    void move_first(uint64_t to) {
        size_t at = 0;
        for (size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
            if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
            if (heap_[child] >= to) break;
            heap_[at] = heap_[child];
            at = child;
        }
        heap_[at] = to;
    }

  private:
    std::vector<uint64_t> heap_;
};

struct Checkpoint;

class Checkpoints;

// What a launch has counted so far, but for what is a length of time.
struct Counted {
    uint64_t warp_instructions = 0, thread_instructions = 0;
    CycleTotals totals;                             // without active_cycles and scheduler_cycles
    int64_t warp_cycles = 0;                        // of warps that have ended
    std::vector<InstructionCounters> instructions;  // by pc
};

class Machine {
  public:
    // The launch, before its first cycle. All arguments must stay; requires check_launch to have passed. `packing`: of the
    // program, whose registers share places; see packed.h.
    Machine(const GpuSpec&, const ptx::Program&, const simt::LaunchConfig&, simt::Memory&, const TimedOptions&,
            const std::shared_ptr<const ptx::Packing>& packing = nullptr);
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Runs all that happens before cycle `until` (never: all there is). False when nothing is left to run: the kernel has
    // ended, faulted or been stopped.
    bool run_until(int64_t until);
    // Whether nothing has been found so far that a launch tells in words, about its registers or others.
    bool is_quiet() const;
    // Everything before this cycle has happened, and nothing from it on, when run_until(cycle()) has returned.
    int64_t cycle() const { return now_ + 1; }

    // Whether instructions run ahead from here on, in a launch whose options say so. What has run ahead is issued all the
    // same: the machine is exact when that is over. Then registers and shared memory are those of the cycle.
    void let_run_ahead(bool on) { state_.run_ahead = on && runs_ahead_; }
    bool is_exact() const;

    // See checkpoint.h. `earlier`: the checkpoint before, of this launch, or null. restore() stops a trace.
    std::shared_ptr<const Checkpoint> save(const Checkpoint* earlier, const simt::PageCount& count) const;
    void restore(const Checkpoint& from);
    // Traces an SM from here on, at most `limit` issues; and what that gave, everything before cycle `end` having been run.
    void trace(uint32_t sm, uint64_t limit, bool machine = false);
    KernelTrace trace_so_far(int64_t end) const;

    const simt::Memory& device_memory() const { return *grid_.memory; }
    const simt::Block* find_block(uint32_t linear) const;  // null: it is not running

    // For launches that are sampled (core/model/sample). run_until() also returns when so many blocks have started, or so
    // many warp instructions were issued; how many have, and when the last block did.
    void pause_at(uint64_t blocks, uint64_t issues) {
        pause_blocks_ = blocks;
        pause_issues_ = issues;
    }
    uint64_t started() const { return state_.next_block; }
    uint64_t issues() const { return state_.issues; }
    uint32_t blocks_per_sm() const { return state_.blocks_per_sm; }
    void leave_out(uint64_t blocks);  // of those that have not started, the next ones: they count as done
    void end_checkpoints() { next_checkpoint_ = never_due; }  // those that were taken stay
    Counted counted() const;
    double l2_filled() const { return memory_.l2_filled(); }  // 1: each line of L2 holds something
    const simt::Grid& grid() const { return grid_; }
    template <class Visit>
    void each_warp(const Visit& visit) const {  // (warp, instructions of it that have run and are not issued yet)
        for (const auto& sm : sms_) sm->each_warp(visit);
    }
    template <class Visit>
    void each_block(const Visit& visit) {  // that has not ended
        for (const auto& sm : sms_) sm->each_block(visit);
    }

    // Closes the books. Nothing may be run afterwards.
    TimedResult finish();

  private:
    static constexpr uint64_t never_due = ~uint64_t{0};
    void start();
    void put_by();
    void call_crew();
    void dismiss_crew();
    Sm::Host host() { return {&grid_, &windows_}; }
    void visit(uint32_t sm, int64_t until);  // what it shares, and then what it does alone
    void come_back(uint32_t sm);             // hears of what it has done alone
    void gather();                           // all come back
    void absorb(uint32_t sm);
    WindowRecorder counted_windows() const;
    simt::Fault deadlock_of(const simt::Block& stuck) const;
    void describe(KernelTrace& trace) const;  // what of the GPU and the launch belongs to a trace
    void look_up();                           // now and then: at the stop token, and whether all warps spin

    const GpuSpec& gpu_;
    const ptx::Program& program_;
    const TimedOptions& options_;
    TimedResult result_;
    SharedState state_;
    std::vector<Timing> timing_;
    std::vector<uint8_t> wide_loads_;  // Grid::wide_loads
    simt::Grid grid_;
    MemorySystem memory_;
    Recorder recorder_;
    WindowRecorder windows_;
    std::vector<std::unique_ptr<Sm>> sms_;
    SmQueue queue_;
    int64_t faulted_at_ = -1;  // cycle in which a fault stopped the launch; -1: none did
    int64_t now_ = 0;          // of the latest visit
    uint32_t visits_ = 0;
    std::shared_ptr<Checkpoints> checkpoints_;  // null: none are wanted
    std::shared_ptr<const Checkpoint> last_checkpoint_;
    uint64_t next_checkpoint_ = never_due;  // in issues
    uint64_t pause_blocks_ = never_due, pause_issues_ = never_due;
    bool refused_ = false;                // this computer has not the memory for it
    bool runs_ahead_ = false;             // as the options say, where it can
    uint64_t crew_due_;                   // in issues
    std::vector<uint8_t> alone_;          // SMs that have run alone since they were heard of, or do so now
    uint64_t fault_key_ = SmQueue::idle;  // of the first fault that is known
    std::optional<simt::Fault> first_fault_;
    std::unique_ptr<Crew> crew_;  // null: not yet, or there is one thread
};

}  // namespace lockstep::model
