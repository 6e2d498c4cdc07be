// One streaming multiprocessor, cycle by cycle: block slots, sub-cores with their warp schedulers and pipes, and the
// memory side. A warp's state is kept as a run (since when, why, because of which instruction) and changes on events only;
// cycle(now) touches what can change at `now` and says when something can change next.
//
//   machine.cpp -> Sm::cycle -> dispatch_blocks, then of each sub-core: wake -> pick -> issue -> simt::step -> cost -> next
//   wait
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/issue/instruction_cache.h"
#include "core/model/issue/scoreboard.h"
#include "core/model/issue/sleepers.h"
#include "core/model/launch/launch.h"
#include "core/model/launch/recorder.h"
#include "core/model/memory/load_store.h"
#include "core/model/metrics/window_recorder.h"
#include "core/simt/execute/ahead.h"
#include "core/simt/history/checkpoint.h"
#include "core/simt/warp.h"

namespace lockstep::model {

struct SharedState {  // of one launch, used by all SMs
    const GpuSpec* gpu = nullptr;
    const std::vector<Timing>* timing = nullptr;
    simt::Grid* grid = nullptr;
    MemorySystem* memory = nullptr;
    Recorder* recorder = nullptr;
    WindowRecorder* windows = nullptr;
    uint32_t warps_per_block = 1, blocks_per_sm = 1, shared_per_block = 0;
    uint64_t max_instructions = 0;
    bool run_ahead = true, shared_ahead = true;  // the latter: accesses to shared memory too
    uint32_t code_shift = 3;                     // instructions of a line of 128 bytes, as a power of two
    double launcher_free = 0;                    // when the block scheduler can start the next block
    SchedulerPolicy scheduler = SchedulerPolicy::greedy_then_oldest;
    uint64_t next_block = 0, blocks = 0, blocks_done = 0;  // the block scheduler: linear order
    // Clusters start when there is room for all their blocks and keep their places until all have ended.
    struct Place {
        uint32_t sm = 0, slot = 0;
    };
    struct Cluster {
        uint32_t running = 0;
        std::vector<Place> places;
    };
    uint32_t cluster_blocks = 1;
    std::map<uint32_t, Cluster> clusters;  // that run
    std::vector<Place> free_places;        // of launches with clusters
    uint64_t issues = 0, thread_instructions = 0;
    uint64_t last_moved = 0;  // value of `issues` when a warp last did more than spin round and round
    int64_t moved_at = 0;     // and the cycle
    int64_t last_cycle = 0;   // end of the block that ended last
    std::optional<simt::Fault> fault;
};

// What changes while an SM runs, but for the blocks: plain values, so a copy of it is a checkpoint. Issues of an SM are
// numbered from 0 on, and a cause (why a warp waits) is the number of one, traced or not; -1: none.
struct SmState {
    static constexpr uint32_t slots_a_sub_core = 32, most_sub_cores = 4;

    // A block's warps run their next instructions in one go, while their registers are in the host's cache, and issue them
    // afterwards from Sm::ahead_, each in its cycle (simt::run_ahead). So a warp itself may be ahead of the cycle.
    struct alignas(64) WarpSlot {
        simt::Warp* warp = nullptr;
        int64_t run_begin = 0;  // the current run: since when, why, because of what
        int64_t run_cause = -1;
        uint32_t pc = 0;            // of the next instruction
        uint32_t end_pc = 0;        // Warp::pc(), behind what has run
        uint32_t ahead_active = 0;  // lanes of the path that ran ahead
        simt::AheadEnds ahead;
        StallReason run_reason = StallReason::selected;  // selected: not known yet
        bool at_barrier = false;
        bool moved = false;  // Warp::watch.moved when they ran
        // The first ones in the ring, each in its place modulo their number, and of the very first what is left of it: most
        // issues do without the ring.
        std::array<simt::AheadRun, 4> coming;
        uint16_t number = 0;  // of this slot on the SM
        uint16_t block_slot = 0;
        Scoreboard scoreboard;
        int64_t store_done = 0;  // when its last store or atomic is home, and the issue of that one
        int64_t store_cause = -1;
        int32_t track = -1;
        std::array<int64_t, 3> marks{};           // when the loads were issued that later ones are moved up to (lowering.h)
        uint8_t round = 0;                        // of an unrolled loop, since its mark was set
        bool split = false;                       // by the last branch that is a predicate: both sides do something
        int64_t first_round = 0, last_round = 0;  // cycles in which it came round and changed nothing
        int64_t begin = 0;
        int64_t ended = 0;  // of the last warp here
    };
    struct Pipe {            // of a sub-core, the queue of its memory instructions too
        int64_t free = 0;    // the first cycle in which it takes another instruction
        int64_t from = 0;    // taken in the cycles [from, free), of which none lies before the latest issue
        int64_t taken = 0;   // and before that for so many cycles
        int64_t idle = 0;    // of which this is the end of the last
        int64_t cause = -1;  // the issue that took it

