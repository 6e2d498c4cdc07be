// One issue: run the instruction, see what it cost, and find out what the warp waits for next.
#include <algorithm>
#include <bit>

#include "core/model/sm.h"

namespace lockstep::model {

namespace {
// Constant memory serves one address after the other.
uint32_t distinct_addresses(const uint64_t* addresses, uint32_t mask) {
    uint64_t seen[32];
    uint32_t count = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const uint64_t address = addresses[std::countr_zero(left)];
        if (std::find(seen, seen + count, address) == seen + count) seen[count++] = address;
    }
    return std::max(1u, count);
}
}  // namespace

MemoryCost Sm::memory_cost(uint32_t s, int64_t now, const simt::WarpEvent& event, const Timing& t, WarpSlot& w) {
    using Access = LoadStore::Access;
    MemoryCost cost;
    cost.ready = now + 1;
    if (t.route == Route::shuffle) return memory_side_.shuffle(s, now);
    if (event.executed == 0 || event.addresses == nullptr) {  // every lane is guarded off
        cost.ready = now + (t.route == Route::constant ? t.latency : 1);
        return cost;
    }
    const Access access = event.is_atomic ? Access::atomic : event.is_store ? Access::store : Access::load;
    switch (event.space) {
        case ptx::Space::shared:
            cost = memory_side_.shared(s, now, access, event.addresses, event.executed, event.bytes);
            break;
        case ptx::Space::global:
        case ptx::Space::local:
            cost = memory_side_.global(s, now, access, event.addresses, event.executed, event.bytes,
                                       event.space == ptx::Space::local);
            // A bulk copy goes on, 32 sectors after the other.
            for (size_t at = 32; event.sectors != nullptr && at < event.sectors->size(); at += 32) {
                const size_t count = std::min<size_t>(32, event.sectors->size() - at);
                const uint32_t lanes = count == 32 ? 0xffffffffu : (1u << count) - 1;
                const MemoryCost more =
                    memory_side_.global(s, now, access, event.sectors->data() + at, lanes, event.bytes, false);
                cost.ready = std::max(cost.ready, more.ready);
                cost.done = std::max(cost.done, more.done);
                cost.level = std::max(cost.level, more.level);
                cost.sectors += more.sectors;
                cost.l1_sectors += more.l1_sectors;
                cost.l1_hits += more.l1_hits;
                cost.l2_sectors += more.l2_sectors;
                cost.l2_hits += more.l2_hits;
            }
            break;
        default:
            cost.level = MemoryLevel::constant;
            cost.ready = now + gpu_.constant_latency + distinct_addresses(event.addresses, event.executed) - 1;
            return cost;
    }
    if (access != Access::load) w.store_done = std::max(w.store_done, cost.done);
    return cost;
}

// Whether the warp that has just issued `first_pc` may issue its next instruction in the same cycle: the one behind it,
// no control flow, another pipe, all its registers there.
bool Sm::can_pair(SubCore& core, WarpSlot& w, uint32_t first_pc, int64_t now) {
    if (w.warp == nullptr || w.at_barrier || w.recheck || w.pc != first_pc + 1) return false;
    const Timing& t = timing_[w.pc];
    if (t.route == Route::branch || t.route == Route::barrier || t.route == Route::exit || t.route == Route::fence)
        return false;
    if (t.pipe == timing_[first_pc].pipe || core.pipe_free[t.pipe] > now) return false;
    return w.scoreboard.blocking(t, now) == nullptr;
}

