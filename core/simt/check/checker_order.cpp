// What is ordered before what. A full barrier of the block is one number for all its warps (WarpChecks::base), a meeting of
// all of a warp's lanes one number for the warp; what else a lane knows (of some lanes, through a barrier of some warps, or
// through an address that another thread released) is in tables that are made when they are needed.
#include <algorithm>

#include "core/simt/check/checker_state.h"
#include "core/simt/paths/paths.h"

namespace lockstep::simt {

namespace {

constexpr size_t most_tokens = 1 << 20;  // beyond them an acquire counts as one of everything
constexpr size_t most_known = 128;       // entries of a clock; one that would grow beyond knows everything instead

uint64_t key_of_block(uint64_t block) {
    return block << 6;
}
uint64_t key_of_warp(uint64_t block, uint32_t warp) {
    return block << 6 | (1 + warp);
}

Known look_up(const Clock& clock, uint64_t key) {
    const auto at = std::lower_bound(clock.known.begin(), clock.known.end(), key,
                                     [](const Known& entry, uint64_t wanted) { return entry.key < wanted; });
    return at != clock.known.end() && at->key == key ? *at : Known{};
}

void raise(Clock& clock, const Known& known) {
    if (known.time <= clock.everything) return;
    const auto at = std::lower_bound(clock.known.begin(), clock.known.end(), known.key,
                                     [](const Known& entry, uint64_t wanted) { return entry.key < wanted; });
    if (at != clock.known.end() && at->key == known.key) {
        if (known.time > at->time) at->time = known.time, at->pc = known.pc;
        at->fenced = std::max(at->fenced, known.fenced);
        return;
    }
    clock.known.insert(at, known);
    if (clock.known.size() <= most_known) return;
    for (const Known& k : clock.known) clock.everything = std::max(clock.everything, k.time);
    clock.known.clear();
}

bool holds(const Clock& clock, const Clock& other) {
    if (clock.everything < other.everything) return false;
    auto at = clock.known.begin();
    for (const Known& known : other.known) {
        if (known.time <= clock.everything) continue;
        while (at != clock.known.end() && at->key < known.key) ++at;
        if (at == clock.known.end() || at->key != known.key || at->time < known.time || at->fenced < known.fenced)
            return false;
    }
    return true;
}

ClockOf join(const ClockOf& a, const ClockOf& b) {
    if (!b || a == b) return a;
    if (!a) return b;
    if (holds(*a, *b)) return a;
    if (holds(*b, *a)) return b;
    auto both = std::make_shared<Clock>(*a);
    both->everything = std::max(a->everything, b->everything);
    for (const Known& known : b->known) raise(*both, known);
    return both;
}

ClockOf clock_of(const WarpChecks& warp, uint32_t lane) {
    return warp.clocks.empty() ? nullptr : warp.clocks[lane];
}

// The join of what some lanes know.
ClockOf together(const WarpChecks& warp, uint32_t lanes) {
    ClockOf all;
    if (!warp.clocks.empty())
        for (uint32_t rest = lanes; rest; rest &= rest - 1) all = join(all, warp.clocks[__builtin_ctz(rest)]);
    return all;
}

void give(WarpChecks& warp, uint32_t lanes, const ClockOf& clock) {
    if (!clock) return;
    if (warp.clocks.empty()) warp.clocks.resize(warp_size);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) warp.clocks[__builtin_ctz(rest)] = clock;
}

// `clock` and what the warp does itself: its own work before `now` and what its block had done at the last full barrier.
// pc: of the access that tells of it; no_pc: all of it has passed a fence.
ClockOf with_own(const CheckerState& state, const BlockChecks& block, const WarpChecks& warp, const ClockOf& clock,
                 uint32_t pc = ptx::no_pc) {
    auto own = clock ? std::make_shared<Clock>(*clock) : std::make_shared<Clock>();
    const bool fenced = pc == ptx::no_pc;
    const uint32_t of_block = fenced ? warp.base : std::max(warp.fence_base, block.fenced_base);
    const uint32_t of_warp = fenced || !warp.unfenced ? state.now : warp.fence_time;
    if (warp.base) raise(*own, {key_of_block(block.linear), warp.base, of_block, pc});
    raise(*own, {key_of_warp(block.linear, warp.number - block.first_warp), state.now, of_warp, pc});
    return own;
}

// Where the clock of a token is kept; null where there is none, or no room for one more.
ClockOf* released_at(CheckerState& state, uint64_t token, bool make) {
    auto* tokens = &state.released;
    if (token >> 63) {
        const auto block = state.blocks.find(static_cast<uint32_t>(token >> 24 & UINT32_MAX));
        if (block != state.blocks.end()) tokens = &block->second->released;
    }
    const auto found = tokens->find(token);
    if (found != tokens->end()) return &found->second;
    if (make && tokens->size() >= most_tokens) state.tokens_left_out = true;
    return make && tokens->size() < most_tokens ? &(*tokens)[token] : nullptr;
}

BlockChecks* known_block(const Block& block, CheckerState*& state) {
    const auto& checker = block.grid->checker;
    if (!checker || checker->state->off) return nullptr;
    state = checker->state.get();
    return &checks_of(*state, block);
}

}  // namespace

