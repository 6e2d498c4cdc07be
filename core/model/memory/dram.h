// DRAM channels: a data bus with a rate, banks that open one row after the other, and a queue of writes. A request takes the
// bus for its bytes; where its row is not open it first waits for its bank and for the channel's turn to open a row, while
// the bus serves others. Rows that were used a moment ago count as open: controllers gather requests to one row. An idle
// bank closes its row, so a lone request always takes the fixed latency, which is the caller's.
//
// Controllers serve requests in another order than they came in: rows that are open first, writes in batches. For a read
// that is a wait as in a queue: longer the busier its channel is, and no two alike, so that the slowest of several waits
// longest.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/model/gpus/gpu_spec.h"
#include "core/model/issue/ticks.h"
#include "core/model/launch/launch.h"
#include "core/model/memory/cache.h"
#include "core/model/memory/turn.h"
#include "core/model/metrics/doubling_windows.h"

namespace lockstep::model {

class Dram {
  public:
    Dram() = default;
    explicit Dram(const GpuSpec& gpu);

    // The time at which the request, which comes here at `now`, gets its channel. It has its turn from `since` on, or as a
    // read that counts as issued `early` before that. `waits`: how much longer its data take under the channel's load.
    Ticks access(uint64_t line, Ticks since, Ticks now, uint32_t bytes, Ticks early = 0, Ticks* waits = nullptr);
    Ticks access(uint64_t line, Ticks now, uint32_t bytes) { return access(line, now, now, bytes); }
    // A write that nobody waits for: takes the channel's time, and says when its queue has room for it. `more`: bytes for
    // which it takes the bus beside its own.
    Ticks write_behind(uint64_t line, Ticks since, Ticks now, uint32_t bytes, uint32_t more = 0);
    Ticks write_behind(uint64_t line, Ticks now, uint32_t bytes) { return write_behind(line, now, now, bytes); }

    uint32_t channel_of(uint64_t line) const { return spread_(line / lines_a_chunk); }

    uint64_t bytes_read = 0, bytes_written = 0;
    DoublingWindows<CycleTotals> windows;  // the same by the cycle in which a channel takes the request
    uint64_t requests = 0, row_hits = 0;
    double bytes_per_cycle() const { return rate_ * channels_; }  // the vendor's peak

    uint64_t bytes() const {
        return channel_.size() * sizeof channel_[0] + bank_.size() * sizeof bank_[0];
    }  // beside itself

  private:
    static constexpr uint32_t lines_a_chunk = 2;
    static constexpr uint32_t gathered = 4;  // rows of a bank that requests wait for together
    struct Row {
        uint64_t number = ~uint64_t{0};
        Ticks open = 0, used = 0;
    };
    struct Bank {
        std::array<Row, gathered> row;
        Turn turn;
    };
    struct Channel {
        Turn bus, activate;
        uint32_t written = 0;   // bytes since the bus last turned round
        bool was_read = false;  // and whether anything was read: else it need not turn
        int64_t window = 0;     // which its bus was busy for, and in the window before
        Ticks busy = 0, busy_before = 0;
    };
    // The share of the latest window in which the bus was busy at `now`, before a request that takes it for `takes`.
    static double load(Channel&, Ticks now, Ticks takes);
    Ticks wait_under(double load, uint64_t line, Ticks since) const;
    // When the request's row is open, not before `now`.
    Ticks open_row(uint64_t line, uint32_t channel, Ticks since, Ticks now, Ticks early);

    double rate_ = 1, channels_ = 1;  // rate: bytes a cycle of one channel
    Ticks sector_ticks_ = 1, row_cycle_ = 0, activate_ = 0, turnaround_ = 0, loaded_ = 0, write_queue_ = 0;
    uint32_t banks_ = 1, chunks_a_row_ = 4;
    Spread spread_;
    std::vector<Channel> channel_;
    std::vector<Bank> bank_;  // [channel * banks + bank]
};

}  // namespace lockstep::model
