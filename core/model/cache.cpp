// Lookup and replacement. A cache of zero bytes has no sets: find() always misses and the caller must not insert.
#include "core/model/cache.h"

#include <algorithm>

namespace lockstep::model {

void Cache::Line::arrive(uint32_t sectors, int64_t cycle) {
    constexpr int64_t most = 0xffff;
    if (cycle > last) {
        const int64_t later = std::min(most, cycle - last);
        for (uint16_t& cycles : before) cycles = static_cast<uint16_t>(std::min(most, cycles + later));
        last = cycle;
    }
    for (uint32_t left = sectors; left != 0; left &= left - 1)
        before[std::countr_zero(left)] = static_cast<uint16_t>(std::min(most, last - cycle));
    present = static_cast<uint8_t>(present | sectors);
}

Cache::Cache(uint32_t bytes, uint32_t ways, uint32_t bytes_a_line) : ways_(std::clamp(ways, 1u, 256u)) {
    const uint32_t lines = bytes / bytes_a_line;
    if (lines == 0) return;
    ways_ = std::min(ways_, lines);
    sets_ = lines / ways_;
    spread_ = Spread(sets_);
    first_.assign(sets_, -1);
}

Cache::Line* Cache::find(uint64_t line, uint32_t* used_before) {
    if (sets_ == 0) return nullptr;
    const int32_t first = first_[spread_(line)];
    if (first < 0) return nullptr;
    const auto tag = static_cast<uint32_t>(line);
    uint32_t* const tags = keys_.data() + 2 * static_cast<size_t>(first);
    uint32_t* const used = tags + ways_;
    for (uint32_t way = 0; way < ways_; ++way) {
        if (tags[way] != tag) continue;
        Line& found = lines_[static_cast<size_t>(first) + way];
        if (found.line != line || used[way] == 0) continue;
        if (used_before != nullptr) *used_before = used[way];
        used[way] = ++clock_;
        return &found;
    }
    return nullptr;
}

Cache::Line& Cache::insert(uint64_t line, Victim& victim, bool evict_first) {
    int32_t& first = first_[spread_(line)];
    if (first < 0) {
        first = static_cast<int32_t>(lines_.size());
        lines_.resize(lines_.size() + ways_);
        keys_.resize(2 * lines_.size());
    }
    uint32_t* const tags = keys_.data() + 2 * static_cast<size_t>(first);
    uint32_t* const used = tags + ways_;
    // The way with the least `used`: four at a time, so that no comparison waits for the one before.
    uint64_t least[4] = {~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}, ~uint64_t{0}};
    for (uint32_t way = 0; way < ways_; ++way) least[way % 4] = std::min(least[way % 4], uint64_t{used[way]} << 8 | way);
    least[0] = std::min(std::min(least[0], least[1]), std::min(least[2], least[3]));
    const auto oldest = static_cast<uint32_t>(least[0] & 0xff);
    Line& place = lines_[static_cast<size_t>(first) + oldest];
    victim = {place.line, used[oldest] != 0 ? place.dirty : uint8_t{0}};
    place = Line{};
    place.line = line;
    tags[oldest] = static_cast<uint32_t>(line);
    used[oldest] = evict_first ? 1 : ++clock_;
    return place;
}

uint32_t Cache::younger_than(const Line& line, uint32_t used) const {
    const size_t first = static_cast<size_t>(first_[spread_(line.line)]);
    const uint32_t* const of = keys_.data() + 2 * first + ways_;
    uint32_t count = 0;
    for (uint32_t way = 0; way < ways_; ++way) count += of[way] > used ? 1 : 0;
    return count - 1;  // find() has just used the line itself
}

void Cache::settle() {
    for (Line& line : lines_) line.last = 0;
}

}  // namespace lockstep::model
