// Lookup and replacement. A cache of zero bytes has no sets: find() always misses and the caller must not insert.
#include "core/model/memory/cache.h"

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
    chunks_ =
        static_cast<uint32_t>((2 * sizeof(uint16_t) + ways_ * (sizeof(uint16_t) + 1) + sizeof(Chunk) - 1) / sizeof(Chunk));
    spread_ = Spread(sets_);
    first_.assign(sets_, -1);
}

void Cache::settle() {
    for (Line& line : lines_) {
        line.last = 0;
        for (uint16_t& cycles : line.before) cycles = 0;
    }
}

// Entry `from` becomes entry `to` in front of it, the ones between move back by one.
void Cache::to_front(const Order& order, uint32_t from, uint32_t to) {
    const uint16_t tag = order.tags[from];
    const uint8_t way = order.ways[from];
    for (uint32_t at = from; at > to; --at) {
        order.tags[at] = order.tags[at - 1];
        order.ways[at] = order.ways[at - 1];
    }
    order.tags[to] = tag;
    order.ways[to] = way;
}

Cache::Line* Cache::find(uint64_t line, uint32_t* used_since) {
    if (sets_ == 0) return nullptr;
    const int32_t first = first_[spread_(line)];
    if (first < 0) return nullptr;
    const Order order = order_of(first);
    const auto tag = static_cast<uint16_t>(line);
    for (uint32_t at = 0; at < *order.held; ++at) {
        if (order.tags[at] != tag) continue;
        Line& found = lines_[static_cast<size_t>(first) * ways_ + order.ways[at]];
        if (found.line != line) continue;
        if (used_since != nullptr) *used_since = at;
        if (at >= *order.used) ++*order.used;
        to_front(order, at, 0);
        return &found;
    }
    return nullptr;
}

Cache::Line& Cache::insert(uint64_t line, Victim& victim, bool evict_first) {
    int32_t& first = first_[spread_(line)];
    if (first < 0) {
        first = static_cast<int32_t>(lines_.size() / ways_);
        lines_.resize(lines_.size() + ways_);
        orders_.resize(orders_.size() + chunks_);
        const Order fresh = order_of(first);
        for (uint32_t way = 0; way < ways_; ++way) fresh.ways[way] = static_cast<uint8_t>(way);
    }
    const Order order = order_of(first);
    const bool full = *order.held == ways_;
    const uint32_t last = full ? ways_ - 1 : *order.held;
    Line& place = lines_[static_cast<size_t>(first) * ways_ + order.ways[last]];
    victim = {place.line, full ? place.dirty : uint8_t{0}, place.words};
    place = Line{};
    place.line = line;
    order.tags[last] = static_cast<uint16_t>(line);
    if (!full) ++*order.held;
    if (full && *order.used == ways_) --*order.used;
    to_front(order, last, evict_first ? *order.used : 0);
    if (!evict_first) ++*order.used;
    return place;
}

}  // namespace lockstep::model