        void take(int64_t now, int64_t until) {  // by an issue at `now`
            if (until == free) return;
            if (const int64_t end = std::min(free, now + 1); end > from) {
                taken += end - from;
                idle = end;
            }
            from = now + 1;
            free = until;
        }
        // For how many of the cycles before `cycle`, which is at or behind the latest issue or `idle`.
        int64_t taken_before(int64_t cycle) const { return taken + std::max<int64_t>(0, std::min(cycle, free) - from); }
    };
    struct alignas(64) SubCore {
        // Bits of slots. Every resident warp but those that have ended is asleep (until its `wake`) or eligible.
        uint32_t eligible = 0;
        uint32_t recheck = 0;                     // asleep: its registers have not been looked at yet
        uint32_t passed_over = 0, throttled = 0;  // eligible, and its run says so already, with the right cause
        uint32_t shares = 0;                      // its next instruction goes to something that the SMs share
        uint32_t busy_pipes = 0;                  // bits of those that may not be free yet
        uint32_t last = 0;                        // slot that issued last
        int64_t next_wake = never;                // the earliest of the sleeping warps
        uint32_t live = 0;
        std::array<uint32_t, pipes> of_pipe{};  // its next instruction needs that pipe
        std::array<Pipe, pipes> pipe{};
        // Of each slot, apart from the rest so that looking for work touches little of the host's cache:
        std::array<uint8_t, slots_a_sub_core> pipe_of{};
        std::array<int64_t, slots_a_sub_core> wake{};  // may issue from here on, as far as its own instructions go
        std::array<uint32_t, slots_a_sub_core> age{};
        std::array<int64_t, slots_a_sub_core> fetched{};   // when its next instruction is in the sub-core
        std::array<int64_t, slots_a_sub_core> taken_at{};  // Pipe::taken_before(wake) of the pipe that it needs
        Sleepers sleepers;
        InstructionCache code;
        // Its slots before that go to instructions that do nothing (Predicated) or to sequences. Those have theirs in cycles
        // in which nobody issues, and what they are `owed` when the next sequence comes at once: pay().
        int64_t taken_until = 0, busy_until = 0;
        uint32_t owed = 0;
        int64_t active_begin = 0, active_until = 0, active_cycles = 0, issue_cycles = 0, issued = 0;
        std::vector<WarpSlot> slot;  // as many as the launch can fill

        void sleep(uint32_t i, int64_t now, int64_t until) {
            wake[i] = until;
            next_wake = std::min(next_wake, until);
            sleepers.add(i, now, until);
        }
        void pay(const Timing& t, int64_t now) {
            owed -= static_cast<uint32_t>(std::min<int64_t>(owed, std::max<int64_t>(0, now - busy_until)));
            busy_until = std::max(busy_until, now + 1);
            if (t.more_slots == 0) return;
            taken_until = busy_until += owed;
            owed = t.more_slots;
        }
        void take(uint32_t number, int64_t now, int64_t until) {
            pipe[number].take(now, until);
            if (until > now + 1) busy_pipes |= 1u << number;
        }
    };
    struct BlockPlace {
        uint32_t warps_left = 0;
        int64_t end = never;  // when it gives its place back, once all warps are done
        int64_t ended = 0;    // latest end of a warp
        int64_t record = -1;
        uint32_t cluster = 0;
        bool used = false;
    };

    // Whether the runs of eligible warps are kept one by one: not selected, throttled, not selected ... A trace and windows
    // need that. Else only their sums are known, from the pipes' accounts, when the warp issues: see Sm::settle.
    bool each_run_ = false;
    int64_t next_ = never, next_free_ = never;
    uint32_t resident_blocks_ = 0;
    uint32_t age_ = 0;
    int64_t active_begin_ = 0, active_cycles_ = 0, warp_cycles_ = 0;
    int64_t issued_ = 0;
    int64_t moved_at_ = 0;                     // when one of its warps last did more than spin round and round
    int64_t barriers_free_ = 0, arrived_ = 0;  // when a barrier counts in the next warp; when it did the last one
    std::array<int64_t, most_sub_cores> core_next_{never, never, never, never};  // when something can happen in each
    LoadStore memory_side_;
    InstructionCache code_;
    std::vector<SubCore> cores_;
};

struct SmCheckpoint;

// When a block that is given to an SM at `now` begins: the block scheduler starts one after the other.
int64_t start_of_block(SharedState& state, int64_t now);

class Sm : private SmState {
  public:
    Sm(SharedState& state, uint32_t index);

