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

Cache::Cache(uint32_t bytes, uint32_t ways, uint32_t bytes_a_line) : ways_(std::max(1u, ways)) {
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
    const uint32_t* const tags = tags_.data() + first;
    for (uint32_t way = 0; way < ways_; ++way) {
        if (tags[way] != tag) continue;
        const auto at = static_cast<size_t>(first) + way;
        if (lines_[at].line != line || used_[at] == 0) continue;
        if (used_before != nullptr) *used_before = used_[at];
        used_[at] = ++clock_;
        return &lines_[at];
    }
    return nullptr;
}

Cache::Line& Cache::insert(uint64_t line, Victim& victim, bool evict_first) {
    int32_t& first = first_[spread_(line)];
    if (first < 0) {
        first = static_cast<int32_t>(lines_.size());
        lines_.resize(lines_.size() + ways_);
        tags_.resize(lines_.size());
        used_.resize(lines_.size());
    }
    const uint32_t* const used = used_.data() + first;
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < ways_; ++way) oldest = used[way] < used[oldest] ? way : oldest;
    const auto at = static_cast<size_t>(first) + oldest;
    victim = {lines_[at].line, used_[at] != 0 ? lines_[at].dirty : uint8_t{0}};
    lines_[at] = Line{};
    lines_[at].line = line;
    tags_[at] = static_cast<uint32_t>(line);
    used_[at] = evict_first ? 1 : ++clock_;
    return lines_[at];
}

uint32_t Cache::younger_than(const Line& line, uint32_t used) const {
    const int32_t first = first_[spread_(line.line)];
    uint32_t count = 0;
    for (uint32_t way = 0; way < ways_; ++way) count += used_[static_cast<size_t>(first) + way] > used ? 1 : 0;
    return count - 1;  // find() has just used the line itself
}

void Cache::drop(uint64_t line) {
    if (Line* const entry = find(line)) used_[static_cast<size_t>(entry - lines_.data())] = 0;
}

void Cache::settle() {
    for (Line& line : lines_) line.last = 0;
}

}  // namespace lockstep::model
