// The SM's cycle: blocks in and out, wake-ups, picks, and the accounts of every warp's every cycle. What an issued
// instruction costs is in issue.cpp.
#include "core/model/issue/sm.h"

#include <algorithm>
#include <bit>

namespace lockstep::model {
namespace {
constexpr uint32_t code_line_bytes = 128;
}  // namespace

Sm::Sm(SharedState& state, uint32_t index)
    : state_(state),
      gpu_(*state.gpu),
      timing_(state.timing->data()),
      index_(index),
      sub_cores_(gpu_.sub_cores),
      last_pc_(static_cast<uint32_t>(state.timing->size() - 1)),
      traced_(state.recorder->traces(index)),
      windows_(state.windows),
      blocks_(state.blocks_per_sm) {
    const uint64_t shared = shared_of_a_block(gpu_, state.shared_per_block) * state.blocks_per_sm;
    memory_side_ = LoadStore(gpu_, *state.memory, static_cast<uint32_t>(shared), index);
    cores_.resize(sub_cores_);
    const uint32_t warps = state.warps_per_block * state.blocks_per_sm, lines = (last_pc_ >> state.code_shift) + 1;
    if (state.run_ahead) ahead_ = simt::AheadRings(warps);
    each_run_ = traced_ || state.windows->by_time();
    if (state.grid->findings) findings_ = simt::make_findings();
    code_ = InstructionCache(gpu_.l1_code_bytes / code_line_bytes, lines);
    for (SubCore& core : cores_) {
        core.slot.resize((warps + sub_cores_ - 1) / sub_cores_);
        core.code = InstructionCache(gpu_.l0_code_bytes / code_line_bytes, lines);
    }
}

int64_t start_of_block(SharedState& state, int64_t now) {
    const double start = std::max(static_cast<double>(now), state.launcher_free);
    state.launcher_free = start + 1 / state.gpu->blocks_per_cycle;
    return static_cast<int64_t>(start) + state.gpu->block_start_latency;
}

void Sm::start_block(uint32_t slot, uint32_t linear, int64_t now, uint32_t cluster) {
    BlockSlot& place = blocks_[slot];
    place.cluster = cluster;
    simt::reset_block(place.block, *state_.grid, linear);
    place.block.sm = index_;
    place.block.clock = now;
    place.used = true;
    place.warps_left = static_cast<uint32_t>(place.block.warps.size());
    place.end = never;
    place.ended = now;
    place.record =
        state_.recorder->add_block({linear, static_cast<uint16_t>(index_), static_cast<uint16_t>(slot), now, now});
    if (resident_blocks_++ == 0) active_begin_ = now;
    for (uint32_t k = 0; k < place.warps_left; ++k) {
        const uint32_t warp_slot = slot * state_.warps_per_block + k;
        const uint32_t s = warp_slot % sub_cores_, i = warp_slot / sub_cores_;
        SubCore& core = cores_[s];
        WarpSlot& w = core.slot[i];
        w.warp = &place.block.warps[k];
        core.wake[i] = now;
        w.begin = w.run_begin = now;
        w.run_reason = StallReason::selected;
        w.run_cause = -1;
        w.store_done = 0;
        w.store_cause = -1;
        w.block_slot = static_cast<uint16_t>(slot);
        w.at_barrier = false;
        w.number = static_cast<uint16_t>(warp_slot);
        w.ahead = {};
        w.marks = {now, now, now};
        w.round = 0;
        w.split = false;
        w.first_round = w.last_round = 0;
        set_next_pc(core, i, std::min(w.warp->pc(), last_pc_), now);
        core.fetched[i] = fetch(core, w.pc, now);
        core.recheck |= 1u << i;
        core.age[i] = age_++;
        w.scoreboard.clear();
        w.track = traced_ && !state_.recorder->full() ? state_.recorder->add_track(linear, k, warp_slot, s, now) : -1;
        if (core.live++ == 0) core.active_begin = std::max(now, core.active_until);
        core.sleepers.add_far(i, now);
        core.next_wake = std::min(core.next_wake, now);
        core_next_[s] = std::min(core_next_[s], now);
    }
    next_ = std::min(next_, now);
}

void Sm::dispatch_blocks(int64_t now) {
    next_free_ = never;
    for (uint32_t slot = 0; slot < blocks_.size(); ++slot) {
        BlockSlot& place = blocks_[slot];
        if (!place.used || place.end > now) {
            if (place.used) next_free_ = std::min(next_free_, place.end);
            continue;
        }
        place.used = false;
        if (--resident_blocks_ == 0) end_active(place.end);
        ++tally_.blocks_done;
        if (state_.cluster_blocks == 1) continue;
        SharedState::Cluster& cluster = state_.clusters[place.cluster];
        if (--cluster.running != 0) continue;
        state_.free_places.insert(state_.free_places.end(), cluster.places.begin(), cluster.places.end());
        state_.clusters.erase(place.cluster);
    }
    if (state_.cluster_blocks > 1) return;  // machine.cpp starts those
    for (uint32_t slot = 0; slot < blocks_.size() && state_.next_block < state_.blocks; ++slot)
        if (!blocks_[slot].used) start_block(slot, static_cast<uint32_t>(state_.next_block++), start_of_block(state_, now));
}

void Sm::stop_at(const WarpSlot& w) {
    const auto& instructions = state_.grid->program->instructions;
    next_registers_ = {};
    next_warp_ = nullptr;
    next_line_count_ = 0;
    if (!w.ahead.empty()) {  // soon also the others that are about to load
        for (const SubCore& core : cores_)
            for (uint32_t left = core.eligible & core.shares; left != 0; left &= left - 1) {
                const WarpSlot& other = core.slot[static_cast<uint32_t>(std::countr_zero(left))];
                if (other.ahead.empty()) continue;
                const auto room = std::span(next_lines_).subspan(next_line_count_);
                next_line_count_ += first_lines(ahead_[other.number], other.ahead, room);
            }
        return;
    }
    next_warp_ = w.warp;
    if (w.pc >= instructions.size()) return;
    const ptx::DecodedInstruction& in = instructions[w.pc];
    const auto registers_at = [&](int32_t operand) {
        return operand >= 0 && operand != ptx::no_operand ? w.warp->registers + operand : nullptr;
    };
    next_registers_ = {registers_at(in.address),
                       registers_at(in.destination[0] != ptx::no_operand ? in.destination[0] : in.source[0])};
}

void Sm::prefetch() const {
    if (next_warp_ != nullptr)
        for (size_t at = 0; at < sizeof(simt::Warp); at += 64)
            __builtin_prefetch(reinterpret_cast<const char*>(next_warp_) + at);
    for (const std::byte* const registers : next_registers_)
        for (size_t at = 0; registers != nullptr && at < 256; at += 64) __builtin_prefetch(registers + at);
    for (uint32_t k = 0; k < next_line_count_; ++k) memory_side_.prefetch(next_lines_[k]);
    for (const SubCore& core : cores_) {
        const auto* const bytes = reinterpret_cast<const char*>(&core);
        for (size_t at = 0; at < offsetof(SubCore, age); at += 64) __builtin_prefetch(bytes + at);
        for (uint32_t left = core.eligible; left != 0; left &= left - 1) {
            const auto* const slot =
                reinterpret_cast<const char*>(&core.slot[static_cast<uint32_t>(std::countr_zero(left))]);
            for (size_t at = 0; at < 3; ++at) __builtin_prefetch(slot + 64 * at);
        }
    }
}

bool Sm::cycle(bool may_share) {
    const int64_t now = next_;
    may_share_ = may_share;
    if (traced_ && state_.recorder->meets_bound(now))  // write what is open and go on without
        for (SubCore& core : cores_)
            for (WarpSlot& w : core.slot) {
                if (w.warp != nullptr && w.track >= 0) close_run(w, now);
                w.track = -1;
            }
    if (next_free_ <= now) {
        if (!may_share && !all_started_) return false;
        dispatch_blocks(now);
    }
    uint32_t due = 0;
    for (uint32_t s = 0; s < core_next_.size(); ++s) due |= (core_next_[s] <= now ? 1u : 0u) << s;
    for (; due != 0; due &= due - 1) {
        if (!cycle_of(static_cast<uint32_t>(std::countr_zero(due)), now)) return false;
        if (faulted()) return true;
    }
    next_ = next_free_;
    for (const int64_t next : core_next_) next_ = std::min(next_, next);
    return true;
}

void Sm::run_alone(const Host& host, int64_t end, std::atomic<int64_t>* at) {
    simt::Grid& home = *state_.grid;
    const auto go_to = [&](simt::Grid& grid, WindowRecorder* windows) {
        windows_ = windows;
        if (host.grid == &home) return;
        for (BlockSlot& place : blocks_)
            if (place.used) place.block.grid = &grid;
    };
    go_to(*host.grid, host.windows);
    std::swap(host.grid->findings, findings_);
    const uint64_t before = tally_.issues;
    while (next_ < end) {
        tally_.latest = std::max(tally_.latest, next_);
        if (!cycle(false) || faulted()) break;
        ++tally_.visits;
        if (at != nullptr) at->store(next_, std::memory_order_relaxed);
    }
    pace_ = pace_ - pace_ / 16 + static_cast<uint32_t>(std::min<uint64_t>(tally_.issues - before, 1 << 16));
    std::swap(host.grid->findings, findings_);
    go_to(home, state_.windows);
}

std::optional<simt::Fault> Sm::take_fault(uint64_t issues) {
    std::optional<simt::Fault> fault;
    if (fault_ != nullptr)
        fault = std::move(*fault_);
    else if (ran_away_ != nullptr)
        fault = simt::runaway_fault(*ran_away_, issues);
    fault_ = nullptr;
    ran_away_ = nullptr;
    return fault;
}

void Sm::wake_up(SubCore& core, int64_t now) {
    for (uint32_t left = core.sleepers.take_due(now, core.wake); left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        const uint32_t bit = 1u << i;
        if ((core.recheck & bit) != 0) {
            WarpSlot& w = core.slot[i];
            if (core.fetched[i] > now) {
                enter(w, now, StallReason::no_instruction, -1);
                core.sleep(i, now, core.fetched[i]);
                continue;
            }
            core.recheck &= ~bit;
            if (const Pending* p = w.scoreboard.blocking(timing_[w.pc], now)) {
                enter(w, now, p->wait, p->cause);
                core.sleep(i, now, p->ready);
                continue;
            }
        }
        core.wake[i] = now;
        core.taken_at[i] = core.pipe[core.pipe_of[i]].taken_before(now);
        core.eligible |= bit;
    }
    core.next_wake = core.sleepers.next(now);
}

uint32_t Sm::pick(const SubCore& core, uint32_t open) const {
    if ((open & (open - 1)) == 0) return static_cast<uint32_t>(std::countr_zero(open));
    if (state_.scheduler == SchedulerPolicy::loose_round_robin) {
        const uint32_t behind = open & ~((2u << core.last) - 1);
        return static_cast<uint32_t>(std::countr_zero(behind != 0 ? behind : open));
    }
    if (open >> core.last & 1) return core.last;
    const uint32_t flip = state_.scheduler == SchedulerPolicy::greedy_then_youngest ? ~0u : 0;
    uint64_t best = ~uint64_t{0};  // no branch: unpredictable
    for (uint32_t left = open; left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        best = std::min(best, uint64_t{core.age[i] ^ flip} << 32 | i);
    }
    return static_cast<uint32_t>(best);
}

// Whether what may issue together with the instruction at `pc` goes to something that the SMs share.
bool Sm::second_shares(uint32_t pc) const {
    do {
        if (pc++ == last_pc_) return false;
    } while (timing_[pc].folded);
    return timing_[pc].shared_by_sms;
}

// The warps `open` might issue and do not.
void Sm::pass_over(SubCore& core, uint32_t open, int64_t now) {
    for (uint32_t left = open & ~core.passed_over; left != 0; left &= left - 1)
        enter(core.slot[static_cast<uint32_t>(std::countr_zero(left))], now, StallReason::not_selected, -1);
    core.passed_over |= open;
    core.throttled &= ~open;
}

bool Sm::cycle_of(uint32_t s, int64_t now) {
    SubCore& core = cores_[s];
    if (core.next_wake <= now) wake_up(core, now);
    uint32_t held = 0, free_again = 0;  // held: by a pipe that is taken
    int64_t soonest = never;
    for (uint32_t left = core.busy_pipes; left != 0; left &= left - 1) {  // no branches: unpredictable
        const auto pipe = static_cast<uint32_t>(std::countr_zero(left));
        const int64_t free = core.pipe[pipe].free;
        const uint32_t taken = free > now ? ~0u : 0;
        const uint32_t wanted = core.of_pipe[pipe] & core.eligible & taken;
        free_again |= ~taken & left & (0u - left);
        held |= wanted;
        soonest = std::min(soonest, wanted != 0 ? free : never);
    }
    core.busy_pipes &= ~free_again;
    if (each_run_) {
        for (uint32_t left = held & ~core.throttled; left != 0; left &= left - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(left));
            enter(core.slot[i], now, timing_[core.slot[i].pc].throttle, core.pipe[core.pipe_of[i]].cause);
        }
        core.throttled |= held;
        core.passed_over &= ~held;
    }
    uint32_t open = core.eligible & ~held;
    if (open == 0) {
        core_next_[s] = std::min(core.next_wake, soonest);
        return true;
    }
    if (core.taken_until > now) {
        if (each_run_) pass_over(core, open, now);
        core_next_[s] = std::min({core.next_wake, soonest, core.taken_until});
        return true;
    }
    const uint32_t i = pick(core, open);
    const uint32_t pc = core.slot[i].pc;
    if (!may_share_ && ((core.shares >> i & 1) != 0 || (gpu_.issue_width > 1 && second_shares(pc)))) {
        stop_at(core.slot[i]);
        return false;
    }
    open &= ~(1u << i);
    if (each_run_) pass_over(core, open, now);
    ++core.issue_cycles;
    ++core.issued;
    windows_->add_issue(now, true);
    core.last = i;
    WarpSlot& w = core.slot[i];
    uint32_t first_pc = pc;
    if (!issue(s, i, now, true)) return true;
    for (uint32_t more = 1; more < gpu_.issue_width && can_pair(core, i, first_pc, now); ++more) {
        first_pc = w.pc;
        core.sleepers.remove(i, core.wake[i]);
        ++core.issued;
        windows_->add_issue(now, false);
        if (!issue(s, i, now, false)) return true;
    }
    // Where the issue has taken a queue anew, those that are held wait for another one's place from the next cycle on.
    const bool others_cause = each_run_ && (held & ~core.throttled) != 0;
    core_next_[s] = open != 0 || others_cause ? now + 1 : std::min(core.next_wake, soonest);
    return true;
}

