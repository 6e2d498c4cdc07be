// A set of bytes of a buffer, one bit each: those that nobody has written yet, for initcheck.
#pragma once
#include <cstdint>
#include <vector>

namespace lockstep::simt {

class ByteSet {
  public:
    ByteSet() = default;
    ByteSet(uint64_t bytes, bool holds_all) : words_((bytes + 63) / 64, holds_all ? ~uint64_t{0} : 0) {}

    // Adds or removes the bytes [begin, begin + count), which must lie in the buffer.
    void set(uint64_t begin, uint64_t count, bool held) {
        for (uint64_t at = begin, end = begin + count; at < end;) {
            const uint64_t in_word = at % 64, bits = end - at < 64 - in_word ? end - at : 64 - in_word;
            const uint64_t mask = (bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1) << in_word;
            held ? words_[at / 64] |= mask : words_[at / 64] &= ~mask;
            at += bits;
        }
    }
    // The first byte of [begin, begin + count) that the set holds (or, of = false, does not); begin + count: none.
    uint64_t first(uint64_t begin, uint64_t count, bool of = true) const {
        for (uint64_t at = begin, end = begin + count; at < end;) {
            const uint64_t in_word = at % 64;
            const uint64_t word = (of ? words_[at / 64] : ~words_[at / 64]) >> in_word;
            if (word) {
                const uint64_t found = at + static_cast<uint64_t>(__builtin_ctzll(word));
                return found < end ? found : end;
            }
            at += 64 - in_word;
        }
        return begin + count;
    }

  private:
    std::vector<uint64_t> words_;
};

}  // namespace lockstep::simt
