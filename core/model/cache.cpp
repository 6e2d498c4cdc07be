// Lookup and replacement. A cache of zero bytes has no sets: find() always misses and the caller must not insert.
#include "core/model/cache.h"

#include <algorithm>

namespace lockstep::model {

Cache::Cache(uint32_t bytes, uint32_t ways) : ways_(std::max(1u, ways)) {
    const uint32_t lines = bytes / 128;
    if (lines == 0) return;
    ways_ = std::min(ways_, lines);
    sets_ = lines / ways_;
    spread_ = Spread(sets_);
    first_.assign(sets_, -1);
}

Cache::Line* Cache::find(uint64_t line) {
    if (sets_ == 0) return nullptr;
    const int32_t first = first_[spread_(line)];
    if (first < 0) return nullptr;
    Line* const set = lines_.data() + first;
    for (uint32_t way = 0; way < ways_; ++way)
        if (set[way].line == line && set[way].used != 0) {
            set[way].used = ++clock_;
            return set + way;
        }
    return nullptr;
}

Cache::Line& Cache::insert(uint64_t line, Victim& victim) {
    int32_t& first = first_[spread_(line)];
    if (first < 0) {
        first = static_cast<int32_t>(lines_.size());
        lines_.resize(lines_.size() + ways_);
    }
    Line* const set = lines_.data() + first;
    Line* oldest = set;
    for (uint32_t way = 1; way < ways_; ++way)
        if (set[way].used < oldest->used) oldest = set + way;
    victim = {oldest->line, oldest->used != 0 ? oldest->dirty : uint8_t{0}};
    *oldest = Line{};
    oldest->line = line;
    oldest->used = ++clock_;
    return *oldest;
}

}  // namespace lockstep::model