void Sm::record_run(const WarpSlot& w, int64_t end) {
    if (w.track >= 0) state_.recorder->add_run(w.track, {w.run_begin, end, w.run_reason, w.pc}, w.run_cause);
    state_.recorder->overview.state(w.number, w.run_begin, end, w.run_reason);
}

// The account of a warp up to `end` where runs are not kept one by one: asleep until its `wake` for the run's reason, and
// eligible from there on. Then it was throttled as long as its pipe was taken; else another was selected.
void Sm::settle(SubCore& core, uint32_t i, int64_t end) {
    WarpSlot& w = core.slot[i];
    int64_t& since = core.wake[i];
    if (since > w.run_begin) windows_->add_wait(w.run_begin, since, w.pc, w.run_reason);
    if (end > since) {
        const int64_t held = core.pipe[core.pipe_of[i]].taken_before(end) - core.taken_at[i], open = end - since - held;
        uint64_t* const stalls = windows_->at(since, w.pc).stalls;
        stalls[static_cast<size_t>(timing_[w.pc].throttle)] += static_cast<uint64_t>(held);
        stalls[static_cast<size_t>(StallReason::not_selected)] += static_cast<uint64_t>(open);
        core.taken_at[i] += held;
        since = end;
    }
    w.run_begin = std::max(w.run_begin, since);
}

