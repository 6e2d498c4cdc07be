#include "core/model/metrics/window_recorder.h"

#include <algorithm>

namespace lockstep::model {
namespace {
uint32_t windows_for(size_t instructions) {
    const uint64_t row = std::max<uint64_t>(1, instructions) * sizeof(InstructionCounters);
    return static_cast<uint32_t>(
        std::clamp<uint64_t>(WindowRecorder::most_bytes / row, 2, uint64_t{WindowRecorder::most_windows}));
}
}  // namespace

WindowRecorder::WindowRecorder(size_t instructions, bool on)
    : instructions_(static_cast<uint32_t>(std::max<size_t>(1, instructions))),
      on_(on),
      counters_(instructions_, on ? windows_for(instructions_) : 1),
      cycles_(1, on ? most_windows : 1) {}

WindowRecorder::WindowRecorder(std::vector<InstructionCounters> before) : WindowRecorder(before.size(), false) {
    for (uint32_t pc = 0; pc < before.size(); ++pc) counters_.at(0)[pc] = before[pc];
}

std::vector<InstructionCounters> WindowRecorder::sums() const {
    std::vector<InstructionCounters> sums(instructions_);
    for (uint64_t w = 0; w < counters_.count(); ++w)
        for (uint32_t pc = 0; pc < instructions_; ++pc) sums[pc] += counters_.row(w)[pc];
    return sums;
}

void WindowRecorder::add(const WindowRecorder& other) {
    counters_.add(other.counters_);
    cycles_.add(other.cycles_);
    row_begin_ = row_end_ = 0;
}

void WindowRecorder::find_row(int64_t cycle) {
    row_ = counters_.at(cycle);
    row_end_ = counters_.border(cycle);
    row_begin_ = row_end_ - (int64_t{1} << counters_.shift());
}

void WindowRecorder::add_long_wait(int64_t begin, int64_t end, uint32_t pc, StallReason reason) {
    while (begin < end) {
        find_row(begin);
        const int64_t now = std::min(end, row_end_);
        row_[pc].stalls[static_cast<size_t>(reason)] += static_cast<uint64_t>(now - begin);
        begin = now;
    }
}

void WindowRecorder::add(int64_t begin, int64_t end, int64_t CycleTotals::*field) {
    while (begin < end) {
        const int64_t now = std::min(end, cycles_.border(begin));
        cycles_.at(begin)->*field += now - begin;
        begin = now;
    }
}

std::vector<InstructionCounters> WindowRecorder::finish(int64_t cycles, DoublingWindows<CycleTotals> dram,
                                                        DoublingWindows<CycleTotals> l2, Windows& windows) {
    counters_.at(0);
    if (!on_) {
        counters_.fit(1);
        return counters_.take();
    }
    std::vector<InstructionCounters> all = sums();
    const uint32_t shift = std::max({counters_.shift(), cycles_.shift(), dram.shift(), l2.shift()});
    const uint64_t count = (static_cast<uint64_t>(std::max<int64_t>(1, cycles)) + (uint64_t{1} << shift) - 1) >> shift;
    counters_.coarsen(shift);
    cycles_.coarsen(shift);
    dram.coarsen(shift);
    l2.coarsen(shift);
    counters_.fit(count);
    cycles_.fit(count);
    dram.fit(count);
    windows.length = int64_t{1} << shift;
    windows.instructions = instructions_;
    windows.counters = PackedCounters(counters_.take(), instructions_);
    windows.totals = cycles_.take();
    const std::vector<CycleTotals> moved = dram.take();
    for (uint64_t w = 0; w < count; ++w) {
        windows.totals[w] += moved[w];
        if (w < l2.count()) windows.totals[w] += *l2.row(w);
    }
    return all;
}

InstructionCounters& InstructionCounters::operator+=(const InstructionCounters& c) {
    issues += c.issues, lanes += c.lanes, executed += c.executed;
    requests += c.requests, sectors += c.sectors, bytes += c.bytes, used_bytes += c.used_bytes;
    l1_sectors += c.l1_sectors, l1_hits += c.l1_hits, l2_sectors += c.l2_sectors, l2_hits += c.l2_hits;
    shared_requests += c.shared_requests, shared_passes += c.shared_passes, shared_bytes += c.shared_bytes;
    constant_requests += c.constant_requests, constant_addresses += c.constant_addresses;
    atomic_lanes += c.atomic_lanes, atomic_words += c.atomic_words, atomic_queue += c.atomic_queue;
    data_pipe += c.data_pipe;
    branches += c.branches, divergent_branches += c.divergent_branches;
    for (size_t i = 0; i < std::size(stalls); ++i) stalls[i] += c.stalls[i];
    return *this;
}

CycleTotals& CycleTotals::operator+=(const CycleTotals& c) {
    active_cycles += c.active_cycles, scheduler_cycles += c.scheduler_cycles, issue_cycles += c.issue_cycles;
    issued += c.issued;
    dram_read += c.dram_read, dram_written += c.dram_written;
    l2_reads += c.l2_reads, l2_writes += c.l2_writes;
    return *this;
}

}  // namespace lockstep::model
