// Translation of an SM's global addresses: which pages it can translate at once. A page that has been pushed out costs a
// walk of the page tables. Pages never seen before cost nothing as long as there is room: what the host copied and what
// earlier kernels touched has been translated already.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/model/memory/cache.h"

namespace lockstep::model {

class Tlb {
  public:
    Tlb() = default;
    // `reach`: bytes that it covers; 0: it never misses.
    Tlb(uint32_t reach, uint32_t page_bytes) : page_shift_(static_cast<uint32_t>(std::bit_width(page_bytes) - 1)) {
        if (reach == 0) return;
        const uint32_t entries = std::max(1u, reach / page_bytes);
        ways_ = std::min(entries, most_ways);
        sets_ = Spread(entries / ways_);
        entry_.resize(size_t{entries / ways_} * ways_);
    }

    // Whether the page of `address` has to be looked up in memory.
    bool misses(uint64_t address) {
        const uint64_t page = (address >> page_shift_) + 1;
        if (page == last_ || ways_ == 0) return false;
        last_ = page;
        Entry* const set = entry_.data() + size_t{sets_(page - 1)} * ways_;
        Entry* oldest = set;
        for (uint32_t way = 0; way < ways_; ++way) {
            if (set[way].page == page) {
                set[way].used = ++clock_;
                return false;
            }
            if (set[way].used < oldest->used) oldest = set + way;
        }
        const bool pushes_out = oldest->page != 0;
        *oldest = {page, ++clock_};
        return pushes_out;
    }

    uint64_t bytes() const { return entry_.size() * sizeof entry_[0]; }  // beside itself

  private:
    static constexpr uint32_t most_ways = 4;
    struct Entry {
        uint64_t page = 0, used = 0;  // page: its number + 1
    };
    uint32_t page_shift_ = 0, ways_ = 0;
    uint64_t clock_ = 0, last_ = 0;
    Spread sets_;
    std::vector<Entry> entry_;
};

}  // namespace lockstep::model