Known Clock::knows(uint64_t block, uint32_t warp) const {
    Known of_block = look_up(*this, key_of_block(block));
    const Known of_warp = look_up(*this, key_of_warp(block, warp));
    if (of_warp.time > of_block.time) of_block.time = of_warp.time, of_block.pc = of_warp.pc;
    of_block.fenced = std::max(of_block.fenced, of_warp.fenced);
    return of_block;
}

bool happened_before(const CheckerState& state, const BlockChecks& block, const WarpChecks& warp, uint32_t lane,
                     const Recorded& r, uint32_t birth) {
    if (r.time < birth) return true;
    if (r.warp - block.first_warp < block.warps.size() && r.time < warp.base) return true;
    if (r.warp == warp.number) {
        const uint32_t first = r.first_lane(), last = r.last_lane();
        if (first == lane && last == lane) return true;
        if (r.time < warp.warp_base || !state.independent) return true;
        const auto known = [&](uint32_t of) { return of == lane || (*warp.lanes)[lane][of] > r.time; };
        if (warp.lanes && known(first) && known(last)) return true;
    }
    const ClockOf clock = clock_of(warp, lane);
    if (!clock) return false;
    if (clock->knows(r.warp / state.warps_per_block, r.warp % state.warps_per_block).time > r.time) return true;
    if (clock->everything <= r.time) return false;
    state.looked_away = true;
    return true;
}

void note_warp_barrier(const Warp& warp, uint32_t lanes) {
    CheckerState* state = nullptr;
    BlockChecks* const block = known_block(*warp.block, state);
    if (!block) return;
    WarpChecks& w = block->warps[warp.index];
    const uint32_t live = ~warp.exited;
    lanes &= live;
    if (!lanes) return;
    const uint32_t now = advance(*state);
    if (lanes == live) {
        w.warp_base = std::max(w.warp_base, now);
    } else if (lanes & (lanes - 1)) {
        if (!w.lanes) w.lanes = std::make_unique<WarpChecks::Times>();
        WarpChecks::Times& times = *w.lanes;
        for (uint32_t of = 0; of < warp_size; ++of) {
            uint32_t latest = lanes >> of & 1 ? now : 0;
            for (uint32_t rest = lanes; rest; rest &= rest - 1) latest = std::max(latest, times[__builtin_ctz(rest)][of]);
            for (uint32_t rest = lanes; rest; rest &= rest - 1) times[__builtin_ctz(rest)][of] = latest;
        }
    }
    give(w, lanes, together(w, lanes));
}

void note_warp_barrier(const Warp& warp, uint32_t lanes, const uint32_t* members) {
    if (!warp.block->grid->checker) return;
    for (uint32_t rest = lanes; rest;) {
        const uint32_t together = members[__builtin_ctz(rest)] & lanes;
        note_warp_barrier(warp, together);
        rest &= ~(together | (rest & -rest));
    }
}

