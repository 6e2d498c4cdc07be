#include "core/model/metrics/packed_counters.h"

#include <cassert>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "core/model/launch/launch.h"

namespace lockstep::model {
namespace {

// All members are numbers of 64 bits, data_pipe the last; what alignment adds behind it is nobody's.
constexpr size_t numbers_each = offsetof(InstructionCounters, data_pipe) / sizeof(uint64_t) + 1;
static_assert(std::is_trivially_copyable_v<InstructionCounters>);
static_assert(sizeof(InstructionCounters) - numbers_each * sizeof(uint64_t) < alignof(InstructionCounters));

void write_number(std::vector<uint8_t>& stream, uint64_t number) {  // seven bits a byte, the lowest first
    for (; number >= 128; number >>= 7) stream.push_back(static_cast<uint8_t>(number | 128));
    stream.push_back(static_cast<uint8_t>(number));
}

uint64_t read_number(const uint8_t*& at) {
    uint64_t number = 0;
    for (unsigned shift = 0;; shift += 7) {
        const uint8_t byte = *at++;
        number |= uint64_t{byte & 127u} << shift;
        if (byte < 128) return number;
    }
}

}  // namespace

PackedCounters::PackedCounters(std::span<const InstructionCounters> cells, uint32_t instructions)
    : instructions_(instructions) {
    assert(instructions > 0 && cells.size() % instructions == 0);
    begins_.reserve(cells.size() / instructions + 1);
    begins_.push_back(0);
    uint64_t zeros = 0;
    for (size_t cell = 0; cell < cells.size(); ++cell) {
        uint64_t numbers[numbers_each];
        std::memcpy(numbers, &cells[cell], sizeof numbers);
        for (const uint64_t number : numbers) {
            if (number == 0) {
                ++zeros;
                continue;
            }
            write_number(stream_, zeros);
            write_number(stream_, number);
            zeros = 0;
        }
        if ((cell + 1) % instructions != 0) continue;
        begins_.push_back(stream_.size());
        zeros = 0;
    }
    stream_.shrink_to_fit();
}

void PackedCounters::add_to(std::span<InstructionCounters> sum, size_t window) const {
    assert(window < windows() && sum.size() == instructions_);
    const uint8_t* at = stream_.data() + begins_[window];
    const uint8_t* const end = stream_.data() + begins_[window + 1];
    for (size_t place = 0; at < end; ++place) {
        place += read_number(at);
        auto* const here =
            reinterpret_cast<std::byte*>(&sum[place / numbers_each]) + place % numbers_each * sizeof(uint64_t);
        uint64_t number = 0;
        std::memcpy(&number, here, sizeof number);
        number += read_number(at);
        std::memcpy(here, &number, sizeof number);
    }
}

InstructionCounters PackedCounters::total(size_t window) const {
    assert(window < windows());
    uint64_t sums[numbers_each] = {};
    const uint8_t* at = stream_.data() + begins_[window];
    const uint8_t* const end = stream_.data() + begins_[window + 1];
    for (size_t place = 0; at < end; ++place) {
        place += read_number(at);
        sums[place % numbers_each] += read_number(at);
    }
    InstructionCounters total;
    std::memcpy(static_cast<void*>(&total), sums, sizeof sums);
    return total;
}

}  // namespace lockstep::model
