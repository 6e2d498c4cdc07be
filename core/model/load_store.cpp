// L1 writes through and does not allocate on a global store; local memory is allocated on a store as well.
#include "core/model/load_store.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace lockstep::model {
namespace {
int64_t cycle_of(double time) {
    return static_cast<int64_t>(std::ceil(time));
}

uint32_t l1_size(const GpuSpec& gpu, uint32_t shared_bytes) {
    const auto& sizes = gpu.shared_carveouts.value;
    if (sizes[1] == 0) return gpu.l1_bytes;  // shared memory is apart
    for (const uint32_t size : sizes)
        if (size >= shared_bytes) return gpu.l1_bytes - size;
    return gpu.l1_bytes - *std::max_element(sizes.begin(), sizes.end());
}
}  // namespace

LoadStore::LoadStore(const GpuSpec& gpu, MemorySystem& memory, uint32_t shared_bytes)
    : memory_(&memory),
      l1_latency_(gpu.l1_latency),
      shared_latency_(gpu.shared_latency),
      shuffle_latency_(gpu.shuffle_latency),
      address_cycles_(32.0 / gpu.lsu_lanes),
      l1_rate_(gpu.l1_bytes_per_cycle),
      queue_(std::clamp<uint32_t>(gpu.lsu_queue, 1, most_queue)),
      mshrs_(std::max<uint32_t>(1, gpu.l1_mshrs)),
      l1_bytes_(l1_size(gpu, shared_bytes)),
      l1_(l1_bytes_, gpu.l1_ways) {
    outstanding_.reserve(mshrs_);
}

double LoadStore::enter(uint32_t s, int64_t now, double cycles) {
    const double time = static_cast<double>(now);
    const double start = std::max(time, address_free_[s]);
    address_free_[s] = start + address_cycles_;
    const double slot = std::max(time, pipe_free_);  // other sub-cores may use what this one's address unit leaves idle
    pipe_free_ = slot + cycles;
    return std::max(start, slot);
}

void LoadStore::leave(uint32_t s, double when) {
    last_leave_[s] = std::max(last_leave_[s], when);
    leaves_[s][next_[s]] = cycle_of(last_leave_[s]);
    next_[s] = (next_[s] + 1) % queue_;
    free_at_[s] = leaves_[s][next_[s]];  // the oldest of the last `queue_` instructions
}

double LoadStore::miss_slot(double begin) {
    if (outstanding_.size() < mshrs_) return begin;
    const double first = outstanding_.front();
    std::pop_heap(outstanding_.begin(), outstanding_.end(), std::greater<>());
    outstanding_.pop_back();
    return std::max(begin, first);
}

MemoryCost LoadStore::global(uint32_t s, int64_t now, Access access, const uint64_t* addresses, uint32_t mask,
                             uint32_t bytes, bool local) {
    coalesce(addresses, mask, bytes, request_);
    MemoryCost cost;
    cost.sectors = request_.sectors;
    const double cycles = std::max(1.0, request_.sectors * 32.0 / l1_rate_);
    const double begin = enter(s, now, cycles);
    double ready = begin + l1_latency_, sent = begin, accepted = begin;
    cost.level = MemoryLevel::l1;
    const auto count_l2 = [&](const Served& served, uint32_t sectors) {
        cost.l2_sectors += bits_in(sectors);
        cost.l2_hits += served.hits;
        cost.level = std::max(cost.level, served.level);
    };
    for (uint32_t i = 0; i < request_.lines; ++i) {
        const LineRequest& part = request_.line[i];
        if (access == Access::atomic) {
            const Served served = memory_->atomic(part.line, part.sectors, part.lanes, sent);
            count_l2(served, part.sectors);
            ready = std::max(ready, served.ready);
            accepted = std::max(accepted, served.accepted);
            continue;
        }
        Cache::Line* entry = l1_.find(part.line);
        if (access == Access::store) {
            const Served served = memory_->write(part.line, part.sectors, sent);
            count_l2(served, part.sectors);
            accepted = std::max(accepted, served.accepted);
            if (!local || l1_.sets() == 0) continue;
            Cache::Victim victim;
            if (entry == nullptr) entry = &l1_.insert(part.line, victim);
            for (uint32_t left = part.sectors & ~uint32_t{entry->present}; left != 0; left &= left - 1)
                entry->arrives[std::countr_zero(left)] = cycle_of(begin);
            entry->present = static_cast<uint8_t>(entry->present | part.sectors);
            continue;
        }
        const uint32_t present = entry == nullptr ? 0 : entry->present;
        const uint32_t here = part.sectors & present, missing = part.sectors & ~present;
        cost.l1_sectors += bits_in(part.sectors);
        for (uint32_t left = here; left != 0; left &= left - 1) {
            const double arrives = static_cast<double>(entry->arrives[std::countr_zero(left)]);
            ++cost.l1_hits;
            if (arrives <= begin + l1_latency_) continue;
            ready = std::max(ready, arrives);  // on its way for an earlier load
            cost.level = std::max(cost.level, MemoryLevel::l2);
        }
        if (missing == 0) continue;
        sent = miss_slot(sent);
        const Served served = memory_->read(part.line, missing, sent);
        count_l2(served, missing);
        ready = std::max(ready, served.ready);
        accepted = std::max(accepted, std::max(sent, served.accepted));
        outstanding_.push_back(served.ready);
        std::push_heap(outstanding_.begin(), outstanding_.end(), std::greater<>());
        if (l1_.sets() == 0) continue;
        Cache::Victim victim;
        if (entry == nullptr) entry = &l1_.insert(part.line, victim);
        entry->present = static_cast<uint8_t>(entry->present | missing);
        for (uint32_t left = missing; left != 0; left &= left - 1)
            entry->arrives[std::countr_zero(left)] = cycle_of(served.ready);
    }
    pipe_free_ = std::max(pipe_free_, accepted);  // what the L2 does not take holds back those behind it
    leave(s, std::max(begin, accepted) + cycles);
    cost.ready = cycle_of(ready);
    cost.done = cycle_of(accepted + 1);
    return cost;
}

MemoryCost LoadStore::shared(uint32_t s, int64_t now, Access access, const uint64_t* offsets, uint32_t mask,
                             uint32_t bytes) {
    return shared_passes_of(
        s, now, access == Access::atomic ? shared_atomic_passes(offsets, mask, bytes) : shared_passes(offsets, mask, bytes));
}

MemoryCost LoadStore::shared_load(uint32_t s, int64_t now, uint32_t passes, uint32_t bytes) {
    MemoryCost cost = shared_passes_of(s, now, passes);
    cost.bytes = bytes;
    return cost;
}

MemoryCost LoadStore::shared_passes_of(uint32_t s, int64_t now, uint32_t passes) {
    MemoryCost cost;
    cost.passes = passes;
    cost.level = MemoryLevel::shared;
    const double cycles = std::max(1u, cost.passes);
    const double begin = enter(s, now, cycles);
    leave(s, begin + cycles);
    cost.ready = cycle_of(begin + cycles - 1 + shared_latency_);
    cost.done = cycle_of(begin + cycles);
    return cost;
}

MemoryCost LoadStore::shuffle(uint32_t s, int64_t now) {
    MemoryCost cost;
    const double begin = enter(s, now, 1);
    leave(s, begin + 1);
    cost.ready = cycle_of(begin + shuffle_latency_);
    cost.done = cycle_of(begin + 1);
    return cost;
}

}  // namespace lockstep::model
