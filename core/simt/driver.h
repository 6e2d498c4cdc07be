// The order in which the functional driver runs the warps of a block. Internal to core/simt.
//
//   round_robin  warp 0, 1, 2 ..., each to its next barrier, its end or the end of its slice
//   greedy       the same, but a warp that may go on (its barrier opened) does so before the next one
//   reverse      the last warp first
//   random       any warp, for a few instructions; the seed decides
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/simt/warp.h"

namespace lockstep::simt {

constexpr uint64_t slice = 1 << 14;    // instructions after which a warp gives way
constexpr uint64_t random_slice = 64;  // the most that a warp runs at once in random order
constexpr int most_greedy_turns = 8;   // that one warp takes in a row

struct Pace {  // which order, and where it stands
    WarpOrder order = WarpOrder::round_robin;
    Rng rng{1};
};

// Whether a turn that ended with `event` left everything as it was: the warp spins, or waits, on what nobody has changed.
inline bool still(const Warp& warp, const WarpEvent& event) {
    if (warp.done || warp.at_barrier) return false;
    return event.gives_way ? warp.watch.still : !warp.watch.moved;
}

// One round over the warps of a block. Each warp that can go on gets turn(warp, instructions), which runs it and returns the
// last event, or nothing to stop here. Adds to `moved` the turns that changed something; returns the fault that ended the
// round, if any.
template <class Turn>
std::optional<Fault> round_of(Block& block, Pace& pace, const Turn& turn, uint32_t& moved, bool& stopped) {
    const auto count = static_cast<uint32_t>(block.warps.size());
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t which = pace.order == WarpOrder::reverse  ? count - 1 - i
                               : pace.order == WarpOrder::random ? static_cast<uint32_t>(pace.rng.below(count))
                                                                 : i;
        Warp& warp = block.warps[which];
        for (int again = 0; !warp.done && !warp.at_barrier; ++again) {
            ++moved;
            const uint64_t length = pace.order == WarpOrder::random ? 1 + pace.rng.below(random_slice) : slice;
            const std::optional<WarpEvent> event = turn(warp, length);
            if (!event) {
                stopped = true;
                return std::nullopt;
            }
            if (event->kind == WarpEvent::Kind::fault) return *event->fault;
            if (still(warp, *event)) --moved;
            if (pace.order != WarpOrder::greedy || again + 1 >= most_greedy_turns) break;
        }
    }
    return std::nullopt;
}

// After rounds in which nothing moved: whether that can still change without other blocks. A warp that spins has to come
// round once more for that to be known.
inline bool can_move(const Block& block) {
    for (const Warp& warp : block.warps)
        if (!warp.done && !warp.at_barrier && !warp.watch.idle) return true;
    return false;
}
// After a round in which something moved.
inline void look_again(Block& block) {
    for (Warp& warp : block.warps) {
        warp.watch.idle = false;
        warp.watch.stale = true;
    }
}

inline bool ended(std::span<const Block> blocks) {
    return std::all_of(blocks.begin(), blocks.end(), [](const Block& b) { return b.warps_done == b.warps.size(); });
}

// How many units the host's memory lets run side by side.
uint64_t most_units(const Grid& grid);

// Runs the first unit (a block; the blocks of a cluster) to its end and the others beside it, round robin by slices: what
// replays do.
template <class Unit, class Turn>
std::optional<Fault> drive(std::vector<Unit>& units, const Turn& turn) {
    Pace pace;
    bool stopped = false;
    const auto one_turn = [&](Warp& warp, uint64_t) { return turn(warp); };
    while (!ended(units.front())) {
        uint32_t moved = 0;
        for (Unit& unit : units)
            for (Block& block : unit) {
                if (std::optional<Fault> fault = round_of(block, pace, one_turn, moved, stopped)) return fault;
                if (stopped) return std::nullopt;
            }
        const auto each = [&](const auto& visit) {
            for (Unit& unit : units) std::for_each(unit.begin(), unit.end(), visit);
        };
        bool some_can = false;
        if (moved)
            each(look_again);
        else
            each([&](const Block& block) { some_can = some_can || can_move(block); });
        if (moved || some_can) continue;
        const auto runs = [](const Block& block) { return block.warps_done < block.warps.size(); };
        return deadlock_fault(*std::find_if(units.front().begin(), units.front().end(), runs));
    }
    return std::nullopt;
}
template <class Turn>
std::optional<Fault> drive(Block& block, const Turn& turn) {
    std::vector<std::span<Block>> alone{std::span(&block, 1)};
    return drive(alone, turn);
}

}  // namespace lockstep::simt
