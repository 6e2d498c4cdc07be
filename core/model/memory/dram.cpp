// A channel is chosen by 256 bytes, so that whole lines stay together; a row holds chunks that follow one another within
// their channel. The bus is never held up by a closed row: others use it meanwhile, as controllers reorder requests.
#include "core/model/memory/dram.h"

#include <algorithm>
#include <bit>

namespace lockstep::model {
namespace {
constexpr uint32_t chunk_bytes = 256;
constexpr uint32_t write_batch = 64 * 32;            // bytes of writes that a channel gathers before the bus turns round
constexpr int window_bits = tick_bits + 10;          // of 1024 cycles, over which a channel's load is taken
constexpr double most_load = 0.85;                   // what a read waits for beyond that is its turn on the bus
constexpr Ticks gathering = ticks_of(int64_t{256});  // how long a row that is used stays open for the next request
}  // namespace

Dram::Dram(const GpuSpec& gpu)
    : rate_(gpu.dram_gb_per_second * 1000.0 / gpu.boost_mhz / gpu.dram_channels),
      channels_(gpu.dram_channels),
      sector_ticks_(ticks_of(32 / (rate_ * gpu.dram_efficiency))),
      row_cycle_(ticks_of(gpu.dram_row_cycle_ns * gpu.boost_mhz / 1000)),
      activate_(ticks_of(gpu.dram_activate_ns * gpu.boost_mhz / 1000)),
      turnaround_(ticks_of(gpu.dram_turnaround_ns * gpu.boost_mhz / 1000)),
      loaded_(ticks_of(gpu.dram_loaded_ns * gpu.boost_mhz / 1000)),
      write_queue_(sector_ticks_ * (write_batch / 32)),
      banks_(std::max<uint32_t>(1, gpu.dram_banks)),
      chunks_a_row_(std::max<uint32_t>(1, gpu.dram_row_bytes / chunk_bytes)),
      spread_(gpu.dram_channels),
      channel_(gpu.dram_channels),
      bank_(size_t{gpu.dram_channels} * banks_) {}

Ticks Dram::open_row(uint64_t line, uint32_t channel, Ticks since, Ticks now, Ticks early) {
    const uint64_t number = spread_.group(line / lines_a_chunk) / chunks_a_row_;
    const uint64_t mixed = number ^ number >> 4 ^ number >> 9 ^ number >> 15;
    Bank& bank = bank_[size_t{channel} * banks_ + mixed % banks_];
    ++requests;
    Row* oldest = bank.row.data();
    for (Row& row : bank.row) {
        // Not one that a request from far behind opens much later: who is here now opens it for itself.
        if (row.number == number && row.used + gathering >= now && row.open <= now + gathering) {
            ++row_hits;
            row.used = std::max(row.used, now);
            return std::max(now, row.open);
        }
        if (row.used < oldest->used) oldest = &row;
    }
    const Ticks activated = channel_[channel].activate.take(since, activate_, early);
    const Ticks open = std::max({now, activated, bank.turn.take(since, row_cycle_, early)});
    *oldest = {number, open, open};
    return open;
}

double Dram::load(Channel& channel, Ticks now, Ticks takes) {
    constexpr Ticks length = Ticks{1} << window_bits;
    const int64_t window = now >> window_bits;
    if (window > channel.window) {
        channel.busy_before = window == channel.window + 1 ? channel.busy : 0;
        channel.busy = 0;
        channel.window = window;
    }
    const Ticks left_of_before = window == channel.window ? length - (now & (length - 1)) : 0;
    const double busy = static_cast<double>(channel.busy) + static_cast<double>(channel.busy_before) *
                                                                static_cast<double>(left_of_before) /
                                                                static_cast<double>(length);
    channel.busy += takes;
    return std::min(busy / static_cast<double>(length), most_load);
}

// As in a queue of random arrivals: load / (1 - load) times the figure in the mean, spread exponentially. The draw is a hash
// of the line and the time, its logarithm one of straight pieces between powers of two: the same on every computer.
Ticks Dram::wait_under(double load, uint64_t line, Ticks since) const {
    if (load < 1.0 / 32) return 0;  // nobody is here to wait for
    const uint64_t mixed = (line * 0x9e3779b97f4a7c15u) ^ (static_cast<uint64_t>(since) * 0xd6e8feb86659fd93u);
    const auto draw = static_cast<uint32_t>(mixed * 0x9e3779b97f4a7c15u >> 40) | 1;  // of 24 bits
    const int zeros = std::countl_zero(draw) - 8;
    const double piece = static_cast<double>(draw) / static_cast<double>(uint32_t{1} << (23 - zeros));  // 1 to 2
    const double times = (zeros + 2 - piece) * (2.0 / 3);                                               // 1 in the mean
    return static_cast<Ticks>(static_cast<double>(loaded_) * load / (1 - load) * times);
}

Ticks Dram::access(uint64_t line, Ticks since, Ticks now, uint32_t bytes, Ticks early, Ticks* waits) {
    const uint32_t channel = channel_of(line);
    const Ticks open = open_row(line, channel, since, now, early);
    const Ticks takes = bytes / 32 * sector_ticks_;
    const Ticks begin = std::max(now, channel_[channel].bus.take(since, takes, early));
    if (loaded_ != 0) {
        const double busy = load(channel_[channel], begin, takes);
        if (waits != nullptr) *waits = wait_under(busy, line, since);
    }
    channel_[channel].was_read = true;
    bytes_read += bytes;
    windows.at(begin >> tick_bits)->dram_read += bytes;
    return std::max(begin, open);
}

Ticks Dram::write_behind(uint64_t line, Ticks since, Ticks now, uint32_t bytes, uint32_t more) {
    const uint32_t channel = channel_of(line);
    open_row(line, channel, since, now, 0);
    Channel& c = channel_[channel];
    const Ticks takes = (bytes + more) * sector_ticks_ / 32;
    const Ticks begin = std::max(now, c.bus.take(since, takes));
    if (loaded_ != 0) load(c, begin, takes);
    c.written += bytes;
    if (c.written >= write_batch) {
        c.written -= write_batch;
        if (c.was_read) c.bus.hold(turnaround_);
        c.was_read = false;
    }
    bytes_written += bytes;
    windows.at(begin >> tick_bits)->dram_written += bytes;
    return std::max(now, c.bus.free() - write_queue_);
}

}  // namespace lockstep::model
