// A run seen from afar: for every warp slot of the traced SM and every column of cycles the state that took most of them.
// Level 0 has columns of `cycles_a_column`; each further level joins two columns of the one before, up to a single column.
// What D1 draws when a cycle is narrower than a pixel, and what a trace that keeps only a stretch still knows of the rest.
#pragma once
#include <cstdint>
#include <vector>

#include "core/trace/stall_reason.h"

namespace lockstep {

struct Overview {
    static constexpr uint8_t empty = 255;  // no warp in the slot for most of the column
    struct Level {
        int64_t cycles_a_column = 1;
        uint32_t columns = 0;
        std::vector<uint8_t> states;  // [slot * columns + column], a StallReason or `empty`
        std::vector<float> issued;    // [scheduler * columns + column]: share of its cycles in which it issued
    };
    uint32_t slots = 0, schedulers = 0;
    std::vector<Level> levels;  // none: the run was not traced

    // The finest level with at most `most` columns between the cycles begin and end.
    const Level* level_for(int64_t begin, int64_t end, uint32_t most) const;
};

}  // namespace lockstep
