// A sectored, set-associative cache: 128-byte lines of four 32-byte sectors, least recently used out first. It holds no
// data (the executor does), only which sectors are present, when each arrives, and which are dirty. Storage for a set is
// made when the set is first touched, so an untouched cache costs nothing. Copyable: plain values and indices.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::model {

// Spreads lines over n places such that any n consecutive aligned lines fall into n different ones, and strides of a
// power of two do not all meet in one. Requires n <= 65536 and lines below 2^48.
class Spread {
  public:
    explicit Spread(uint32_t n = 1) : n_(n == 0 ? 1 : n), mask_((n_ & (n_ - 1)) == 0 ? n_ - 1 : 0) {
        while ((1u << shift_) < n_) ++shift_;
        if (mask_ == 0 && n_ > 1) inverse_ = ~uint64_t{0} / n_ + 1;
    }
    uint32_t operator()(uint64_t line) const {
        if (n_ == 1) return 0;
        if (mask_ != 0) return static_cast<uint32_t>((line ^ mix(line >> shift_)) & mask_);
        const uint64_t group = quotient(line);
        const uint64_t turned = line - group * n_ + (mix(group) & 0xffff);
        return static_cast<uint32_t>(turned - quotient(turned) * n_);
    }
    // line / n: which of its runs of n lines it belongs to.
    uint64_t group(uint64_t line) const { return n_ == 1 ? line : mask_ != 0 ? line >> shift_ : quotient(line); }

  private:
    __extension__ using Wide = unsigned __int128;
    // All bits of the group count in all bits of what comes out (Fibonacci hashing, Knuth 6.4): no stride, a row of a padded
    // matrix for one, undoes the step from one place to the next.
    static uint64_t mix(uint64_t group) { return group * 0x9e3779b97f4a7c15u >> 40; }
    // By the rounded-up inverse: exact as long as line * n < 2^64.
    uint64_t quotient(uint64_t line) const { return static_cast<uint64_t>((static_cast<Wide>(line) * inverse_) >> 64); }
    uint32_t n_, mask_, shift_ = 0;
    uint64_t inverse_ = 0;
};

class Cache {
  public:
    struct alignas(32) Line {
        uint64_t line = 0;
        int64_t last = 0;         // cycle at which the last of its sectors is here
        uint16_t before[4] = {};  // how many cycles earlier each sector was, as far as 16 bits say
        uint8_t present = 0, dirty = 0;
        uint8_t copies = 0;     // L2: halves of the chip that keep a copy of a line of the other half
        uint8_t from_dram = 0;  // L1: sectors that L2 had to fetch, or waited for, from DRAM
        uint32_t words = 0;     // L2: a bit for each 4-byte word that was fetched or written

        // The cycle at which all sectors of `sectors`, which are present, are here; `now` if they are already.
        int64_t here(uint32_t sectors, int64_t now) const {
            if (last <= now) return now;
            int64_t when = now;
            for (uint32_t left = sectors; left != 0; left &= left - 1)
                when = std::max(when, last - before[std::countr_zero(left)]);
            return when;
        }
        void arrive(uint32_t sectors, int64_t cycle);
    };
    struct Victim {  // what had to leave for a new line
        uint64_t line = 0;
        uint8_t dirty = 0;
        uint32_t words = 0;
    };

    Cache() = default;
    // At most 256 ways.
    Cache(uint32_t bytes, uint32_t ways, uint32_t bytes_a_line = 128);

    // The line, marked as just used; null when it is not here. `used_since`: how many others of its set were used after it.
    Line* find(uint64_t line, uint32_t* used_since = nullptr);
    // A fresh entry for a line that find() did not have. `evict_first`: it is the next to leave its set.
    Line& insert(uint64_t line, Victim& victim, bool evict_first = false);
    // Asks the host for the set, which the next find() will want, and for its lines if `all`.
    void prefetch(uint64_t line, bool all = false) const {
        if (sets_ == 0) return;
        const int32_t first = first_[spread_(line)];
        if (first < 0) return;
        for (uint32_t k = 0; k < chunks_; ++k) __builtin_prefetch(&orders_[static_cast<size_t>(first) * chunks_ + k]);
        if (!all) return;
        const auto* const lines = reinterpret_cast<const char*>(lines_.data() + static_cast<size_t>(first) * ways_);
        for (size_t at = 0; at < ways_ * sizeof(Line); at += 64) __builtin_prefetch(lines + at);
    }

    void clear() {  // no line is here any more, and nothing is written back
        if (lines_.empty()) return;
        std::fill(first_.begin(), first_.end(), -1);
        orders_.clear();
        lines_.clear();
    }
    bool is_like(const Cache& other) const { return sets_ == other.sets_ && ways_ == other.ways_; }
    void settle();  // all that is on its way is here, for a clock that begins again at 0
    // All lines, those of a set in the order of their use, the oldest first: inserted in this order they make the same
    // cache.
    template <class Each>
    void each_line(const Each& each) const {
        for (const int32_t first : first_) {
            if (first < 0) continue;
            const auto* const counts = reinterpret_cast<const uint16_t*>(&orders_[static_cast<size_t>(first) * chunks_]);
            const auto* const ways = reinterpret_cast<const uint8_t*>(counts + 2 + ways_);
            for (uint32_t at = counts[1]; at-- > 0;) each(lines_[static_cast<size_t>(first) * ways_ + ways[at]]);
        }
    }

    uint64_t bytes() const {  // beside itself
        return first_.size() * sizeof first_[0] + lines_.size() * sizeof lines_[0] + orders_.size() * sizeof orders_[0];
    }

    uint32_t sets() const { return sets_; }
    uint32_t ways() const { return ways_; }

  private:
    // Of a set: its lines in the order of their use, the latest first, those that are to leave first behind the others;
    // places that hold no line come last. In one piece, so that looking for a line touches little of the host's cache.
    struct Order {
        uint16_t* tags;  // the low bits of the line, an entry a way
        uint8_t* ways;   // where in the set its entry is
        uint16_t* used;  // how many entries hold a line that is not to leave first
        uint16_t* held;  // or any line
    };
    Order order_of(int32_t first) {
        auto* const counts = reinterpret_cast<uint16_t*>(&orders_[static_cast<size_t>(first) * chunks_]);
        return {counts + 2, reinterpret_cast<uint8_t*>(counts + 2 + ways_), counts, counts + 1};
    }
    struct alignas(64) Chunk {
        std::byte bytes[64];
    };
    static void to_front(const Order& order, uint32_t from, uint32_t to);

    uint32_t sets_ = 0, ways_ = 0;
    uint32_t chunks_ = 0;  // of a set
    Spread spread_;
    std::vector<int32_t> first_;  // of each set, its number in the arrays below; -1: untouched
    std::vector<Chunk> orders_;
    std::vector<Line> lines_;
};

}  // namespace lockstep::model