// From here on runs are kept one by one; those that are open are found out.
void Sm::keep_each_run() {
    if (each_run_) return;
    each_run_ = true;
    for (uint32_t s = 0; s < sub_cores_; ++s) {
        SubCore& core = cores_[s];
        const int64_t now = core_next_[s] - 1;  // nothing has changed since it was visited last
        core.throttled = core.passed_over = 0;
        for (uint32_t left = core.eligible; left != 0; left &= left - 1) {
            const auto i = static_cast<uint32_t>(std::countr_zero(left));
            const Pipe& pipe = core.pipe[core.pipe_of[i]];
            const bool held = pipe.from <= now && now < pipe.free;
            const bool was_taken = pipe.free > pipe.from && pipe.free <= now;
            const int64_t begin = held ? pipe.from : was_taken ? pipe.free : pipe.idle;
            settle(core, i, std::max(begin, core.wake[i]));
            WarpSlot& w = core.slot[i];
            w.run_reason = held ? timing_[w.pc].throttle : StallReason::not_selected;
            w.run_cause = held ? pipe.cause : -1;
            (held ? core.throttled : core.passed_over) |= 1u << i;
        }
    }
}

void Sm::end_active(int64_t end) {
    active_cycles_ += end - active_begin_;
    windows_->add_active(active_begin_, end);
}

