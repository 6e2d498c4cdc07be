// The memory side of one SM: two queues of instructions a sub-core, the address units, the data pipe that L1, shared memory
// and shuffles go through, L1's tags, which local and global memory take in order, the L1 cache and its outstanding misses,
// the stores that wait for the crossbar, the constant caches, the translation of addresses and the ports to the crossbar.
// Copyable; a copy that is to use another MemorySystem is told so by attach().
//
//   access(event) -> global | shared | constant | texture | bulk | shuffle     load_store_access.cpp sends them their way
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/model/issue/timing.h"
#include "core/model/memory/cache.h"
#include "core/model/memory/coalescer.h"
#include "core/model/memory/memory_system.h"
#include "core/model/memory/tlb.h"
#include "core/model/metrics/memory_counters.h"
#include "core/simt/warp.h"

namespace lockstep::model {

struct MemoryCost {
    int64_t ready = 0;  // first cycle in which a dependent instruction may issue
    int64_t done = 0;   // stores: the cycle at which the SM is rid of it
    MemoryLevel level = MemoryLevel::none;
    uint32_t sectors = 0, passes = 0;
    uint32_t bytes = 0, used_bytes = 0;  // asked for by the lanes; each byte counted once
    uint32_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;
    uint32_t constants = 0;     // of a load of constants: different addresses; 0 of a parameter that all lanes read
    uint32_t atomic_words = 0;  // different words that an atomic's lanes name
    Ticks queued = 0;           // of an atomic, at L2: see Served
    Ticks takes = 0;            // of the data pipe of L1 and shared memory
};

class LoadStore {
  public:
    LoadStore() = default;
    // `shared_bytes`: shared memory of all blocks that may be resident; L1 gets what is left. `sm`: its number.
    LoadStore(const GpuSpec& gpu, MemorySystem& memory, uint32_t shared_bytes, uint32_t sm = 0);

    // `mio`: of all memory instructions of a sub-core. Those of local and global memory also have a place in `lg`, until the
    // tags hold them no longer.
    enum class Queue : uint8_t { mio, lg };
    // First cycle in which sub-core `s` may hand over an instruction: there is room for it.
    int64_t free_at(uint32_t s, Queue queue) const {
        const int64_t mio = free_at_[place_of(s, Queue::mio)];
        return queue == Queue::mio ? mio : std::max(mio, free_at_[place_of(s, Queue::lg)]);
    }
    // The issue that makes this room: the oldest in the queue. -1: the queue has never been full.
    int64_t holder(uint32_t s, Queue queue) const {
        const uint32_t mio = place_of(s, Queue::mio), lg = place_of(s, Queue::lg);
        return oldest(queue == Queue::lg && free_at_[lg] > free_at_[mio] ? lg : mio);
    }
    int64_t oldest_issue(int64_t now, int64_t none) const;  // of those that have a place in a queue at `now`
    void name_next(int64_t issue) { issue_ = issue; }       // the number of the issue whose access comes next
    MachineLog* log() const { return memory_->log(); }      // null: nobody wants to know whose it is
    void name_asker(const Asker& asker) { asker_ = asker; }

    // What a memory instruction (Route::memory, shuffle or constant) that sub-core `s` issues at `now` costs. `early`: a
    // load of global memory asks L1, L2 and DRAM so many cycles before, since ptxas moves it up.
    MemoryCost access(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& timing, uint32_t early = 0);

    enum class Access : uint8_t { load, store, atomic };
    struct Way {  // what the instruction says of caches, and whose bytes they are
        CacheUse cache = CacheUse::normal;
        bool local = false;
        bool to_shared = false;  // cp.async
        bool texture = false;
        uint32_t early = 0;  // see access()
        uint32_t fence = 0;  // cycles that it waits before it leaves the SM
        AtomicWay atomic = AtomicWay::lane_by_lane;
    };
    MemoryCost global(uint32_t s, int64_t now, Access access, const uint64_t* addresses, uint32_t mask, uint32_t bytes,
                      Way way);
    MemoryCost global(uint32_t s, int64_t now, Access access, const uint64_t* addresses, uint32_t mask, uint32_t bytes) {
        return global(s, now, access, addresses, mask, bytes, Way{});
    }
    MemoryCost shared(uint32_t s, int64_t now, Access access, const uint64_t* offsets, uint32_t mask, uint32_t bytes,
                      AtomicWay atomic = AtomicWay::lane_by_lane);
    // Accesses that have run ahead: their passes are counted, their lanes gathered already. `bytes`: of all lanes that took
    // part.
    MemoryCost shared_ahead(uint32_t s, int64_t now, Access access, uint32_t passes, uint32_t bytes);
    MemoryCost global_ahead(uint32_t s, int64_t now, uint32_t bytes, CacheUse cache, uint32_t early,
                            const simt::AheadSteps& steps, simt::AheadEnds& ends);
    MemoryCost shuffle(uint32_t s, int64_t now);
    // One address after the other through the constant caches: where the lanes' differ, each takes a cycle of the SM's.
    // `parameters`: the kernel's, which are always at hand. `more`: cycles that a load by an address in a register takes
    // longer than an operand.
    MemoryCost constant(int64_t now, const uint64_t* addresses, uint32_t mask, uint32_t bytes, bool parameters,
                        int64_t more = 0);
    MemoryCost parameter_ahead(int64_t now, uint32_t mask, const Timing& timing);
    // A fetch by the texture unit: `sectors` (32 bytes each) of all texels that the filters of `lanes` lanes want.
    MemoryCost texture(uint32_t s, int64_t now, std::span<const uint64_t> sectors, uint32_t lanes, uint32_t bytes);
    // A bulk copy: past L1, by an engine of its own, from or to L2 in order of the 32-byte sectors.
    MemoryCost bulk(uint32_t s, int64_t now, bool store, std::span<const uint64_t> sectors);