bool Sm::issue(uint32_t s, uint32_t i, int64_t now, bool first) {
    SubCore& core = cores_[s];
    WarpSlot& w = core.slot[i];
    if (state_.issues >= state_.max_instructions) {
        state_.fault = simt::runaway_fault(*w.warp, state_.issues);
        return false;
    }
    close_run(w, now);
    w.warp->block->clock = now;
    const simt::WarpEvent event = simt::step(*w.warp);
    if (event.kind == simt::WarpEvent::Kind::fault) {
        state_.fault = *event.fault;
        return false;
    }
    const uint32_t pc = std::min(event.pc, last_pc_);
    const Timing& t = timing_[pc];
    InstructionCounters& counters = state_.counters[pc];
    const auto lanes = uint64_t{bits_in(event.executed)};
    ++state_.issues;
    if (w.warp->watch.moved) {
        state_.last_moved = state_.issues;
    } else if (event.gives_way) {
        if (!w.warp->watch.still) state_.last_moved = state_.issues;
        (w.first_round > state_.last_moved ? w.last_round : w.first_round) = state_.issues;
    }
    state_.thread_instructions += lanes;
    ++counters.issues;
    counters.lanes += uint64_t{bits_in(event.active)};
    counters.executed += lanes;
    if (first) ++counters.stalls[static_cast<size_t>(StallReason::selected)];

    MemoryCost cost;
    cost.ready = now + t.latency;
    StallReason wait = t.result_wait;
    if (t.route == Route::memory || t.route == Route::shuffle || t.route == Route::constant) {
        cost = memory_cost(s, now, event, t, w);
        core.pipe_free[static_cast<size_t>(ptx::Unit::lsu)] = memory_side_.free_at(s);
        const ptx::Kind kind = event.instruction != nullptr ? event.instruction->kind : ptx::Kind::nop;
        if (kind == ptx::Kind::async_copy || kind == ptx::Kind::bulk_copy) simt::set_ready(*w.warp, pc, cost.ready);
        if (cost.level == MemoryLevel::shared) {
            wait = StallReason::short_scoreboard;
            ++counters.shared_requests;
            counters.shared_passes += cost.passes;
        } else if (cost.level >= MemoryLevel::l1) {
            ++counters.requests;
            counters.sectors += cost.sectors;
            counters.l1_sectors += cost.l1_sectors;
            counters.l1_hits += cost.l1_hits;
            counters.l2_sectors += cost.l2_sectors;
            counters.l2_hits += cost.l2_hits;
        }
    } else {
        core.pipe_free[t.pipe] = now + t.interval;
    }
    if (event.kind == simt::WarpEvent::Kind::branch) {
        ++counters.branches;
        counters.divergent_branches += event.diverged ? 1 : 0;
    }

    const int32_t record = issued_++;
    if (traced_ && first) state_.recorder->overview.issued(w.number, s, now);
    if (w.track >= 0) {
        IssueRecord issue;
        issue.cycle = now;
        issue.ready = t.registers_written + t.list_written != 0 ? cost.ready : now + 1;
        issue.pc = pc;
        issue.active = event.executed;
        issue.warp = static_cast<uint32_t>(w.track);
        issue.level = cost.level;
        issue.sectors = static_cast<uint8_t>(std::min(255u, cost.sectors));
        issue.passes = static_cast<uint8_t>(std::min(255u, cost.passes));
        state_.recorder->add_issue(w.track, record, issue);
    }
    if (t.route == Route::math) core.pipe_cause[t.pipe] = record;
    for (uint32_t k = 0; k < t.registers_written; ++k) w.scoreboard.write(t.writes[k], cost.ready, record, wait);
    for (uint32_t k = 0; k < t.list_written; ++k) w.scoreboard.write(t.list[k], cost.ready, record, wait);

    w.run_begin = now + 1;
    w.run_reason = StallReason::selected;
    w.run_cause = -1;
    if (event.barrier_released) release_barrier(w.block_slot, now, record);
    if (w.warp->done) {
        w.pc = pc;
        retire(core, i, now, record);
        return true;
    }

    w.pc = std::min(w.warp->pc(), last_pc_);
    core.pipe[i] = timing_[w.pc].pipe;
    int64_t& wake = core.wake[i];
    wake = now + 1;
    const auto wait_for = [&](StallReason reason, int64_t until) {
        w.run_reason = reason;
        w.run_cause = record;
        wake = until;
        w.recheck = true;
    };
    if (w.warp->at_barrier) {
        wait_for(StallReason::barrier, never);
        w.recheck = false;
        w.at_barrier = true;
    } else if (event.until > now + 1) {  // for bytes of asynchronous copies
        wait_for(StallReason::long_scoreboard, event.until);
    } else if (event.kind == simt::WarpEvent::Kind::barrier) {
        wait_for(StallReason::barrier, now + std::max<int64_t>(1, gpu_.barrier_latency));
    } else if (t.route == Route::branch) {
        wait_for(StallReason::branch_resolving, now + std::max<int64_t>(1, gpu_.branch_latency));
    } else if (t.route == Route::fence && w.store_done + gpu_.l2_latency > now + 1 && w.store_done != 0) {
        wait_for(StallReason::membar, w.store_done + gpu_.l2_latency);
    } else if (const Pending* p = w.scoreboard.blocking(timing_[w.pc], now + 1)) {
        w.run_reason = p->wait;
        w.run_cause = p->cause;
        wake = p->ready;
    }
    core.eligible &= ~(1u << i);
    core.sleeping |= 1u << i;
    core.next_wake = std::min(core.next_wake, wake);
    return true;
}

}  // namespace lockstep::model
