// The counters of a launch's windows, packed: most of them are zero and most others small, so they take about a tenth of
// their room. They are read window by window.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lockstep::model {

struct InstructionCounters;

class PackedCounters {
  public:
    PackedCounters() = default;
    // `cells`: [window * instructions + pc], whole windows.
    PackedCounters(std::span<const InstructionCounters> cells, uint32_t instructions);

    size_t windows() const { return begins_.empty() ? 0 : begins_.size() - 1; }
    size_t bytes() const { return stream_.size() + begins_.size() * sizeof(uint64_t); }
    void add_to(std::span<InstructionCounters> sum, size_t window) const;  // sum: by pc, one for every instruction
    InstructionCounters total(size_t window) const;                        // of all instructions
    void keep(size_t windows) {                                            // the first so many
        begins_.resize(windows + 1);
        stream_.resize(begins_.back());
    }

  private:
    uint32_t instructions_ = 0;
    std::vector<uint8_t> stream_;   // of the numbers that are not zero: how many zeros lie before it, then the number
    std::vector<uint64_t> begins_;  // where each window begins in the stream, and where the last one ends
};

}  // namespace lockstep::model
