// Saving copies; restoring copies back into the same objects and points what pointed into another machine at this one.
#include "core/model/launch/checkpoint.h"

#include <algorithm>
#include <cassert>

#include "core/model/launch/machine.h"
#include "core/simt/device_runtime.h"

namespace lockstep::model {

int64_t Sm::oldest_cause(int64_t now) const {
    int64_t oldest = memory_side_.oldest_issue(now, issued_);
    const auto refers = [&](int64_t cause) {
        if (cause >= 0) oldest = std::min(oldest, cause);
    };
    for (const SubCore& core : cores_) {
        for (const Pipe& pipe : core.pipe)
            if (pipe.free > now) refers(pipe.cause);
        for (const WarpSlot& w : core.slot) {
            if (w.warp == nullptr && w.ended <= now) continue;
            const bool eligible = w.warp != nullptr && (core.eligible >> (&w - core.slot.data()) & 1) != 0;
            if (each_run_ || !eligible) refers(w.run_cause);
            if (w.store_done > now) refers(w.store_cause);
            refers(w.scoreboard.oldest_cause(now));
        }
    }
    return oldest;
}

SmCheckpoint Sm::save(const SmCheckpoint* earlier, const simt::PageCount& count, int64_t now) const {
    SmCheckpoint to;
    to.state = *this;
    to.blocks.resize(blocks_.size());
    for (size_t i = 0; i < blocks_.size(); ++i) {
        to.blocks[i].place = blocks_[i];
        if (blocks_[i].used)
            to.blocks[i].block =
                simt::save(blocks_[i].block, earlier != nullptr ? &earlier->blocks[i].block : nullptr, count);
    }
    if (is_ahead()) to.ahead = ahead_;
    to.oldest_cause = oldest_cause(now);
    return to;
}

void Sm::restore(const SmCheckpoint& from) {
    static_cast<SmState&>(*this) = from.state;
    memory_side_.attach(*state_.memory);
    traced_ = false;
    if (from.ahead.bytes() != 0) ahead_ = from.ahead;
    assert(from.blocks.size() == blocks_.size());
    for (size_t i = 0; i < blocks_.size(); ++i) {
        static_cast<BlockPlace&>(blocks_[i]) = from.blocks[i].place;
        blocks_[i].record = -1;
        blocks_[i].block.grid = state_.grid;
        if (blocks_[i].used) simt::restore(blocks_[i].block, from.blocks[i].block);
    }
    for (uint32_t s = 0; s < sub_cores_; ++s)
        for (uint32_t i = 0; i < cores_[s].slot.size(); ++i) {
            WarpSlot& w = cores_[s].slot[i];
            w.track = -1;
            if (w.warp == nullptr) continue;
            const uint32_t k = i * sub_cores_ + s - w.block_slot * state_.warps_per_block;
            w.warp = &blocks_[w.block_slot].block.warps[k];
        }
}

uint64_t Sm::state_bytes() const {
    uint64_t bytes = sizeof(SmCheckpoint) + cores_.size() * sizeof(SubCore) + memory_side_.bytes() +
                     blocks_.size() * sizeof(SmCheckpoint::Slot);
    bytes += code_.bytes();
    for (const SubCore& core : cores_) bytes += core.code.bytes();
    for (const SubCore& core : cores_)
        for (const WarpSlot& w : core.slot) bytes += sizeof w + w.scoreboard.bytes();
    return bytes;
}

void Sm::begin_trace(int64_t now) {
    traced_ = state_.recorder->traces(index_);
    if (!traced_) return;
    keep_each_run();
    std::vector<std::pair<uint32_t, uint32_t>> resident;  // in the order in which they came
    for (uint32_t s = 0; s < sub_cores_; ++s)
        for (uint32_t i = 0; i < cores_[s].slot.size(); ++i)
            if (cores_[s].slot[i].warp != nullptr || cores_[s].slot[i].ended > now) resident.emplace_back(s, i);
    std::sort(resident.begin(), resident.end(),
              [&](const auto& a, const auto& b) { return cores_[a.first].age[a.second] < cores_[b.first].age[b.second]; });
    for (const auto& [s, i] : resident) {
        WarpSlot& w = cores_[s].slot[i];
        const uint32_t slot = i * sub_cores_ + s, k = slot - w.block_slot * state_.warps_per_block;
        const int32_t track = state_.recorder->add_track(blocks_[w.block_slot].block.linear, k, slot, s, w.begin,
                                                         blocks_[w.block_slot].block.warps[k].instructions);
        if (w.warp != nullptr) {
            w.track = track;
            continue;
        }
        // It has exited and waits for its stores.
        state_.recorder->add_run(track, {now, w.ended, w.run_reason, w.pc}, w.run_cause);
        state_.recorder->end_track(track, w.ended);
    }
}

void Sm::show_trace(Recorder& copy, int64_t end) const {
    for (const SubCore& core : cores_)
        for (const WarpSlot& w : core.slot) {
            if (w.warp == nullptr || w.track < 0) continue;
            if (end > w.run_begin) copy.add_run(w.track, {w.run_begin, end, w.run_reason, w.pc}, w.run_cause);
            copy.end_track(w.track, std::max(end, w.run_begin));
        }
}

std::shared_ptr<const Checkpoint> Machine::save(const Checkpoint* earlier, const simt::PageCount& count) const {
    auto to = std::make_shared<Checkpoint>(Checkpoint{.memory = memory_});
    to->begin = queue_.first() == SmQueue::idle ? now_ + 1 : static_cast<int64_t>(queue_.first() >> 16);
    to->latest = now_ + 1;
    to->state = state_;
    to->visits = visits_;
    to->counters = counted_windows().sums();
    to->usual = grid_.usual;
    to->bytes = sizeof(Checkpoint) + to->counters.size() * sizeof(InstructionCounters) + to->usual->size() + memory_.bytes();
    to->sms.reserve(sms_.size());
    for (size_t i = 0; i < sms_.size(); ++i) {
        to->sms.push_back(sms_[i]->save(earlier != nullptr ? &earlier->sms[i] : nullptr, count, to->latest));
        to->bytes += sms_[i]->state_bytes() + to->sms.back().ahead.bytes();
        for (const SmCheckpoint::Slot& slot : to->sms.back().blocks) to->bytes += simt::bytes_of(slot.block);
    }
    to->device = grid_.memory->save(earlier != nullptr ? &earlier->device : nullptr, count);
    to->bytes += simt::bytes_of(to->device);
    if (grid_.device_runtime) to->device_runtime = grid_.device_runtime->again(*grid_.memory);
    return to;
}

void Machine::restore(const Checkpoint& from) {
    std::fill(alone_.begin(), alone_.end(), uint8_t{0});
    recorder_ = Recorder(false, 0, 0);
    windows_ = WindowRecorder(from.counters);
    SharedState state = from.state;
    state.gpu = state_.gpu;
    state.timing = state_.timing;
    state.grid = state_.grid;
    state.memory = state_.memory;
    state.recorder = state_.recorder;
    state.windows = state_.windows;
    state.run_ahead = state_.run_ahead;
    state.shared_ahead = state_.shared_ahead;
    state_ = std::move(state);
    memory_ = from.memory;
    memory_.tell(nullptr);
    grid_.memory->restore(from.device);
    if (from.device_runtime) grid_.own_runtime = from.device_runtime->again(*grid_.memory);
    if (grid_.own_runtime) grid_.device_runtime = grid_.own_runtime.get();
    grid_.usual = from.usual;
    std::fill(grid_.windows.begin(), grid_.windows.end(), simt::MemoryWindow{});
    if (crew_) crew_->renew();
    assert(from.sms.size() == sms_.size());
    for (size_t i = 0; i < sms_.size(); ++i) sms_[i]->restore(from.sms[i]);
    for (const auto& [number, cluster] : state_.clusters) {
        std::vector<simt::Block*> by_rank;
        for (const SharedState::Place& place : cluster.places) by_rank.push_back(&sms_[place.sm]->block_at(place.slot));
        simt::join_cluster(by_rank);
    }
    now_ = from.latest - 1;
    visits_ = from.visits;
    result_.stopped = false;
    queue_.rebuild(sms_);
}

void Machine::trace(uint32_t sm, uint64_t limit, bool machine) {
    recorder_ = Recorder(true, sm, limit);
    if (machine) recorder_.machine.emplace(gpu_, sm, state_.blocks);
    memory_.tell(recorder_.machine ? &*recorder_.machine : nullptr);
    if (sm < sms_.size()) sms_[sm]->begin_trace(cycle());
}

KernelTrace Machine::trace_so_far(int64_t end) const {
    Recorder copy = recorder_;
    if (copy.trace.sm < sms_.size()) sms_[copy.trace.sm]->show_trace(copy, end);
    describe(copy.trace);
    return copy.finish(end);
}

void Checkpoints::add(std::shared_ptr<const Checkpoint> checkpoint, bool evenly) {
    const auto at = std::upper_bound(kept_.begin(), kept_.end(), checkpoint->latest,
                                     [](int64_t cycle, const auto& c) { return cycle < c->latest; });
    if (at != kept_.begin() && (*std::prev(at))->latest == checkpoint->latest) return;
    own_bytes_ += checkpoint->bytes;
    const int64_t now = checkpoint->latest;
    kept_.insert(at, std::move(checkpoint));
    const auto drop = [&](size_t i) {
        thinned_ = true;
        own_bytes_ -= kept_[i]->bytes;
        kept_.erase(kept_.begin() + static_cast<std::ptrdiff_t>(i));
    };
    while (bytes() > most_bytes_ && kept_.size() > 2) {
        size_t best = 0;
        double least = 0;
        for (size_t i = 0; i + 1 < kept_.size(); ++i) {
            const double before = i == 0 ? 0 : static_cast<double>(kept_[i - 1]->latest);
            const double gap = static_cast<double>(kept_[i + 1]->latest) - before;
            const double back = static_cast<double>(std::abs(now - kept_[i]->latest)) + 1;
            const double weight = evenly ? gap : gap / back;
            if (i == 0 || weight < least) least = weight, best = i;
        }
        drop(best);
    }
    // The budget holds whatever happens, if only by keeping none.
    while (bytes() > most_bytes_ && !kept_.empty()) drop(0);
}

std::shared_ptr<const Checkpoint> Checkpoints::before(int64_t cycle) const {
    const auto after = std::upper_bound(kept_.begin(), kept_.end(), cycle,
                                        [](int64_t wanted, const auto& c) { return wanted < c->latest; });
    return after == kept_.begin() ? nullptr : *std::prev(after);
}

}  // namespace lockstep::model
