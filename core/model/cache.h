// A sectored, set-associative cache: 128-byte lines of four 32-byte sectors, least recently used out first. It holds no
// data (the executor does), only which sectors are present, when each arrives, and which are dirty. Storage for a set is
// made when the set is first touched, so an untouched cache costs nothing.
#pragma once
#include <cstdint>
#include <vector>

namespace lockstep::model {

// Spreads lines over n places such that any n consecutive aligned lines fall into n different ones, and strides of a
// power of two do not all meet in one.
class Spread {
  public:
    explicit Spread(uint32_t n = 1) : n_(n == 0 ? 1 : n), mask_((n_ & (n_ - 1)) == 0 ? n_ - 1 : 0) {
        while ((1u << shift_) < n_) ++shift_;
    }
    uint32_t operator()(uint64_t line) const {
        if (n_ == 1) return 0;
        if (mask_ != 0) return static_cast<uint32_t>((line ^ mix(line >> shift_)) & mask_);
        const uint64_t group = line / n_;
        return static_cast<uint32_t>((line - group * n_ + (mix(group) & 0xffff)) % n_);
    }

  private:
    static uint64_t mix(uint64_t group) { return group ^ (group >> 5) ^ (group >> 11) ^ (group >> 17) ^ (group >> 23); }
    uint32_t n_, mask_, shift_ = 0;
};

class Cache {
  public:
    struct Line {
        uint64_t line = 0;
        int64_t arrives[4] = {};  // cycle at which the sector is here, where `present` has its bit
        uint64_t used = 0;        // 0: the way is free
        uint8_t present = 0, dirty = 0;
    };
    struct Victim {  // what had to leave for a new line
        uint64_t line = 0;
        uint8_t dirty = 0;
    };

    Cache() = default;
    Cache(uint32_t bytes, uint32_t ways);

    // The line, marked as just used; null when it is not here.
    Line* find(uint64_t line);
    // A fresh entry for a line that find() did not have.
    Line& insert(uint64_t line, Victim& victim);

    uint64_t bytes() const { return first_.size() * sizeof first_[0] + lines_.size() * sizeof lines_[0]; }

    uint32_t sets() const { return sets_; }
    uint32_t ways() const { return ways_; }

  private:
    uint32_t sets_ = 0, ways_ = 0;
    Spread spread_;
    uint64_t clock_ = 0;
    std::vector<int32_t> first_;  // of each set, into lines_; -1: untouched
    std::vector<Line> lines_;
};

}  // namespace lockstep::model
