// The order in which the functional driver runs the warps of one block. Internal to core/simt.
#pragma once
#include <optional>

#include "core/simt/warp.h"

namespace lockstep::simt {

constexpr uint64_t slice = 1 << 14;  // instructions after which a warp gives way

// Round robin: each warp that can go on gets turn(warp), which runs it to its next barrier, its end or the end of its
// slice and returns the last event, or nothing to stop here. Returns the fault that ended the block, if any.
template <class Turn>
std::optional<Fault> drive(Block& block, const Turn& turn) {
    while (block.warps_done < block.warps.size()) {
        bool moved = false;
        for (Warp& warp : block.warps) {
            if (warp.done || warp.at_barrier) continue;
            moved = true;
            const std::optional<WarpEvent> event = turn(warp);
            if (!event) return std::nullopt;
            if (event->kind == WarpEvent::Kind::fault) return *event->fault;
        }
        if (!moved) return deadlock_fault(block);
    }
    return std::nullopt;
}

}  // namespace lockstep::simt
