// What a launch of a host program changed in memory, found by comparing before and after. Internal to core/scene.
#pragma once
#include <array>
#include <deque>
#include <utility>
#include <vector>

#include "core/simt/memory/memory.h"

namespace lockstep::scene {

// What a kernel under way has changed, kept until it ends: pieces of memory in which a byte differs, with what they then
// hold. A byte that it leaves alone may be written by others in the meantime.
class Changes {
  public:
    // Stops where it holds `most` bytes: who asks refuses that.
    void add(const simt::Memory& before, const simt::Memory& after, uint64_t address, uint64_t bytes, uint64_t most);
    void write_to(simt::Memory& memory) const;
    uint64_t bytes() const { return pieces_.size() * sizeof(Piece); }

  private:
    static constexpr uint64_t piece = 64;
    struct Piece {
        uint64_t address = 0, changed = 0;  // a bit a byte
        std::array<std::byte, piece> bytes = {};
    };
    std::deque<Piece> pieces_;
};

// Stretches [begin, end) of an allocation in which something differs, from its address, to 64 bytes exactly; those behind
// the sixteenth as one.
std::vector<std::pair<uint64_t, uint64_t>> changed_stretches(const simt::Memory& before, const simt::Memory& after,
                                                             uint64_t address, uint64_t bytes);

}  // namespace lockstep::scene