void note_barrier(const Block& of, uint32_t number) {
    CheckerState* state = nullptr;
    BlockChecks* const block = known_block(of, state);
    if (!block || number >= block->arrivals.size()) return;
    const auto waiting = [&](const Warp& warp) {
        uint32_t lanes = warp.at_barrier && warp.barrier == number ? warp.barrier_lanes : 0;
        for (const PathWait& wait : warp.waits)
            if (wait.why == PathWait::Why::barrier && wait.number == number) lanes |= wait.lanes;
        return lanes;
    };
    const auto whole = [&](const Warp& warp, uint32_t lanes) {
        const uint32_t missing = ~(warp.exited | lanes);
        return !state->independent || !missing || !(missing & ~gone(warp));
    };
    bool full = true;
    for (const Warp& warp : of.warps) {
        const uint32_t lanes = warp.done ? 0 : waiting(warp);
        full = full && (warp.done || (lanes && whole(warp, lanes)));
    }
    const uint32_t now = advance(*state);
    if (full) forget_listed(*block);
    ClockOf all = std::move(block->arrivals[number]);
    block->arrivals[number] = nullptr;
    for (const Warp& warp : of.warps) {
        const uint32_t lanes = waiting(warp);
        if (!lanes) continue;
        const WarpChecks& w = block->warps[warp.index];
        all = join(all, together(w, lanes));
        if (!full) all = join(all, with_own(*state, *block, w, nullptr));
    }
    for (const Warp& warp : of.warps) {
        const uint32_t lanes = waiting(warp);
        if (!lanes) continue;
        WarpChecks& w = block->warps[warp.index];
        if (whole(warp, lanes)) w.warp_base = std::max(w.warp_base, now);
        if (full) w.base = now;
        give(w, lanes, all);
    }
    const auto fenced = [](const WarpChecks& w) { return !w.unfenced; };
    if (full && std::all_of(block->warps.begin(), block->warps.end(), fenced)) block->fenced_base = now;
}

void note_arrival(const Warp& warp, uint32_t lanes, uint32_t number) {
    CheckerState* state = nullptr;
    BlockChecks* const block = known_block(*warp.block, state);
    if (!block || number >= block->arrivals.size()) return;
    advance(*state);
    const WarpChecks& w = block->warps[warp.index];
    block->arrivals[number] = join(block->arrivals[number], with_own(*state, *block, w, together(w, lanes)));
}

void note_release(const Warp& warp, uint32_t lanes, uint64_t token) {
    CheckerState* state = nullptr;
    BlockChecks* const block = known_block(*warp.block, state);
    if (!block || !lanes) return;
    advance(*state);
    const WarpChecks& w = block->warps[warp.index];
    if (ClockOf* const held = released_at(*state, token, true))
        *held = join(*held, with_own(*state, *block, w, together(w, lanes)));
}

void note_acquire(const Warp& warp, uint32_t lanes, uint64_t token) {
    CheckerState* state = nullptr;
    BlockChecks* const block = known_block(*warp.block, state);
    if (!block || !lanes) return;
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        acquire_lane(*state, block->warps[warp.index], static_cast<uint32_t>(__builtin_ctz(rest)), token);
}

// `now` must have been advanced since the lane's last access.
void release_lane(CheckerState& state, const BlockChecks& block, const WarpChecks& warp, uint32_t lane, uint64_t token,
                  bool keep, uint32_t pc) {
    ClockOf* const held = released_at(state, token, true);
    if (!held) return;
    const ClockOf known = clock_of(warp, lane);
    const uint32_t own = warp.number - block.first_warp;
    // Lanes of one instruction release the same: the first of them has done it.
    if (*held && (!known || *held == known) && keep && look_up(**held, key_of_warp(block.linear, own)).time == state.now)
        return;
    const ClockOf mine = with_own(state, block, warp, known, pc);
    *held = keep ? join(*held, mine) : mine;
}

void acquire_lane(CheckerState& state, WarpChecks& warp, uint32_t lane, uint64_t token) {
    const ClockOf* const held = released_at(state, token, false);
    ClockOf clock = held ? *held : nullptr;
    if (!held && state.tokens_left_out) {
        auto everything = std::make_shared<Clock>();
        everything->everything = state.now;
        clock = std::move(everything);
    }
    if (!clock) return;
    if (warp.clocks.empty()) warp.clocks.resize(warp_size);
    warp.clocks[lane] = join(warp.clocks[lane], clock);
}

}  // namespace lockstep::simt