    void start_block(uint32_t slot, uint32_t linear, int64_t now, uint32_t cluster = 0);
    simt::Block& block_at(uint32_t slot) { return blocks_[slot].block; }
    const simt::Block* find_block(uint32_t linear) const {  // null: it is not here
        for (const BlockSlot& place : blocks_)
            if (place.used && place.block.linear == linear) return &place.block;
        return nullptr;
    }
    template <class Visit>
    void each_block(const Visit& visit) {  // that has not ended
        for (BlockSlot& place : blocks_)
            if (place.used && place.end == never) visit(place.block);
    }
    // Everything that happens in cycle next(). Where it comes to something that the SMs share (global memory, the block
    // scheduler) and `may_share` is false, it stops before that and returns false: call it again when the others are there.
    bool cycle(bool may_share);
    // For a caller that visits every cycle.
    void visit_next_cycle(int64_t now) { next_ = next_ == never ? never : now + 1; }
    int64_t next() const { return next_; }
    void prefetch() const;  // into the host's cache what cycle() will look at
    // What a thread of the host runs SMs with: a grid and counters of its own.
    struct Host {
        simt::Grid* grid = nullptr;
        WindowRecorder* windows = nullptr;
    };
    // Its cycles before `end`, up to where it comes to something that the SMs share: nobody else can tell, so any thread may
    // run them beside those of other SMs. `at` hears, cycle by cycle, where the next one will be.
    void run_alone(const Host& host, int64_t end, std::atomic<int64_t>* at = nullptr);
    // How many instructions it issues alone at a time, in the mean of the last ones.
    uint32_t pace() const { return pace_ / 16; }
    // Before cycle() and run_alone(), by the launch's own thread: what they may know of the other SMs.
    void tell(const SharedState& state) {
        issues_left_ = state.max_instructions - std::min(state.max_instructions, state.issues);
        known_moved_at_ = state.moved_at;
        all_started_ = state.next_block == state.blocks;
    }
    // What its cycles add to the sums of the launch. The launch's own thread takes it, in an order that no other thread's
    // pace changes.
    struct Tally {
        uint64_t issues = 0, thread_instructions = 0, blocks_done = 0;
        uint32_t visits = 0;
        int64_t latest = -1, last_cycle = 0, moved_at = -1;  // cycles: visited last, SharedState's others
        std::vector<std::pair<int64_t, int64_t>> ended;      // blocks: what the recorder calls them, and when
    };
    Tally& tally() { return tally_; }
    std::shared_ptr<simt::Findings>& findings() { return findings_; }
    // A fault in cycle next(), or a warp that would issue more than the launch may.
    bool faulted() const { return fault_ != nullptr || ran_away_ != nullptr; }
    std::optional<simt::Fault> take_fault(uint64_t issues);
    // For a launch that ends early: closes what is open, as of `now`.
    void stop(int64_t now);
    // Instructions of a warp that have run and are not issued yet, by its place on the SM.
    template <class Visit>
    void each_warp(const Visit& visit) const {  // (warp, instructions)
        for (const SubCore& core : cores_)
            for (const WarpSlot& w : core.slot)
                if (w.warp != nullptr) visit(*w.warp, not_issued(w));
    }
    bool is_ahead() const;                   // some warp has run what it has not issued
    const simt::Block* stuck_block() const;  // one that cannot go on, when next() is never
    bool all_spin() const;                   // or wait at barriers: each has come round twice since anything moved

    struct Totals {
        int64_t active_cycles = 0;     // with a resident block
        int64_t scheduler_cycles = 0;  // of sub-cores with a resident warp, summed
        int64_t issue_cycles = 0;      // of those in which they issued
        int64_t issued = 0;            // warp instructions that took an issue slot
        int64_t warp_cycles = 0;       // resident warps, summed over cycles
    };
    Totals totals() const;
    uint32_t l1_bytes() const { return memory_side_.l1_bytes(); }

