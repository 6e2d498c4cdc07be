// The memory side of one SM: a queue of instructions a sub-core, the address units, the data pipe that L1, shared memory
// and shuffles go through, the L1 cache and its outstanding misses.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/model/cache.h"
#include "core/model/coalescer.h"
#include "core/model/memory_system.h"

namespace lockstep::model {

struct MemoryCost {
    int64_t ready = 0;  // first cycle in which a dependent instruction may issue
    int64_t done = 0;   // stores: the cycle at which the SM is rid of it
    MemoryLevel level = MemoryLevel::none;
    uint32_t sectors = 0, passes = 0;
    uint32_t bytes = 0, used_bytes = 0;  // asked for by the lanes; each byte counted once
    uint32_t l1_sectors = 0, l1_hits = 0, l2_sectors = 0, l2_hits = 0;
};

class LoadStore {
  public:
    LoadStore() = default;
    // `shared_bytes`: shared memory of all blocks that may be resident; L1 gets what is left.
    LoadStore(const GpuSpec& gpu, MemorySystem& memory, uint32_t shared_bytes);

    // First cycle in which sub-core `s` may hand over an instruction: its queue has room.
    int64_t free_at(uint32_t s) const { return free_at_[s]; }

    enum class Access : uint8_t { load, store, atomic };
    MemoryCost global(uint32_t s, int64_t now, Access access, const uint64_t* addresses, uint32_t mask, uint32_t bytes,
                      bool local = false);
    MemoryCost shared(uint32_t s, int64_t now, Access access, const uint64_t* offsets, uint32_t mask, uint32_t bytes);
    // A load that has run ahead: its passes are counted already. `bytes`: of all lanes that took part.
    MemoryCost shared_load(uint32_t s, int64_t now, uint32_t passes, uint32_t bytes);
    MemoryCost shuffle(uint32_t s, int64_t now);

    void attach(MemorySystem& memory) { memory_ = &memory; }  // a copy that belongs to another machine
    uint64_t bytes() const { return l1_.bytes() + outstanding_.size() * sizeof outstanding_[0]; }  // beside itself

    uint32_t l1_bytes() const { return l1_bytes_; }

  private:
    // Passes the sub-core's address unit and reserves `cycles` of the data pipe; when the pipe begins.
    double enter(uint32_t s, int64_t now, double cycles);
    MemoryCost shared_passes_of(uint32_t s, int64_t now, uint32_t passes);
    void leave(uint32_t s, double when);  // the instruction gives its place in the queue back
    double miss_slot(double begin);       // when an entry for an outstanding miss is free

    MemorySystem* memory_ = nullptr;
    double l1_latency_ = 0, shared_latency_ = 0, shuffle_latency_ = 0, address_cycles_ = 0, l1_rate_ = 1;
    uint32_t queue_ = 1, mshrs_ = 1, l1_bytes_ = 0;
    double pipe_free_ = 0;
    static constexpr uint32_t most_queue = 8, most_sub_cores = 4;
    std::array<double, most_sub_cores> address_free_{}, last_leave_{};
    std::array<int64_t, most_sub_cores> free_at_{};
    std::array<std::array<int64_t, most_queue>, most_sub_cores> leaves_{};
    std::array<uint32_t, most_sub_cores> next_{};
    Cache l1_;
    std::vector<double> outstanding_;  // a heap of the cycles at which misses come back
    GlobalRequest request_;
};

}  // namespace lockstep::model
