// Time travel: any cycle of a launch that has been timed, by running it again from the nearest checkpoint in front of it.
// The replay is deterministic, so what it shows is what happened. It prints nothing and runs no checkers beyond bounds.
//
// Memory: beside one machine in the middle of the launch (its registers, shared and local memory, caches, device memory) it
// holds checkpoints of at most `most_bytes`, those that the launch itself left (TimedOptions::checkpoint_bytes) come on top.
// Checkpoints lie dense where the replay has just been and get sparser further back.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/launch/checkpoint.h"
#include "core/model/launch/launch.h"
#include "core/simt/history/history.h"

namespace lockstep::model {

class Machine;

// One resident warp at the beginning of a cycle: what its next instruction will find.
struct WarpState {
    uint32_t block = 0, warp_in_block = 0, sm = 0;
    uint32_t pc = 0;
    uint32_t active = 0, exited = 0;  // lanes
    bool at_barrier = false, done = false;
    uint64_t instructions = 0;             // issued so far
    std::vector<simt::StackEntry> stack;   // the last entry runs
    std::vector<simt::LaneValues> values;  // the registers of the running path's function
};

// What a launch ran with, for one that is to be the same: limits, scheduler and checks; the rest is the caller's.
TimedOptions options_of(const TimedResult& result);
// A copy of what L2 held as the launch found it, for TimedOptions::l2; null where it found nothing.
std::shared_ptr<L2State> l2_of(const KernelRun& run);

struct ReplayWatch {  // of a long run
    std::stop_token stop = {};
    std::function<void(double)> progress = {};  // 0..1
};

class Replay {
  public:
    static constexpr uint64_t default_bytes = uint64_t{256} << 20;

    // Requires run->before. The launch must not have been refused.
    explicit Replay(std::shared_ptr<const KernelRun> run, uint64_t most_bytes = default_bytes);
    ~Replay();

    // Brings the machine to the beginning of `cycle`: everything that happens before it has happened. False: stopped on the
    // way. `cycle` is clamped to the launch.
    bool seek(int64_t cycle, const ReplayWatch& watch = {});
    int64_t cycle() const { return cycle_; }

    // What can be read there. A block that has not begun or has ended has no warps.
    std::optional<WarpState> warp(uint32_t block, uint32_t warp_in_block) const;
    const simt::Block* block(uint32_t linear) const;  // null: it is not running
    const simt::Memory& device_memory() const;

    // The stretch [begin, end) of one SM in full, as a launch that traced this SM would have it (see stretch_of), with the
    // blocks of the whole launch. None: stopped on the way. Leaves the machine at `end`.
    std::optional<KernelTrace> trace(uint32_t sm, int64_t begin, int64_t end, const ReplayWatch& watch = {});

    uint64_t checkpoint_bytes() const { return near_.bytes(); }
    size_t checkpoints() const { return near_.size(); }
    const KernelRun& run() const { return *run_; }

  private:
    void begin_again();
    void go_to(const Checkpoint* from);
    // `ahead`: what only their own warp can see may run ahead on the way, and some may not be issued in the end.
    bool run_to(int64_t cycle, const ReplayWatch& watch, bool ahead = true);
    std::shared_ptr<const Checkpoint> before(int64_t cycle) const;
    void put_by();

    std::shared_ptr<const KernelRun> run_;
    TimedOptions options_;
    simt::Memory memory_;
    std::shared_ptr<L2State> l2_;
    std::unique_ptr<Machine> machine_;
    Checkpoints near_;
    std::shared_ptr<const Checkpoint> last_;  // to share pages with
    int64_t cycle_ = 0, clean_ = 0;           // clean_: the machine has run all cycles before this one
};

}  // namespace lockstep::model