    // See checkpoint.h. `now`: what lies before it has happened; restore() into an SM of the same launch, which traces
    // nothing until begin_trace().
    SmCheckpoint save(const SmCheckpoint* earlier, const simt::PageCount& count, int64_t now) const;
    void restore(const SmCheckpoint& from);
    uint64_t state_bytes() const;
    void begin_trace(int64_t now);                       // for the recorder of the shared state, from here on
    void show_trace(Recorder& copy, int64_t end) const;  // closes what is open in a copy of the recorder, as of `end`

  private:
    struct BlockSlot : BlockPlace {
        simt::Block block;
    };

    int64_t oldest_cause(int64_t now) const;
    void dispatch_blocks(int64_t now);
    bool second_shares(uint32_t pc) const;
    bool cycle_of(uint32_t s, int64_t now);
    void wake_up(SubCore& core, int64_t now);
    void stop_at(const WarpSlot& w);
    void set_next_pc(SubCore& core, uint32_t i, uint32_t pc, int64_t known);
    int64_t fetch(SubCore& core, uint32_t pc, int64_t now);
    int64_t line_from_l1(uint32_t line, int64_t now);
    void pass_over(SubCore& core, uint32_t open, int64_t now);
    uint32_t pick(const SubCore& core, uint32_t open) const;
    bool issue(uint32_t s, uint32_t i, int64_t now, bool first);
    bool can_pair(SubCore& core, uint32_t i, uint32_t first_pc, int64_t now);
    struct Issued {
        int64_t now = 0, ready = 0;  // ready: first cycle in which an instruction that depends on it may issue
        uint32_t pc = 0, active = 0, executed = 0;
        uint32_t sectors = 0, passes = 0;
        MemoryLevel level = MemoryLevel::none;
        StallReason wait = StallReason::wait;
        bool first = true;  // of its scheduler in this cycle
        bool branch = false, diverged = false;
        bool folded = false;
        uint32_t early = 0;  // cycles, see IssueRecord
    };
    static simt::AheadRun& coming(WarpSlot& w) { return w.coming[w.ahead.at % w.coming.size()]; }
    static const simt::AheadRun& coming(const WarpSlot& w) { return w.coming[w.ahead.at % w.coming.size()]; }
    void copy_coming(WarpSlot& w) const {
        constexpr uint32_t group = std::tuple_size_v<decltype(w.coming)>;
        const simt::AheadRun* const runs = ahead_[w.number].run.data() + w.ahead.at / group * group % simt::AheadSteps::most;
        std::memcpy(w.coming.data(), runs, sizeof w.coming);
    }
    // The lanes that took part in the next instruction that has run ahead, and its passes over the banks.
    std::pair<uint32_t, uint32_t> how_ran(const WarpSlot& w) const {
        const simt::AheadRun& run = coming(w);
        if (run.alone != 0) return {run.more, run.passes};
        const uint8_t usual = (*state_.grid->usual)[run.pc].load(std::memory_order_relaxed);
        return {usual == simt::ran_with_none ? 0 : w.ahead_active, usual};
    }
    void take_step(WarpSlot& w) const {
        simt::AheadRun& run = coming(w);
        ++run.pc;
        if (run.alone == 0 && --run.more != 0) return;
        if (++w.ahead.at % w.coming.size() == 0) copy_coming(w);
    }
    uint64_t not_issued(const WarpSlot& w) const;  // of what has run
    struct RanAhead {
        uint32_t pc, executed, passes;
    };
    bool run_more(WarpSlot& w);
    bool run_warp(WarpSlot& w);
    void run_block(uint32_t block_slot);
    WarpSlot& warp_of(uint32_t block_slot, uint32_t k) {  // warp k of the block there
        const uint32_t number = block_slot * state_.warps_per_block + k;
        return cores_[number % sub_cores_].slot[number / sub_cores_];
    }
    bool run_step(WarpSlot& w, simt::WarpEvent& event);
    RanAhead take_ahead(WarpSlot& w, int64_t now);
    void note_moved(int64_t now) { tally_.moved_at = moved_at_ = now; }
    void note_round(WarpSlot& w, const simt::WarpEvent& event, int64_t now);
    uint32_t next_pc_of(const WarpSlot& w) const {
        return w.ahead.empty() ? std::min(w.end_pc, last_pc_) : uint32_t{coming(w).pc};
    }
    bool fold(uint32_t s, uint32_t i, int64_t now, uint32_t& next);
    static void set_mark(WarpSlot& w, const Timing& t, int64_t now);
    static uint32_t moved_up(const WarpSlot& w, const Timing& t, int64_t now);
    bool issue_step(uint32_t s, uint32_t i, int64_t now, bool first);
    void issue_ahead(uint32_t s, uint32_t i, int64_t now, bool first);
    template <class Cost>
    int64_t charge(uint32_t s, WarpSlot& w, const Timing& t, Issued& issued, bool stores, const Cost& cost);
    int64_t resolved(const Timing& t, int64_t now) const;
    void skip_side(WarpSlot& w, uint32_t pc, uint32_t next, int64_t now, bool diverged);
    bool go_on(uint32_t s, uint32_t i, const Timing& t, int64_t now, bool folds, bool diverged = false);
    struct Wait {
        StallReason reason;
        int64_t until, cause;  // until 0: for its registers
    };
    Wait wait_behind(const WarpSlot& w, const simt::WarpEvent& event, const Timing& t, int64_t now, int64_t record) const;
    void wait_at_barrier(SubCore& core, uint32_t i, int64_t now, bool over, int64_t record);
    void arrive_ahead(uint32_t s, uint32_t i, const Timing& t, int64_t now, int64_t record);
    int64_t account(uint32_t s, WarpSlot& w, const Timing& t, const Issued& issued);
    void record_issue(uint32_t s, const WarpSlot& w, const Issued& issued, int64_t number);
    void wait_next(SubCore& core, uint32_t i, int64_t now, int64_t wake, StallReason reason, int64_t record,
                   int64_t last_issue);
    MemoryCost memory_cost(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& t, uint32_t early);
    void account_memory(SubCore& core, uint32_t s, WarpSlot& w, const MemoryCost& cost, bool stores, Issued& issued);
    void arrive(int64_t now) {
        arrived_ = std::max(now, barriers_free_);
        barriers_free_ = arrived_ + barrier_interval(gpu_);
    }
    void release_barrier(uint32_t block_slot, int64_t now, int64_t cause);
    void retire(SubCore& core, uint32_t i, int64_t now, int64_t cause);
    void close_run(WarpSlot& w, int64_t now) {
        if (now <= w.run_begin) return;
        windows_->add_wait(w.run_begin, now, w.pc, w.run_reason);
        if (traced_) record_run(w, now);
        w.run_begin = now;
    }
    void record_run(const WarpSlot& w, int64_t end);
    void settle(SubCore& core, uint32_t i, int64_t end);
    void keep_each_run();
    void end_active(int64_t end);
    void end_active(SubCore& core);
    void enter(WarpSlot& w, int64_t now, StallReason reason, int64_t cause) {
        if (w.run_reason == reason && w.run_cause == cause) return;
        close_run(w, now);
        w.run_reason = reason;
        w.run_cause = cause;
    }