void Sm::end_active(SubCore& core) {
    core.active_cycles += core.active_until - core.active_begin;
    windows_->add_scheduler(core.active_begin, core.active_until);
}

void Sm::release_barrier(uint32_t block_slot, int64_t now, int64_t cause) {
    const uint32_t first = block_slot * state_.warps_per_block;
    for (uint32_t k = 0; k < blocks_[block_slot].block.warps.size(); ++k) {
        const uint32_t s = (first + k) % sub_cores_, i = (first + k) / sub_cores_;
        SubCore& core = cores_[s];
        WarpSlot& w = core.slot[i];
        // Of barriers that are all alike one is over for all that wait, though some may have come to the next one already.
        if (!w.at_barrier || (w.warp->at_barrier && !simt::barriers_alike(*state_.grid))) continue;
        w.at_barrier = false;
        w.run_cause = cause;
        core.recheck |= 1u << i;
        const int64_t wake = std::max(now, arrived_) + std::max<int64_t>(1, gpu_.barrier_latency);
        core.sleep(i, now, wake);
        core_next_[s] = std::min(core_next_[s], wake);
    }
}

void Sm::retire(SubCore& core, uint32_t i, int64_t now, int64_t cause) {
    WarpSlot& w = core.slot[i];
    const int64_t end = std::max(now + 1, w.store_done);
    w.run_reason = StallReason::drain;
    w.run_cause = w.store_done > now + 1 ? w.store_cause : cause;
    close_run(w, end);
    if (w.track >= 0) state_.recorder->end_track(w.track, end);
    w.ended = end;
    warp_cycles_ += end - w.begin;
    const uint32_t others = ~(1u << i);
    for (uint32_t* const bits : {&core.eligible, &core.recheck, &core.passed_over, &core.throttled, &core.shares})
        *bits &= others;
    for (uint32_t& bits : core.of_pipe) bits &= others;
    core.active_until = std::max(core.active_until, end);
    if (--core.live == 0) end_active(core);
    BlockSlot& place = blocks_[w.block_slot];
    place.ended = std::max(place.ended, end);
    w.warp = nullptr;
    w.track = -1;
    if (--place.warps_left != 0) return;
    place.end = place.ended;
    next_free_ = std::min(next_free_, place.end);
    tally_.last_cycle = std::max(tally_.last_cycle, place.end);
    if (place.record >= 0) tally_.ended.emplace_back(place.record, place.end);
}

