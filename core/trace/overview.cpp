// The builder counts every state's cycles in every column, so that the most frequent one is right on all levels.
#include "core/trace/overview.h"

#include <algorithm>

namespace lockstep {

const Overview::Level* Overview::level_for(int64_t begin, int64_t end, uint32_t most) const {
    for (const Level& level : levels)
        if ((end - begin + level.cycles_a_column - 1) / level.cycles_a_column <= static_cast<int64_t>(most)) return &level;
    return levels.empty() ? nullptr : &levels.back();
}

void OverviewBuilder::join_columns() {
    const size_t wide = slots_ * reasons, narrow = schedulers_;
    const auto join = [&](std::vector<uint64_t>& values, size_t width) {
        for (uint32_t column = 0; column < columns_; ++column) {
            const size_t from = column * width, to = column / 2 * width;
            for (size_t i = 0; i < width; ++i)
                values[to + i] = column % 2 == 0 ? values[from + i] : values[to + i] + values[from + i];
        }
    };
    join(cycles_, wide);
    join(issues_, narrow);
    columns_ = (columns_ + 1) / 2;
    cycles_.resize(columns_ * wide);
    issues_.resize(columns_ * narrow);
    ++shift_;
}

void OverviewBuilder::make_room(int64_t cycle) {
    while (cycle >> shift_ >= most_columns) join_columns();
    const auto column = static_cast<uint32_t>(cycle >> shift_);
    if (column < columns_) return;
    columns_ = column + 1;
    // Room for all of them from the beginning, so that nothing is copied as it grows; it takes memory as it is filled.
    if (cycles_.capacity() == 0) cycles_.reserve(size_t{most_columns} * slots_ * reasons);
    cycles_.resize(columns_ * slots_ * reasons);
    issues_.resize(size_t{columns_} * schedulers_);
}

void OverviewBuilder::state(uint32_t slot, int64_t begin, int64_t end, StallReason reason) {
    if (slot >= slots_ || begin < 0 || end <= begin) return;
    make_room(end - 1);
    for (int64_t at = begin; at < end;) {
        const int64_t column = at >> shift_, next = std::min(end, (column + 1) << shift_);
        cycles_[(static_cast<size_t>(column) * slots_ + slot) * reasons + static_cast<size_t>(reason)] +=
            static_cast<uint64_t>(next - at);
        at = next;
    }
}

void OverviewBuilder::issued(uint32_t slot, uint32_t scheduler, int64_t cycle) {
    if (scheduler >= schedulers_) return;
    state(slot, cycle, cycle + 1, StallReason::selected);
    ++issues_[static_cast<size_t>(cycle >> shift_) * schedulers_ + scheduler];
}

Overview OverviewBuilder::finish(int64_t cycles) const {
    Overview overview;
    if (slots_ == 0 || columns_ == 0) return overview;
    overview.slots = slots_;
    overview.schedulers = schedulers_;
    overview.cycles.resize(columns_);
    for (size_t column = 0; column < columns_; ++column)
        for (size_t slot = 0; slot < slots_; ++slot) {
            const uint64_t* const counts = &cycles_[(column * slots_ + slot) * reasons];
            for (size_t r = 0; r < reasons; ++r) overview.cycles[column][r] += counts[r];
        }
    const auto add_level = [&](const OverviewBuilder& at) {
        Overview::Level level;
        level.cycles_a_column = int64_t{1} << at.shift_;
        level.columns = at.columns_;
        level.states.resize(size_t{slots_} * level.columns);
        level.issued.resize(size_t{schedulers_} * level.columns);
        for (uint32_t column = 0; column < level.columns; ++column) {
            const int64_t begin = column * level.cycles_a_column;
            const int64_t length = std::max<int64_t>(1, std::min(level.cycles_a_column, cycles - begin));
            for (uint32_t slot = 0; slot < slots_; ++slot) {
                const uint64_t* const counts = &at.cycles_[(size_t{column} * slots_ + slot) * reasons];
                uint64_t busy = 0, most = 0;
                size_t reason = 0;
                for (size_t r = 0; r < reasons; ++r) {
                    busy += counts[r];
                    if (counts[r] > most) most = counts[r], reason = r;
                }
                const bool is_empty = busy == 0 || length - static_cast<int64_t>(busy) > static_cast<int64_t>(most);
                level.states[size_t{slot} * level.columns + column] =
                    is_empty ? Overview::empty : static_cast<uint8_t>(reason);
            }
            for (uint32_t s = 0; s < schedulers_; ++s)
                level.issued[size_t{s} * level.columns + column] =
                    static_cast<float>(at.issues_[size_t{column} * schedulers_ + s]) / static_cast<float>(length);
        }
        overview.levels.push_back(std::move(level));
    };
    add_level(*this);
    if (columns_ <= 1) return overview;
    OverviewBuilder at(slots_, schedulers_);  // half as large from the beginning
    at.shift_ = shift_ + 1;
    at.columns_ = (columns_ + 1) / 2;
    const auto halve = [&](const std::vector<uint64_t>& from, std::vector<uint64_t>& to, size_t width) {
        to.resize(at.columns_ * width);
        for (size_t column = 0; column < columns_; ++column)
            for (size_t i = 0; i < width; ++i) to[column / 2 * width + i] += from[column * width + i];
    };
    halve(cycles_, at.cycles_, slots_ * reasons);
    halve(issues_, at.issues_, schedulers_);
    for (;;) {
        add_level(at);
        if (at.columns_ <= 1) return overview;
        at.join_columns();
    }
}

}  // namespace lockstep