    void forget_l1() { l1_.clear(); }                         // CCTL.IVALL
    void attach(MemorySystem& memory) { memory_ = &memory; }  // a copy that belongs to another machine
    uint64_t bytes() const {                                  // beside itself
        return l1_.bytes() + constant_l1_.bytes() + constant_l15_.bytes() + tlb_.bytes() +
               (outstanding_.size() + stores_.size()) * sizeof outstanding_[0];
    }

    // Asks the host for what an access to the line will look at.
    void prefetch(uint64_t line) const {
        l1_.prefetch(line, true);
        memory_->prefetch(line);
    }
    uint32_t l1_bytes() const { return l1_bytes_; }
    const MemoryCounters& counters() const { return counters_; }  // since the launch began; they only grow

  private:
    // Of the lines in request_; `bytes` of all lanes; an atomic's addresses and lanes.
    MemoryCost serve(uint32_t s, int64_t now, Access access, uint32_t bytes, Way way, const uint64_t* addresses = nullptr,
                     uint32_t mask = 0, uint32_t lane_bytes = 0);
    MemoryCost routed(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& timing, uint32_t early);
    static uint32_t place_of(uint32_t s, Queue queue) { return 2 * s + static_cast<uint32_t>(queue); }
    int64_t oldest(uint32_t place) const { return issues_[place][next_[place]]; }
    // Passes the sub-core's address unit and reserves `takes` of a data pipe; when the pipe begins.
    Ticks enter(uint32_t s, int64_t now, Ticks takes, uint32_t pipe);
    // The same for L1, in order with what its tags hold back, which it takes for `tags`; `through`: when it would have begun
    // without that.
    Ticks enter_tags(uint32_t s, int64_t now, Ticks takes, Ticks tags, Ticks& through);
    Ticks store_place(uint32_t sectors, Ticks begin) const;  // when so many more have room on their way to the crossbar
    void hold_store(uint32_t sectors, Ticks until);
    MemoryCost shared_passes_of(uint32_t s, int64_t now, uint32_t passes);
    void leave(uint32_t s, Queue queue, Ticks when);  // the instruction gives its place in the queue back
    // How long an L2 slice is busy with the atomics of the lanes in `mask` on the line.
    Ticks atomics_take(uint64_t line, const uint64_t* addresses, uint32_t mask, uint32_t lane_bytes, AtomicWay way) const;
    Ticks miss_slot(Ticks begin) const;  // when an entry for an outstanding miss is free
    Ticks translate(uint64_t line);      // what the TLB adds
    void load_line(const LineRequest& part, Way way, bool cached, Ticks since, Ticks begin, MemoryCost& cost, Ticks& ready,
                   Ticks& sent, Ticks& held);  // begin: before `since` where the load is early
    void count(MemoryCost& cost, const Served& served, uint32_t sectors, Flow flow);

    void make_coalesced(uint32_t used, uint64_t first, uint32_t lane_bytes);  // Idealised::coalesced, of request_

    MemorySystem* memory_ = nullptr;
    Idealised ideal_;
    int64_t l1_latency_ = 0, shared_latency_ = 0, shuffle_latency_ = 0, constant_latency_ = 0, constant_l15_latency_ = 0,
            texture_latency_ = 0, retry_latency_ = 0;
    Ticks l1_ticks_ = 0, address_ticks_ = 0, interval_ = 0, sector_ticks_ = 0, return_ticks_ = 0, send_ticks_ = 0,
          walk_ticks_ = 0, atomic_ticks_ = 0, texture_ticks_ = 0, tag_overhead_ = 0, constant_miss_ticks_ = 0;
    double atomic_ = 1, half_atomic_ = 1, half2_atomic_ = 1;  // cycles at L2: of those on a sector, of a lane
    uint32_t queue_ = 1, l1_bytes_ = 0, half_ = 0;
    uint32_t result_bytes_ = 0;  // of a load that reach a sub-core's registers in a cycle; 0: all of them
    bool caches_loads_ = true;
    std::array<Ticks, 2> front_free_{};  // what hands instructions to the pipes: one an interval
    std::array<Ticks, 2> pipe_free_{};   // L1; shared memory and shuffles, which is the same where they are one memory
    uint32_t shared_pipe_ = 0;
    Ticks tags_free_ = 0;  // for the next instruction of local or global memory
    Turn return_port_, send_port_;
    Ticks texture_free_ = 0, constant_free_ = 0, constant_miss_free_ = 0;
    static constexpr uint32_t most_queue = 8, most_sub_cores = 4, queues = 2 * most_sub_cores;
    std::array<Ticks, most_sub_cores> address_free_{};
    std::array<Ticks, queues> last_leave_{};
    std::array<int64_t, queues> free_at_{};
    std::array<std::array<int64_t, most_queue>, queues> leaves_{};
    std::array<std::array<int64_t, most_queue>, queues> issues_{};  // their numbers
    std::array<uint32_t, queues> next_{};
    int64_t issue_ = -1;
    Asker asker_;
    Cache l1_, constant_l1_, constant_l15_;
    Tlb tlb_;
    std::vector<Ticks> outstanding_;  // when the last so many misses come back: a ring
    uint32_t next_miss_ = 0;
    std::vector<Ticks> stores_;  // when the last so many sectors of stores left for L2: a ring
    uint32_t next_store_ = 0;
    MemoryCounters counters_;
    GlobalRequest request_;
};

}  // namespace lockstep::model
