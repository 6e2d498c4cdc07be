// Sums over windows of time: a row of counters for every window of 2^shift cycles. At most `most` windows are kept: when a
// cycle lies behind them, neighbours are added up in pairs and the windows are twice as long from there on. Nothing is lost,
// so the windows' sum is always everything that was ever counted, and memory is bounded whatever the cycles.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::model {

template <class T>  // T{} is zero, += adds
class DoublingWindows {
  public:
    static constexpr uint32_t one_window_shift = 62;

    explicit DoublingWindows(uint32_t row = 1, uint32_t most = 256, uint32_t shift = 5)
        : row_(row == 0 ? 1 : row), most_(most < 2 ? 1 : most), shift_(most < 2 ? one_window_shift : shift) {}

    // The row of the window that holds the cycle (>= 0). Good until the next call.
    T* at(int64_t cycle) {
        if (static_cast<uint64_t>(cycle) >> shift_ >= count_) make_room(static_cast<uint64_t>(cycle));
        return cells_.data() + (static_cast<uint64_t>(cycle) >> shift_) * row_;
    }
    // First cycle behind the window that holds `cycle`.
    int64_t border(int64_t cycle) const { return ((cycle >> shift_) + 1) << shift_; }

    uint32_t shift() const { return shift_; }
    uint64_t count() const { return count_; }
    const T* row(uint64_t window) const { return cells_.data() + window * row_; }
    void coarsen(uint32_t shift) {  // windows of at least 2^shift cycles
        while (shift_ < shift) join_pairs();
    }
    void add(const DoublingWindows& other) {  // of rows as long as these, as many at most
        if (other.count_ == 0) return;
        coarsen(other.shift_);
        for (uint64_t w = 0; w < other.count_; ++w) {
            T* const to = at(static_cast<int64_t>(w << other.shift_));
            for (uint32_t i = 0; i < row_; ++i) to[i] += other.cells_[w * row_ + i];
        }
    }
    // Exactly `count` (>= 1) windows: what lies behind them goes to the last one.
    void fit(uint64_t count) {
        for (uint64_t w = count; w < count_; ++w) add_row(count - 1, w);
        count_ = count;
        cells_.resize(count_ * row_);
    }
    std::vector<T> take() { return std::move(cells_); }

  private:
    void make_room(uint64_t cycle) {
        while (cycle >> shift_ >= most_) join_pairs();
        if (cycle >> shift_ < count_) return;
        count_ = (cycle >> shift_) + 1;
        cells_.resize(count_ * row_);
    }
    void join_pairs() {
        ++shift_;
        for (uint64_t w = 1; w < count_; ++w) {
            if (w % 2 == 0) {
                for (uint32_t i = 0; i < row_; ++i) {
                    cells_[w / 2 * row_ + i] = cells_[w * row_ + i];
                }
            } else {
                add_row(w / 2, w);
            }
        }
        count_ = (count_ + 1) / 2;
        cells_.resize(count_ * row_);
    }
    void add_row(uint64_t to, uint64_t from) {
        for (uint32_t i = 0; i < row_; ++i) cells_[to * row_ + i] += cells_[from * row_ + i];
    }

    uint32_t row_, most_, shift_;
    uint64_t count_ = 0;
    std::vector<T> cells_;
};

}  // namespace lockstep::model
