// A run seen from afar: for every warp slot of the traced SM and every column of cycles the state that took most of them.
// Level 0 has columns of `cycles_a_column`; each further level joins two columns of the one before, up to a single column.
// What D1 draws when a cycle is narrower than a pixel, and what a trace that keeps only a stretch still knows of the rest.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "core/trace/stall_reason.h"

namespace lockstep {

struct Overview {
    static constexpr uint8_t empty = 255;  // no warp in the slot for most of the column
    static constexpr size_t reasons = static_cast<size_t>(StallReason::count);
    using States = std::array<uint64_t, reasons>;
    struct Level {
        int64_t cycles_a_column = 1;
        uint32_t columns = 0;
        std::vector<uint8_t> states;  // [slot * columns + column], a StallReason or `empty`
        std::vector<float> issued;    // [scheduler * columns + column]: share of its cycles in which it issued
    };
    uint32_t slots = 0, schedulers = 0;
    std::vector<Level> levels;   // none: the run was not traced
    std::vector<States> cycles;  // warp-cycles of all slots in each state, by column of level 0

    // The finest level with at most `most` columns between the cycles begin and end.
    const Level* level_for(int64_t begin, int64_t end, uint32_t most) const;
};

// Fills an Overview while a launch runs. Columns begin at 16 cycles and double when there would be more than 4096 of them:
// at most 32 MiB while it runs and 1 MiB afterwards, however long the launch.
class OverviewBuilder {
  public:
    static constexpr uint32_t most_columns = 4096;

    OverviewBuilder() = default;
    OverviewBuilder(uint32_t slots, uint32_t schedulers) : slots_(slots), schedulers_(schedulers) {}

    // A warp in `slot` was in a state in the cycles [begin, end); `selected`: in that cycle its scheduler issued it.
    void state(uint32_t slot, int64_t begin, int64_t end, StallReason reason);
    void issued(uint32_t slot, uint32_t scheduler, int64_t cycle);
    Overview finish(int64_t cycles) const;

  private:
    static constexpr size_t reasons = Overview::reasons;
    void make_room(int64_t cycle);  // for the column of this cycle
    void join_columns();

    uint32_t slots_ = 0, schedulers_ = 0;
    uint32_t shift_ = 4;  // columns of 1 << shift_ cycles
    uint32_t columns_ = 0;
    std::vector<uint64_t> cycles_;  // [(column * slots + slot) * reasons + reason]
    std::vector<uint64_t> issues_;  // [column * schedulers + scheduler]
};

}  // namespace lockstep
