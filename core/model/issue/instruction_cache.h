// Which lines of a kernel's code are in a cache of instructions, and since when. A line's place is its number modulo the
// cache's lines, so a kernel that fits never loses a line, and what does not fit goes round and round as it does in any
// cache of that size.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace lockstep::model {

class InstructionCache {
  public:
    InstructionCache() = default;
    InstructionCache(uint32_t lines, uint32_t lines_of_program)
        : entries_(std::max(1u, std::min(lines, lines_of_program))) {}

    // The cycle from which the line is here; null: it is not, nor on its way.
    const int64_t* find(uint32_t line) const {
        const Entry& entry = entries_[line % entries_.size()];
        return entry.line == line ? &entry.arrives : nullptr;
    }
    void put(uint32_t line, int64_t arrives) { entries_[line % entries_.size()] = {line, arrives}; }
    uint64_t bytes() const { return entries_.size() * sizeof(Entry); }

  private:
    struct Entry {
        uint32_t line = ~uint32_t{0};
        int64_t arrives = 0;
    };
    std::vector<Entry> entries_;
};

}  // namespace lockstep::model
