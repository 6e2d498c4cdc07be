// One issue: run the instruction, see what it cost, and find out what the warp waits for next.
#include <algorithm>
#include <bit>
#include <cassert>

#include "core/model/issue/sm.h"
#include "core/model/lowering/lowering.h"

namespace lockstep::model {
namespace {
uint32_t lanes_in(uint32_t mask) {  // most often all
    return mask == simt::full_mask ? simt::warp_size : bits_in(mask);
}
}  // namespace

MemoryCost Sm::memory_cost(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& t, uint32_t early) {
    MemoryCost cost;
    if (t.wide_bytes != 0 && event.space == ptx::Space::shared && event.addresses != nullptr) {
        uint64_t aligned[32];
        for (uint32_t lane = 0; lane < 32; ++lane) aligned[lane] = event.addresses[lane] & ~uint64_t{t.wide_bytes - 1u};
        simt::WarpEvent wide = event;
        wide.addresses = aligned;
        wide.bytes = t.wide_bytes;
        cost = memory_side_.access(s, now, wide, t, early);
    } else {
        cost = memory_side_.access(s, now, event, t, early);
    }
    if (cost.level >= MemoryLevel::l1) {
        cost.used_bytes = event.sectors != nullptr           ? 32 * cost.sectors
                          : event.space == ptx::Space::local ? cost.bytes  // a lane's bytes are its own
                                                             : used_bytes(event.addresses, event.executed, event.bytes);
        if (event.sectors != nullptr) cost.bytes = 32 * cost.sectors;
    }
    return cost;
}

// What an instruction that went to memory cost, and the queues behind it.
void Sm::account_memory(SubCore& core, uint32_t s, WarpSlot& w, const MemoryCost& cost, bool stores, Issued& issued) {
    if (const int64_t there = cost.done + (cost.level >= MemoryLevel::l1 ? store_way(gpu_) : 0);
        stores && there > w.store_done) {
        w.store_done = there;
        w.store_cause = issued_;  // the number that this issue gets
    }
    for (const auto& [pipe, queue] :
         {std::pair(mio_queue, LoadStore::Queue::mio), std::pair(lg_queue, LoadStore::Queue::lg)}) {
        core.take(pipe, issued.now, memory_side_.free_at(s, queue));
        core.pipe[pipe].cause = memory_side_.holder(s, queue);
        core.throttled &= ~core.of_pipe[pipe];
    }
    // Of global memory it comes as early as it was asked for. What is there before the issue counts as asked for no earlier
    // than its latency needs.
    const int64_t latency = cost.ready - issued.now + (cost.level >= MemoryLevel::l1 ? issued.early : 0);
    issued.early = static_cast<uint32_t>(std::clamp<int64_t>(latency - 1, 0, issued.early));
    issued.ready = std::max(issued.now + 1, issued.now - issued.early + latency);
    issued.level = cost.level;
    // Behind one cycle for each lane's address; a load by a register's address waits at the short scoreboard.
    const Timing& t = timing_[issued.pc];
    if (cost.level == MemoryLevel::constant && t.result_wait == StallReason::wait &&
        cost.ready - issued.now > int64_t{t.latency} + simt::warp_size)
        issued.wait = StallReason::imc_miss;
    issued.sectors = cost.sectors;
    issued.passes = cost.passes;
    InstructionCounters& counters = windows_->at(issued.now, issued.pc);
    counters.data_pipe += static_cast<uint64_t>(cost.takes);
    if (cost.atomic_words != 0) {
        counters.atomic_lanes += lanes_in(issued.executed);
        counters.atomic_words += cost.atomic_words;
        counters.atomic_queue += static_cast<uint64_t>(model::cycle_of(cost.queued));
    }
    if (cost.constants != 0) {
        ++counters.constant_requests;
        counters.constant_addresses += cost.constants;
    }
    if (cost.level == MemoryLevel::shared) {
        issued.wait = StallReason::short_scoreboard;
        ++counters.shared_requests;
        counters.shared_passes += cost.passes;
        counters.shared_bytes += cost.bytes;
    } else if (cost.level >= MemoryLevel::l1) {
        ++counters.requests;
        counters.sectors += cost.sectors;
        counters.bytes += cost.bytes;
        counters.used_bytes += cost.used_bytes;
        counters.l1_sectors += cost.l1_sectors;
        counters.l1_hits += cost.l1_hits;
        counters.l2_sectors += cost.l2_sectors;
        counters.l2_hits += cost.l2_hits;
    }
}

// Whether the warp that has just issued `first_pc` may issue its next instruction in the same cycle: the one behind it,
// no control flow, another pipe, all its registers there.
bool Sm::can_pair(SubCore& core, uint32_t i, uint32_t first_pc, int64_t now) {
    WarpSlot& w = core.slot[i];
    if (w.warp == nullptr || w.at_barrier || (core.recheck >> i & 1) != 0 || w.pc <= first_pc) return false;
    for (uint32_t pc = first_pc + 1; pc < w.pc; ++pc)
        if (!timing_[pc].folded) return false;
    if (core.fetched[i] > now) return false;
    const Timing& t = timing_[w.pc];
    if (t.route == Route::branch || t.route == Route::barrier || t.route == Route::exit || t.route == Route::fence ||
        t.route == Route::sleep)
        return false;
    if (unit_of(t.pipe) == unit_of(timing_[first_pc].pipe) || core.pipe[t.pipe].free > now) return false;
    return w.scoreboard.blocking(t, now) == nullptr;
}

bool Sm::issue(uint32_t s, uint32_t i, int64_t now, bool first) {
    WarpSlot& w = cores_[s].slot[i];
    if (tally_.issues >= issues_left_) {
        ran_away_ = w.warp;
        return false;
    }
    if (each_run_)
        close_run(w, now);
    else
        settle(cores_[s], i, now);
    if (!run_more(w)) return issue_step(s, i, now, first);
    issue_ahead(s, i, now, first);
    return !fault_;
}

// Whether there are instructions that have run and are not issued yet; runs some when there are none.
bool Sm::run_more(WarpSlot& w) {
    if (!w.ahead.empty()) return true;
    if (!state_.run_ahead) return false;
    const bool ran = run_warp(w);
    if (w.warp->at_barrier) run_block(w.block_slot);
    return ran;
}

bool Sm::run_warp(WarpSlot& w) {
    if (w.ahead.empty())
        w.ahead_active = w.warp->active();
    else if (w.warp->done || w.ahead_active != w.warp->active())
        return false;
    const simt::AheadCosts costs{shared_passes, keep_request, state_.shared_ahead};
    const bool first = w.ahead.empty();
    if (simt::run_ahead(*w.warp, ahead_[w.number], w.ahead, costs) == 0) return false;
    const simt::AheadRun left = coming(w);
    copy_coming(w);
    if (!first) coming(w) = left;
    w.moved = w.warp->watch.moved;
    w.end_pc = w.warp->pc();
    return true;
}

// Its warps go on from barrier to barrier as far as they can.
void Sm::run_block(uint32_t block_slot) {
    for (bool any = true; any;) {
        any = false;
        for (uint32_t k = 0; k < blocks_[block_slot].block.warps.size(); ++k) {
            WarpSlot& w = warp_of(block_slot, k);
            any |= w.warp != nullptr && !w.warp->done && run_warp(w);
        }
    }
}

// Runs the next instruction; false after a fault.
bool Sm::run_step(WarpSlot& w, simt::WarpEvent& event) {
    event = simt::step(*w.warp);
    if (event.kind == simt::WarpEvent::Kind::fault) fault_ = std::make_unique<simt::Fault>(*event.fault);
    return !fault_;
}

// The next one of those that have run ahead, and are issued now.
[[gnu::always_inline]] inline Sm::RanAhead Sm::take_ahead(WarpSlot& w, int64_t now) {
    const uint32_t pc = coming(w).pc;
    const auto [executed, passes] = how_ran(w);
    take_step(w);
    if (w.moved) note_moved(now);
    return {pc, executed, passes};
}

// For the search for dead-locks: whether the warp did more than come round once again.
void Sm::note_round(WarpSlot& w, const simt::WarpEvent& event, int64_t now) {
    if (w.warp->watch.moved) {
        note_moved(now);
    } else if (event.gives_way) {
        if (!w.warp->watch.still) note_moved(now);
        (w.first_round > std::max(known_moved_at_, moved_at_) ? w.last_round : w.first_round) = now;
    }
}

// The folded instructions that begin with `next`, behind the one that has just issued: they run and take no slot. What they
// write is there when what they read is. `next` becomes the instruction behind them. False after a fault.
bool Sm::fold(uint32_t s, uint32_t i, int64_t now, uint32_t& next) {
    WarpSlot& w = cores_[s].slot[i];
    constexpr uint32_t most_folded = 64;  // of one issue
    for (uint32_t k = 0; k < most_folded && timing_[next].folded && tally_.issues < issues_left_; ++k) {
        const Timing& t = timing_[next];
        Issued issued{.now = now, .ready = now + 1, .pc = next};
        bool diverged = false;
        issued.first = false;
        issued.folded = true;
        ++tally_.issues;
        if (run_more(w)) {
            issued.active = w.ahead_active;
            issued.executed = take_ahead(w, now).executed;
        } else {
            simt::WarpEvent event;
            if (!run_step(w, event)) return false;
            issued.active = event.active;
            issued.executed = event.executed;
            diverged = event.diverged;
            w.end_pc = w.warp->pc();
            note_round(w, event, now);
        }
        if (const Pending* const p = w.scoreboard.blocking(t, now)) {
            issued.ready = p->ready;
            issued.wait = p->wait;
            const int64_t cause = p->cause;
            for (uint32_t r = 0; r < t.registers_written; ++r)
                w.scoreboard.write(t.writes[r], issued.ready, cause, issued.wait);
            for (uint32_t r = 0; r < t.list_written; ++r) w.scoreboard.write(t.list[r], issued.ready, cause, issued.wait);
        }
        account(s, w, t, issued);
        const uint32_t pc = next;
        next = next_pc_of(w);
        if (t.predicated != Predicated::no) skip_side(w, pc, next, now, diverged);
    }
    return true;
}

// Behind a branch at `pc` that is a predicate: all warps issue the instructions that this one goes past, a slot each. What
// loads are moved up to counts as issued.
void Sm::skip_side(WarpSlot& w, uint32_t pc, uint32_t next, int64_t now, bool diverged) {
    if (timing_[pc].predicated == Predicated::decides) w.split = diverged;
    if (w.split || next <= pc) return;
    skipped_ += timing_[next].slots - timing_[pc + 1].slots;
    for (uint32_t at = pc + 1; at < next; ++at) set_mark(w, timing_[at], now);
}

// How many cycles before `now` a load counts as issued: when its mark was, as ptxas moves it up to there.
uint32_t Sm::moved_up(const WarpSlot& w, const Timing& t, int64_t now) {
    const int8_t mark = t.rounds > 1 && w.round != 0 ? global_marks : t.from_mark;
    return mark < 0 ? 0 : static_cast<uint32_t>(now - w.marks[static_cast<size_t>(mark)]);
}

[[gnu::always_inline]] inline void Sm::set_mark(WarpSlot& w, const Timing& t, int64_t now) {
    if (t.sets_mark < 0) return;
    if (t.rounds == 1 || w.round == 0) w.marks[static_cast<size_t>(t.sets_mark)] = now;
    if (t.rounds > 1) w.round = w.round + 1 == t.rounds ? 0 : static_cast<uint8_t>(w.round + 1);
}

// The accounts of an issued instruction; the number of the issue.
[[gnu::always_inline]] inline int64_t Sm::account(uint32_t s, WarpSlot& w, const Timing& t, const Issued& issued) {
    InstructionCounters& counters = windows_->at(issued.now, issued.pc);
    const uint64_t lanes = lanes_in(issued.executed);
    tally_.thread_instructions += lanes;
    set_mark(w, t, issued.now);
    ++counters.issues;
    counters.lanes += issued.active == issued.executed ? lanes : lanes_in(issued.active);
    counters.executed += lanes;
    if (issued.first) ++counters.stalls[static_cast<size_t>(StallReason::selected)];
    if (issued.branch) {
        ++counters.branches;
        counters.divergent_branches += issued.diverged ? 1 : 0;
    }
    const int64_t number = issued_++;
    if (traced_) record_issue(s, w, issued, number);
    if (MachineLog* const log = state_.memory->log(); log != nullptr && !issued.folded)
        log->issue(index_, s, issued.now, issued.pc);
    if (issued.folded) return number;
    if (t.route == Route::math) {
        SubCore& core = cores_[s];
        core.pipe[t.pipe].cause = number;
        core.throttled &= ~core.of_pipe[t.pipe];
    }
    for (uint32_t k = 0; k < t.registers_written; ++k) w.scoreboard.write(t.writes[k], issued.ready, number, issued.wait);
    for (uint32_t k = 0; k < t.list_written; ++k) w.scoreboard.write(t.list[k], issued.ready, number, issued.wait);
    w.run_begin = issued.now + 1;
    w.run_reason = StallReason::selected;
    w.run_cause = -1;
    return number;
}

void Sm::record_issue(uint32_t s, const WarpSlot& w, const Issued& issued, int64_t number) {
    if (issued.first) state_.recorder->overview.issued(w.number, s, issued.now);
    if (w.track < 0) return;
    const Timing& t = timing_[issued.pc];
    IssueRecord issue;
    issue.cycle = issued.now;
    issue.ready = t.registers_written + t.list_written != 0 ? issued.ready : issued.now + 1;
    issue.pc = issued.pc;
    issue.active = issued.executed;
    issue.warp = static_cast<uint32_t>(w.track);
    issue.level = issued.level;
    issue.sectors = static_cast<uint8_t>(std::min(255u, issued.sectors));
    issue.passes = static_cast<uint8_t>(std::min(255u, issued.passes));
    issue.folded = issued.folded;
    issue.early = issued.early;
    state_.recorder->add_issue(w.track, number, issue);
}

// Puts the warp that has issued to sleep until `wake`, for a reason that does not lie in its registers; those are looked at
// then. `wake` 0: for its registers.
[[gnu::always_inline]] inline void Sm::wait_next(SubCore& core, uint32_t i, int64_t now, int64_t wake, StallReason reason,
                                                 int64_t record, int64_t last_issue) {
    WarpSlot& w = core.slot[i];
    const uint32_t bit = 1u << i;
    if (skipped_ != 0) {
        core.taken_until = core.busy_until += skipped_;
        if (wake < now + 1 + skipped_) {
            wake = now + 1 + skipped_;
            reason = StallReason::branch_resolving;
            record = last_issue;
        }
    }
    if (wake != 0) {
        w.run_reason = reason;
        w.run_cause = record;
        core.recheck |= bit;
    } else {
        wake = now + 1;
        if (core.fetched[i] > wake) {
            w.run_reason = StallReason::no_instruction;
            w.run_cause = -1;
            wake = core.fetched[i];
            core.recheck |= bit;
        } else if (const Pending* p = w.scoreboard.blocking(timing_[w.pc], now + 1)) {
            w.run_reason = p->wait;
            w.run_cause = p->cause;
            wake = p->ready;
        }
    }
    core.sleep(i, now, wake);
    const uint32_t others = ~bit;
    core.eligible &= others;
    core.passed_over &= others;
    core.throttled &= others;
}

// What an issued instruction costs, where one that goes to a memory costs `cost()`, and its accounts; the number of the
// issue.
template <class Cost>
[[gnu::always_inline]] inline int64_t Sm::charge(uint32_t s, WarpSlot& w, const Timing& t, Issued& issued, bool stores,
                                                 const Cost& cost) {
    SubCore& core = cores_[s];
    core.pay(t, issued.now);
    if (t.route == Route::memory || t.route == Route::shuffle || t.route == Route::constant) {
        issued.early = moved_up(w, t, issued.now);
        memory_side_.name_next(issued_);
        if (memory_side_.log() != nullptr)
            memory_side_.name_asker({issued_, issued.pc, blocks_[w.block_slot].block.linear,
                                     static_cast<uint16_t>(w.number - w.block_slot * state_.warps_per_block),
                                     static_cast<uint16_t>(index_)});
        account_memory(core, s, w, cost(), stores, issued);
    } else {
        core.take(t.pipe, issued.now, issued.now + t.interval);
    }
    return account(s, w, t, issued);
}

// When it is known where the warp goes on.
int64_t Sm::resolved(const Timing& t, int64_t now) const {
    return t.route == Route::branch ? now + std::max<int64_t>(1, gpu_.branch_latency) : now + 1;
}

// Behind an issue: the instructions that are folded into it, where `folds`, and the next one. False after a fault.
[[gnu::always_inline]] inline bool Sm::go_on(uint32_t s, uint32_t i, const Timing& t, int64_t now, bool folds,
                                             bool diverged) {
    WarpSlot& w = cores_[s].slot[i];
    uint32_t next = next_pc_of(w);
    skipped_ = 0;
    if (t.predicated != Predicated::no) skip_side(w, static_cast<uint32_t>(&t - timing_), next, now, diverged);
    if (t.loop != UINT32_MAX && next != t.loop) w.round = 0;
    if (folds && timing_[next].folded && !fold(s, i, now, next)) return false;
    set_next_pc(cores_[s], i, next, resolved(t, now));
    return true;
}

// The warp has issued its arrival at a barrier, which is `over` with it or not.
void Sm::wait_at_barrier(SubCore& core, uint32_t i, int64_t now, bool over, int64_t record) {
    const int64_t wake = over ? arrived_ + std::max<int64_t>(1, gpu_.barrier_latency) : never;
    assert(wake > now && "the SM's clock would go back");
    wait_next(core, i, now, wake, StallReason::barrier, record, record);
    if (over) return;
    core.recheck &= ~(1u << i);
    core.slot[i].at_barrier = true;
}

// An arrival that has run ahead: the barrier is over with the last one's issue.
void Sm::arrive_ahead(uint32_t s, uint32_t i, const Timing& t, int64_t now, int64_t record) {
    const WarpSlot& w = cores_[s].slot[i];
    simt::Block::Ahead& ahead = blocks_[w.block_slot].block.ahead;
    arrive(now);
    const bool over =
        --ahead.waiting[ahead.issued % ahead.waiting.size()] == 0 && static_cast<int32_t>(ahead.released - ahead.issued) > 0;
    if (over) {
        ++ahead.issued;
        release_barrier(w.block_slot, now, record);
    }
    if (go_on(s, i, t, now, over)) wait_at_barrier(cores_[s], i, now, over, record);
}

void Sm::issue_ahead(uint32_t s, uint32_t i, int64_t now, bool first) {
    WarpSlot& w = cores_[s].slot[i];
    ++tally_.issues;
    const RanAhead ran = take_ahead(w, now);
    const Timing& t = timing_[ran.pc];
    Issued issued{.now = now, .ready = now + t.latency, .pc = ran.pc, .active = w.ahead_active, .executed = ran.executed};
    issued.first = first;
    issued.wait = t.result_wait;
    issued.branch = t.route == Route::branch;
    const int64_t record = charge(s, w, t, issued, t.stores, [&] {
        const uint32_t bytes = lanes_in(ran.executed) * t.lane_bytes;
        if (ran.executed != 0 && t.route == Route::constant) return memory_side_.parameter_ahead(now, ran.executed, t);
        if (ran.executed != 0 && t.shared_by_sms)
            return memory_side_.global_ahead(s, now, bytes, t.cache, issued.early, ahead_[w.number], w.ahead);
        const auto access = t.stores ? LoadStore::Access::store : LoadStore::Access::load;
        if (ran.executed != 0) return memory_side_.shared_ahead(s, now, access, ran.passes, bytes);
        MemoryCost none;  // every lane is guarded off
        none.ready = now + (t.route == Route::constant ? t.latency : 1);
        return none;
    });
    if (t.route == Route::barrier) return arrive_ahead(s, i, t, now, record);
    if (!go_on(s, i, t, now, true)) return;
    if (timing_[w.pc].shared_by_sms)
        __builtin_prefetch(&ahead_[w.number].words[w.ahead.word_at % simt::AheadSteps::most_words]);
    wait_next(cores_[s], i, now, issued.branch ? resolved(t, now) : 0, StallReason::branch_resolving, record, record);
}

bool Sm::issue_step(uint32_t s, uint32_t i, int64_t now, bool first) {
    SubCore& core = cores_[s];
    WarpSlot& w = core.slot[i];
    w.warp->block->clock = now;
    simt::WarpEvent event;
    if (!run_step(w, event)) return false;
    const uint32_t pc = std::min(event.pc, last_pc_);
    const Timing& t = timing_[pc];
    ++tally_.issues;
    note_round(w, event, now);

    Issued issued{.now = now, .ready = now + t.latency, .pc = pc, .active = event.active, .executed = event.executed};
    issued.first = first;
    issued.wait = t.result_wait;
    issued.branch = event.kind == simt::WarpEvent::Kind::branch && t.predicated == Predicated::no;
    issued.diverged = event.diverged;
    const int64_t record = charge(s, w, t, issued, event.is_store || event.is_atomic, [&] {
        const MemoryCost cost = memory_cost(s, now, event, t, issued.early);
        const ptx::Kind kind = event.instruction != nullptr ? event.instruction->kind : ptx::Kind::nop;
        if (kind == ptx::Kind::async_copy || kind == ptx::Kind::bulk_copy) simt::set_ready(*w.warp, pc, cost.ready);
        return cost;
    });
    if (t.route == Route::barrier) arrive(now);
    if (t.route == Route::fence && t.acquires) memory_side_.forget_l1();
    // Released for those that run; over once all have issued their arrival.
    simt::Block::Ahead& ahead = blocks_[w.block_slot].block.ahead;
    const bool over = event.barrier_released && ahead.waiting[ahead.issued % ahead.waiting.size()] == 0;
    if (over) {
        ahead.issued = ahead.released;
        release_barrier(w.block_slot, now, record);
    }
    if (w.warp->done) {
        w.pc = pc;
        retire(core, i, now, record);
        return true;
    }

    w.end_pc = w.warp->pc();
    // A wait at an mbarrier ends a turn as well, and is none of these: arrived_ knows nothing of it.
    const bool arrives = event.kind == simt::WarpEvent::Kind::barrier && t.route == Route::barrier;
    const bool at_barrier = w.warp->at_barrier || (arrives && event.barrier_released && !over);
    const bool for_bytes = !at_barrier && event.until > now + 1;
    if (!go_on(s, i, t, now, !at_barrier && !for_bytes, event.diverged)) return false;
    if (at_barrier || (arrives && !for_bytes)) {
        wait_at_barrier(core, i, now, !at_barrier, record);
    } else {
        const Wait wait = wait_behind(w, event, t, now, record);
        wait_next(core, i, now, wait.until, wait.reason, wait.cause, record);
    }
    return true;
}

// What the warp waits for behind an instruction that is no arrival at a barrier.
Sm::Wait Sm::wait_behind(const WarpSlot& w, const simt::WarpEvent& event, const Timing& t, int64_t now,
                         int64_t record) const {
    if (event.until > now + 1) return {StallReason::long_scoreboard, event.until, record};  // bytes of asynchronous copies
    if (t.route == Route::branch) return {StallReason::branch_resolving, resolved(t, now), record};
    if (t.route == Route::sleep && event.executed != 0) {
        const uint32_t pc = std::min(event.pc, last_pc_);
        const double cycles = simt::longest_sleep(*w.warp, pc, event.executed) * gpu_.boost_mhz / 1000.0;
        return {StallReason::sleeping, now + std::max<int64_t>(1, static_cast<int64_t>(cycles)), record};
    }
    if (t.route == Route::fence) {  // until its stores are known to be there
        const int64_t home = w.store_done != 0 ? w.store_done + gpu_.l2_latency - store_way(gpu_) : 0,
                      least = now + t.latency;
        if (std::max(home, least) > now + 1)
            return {StallReason::membar, std::max(home, least), home >= least ? w.store_cause : record};
    }
    return {StallReason::wait, 0, record};
}

}  // namespace lockstep::model