void Sm::stop(int64_t now) {
    for (SubCore& core : cores_) {
        for (WarpSlot& w : core.slot) {
            if (w.warp == nullptr) continue;
            if (w.run_reason == StallReason::selected) w.run_reason = StallReason::not_selected;
            const int64_t end = std::max(now, w.run_begin);
            const auto i = static_cast<uint32_t>(&w - core.slot.data());
            if (!each_run_ && (core.eligible >> i & 1) != 0) settle(core, i, std::max(end, core.wake[i]));
            close_run(w, end);
            if (w.track >= 0) state_.recorder->end_track(w.track, end);
            warp_cycles_ += end - w.begin;
            core.active_until = std::max(core.active_until, end);
            state_.last_cycle = std::max(state_.last_cycle, end);
            w.warp = nullptr;
        }
        if (core.live != 0) end_active(core);
        core.live = 0;
    }
    for (BlockSlot& place : blocks_) {
        if (!place.used) continue;
        const int64_t end = place.end == never ? std::max(now, place.ended) : place.end;
        state_.recorder->end_block(place.record, end);
        if (--resident_blocks_ == 0) end_active(std::max(end, active_begin_));
        place.used = false;
    }
    next_ = never;
}

bool Sm::is_ahead() const {
    for (const SubCore& core : cores_)
        for (const WarpSlot& w : core.slot)
            if (w.warp != nullptr && !w.ahead.empty()) return true;
    return false;
}

uint64_t Sm::not_issued(const WarpSlot& w) const {
    uint64_t sum = 0;
    for (uint16_t at = w.ahead.at; at != w.ahead.end; ++at) {
        const simt::AheadRun& run = at == w.ahead.at ? coming(w) : ahead_[w.number].run[at % simt::AheadSteps::most];
        sum += run.alone != 0 ? 1 : run.more;
    }
    return sum;
}

const simt::Block* Sm::stuck_block() const {
    for (const BlockSlot& place : blocks_)
        if (place.used && place.end == never) return &place.block;
    return nullptr;
}

bool Sm::all_spin() const {
    for (const SubCore& core : cores_)
        for (const WarpSlot& w : core.slot) {
            if (w.warp == nullptr || w.warp->done || w.at_barrier) continue;
            if (w.first_round <= state_.moved_at || w.last_round <= w.first_round) return false;
        }
    return true;
}

Sm::Totals Sm::totals() const {
    Totals t;
    t.active_cycles = active_cycles_;
    t.warp_cycles = warp_cycles_;
    for (const SubCore& core : cores_) {
        t.scheduler_cycles += core.active_cycles;
        t.issue_cycles += core.issue_cycles;
        t.issued += core.issued;
    }
    return t;
}

}  // namespace lockstep::model
