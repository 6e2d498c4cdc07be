// A channel serves in the order of the requests; a channel is chosen by 256 bytes, so that whole lines stay together.
#include "core/model/dram.h"

#include <algorithm>

namespace lockstep::model {
namespace {
constexpr double write_queue = 64 * 32;  // bytes of writes that a channel buffers
}

Dram::Dram(const GpuSpec& gpu)
    : rate_(gpu.dram_gb_per_second * 1000.0 / gpu.boost_mhz / gpu.dram_channels),
      spread_(gpu.dram_channels),
      free_(gpu.dram_channels, 0.0) {}

double Dram::access(uint64_t line, double now, uint32_t bytes) {
    double& free = free_[spread_(line / 2)];
    const double begin = std::max(now, free);
    free = begin + bytes / rate_;
    bytes_read += bytes;
    windows.at(static_cast<int64_t>(begin))->dram_read += bytes;
    return begin;
}

double Dram::write_behind(uint64_t line, double now, uint32_t bytes) {
    double& free = free_[spread_(line / 2)];
    const double begin = std::max(now, free);
    free = begin + bytes / rate_;
    bytes_written += bytes;
    windows.at(static_cast<int64_t>(begin))->dram_written += bytes;
    return std::max(now, free - write_queue / rate_);
}

}  // namespace lockstep::model