    SharedState& state_;
    const GpuSpec& gpu_;
    const Timing* timing_;
    uint32_t index_, sub_cores_;
    uint32_t last_pc_;
    bool traced_ = false, may_share_ = true;
    WindowRecorder* windows_;  // of the thread that runs it
    Tally tally_;
    uint64_t issues_left_ = 0;  // before tally_: as tell() has it, and so are the next ones
    int64_t known_moved_at_ = 0;
    bool all_started_ = false;
    uint32_t pace_ = 0;
    std::unique_ptr<simt::Fault> fault_;
    simt::Warp* ran_away_ = nullptr;
    std::shared_ptr<simt::Findings> findings_;  // of its blocks, while they do not run
    uint32_t skipped_ = 0;  // slots that the warp that has just issued gives to sides of branches that it does not take
    // Where cycle() stopped: the host's memory that going on will want first.
    const simt::Warp* next_warp_ = nullptr;
    std::array<const std::byte*, 2> next_registers_{};
    std::array<uint64_t, 16> next_lines_{};  // of global memory
    uint32_t next_line_count_ = 0;
    std::vector<BlockSlot> blocks_;
    simt::AheadRings ahead_;  // by WarpSlot::number; none where nothing runs ahead
};

// `known`: the cycle from which it is known that the warp goes there.
[[gnu::always_inline]] inline void Sm::set_next_pc(SubCore& core, uint32_t i, uint32_t pc, int64_t known) {
    WarpSlot& w = core.slot[i];
    const uint32_t bit = 1u << i;
    const Timing& t = timing_[pc];
    core.of_pipe[core.pipe_of[i]] &= ~bit;
    core.of_pipe[t.pipe] |= bit;
    core.pipe_of[i] = t.pipe;
    core.shares = t.shared_by_sms ? core.shares | bit : core.shares & ~bit;
    if (pc >> state_.code_shift != w.pc >> state_.code_shift) core.fetched[i] = fetch(core, pc, known);
    w.pc = pc;
}

}  // namespace lockstep::model
